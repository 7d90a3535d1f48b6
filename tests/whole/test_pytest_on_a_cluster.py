"""The pytest plugin with real brokers: a user's tests, scenarios and workers."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.cluster.containers.engines import engine_or_skip
from tests.live import repeated
from tests.pytest_plugin.foreign_project import TOYS, ForeignProject, foreign_project
from tests.whole.stage import GUARDED_TRIES, broken_guards, why_invalid

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

OWN_TESTS = """
import pytest

pytestmark = pytest.mark.rocketdiff(topology="one-master")


def test_a_paused_broker_is_noticed(rocketmq_cluster, rocketdiff_subject):
    from rocketdiff.core.tables.settings import ClientSettings
    paused = lambda: rocketmq_cluster.pause("broker-a")
    hasty = ClientSettings(send_msg_timeout_ms=300, retry_times_when_send_failed=0)
    told = rocketdiff_subject("python:5.3.3").send(1, settings=hasty, once_ready=paused)
    assert told.sends[0].error is not None


def test_the_next_test_has_a_healed_one(rocketmq_cluster, rocketdiff_subject):
    (broker,) = rocketmq_cluster.brokers
    assert rocketmq_cluster.state(broker.name) == "running"
    told = rocketdiff_subject("python:5.3.3").send(5)
    assert [send.status for send in told.sends] == ["SEND_OK"] * 5
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> ForeignProject:
    return foreign_project(pytester, monkeypatch)


def guarded_session(project: ForeignProject, *arguments: str) -> pytest.RunResult:
    """Return pytest's result in the project, repeated only while a guard makes a case invalid."""

    def session(number: int) -> pytest.RunResult:
        project.set_runs_aside(number)
        return project.pytest(*arguments)

    return repeated(session, lambda _: why_invalid(*project.runs()), GUARDED_TRIES)


def document_of(folder: Path) -> dict[str, Any]:
    reported: dict[str, Any] = json.loads((folder / "report.json").read_bytes())
    return reported


def test_own_tests_and_scenarios_share_a_cluster_and_end_with_a_verdict(project: ForeignProject) -> None:
    """
    A user's tests and scenarios share a cluster: exit 0, one run directory with reports, and the machine line.

    If a guard breaks on a busy machine, the session is repeated; item, exit code and line must agree.
    """
    project.scenario("ours/calm")
    project.test(OWN_TESTS)
    result = guarded_session(project, *TOYS, "toy:honest")
    (run,) = project.runs()
    is_fit = not broken_guards(run)
    assert result.ret == (pytest.ExitCode.OK if is_fit else pytest.ExitCode.TESTS_FAILED)
    result.assert_outcomes(passed=3 if is_fit else 2, failed=0 if is_fit else 1)
    result.stdout.fnmatch_lines(
        [
            "rocketdiff: python:5.3.3 against toy:honest, seed 5",
            "*reproduce*pytest*",
            f"VERDICT {'conforms' if is_fit else 'invalid'} new=0 declared=0 stale=0 * checks=9 seed=5 run={run.name}",
        ]
    )
    reported = document_of(run)
    assert reported["run"]["cases"][0]["scenario_file"] == "conformance/calm.yaml"
    assert all((run / name).stat().st_size for name in ("report.html", "summary.md", "results.sarif", "badge.json"))
    assert list((run / "cluster" / "one-master").iterdir())


def test_workers_have_a_cluster_and_a_run_directory_each(project: ForeignProject) -> None:
    """
    Under `-n 2 --dist loadgroup` each worker has one topology; items fail with the signature, in one verdict.

    Success without sending is reported even in a case that a busy machine makes invalid.
    """
    project.scenario("ours/one")
    project.scenario("ours/two", "two-masters")
    junit = ("--junitxml", "junit.xml", "-n", "2", "--dist", "loadgroup")
    result = project.pytest(*TOYS, "toy:drops", *junit)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=2)
    reported = [
        r"(diverges|invalid): ours/.*",
        r"[✗!] loss (diverges|invalid).*",
        r" +loss\.\S+, toy:drops, .*",
        r" +expected: .*",
    ]
    result.stdout.re_match_lines(reported)
    runs = project.runs()
    assert [run.name[-4:] for run in runs] == ["-gw0", "-gw1"]
    topologies = {json.loads((run / "run.json").read_bytes())["cases"][0]["topology"] for run in runs}
    assert topologies == {"one-master", "two-masters"}
    (report,) = (project.path / "reports").glob("*/report.json")
    result.stdout.fnmatch_lines(["VERDICT * checks=18 seed=5 *-gw0+*-gw1"])
    assert {row["case"].split("/")[1] for row in document_of(report.parent)["results"]} >= {"one", "two"}
    properties = ET.parse(project.path / "junit.xml").getroot().iter("property")
    assert any(one.get("name") == "rocketdiff_signature" for one in properties)


@pytest.mark.container
def test_own_tests_get_their_brokers_in_containers(project: ForeignProject) -> None:
    """With ``--rocketdiff-cluster containers`` the fixtures start the broker in a container."""
    for _ in engine_or_skip():
        project.test(
            "import pytest\n"
            "from rocketdiff.cluster.containers.engine import Engine\n"
            "@pytest.mark.rocketdiff(topology='one-master')\n"
            "def test_it_answers(rocketmq_cluster, rocketdiff_subject):\n"
            "    told = rocketdiff_subject('python:5.3.3').send(5)\n"
            "    assert [send.status for send in told.sends] == ['SEND_OK'] * 5\n"
            "    engine = Engine.connect()\n"
            "    names = [one.name for one in engine.containers()]\n"
            "    engine.close()\n"
            "    assert any('broker-a' in name for name in names), names\n"
        )
        project.pytest("--rocketdiff-cluster", "containers").assert_outcomes(passed=1)
