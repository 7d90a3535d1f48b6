"""What the runner decides before anything is started."""

from pathlib import Path

import pytest

from harness.core.errors import UsageError
from harness.core.subject import SubjectId
from harness.run import RunRequest, command_line, left_out, manifest_of, plan_cases
from harness.verdict.policy import Inconclusive, Policy

JAVA, PYTHON = SubjectId("java", "5.3.3"), SubjectId("python", "5.3.3")


def test_cases_of_one_topology_stand_together() -> None:
    """So that every cluster starts once."""
    topologies = [case.scenario.topology for case in plan_cases(RunRequest(JAVA, PYTHON), 1)]
    assert topologies == sorted(topologies)
    assert len(topologies) > 40


def test_the_same_seed_gives_both_arms_and_every_run_the_same_plan() -> None:
    """A plan depends on scenario and seed only."""
    quick = RunRequest(JAVA, PYTHON, suite="quick")
    swapped = RunRequest(PYTHON, JAVA, suite="quick")
    plans = [case.plan for case in plan_cases(quick, 7)]
    assert plans == [case.plan for case in plan_cases(swapped, 7)]
    assert plans != [case.plan for case in plan_cases(quick, 8)]


def test_nothing_to_run_is_a_usage_error() -> None:
    """A typing error must not look like a pass."""
    with pytest.raises(UsageError):
        plan_cases(RunRequest(JAVA, PYTHON, patterns=("no/such-scenario",)), 1)


def test_scenarios_that_a_client_has_no_call_for_are_left_out_and_named() -> None:
    """Without an explicit queue there is nothing to compare; asked for nothing else, that is the message."""
    cpp = RunRequest(JAVA, SubjectId("cpp", "2.1.0"), patterns=("explicit-queue/*", "round-robin/calm"))
    assert [case.scenario.name for case in plan_cases(cpp, 1)] == ["round-robin/calm"]
    assert set(left_out(cpp)) == {"explicit-queue/calm", "explicit-queue/pause-one-of-two"}
    assert left_out(RunRequest(JAVA, PYTHON)) == ()
    with pytest.raises(UsageError, match="no such call"):
        plan_cases(RunRequest(JAVA, SubjectId("cpp", "2.1.0"), patterns=("batch/*",)), 1)


def test_the_command_that_repeats_a_run_holds_everything_that_decides_it() -> None:
    """Subjects, scenarios, server, seed and policy; quoted for a shell."""
    request = RunRequest(
        JAVA,
        PYTHON,
        patterns=("round-robin/*",),
        scenario_root=Path("my scenarios"),
        policy=Policy(Inconclusive.WARN, strict=True),
    )
    assert command_line(request, 42) == (
        "rocketdiff run --subject java:5.3.3 --subject python:5.3.3 --suite all --scenario 'round-robin/*'"
        " --scenarios 'my scenarios' --server 5.3.3 --seed 42 --inconclusive warn --strict"
    )


def test_the_manifest_names_every_check_and_broker_of_a_case() -> None:
    """What was planned is written down before anything happens, so that what is missing is missed."""
    request = RunRequest(JAVA, PYTHON, patterns=("fault-latency/pause-one-of-two",))
    (entry,) = manifest_of(request, 3, plan_cases(request, 3)).cases
    assert entry.brokers == ("broker-a", "broker-b")
    assert set(entry.checks) >= {"queue-choice", "avoidance", "protocol", "validity"}
