"""The runner's decisions before a start."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.cluster.start import backend_named
from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.errors import EnvironmentMissing, ExitCode, UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.run_options import RUN_OPTIONS, TO_REPEAT
from rocketdiff.judging.ledgers import LedgerChoice
from rocketdiff.run.execute import chosen, plan_cases
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.request import Judging, Selection, command_line, request_of
from tests.requests import asked

JAVA, PYTHON = SubjectId("java", "5.3.3"), SubjectId("python", "5.3.3")


def test_cases_of_one_topology_stand_together() -> None:
    """Cases of one topology are adjacent: each cluster starts once."""
    topologies = [case.scenario.topology for case in plan_cases(asked(JAVA, PYTHON), 1)]
    assert topologies == sorted(topologies)
    assert len(topologies) > 40


def test_the_same_seed_gives_both_arms_and_every_run_the_same_plan() -> None:
    """A plan depends on scenario and seed only, not on subjects."""
    quick = asked(JAVA, PYTHON, Selection("quick"))
    swapped = asked(PYTHON, JAVA, Selection("quick"))
    plans = [case.plan for case in plan_cases(quick, 7)]
    assert plans == [case.plan for case in plan_cases(swapped, 7)]
    assert plans != [case.plan for case in plan_cases(quick, 8)]


def test_scenarios_that_a_client_has_no_call_for_are_left_out_and_named() -> None:
    """Scenarios without a call in a client are left out and named, or refused if none is left."""
    cpp = asked(JAVA, SubjectId("cpp", "2.1.0"), Selection(patterns=("explicit-queue/*", "round-robin/calm")))
    assert [case.scenario.name for case in plan_cases(cpp, 1)] == ["round-robin/calm"]
    assert set(chosen(cpp).without_call) == {
        "explicit-queue/calm",
        "explicit-queue/in-turn-with-plain-sends",
        "explicit-queue/pause-one-of-two",
    }
    assert chosen(asked(JAVA, PYTHON)).without_call == ()
    with pytest.raises(UsageError, match="no such call"):
        plan_cases(asked(JAVA, SubjectId("cpp", "2.1.0"), Selection(patterns=("batch/*",))), 1)


def test_the_command_that_repeats_a_run_holds_everything_that_decides_it() -> None:
    """The repeat command has subjects, scenarios, server, seed and policy, quoted for a shell."""
    request = asked(
        JAVA,
        PYTHON,
        Selection(patterns=("round-robin/*",), root=Path("my scenarios")),
        judging=Judging(Policy(Inconclusive.WARN, strict=True)),
    )
    assert command_line(request, 42) == (
        "rocketdiff run --subject java:5.3.3 --subject python:5.3.3 --suite all --scenario 'round-robin/*'"
        " --scenarios 'my scenarios' --server 5.3.3 --seed 42 --inconclusive warn --strict"
    )


def test_the_manifest_names_every_check_and_broker_of_a_case() -> None:
    """The manifest lists every check and broker before the run, so that missing results are noticed."""
    request = asked(JAVA, PYTHON, Selection(patterns=("fault-latency/pause-one-of-two",)))
    (entry,) = manifest_of(request, 3, plan_cases(request, 3)).cases
    assert entry.brokers == ("broker-a", "broker-b")
    assert set(entry.checks) >= {"queue-choice", "avoidance", "protocol", "validity"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--subject", "java:9.9.9", "--subject", "python:5.3.3"],
            "a published release of the Java client; saw java:9.9.9",
        ),
        (["--subject", "java:5.3.3", "--subject", "foo:1"], "a client the harness knows; saw foo:1"),
        (["--subject", "python:5.3.3", "--subject", "toy:x"], "a toy with a known defect; saw toy:x"),
        (
            ["--subject", "cpp:2.1.0", "--subject", "java:5.3.3"],
            "a Java client or the reference; saw cpp:2.1.0; try: the other way round: java:5.3.3, then cpp:2.1.0",
        ),
        (["--subject", "toy:sends-twice"], "only a Java client can be named alone"),
        (["--suite", "quik"], "or all; saw 'quik'; try: quick"),
        (["--cluster", "kubernetes"], "one of processes, containers, containers:host, external:FILE"),
        (["--server", "9.9.9"], "a known server release; saw 9.9.9"),
        (["--server", "9.9.9", "--cluster", "containers"], "a known server release; saw 9.9.9"),
        (["--ledger", "nowhere.yaml"], "a readable ledger nowhere.yaml"),
    ],
)
def test_a_dry_run_refuses_what_the_run_would_refuse(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A dry run refuses what the run would refuse, and downloads nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ROCKETDIFF_SERVER_IMAGE", raising=False)
    assert guarded(["run", "--scenario", "round-robin/calm", "--dry-run", *arguments]) == ExitCode.USAGE
    reported = capsys.readouterr()
    assert message in reported.err
    assert "dry run" not in reported.out
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_with_a_server_image_of_the_users_takes_any_release(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the user's server image a dry run accepts any release."""
    monkeypatch.setenv("ROCKETDIFF_SERVER_IMAGE", "ours/rocketmq:{release}")
    wanted = ["run", "--scenario", "round-robin/calm", "--cluster", "containers", "--server", "6.0.0", "--dry-run"]
    assert guarded(wanted) == ExitCode.CONFORMS
    assert "clusters of RocketMQ 6.0.0 would be started" in capsys.readouterr().out


