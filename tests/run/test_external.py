"""An external cluster before a start: possible cases and the dry run."""

import socket
import subprocess
from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.cluster.start import backend_named
from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.run.dry_run import describe
from rocketdiff.run.execute import plan_cases
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.request import RunRequest, Selection, command_line
from rocketdiff.run.selection import NO_CALL, Choice
from tests.requests import asked

JAVA, PYTHON = SubjectId("java", "5.3.3"), SubjectId("python", "5.3.3")

PAUSE_ONE = ("run", "--scenario", "fault-latency/pause-one-of-two", "--dry-run")

FILE = """\
format: 1
name: staging
topic_prefix: rocketdiff-team
name_servers:
  - {address: "127.0.0.1:1"}
brokers:
  a: {name: mq-red}
  b: {name: mq-blue, pause: pause-blue --now, resume: resume-blue}
"""


@pytest.fixture
def backend(tmp_path: Path) -> str:
    """The --cluster value."""
    (tmp_path / "cluster.yaml").write_text(FILE)
    return f"external:{tmp_path / 'cluster.yaml'}"


def request(backend: str, *patterns: str) -> RunRequest:
    return asked(JAVA, PYTHON, Selection(patterns=patterns), backend_named(backend))


def test_faults_and_brokers_of_a_case_have_the_owners_names(backend: str) -> None:
    """Faults, records and reports have the owner's broker names; the scenario text is unchanged."""
    wanted = request(backend, "fault-latency/pause-one-of-two")
    (case,) = plan_cases(wanted, 1)
    assert [(fault.kind, fault.node) for fault in case.faults] == [(FaultKind.PAUSE, "mq-blue")]
    (entry,) = manifest_of(wanted, 1, (case,)).cases
    assert entry.brokers == ("mq-red", "mq-blue")
    assert "broker: b" in entry.scenario_text


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("fault-latency/pause-both-of-two", "no pause command of mq-red"),
        ("fault-latency/kill-one-of-two", "no kill command of mq-blue"),
        ("fault-latency/pause-one-of-three", "no broker c"),
        ("name-server/pause-one-of-two", "no name server 2"),
        ("delay/level-one", "which rocketdiff must neither read nor clean"),
    ],
)
def test_a_scenario_asked_for_by_name_is_refused_with_the_reason(backend: str, scenario: str, reason: str) -> None:
    """A scenario requested by name that the cluster cannot run is refused with the reason."""
    with pytest.raises(UsageError) as raised:
        plan_cases(request(backend, scenario), 1)
    assert reason in str(raised.value)
    assert scenario in str(raised.value)
    assert "cluster.yaml" in str(raised.value)


def test_the_rest_of_a_suite_is_run_and_skips_have_reasons(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Other scenarios of a pattern that the cluster cannot run are left out and named."""
    names = {case.scenario.name for case in plan_cases(request(backend, "fault-latency/pause-*"), 1)}
    assert "fault-latency/pause-one-of-two" in names
    assert "fault-latency/pause-both-of-two" not in names
    assert guarded(["run", "--cluster", backend, "--scenario", "fault-latency/pause-*", "--dry-run"]) == 0
    reported = capsys.readouterr().out
    assert "left out: fault-latency/pause-both-of-two: no pause command of mq-red" in reported
    assert "left out: fault-latency/pause-one-of-three: no broker c" in reported


def test_when_nothing_can_be_run_the_reasons_are_the_message(backend: str) -> None:
    """If no scenario can run the reasons are a usage error, not a pass."""
    with pytest.raises(UsageError, match="no broker c"):
        plan_cases(request(backend, "fault-latency/pause-one-of-th*"), 1)


def test_a_dry_run_has_topics_and_timed_commands_and_touches_nothing(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dry run prints topics and timed commands without connection, process or file."""

    def untouchable(*_: object, **__: object) -> None:
        raise AssertionError("a dry run did something")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket.socket, "connect", untouchable)
    monkeypatch.setattr(subprocess, "Popen", untouchable)
    before = sorted(tmp_path.rglob("*"))
    assert guarded([*PAUSE_ONE, "--cluster", backend, "--seed", "1"]) == ExitCode.CONFORMS
    assert sorted(tmp_path.rglob("*")) == before
    reported = capsys.readouterr().out
    assert "topic rocketdiff-team-<run>-001-baseline: 4 queues on each of mq-red, mq-blue" in reported
    assert "fault: mq-blue paused at 1.5 s for 1 s" in reported
    assert "    at 1.5 s: pause-blue --now\n    at 2.5 s: resume-blue\n" in reported
    assert "a pause of it is witnessed by its probe alone" in reported


