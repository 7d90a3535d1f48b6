"""What a control arm records about a case."""

from dataclasses import replace

import pytest

from rocketdiff.calibration.plan import control_case
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Severity, Verdict
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.subject import SubjectId
from rocketdiff.run.control_arm import control_cases, guard_of
from rocketdiff.run.manifest import entry_of
from rocketdiff.scenario import expand

CASE = expand(control_case(1, 1).case.scenario, SubjectId("java", "5.3.3"), SubjectId("python", "5.3.3"), seed=9)
LOST = Divergence("loss.x", "java:5.3.3", 1, Example(at(Place.SEND, 7, 0, None), "calm", "it is stored", "it is not"))
QUIET = CheckResult("c", "loss", Verdict.CONFORMS)


def test_a_control_is_the_same_case_of_the_baseline_against_itself() -> None:
    """A control is the same plan with the baseline as both arms."""
    (own,) = control_cases([CASE])
    assert str(own.id).endswith("/java:5.3.3~java:5.3.3")
    assert own.plan == CASE.plan


def test_a_control_is_done_on_the_brokers_of_its_case() -> None:
    """A control has its case's brokers and faults, also if brokers are renamed."""
    renamed = replace(CASE, brokers=("mq-red", "mq-blue"))
    (own,) = control_cases([renamed])
    assert own.brokers == ("mq-red", "mq-blue")
    assert own.scenario == renamed.scenario


@pytest.mark.parametrize(
    ("results", "held", "seen"),
    [
        ((QUIET,), True, "no alarm in 1 answers"),
        ((QUIET, CheckResult("c", "loss", Verdict.DIVERGES, divergences=(LOST,))), False, "loss: loss.x"),
        ((QUIET, CheckResult("c", "x", Verdict.DIVERGES, Severity.SHOULD)), True, "no alarm in 2 answers"),
        ((CheckResult("c", "loss", Verdict.INVALID),), True, "nothing, because it could not be decided"),
    ],
)
def test_only_what_would_fail_a_gate_breaks_the_guard(results: tuple[CheckResult, ...], held: bool, seen: str) -> None:
    """Only a gate failure breaks the control guard; an undecided control states that it shows nothing."""
    guard = guard_of("control", results, entry_of(1, CASE), "java:5.3.3")
    assert (guard.held, guard.seen) == (held, seen)
    assert guard.expected == "java:5.3.3 to conform to itself in the same case"
