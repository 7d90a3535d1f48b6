"""The plugin in a foreign repository: what it collects, costs, and says about mistakes."""

import pytest

from tests.pytest_plugin.foreign_project import TOYS, ForeignProject, foreign_project

pytestmark = pytest.mark.slow  # each test runs pytest up to three times, two tests in a separate process

HONEST = (*TOYS, "toy:honest")
PAIR = "python:5.3.3~toy:honest"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> ForeignProject:
    return foreign_project(pytester, monkeypatch)


def items(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line and not line.startswith(("E ", "ERROR"))]


def test_without_its_option_it_costs_and_collects_nothing(project: ForeignProject) -> None:
    """Without its option the plugin collects no scenario and imports nothing heavy."""
    project.scenario("ours/calm")
    project.test(
        "import sys\n"
        "def test_light():\n"
        "    loaded = {name for name in sys.modules if name.split('.')[0] in ('rocketdiff', 'pyarrow', 'typer', 'numpy')}\n"
        "    plugin = {'rocketdiff', 'rocketdiff.pytest_plugin', 'rocketdiff.pytest_plugin.markers'}\n"
        "    tables = {'rocketdiff.core.tables', 'rocketdiff.core.tables.suites', 'rocketdiff.core.tables.run_options'}\n"
        "    assert loaded <= plugin | {'rocketdiff.core'} | tables\n"
    )
    result = project.pytest()
    result.assert_outcomes(passed=1)
    project.pytest_here("--fixtures").stdout.fnmatch_lines_random(["rocketmq_cluster*", "rocketdiff_subject*"])


def test_own_scenarios_are_items_named_like_their_cases(project: ForeignProject) -> None:
    """Own scenarios are items named like cases, ordered by topology; nothing shipped is added."""
    project.scenario("ours/b", "two-masters")
    project.scenario("ours/c")
    project.scenario("ours/a", "two-masters")
    project.test("def test_mine(): pass\n")
    assert items(project.pytest_here(*HONEST, "--collect-only", "-q")) == [
        "conformance/test_mine.py::test_mine",
        f"conformance/c.yaml::ours/c/{PAIR}",
        f"conformance/a.yaml::ours/a/{PAIR}",
        f"conformance/b.yaml::ours/b/{PAIR}",
    ]
    assert items(project.pytest_here(*HONEST, "--collect-only", "-q", "-m", "not rocketdiff")) == [
        "conformance/test_mine.py::test_mine"
    ]