def test_a_dry_run_of_a_cluster_of_ours_has_the_same_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run on own clusters prints faults without commands."""
    assert guarded([*PAUSE_ONE]) == ExitCode.CONFORMS
    reported = capsys.readouterr().out
    assert "clusters of RocketMQ 5.3.3 would be started" in reported
    assert "fault: broker-b paused at 1.5 s for 1 s" in reported
    assert "topic" not in reported


def test_a_dry_run_has_the_topics_and_groups_of_consumers(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every topic and group that a case about consumers makes; retries are in a topic of all users, and left out."""
    wanted = ["run", "--cluster", backend, "--suite", "consumers", "--dry-run"]
    assert guarded(wanted) == ExitCode.CONFORMS
    reported = capsys.readouterr().out
    prefix = "rocketdiff-team-<run>-001"
    assert f"topic {prefix}-fed<nn>: " in reported
    assert f"group {prefix}-b<nn>, and -w0 to -w" in reported
    assert f"group {prefix}-c<nn>, and -w0 to -w" in reported
    assert "topic rocketdiff-team-<run>-001-baseline" not in reported
    assert "left out: retries/to-the-dead-letters: delayed messages are in a topic shared by all users" in reported
    assert "left out: ordered-group/suspended" not in reported


def test_a_dry_run_has_the_events_of_members(capsys: pytest.CaptureFixture[str]) -> None:
    """By time, beside the faults."""
    scenario = ["--scenario", "groups/member-killed-and-paused", "--dry-run"]
    assert guarded(["run", "--subject", "python:5.3.3", "--subject", "python:5.5.0", *scenario]) == ExitCode.CONFORMS
    reported = capsys.readouterr().out
    assert "  member: kill 0 at 9.2 s\n  member: pause 1 at 18 s for 6 s\n" in reported


def test_a_dry_run_ends_with_how_much_it_is_and_on_what_terms(capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run ends with totals: five checks of the scenario and three general ones; 2 s of sends, twice."""
    wanted = ["run", "--scenario", "round-robin/calm", "--dry-run", "--wire", "--control", "--no-ledger", "--strict"]
    assert guarded(wanted) == ExitCode.CONFORMS
    *_, total, terms = capsys.readouterr().out.splitlines()
    assert total == "in all: 1 case and as many controls, 10 checks; 4 s of sending, the run takes longer"
    assert terms == "suite all on processes, relays before both clients; ledgers: none; inconclusive: fail, strict"


def test_a_dry_run_has_controls_after_their_cases(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run with --control prints each control, with its own topics and pauses, after its case."""
    wanted = [*PAUSE_ONE, "--cluster", backend]
    assert guarded(wanted) == ExitCode.CONFORMS
    assert "its control" not in capsys.readouterr().out
    assert guarded([*wanted, "--control"]) == ExitCode.CONFORMS
    reported = capsys.readouterr().out
    assert "\nthen its control: fault-latency/pause-one-of-two/java:5.3.3~java:5.3.3, " in reported
    assert "topic rocketdiff-team-<run>-control-001-candidate: 4 queues on each of mq-red, mq-blue" in reported
    assert reported.count("pause-blue --now") == 2


def test_a_dry_run_names_what_a_client_has_no_call_for() -> None:
    """A dry run names the scenarios left out for a missing call or broker."""
    wanted = asked(JAVA, PYTHON, Selection(patterns=("round-robin/calm",)))
    choice = Choice((), {ClientRole.PRODUCER: (("odd/call", NO_CALL),)}, (("odd/place", "no broker c"),))
    lines = list(describe(wanted, plan_cases(wanted, 1), choice))
    assert "left out: odd/call: one of the two clients has no such call" in lines
    assert "left out: odd/place: no broker c" in lines


def test_the_command_that_repeats_a_run_names_the_cluster_file(backend: str) -> None:
    """The repeat command has the cluster file and no --server."""
    line = command_line(request(backend, "round-robin/calm"), 7)
    assert f"--cluster {backend} --seed 7" in line
    assert "--server" not in line


def test_a_server_release_is_not_chosen_on_an_external_cluster(
    backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """--server with an external cluster is exit code 4."""
    assert guarded(["run", "--cluster", backend, "--server", "4.9.7"]) == ExitCode.USAGE
    assert "no --server with --cluster external" in capsys.readouterr().err


def test_a_name_server_that_does_not_answer_is_named(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name server that does not answer is an environment error without a run directory."""
    monkeypatch.chdir(tmp_path)
    assert guarded(["run", "--cluster", backend, "--scenario", "round-robin/calm"]) == ExitCode.ENVIRONMENT
    output = capsys.readouterr().err
    assert "name server 127.0.0.1:1 to report its brokers" in output
    assert "cluster.yaml" in output
    assert not list(tmp_path.glob("reports/*"))