def test_a_baseline_without_rules_is_refused_by_compare_too(capsys: pytest.CaptureFixture[str]) -> None:
    """``compare`` also refuses a baseline without rules."""
    assert guarded(["compare", "cpp:2.1.0", "5.3.3"]) == ExitCode.USAGE
    assert "the other way round: java:5.3.3, then cpp:2.1.0" in capsys.readouterr().err


def test_compare_takes_bare_releases(capsys: pytest.CaptureFixture[str]) -> None:
    """Bare releases in ``compare`` are the Java client's."""
    assert guarded(["compare", "4.7.1", "5.3.3", "--scenario", "round-robin/calm", "--dry-run"]) == ExitCode.CONFORMS
    assert "round-robin/calm/java:4.7.1~java:5.3.3" in capsys.readouterr().out


def test_every_option_that_decides_a_run_is_in_the_command_that_repeats_it() -> None:
    """The repeat command has exactly the options that decide a run."""
    assert {name for name, option in RUN_OPTIONS.items() if option.field} == set(TO_REPEAT)
    of_one_run = {"out", "master", "build", "dry-run", "bisect", "last-failed", "max-failures"}
    assert set(RUN_OPTIONS) - set(TO_REPEAT) == of_one_run


def test_the_command_that_repeats_a_run_asks_for_the_same_run() -> None:
    """The repeat command parses to the same request."""
    request = asked(
        JAVA,
        SubjectId("java", "4.9.8"),
        Selection("full", ("a/*", "b"), Path("mine")),
        backend_named("containers:host", "4.9.7"),
        Judging(Policy(Inconclusive.PASS, strict=True), LedgerChoice((Path("x.yaml"), Path("y.yaml")), shipped=False)),
        seed=9,
        is_wire_wanted=True,
        is_control_wanted=True,
    )
    words = shlex.split(command_line(request, 9))[2:]
    given: dict[str, Any] = {}
    while words:
        option = RUN_OPTIONS[words.pop(0).removeprefix("--")]
        value = True if option.type is bool else option.type(words.pop(0))
        given[option.key] = [*given.get(option.key, []), value] if option.is_many else value
    assert request_of(given) == request


def test_a_run_that_the_machine_ends_has_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What ends while cases run, such as a relay, gives its cause, exit code ENVIRONMENT and the machine line of no verdict."""

    def end(*_: object) -> None:
        raise EnvironmentMissing("the recording relay to answer", seen="it ended", hint="see its log")

    monkeypatch.setattr("rocketdiff.run.execute.run_cases", end)
    monkeypatch.setattr("rocketdiff.run.execute.fetch", lambda request: request)
    words = ["run", "--subject", "python:5.3.3", "--subject", "toy:honest", "--scenario", "round-robin/calm"]
    code = guarded([*words, "--server", "5.3.3", "--master", "none", "--out", str(tmp_path)])
    output = capsys.readouterr()
    assert code == ExitCode.ENVIRONMENT
    assert output.out.splitlines()[-1].startswith("VERDICT error ")
    assert "expected the recording relay to answer; saw it ended" in " ".join(output.err.split())