def test_shipped_scenarios_come_by_suite_or_glob(project: ForeignProject) -> None:
    """Shipped scenarios are chosen by suite or glob; without own ones the quick suite is run."""
    chosen = (*HONEST, "--collect-only", "-q")
    result = project.pytest_here(*chosen)
    quick = items(result)
    result.stdout.fnmatch_lines([f"{len(quick)} tests collected*"])
    assert f"rocketdiff::fault-latency/pause-one-of-two/{PAIR}" in quick
    project.scenario("ours/calm")
    both = ("--rocketdiff-scenario", "ours/*", "--rocketdiff-scenario", "fault-latency/pause-one-of-two")
    assert items(project.pytest_here(*chosen, *both)) == [
        f"conformance/calm.yaml::ours/calm/{PAIR}",
        f"rocketdiff::fault-latency/pause-one-of-two/{PAIR}",
    ]
    every = ("--rocketdiff-suite", "quick", "--rocketdiff-scenario", "**")
    assert len(items(project.pytest_here(*chosen, *every))) == len(quick) + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rocketdiff-subject", "java"), "*expected a subject written client:release*"),
        (("--rocketdiff-scenario", "no/such"), "*expected a glob that matches a scenario*no/such*"),
        (("--rocketdiff-subject", "java:9.9", "--collect-only"), "*a published release of the Java client*java:9.9*"),
        (
            ("--rocketdiff-subject", "cpp:2.1.0", "--rocketdiff-subject", "java:5.3.3"),
            "*a baseline whose rules are known*",
        ),
        (("--rocketdiff-server", "9.9.9"), "*expected a known server release*9.9.9*"),
        (("--rocketdiff-ledger", "nowhere.yaml"), "*a readable ledger nowhere.yaml*"),
        (("--rocketdiff-inconclusive", "maybe"), "*expected --inconclusive fail, warn or pass*"),
        (("--rocketdiff-cluster", "clouds"), "*expected a known backend*clouds*"),
        (
            ("--rocketdiff-cluster", "external:x.yaml"),
            "*expected a backend that starts clusters*rocketdiff run --cluster external*",
        ),
    ],
)
def test_a_wrong_option_is_one_message_and_exit_4(
    project: ForeignProject, arguments: tuple[str, ...], message: str
) -> None:
    """A wrong option is one message and exit code 4."""
    result = project.pytest_here("--rocketdiff", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    assert "Traceback" not in result.stderr.str()


def test_a_refused_scenario_is_an_error_with_its_line(project: ForeignProject) -> None:
    """A wrong scenario is an error with its file and line."""
    path = project.scenario("ours/calm")
    path.write_text(path.read_text().replace("queue-choice", "queue-choise"))
    result = project.pytest_here(*HONEST)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*expected*calm.yaml line 9*queue-choise*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_options_without_the_option_that_runs_anything_are_refused(project: ForeignProject) -> None:
    """Options without ``--rocketdiff`` are refused, because starting no client would look like a pass."""
    project.test("def test_mine(): pass\n")
    result = project.pytest_here("--rocketdiff-subject", "java:5.3.3")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--rocketdiff-subject without --rocketdiff does nothing*"])
    assert project.pytest_here("--rocketdiff-server", "5.3.3").ret == pytest.ExitCode.OK


def test_a_topology_that_the_backend_cannot_have_is_skipped_with_the_reason(project: ForeignProject) -> None:
    """A topology that the backend cannot have is skipped before an engine starts."""
    project.scenario("ours/calm", "master-with-slave-async")
    result = project.pytest_here(*HONEST, "--rocketdiff-cluster", "containers", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*SKIPPED*a slave copies topics*containers:host*"])


def test_a_call_that_a_client_does_not_have_is_skipped_with_the_reason(project: ForeignProject) -> None:
    """A call that a client lacks is skipped, as in `rocketdiff run`."""
    path = project.scenario("ours/to-a-queue")
    path.write_text(path.read_text().replace("{mode: sync,", "{mode: sync, call: queue,"))
    subjects = ("--rocketdiff-subject", "python:5.3.3", "--rocketdiff-subject", "cpp:2.1.0")
    result = project.pytest_here("--rocketdiff", *subjects, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*SKIPPED*one of the two clients has no such call"])


def test_a_group_that_a_client_cannot_join_is_skipped_with_the_reason(project: ForeignProject) -> None:
    """A scenario about consumers is skipped for a client without them."""
    subjects = ("--rocketdiff-subject", "python:5.3.3", "--rocketdiff-subject", "cpp:2.1.0")
    result = project.pytest_here(
        "--rocketdiff", "--rocketdiff-scenario", "consuming/failing-listener", *subjects, "-rs"
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        ["*SKIPPED*one of the two clients has no consumers for such a group: cpp:2.1.0 has no listener:*"]
    )


@pytest.mark.parametrize("workers", [(), ("-n", "1", "--dist", "loadgroup")])
def test_a_session_that_could_run_no_scenario_is_no_pass(project: ForeignProject, workers: tuple[str, ...]) -> None:
    """A session in which all scenarios were skipped fails and states that nothing was compared."""
    project.scenario("ours/calm", "master-with-slave-async")
    project.test("def test_mine(): pass\n")
    run = project.pytest if workers else project.pytest_here
    result = run(*HONEST, "--rocketdiff-cluster", "containers", *workers)
    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "nothing was compared: no scenario was run",
            f"*::ours/calm/{PAIR}*: a slave copies topics*containers:host*",
            "VERDICT nothing-decisive new=0 * checks=0 seed=5 run=-",
        ]
    )
    assert project.runs() == []


@pytest.mark.parametrize(("arguments", "status"), [(("-m", "not rocketdiff"), 0), (("-k", "no_such"), 5)])
def test_deselected_scenarios_fail_no_session(project: ForeignProject, arguments: tuple[str, ...], status: int) -> None:
    """Deselected scenarios fail no session, which keeps pytest's own exit code."""
    project.scenario("ours/calm", "master-with-slave-async")
    project.test("def test_mine(): pass\n")
    chosen = (*HONEST, "--rocketdiff-cluster", "containers")
    assert project.pytest_here(*chosen, *arguments).ret == status
    assert project.pytest_here(*chosen, "--collect-only").ret == pytest.ExitCode.OK
