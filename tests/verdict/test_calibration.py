"""False alarms and their rates, with limits calculated manually or taken from tables."""

import pytest

from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Severity, Verdict
from rocketdiff.verdict.calibration import Rate
from rocketdiff.verdict.gate_rate_tally import ControlOutcome, KnownOutcome, TalliedAnswer, found, summed

QUIET = (
    TalliedAnswer("queue-choice", Verdict.CONFORMS, Severity.MUST),
    TalliedAnswer("timing", Verdict.INCONCLUSIVE, Severity.INFO),
    TalliedAnswer("validity", Verdict.CONFORMS, Severity.MUST),
)
ALARM = TalliedAnswer("queue-choice", Verdict.DIVERGES, Severity.MUST, ("queue.out-of-turn/first",), "a0", "b1")
INVALID = tuple(TalliedAnswer(check, Verdict.INVALID, Severity.MUST) for check in ("queue-choice", "validity"))


def case(
    number: int, *answers: TalliedAnswer, subject: str = "java:5.3.3", trouble: str = "", mode: str = ""
) -> ControlOutcome:
    return ControlOutcome(number, f"control/c{number}", subject, answers, trouble, mode=mode)


@pytest.mark.parametrize(
    ("seen", "n", "low", "high", "bound"),
    [
        (0, 299, 0.0, 0.012262, 0.009969),  # 1 - 0.025^(1/299), 1 - 0.05^(1/299): below one per cent
        (0, 300, 0.0, 0.012221, 0.009936),
        (1, 300, 0.000084, 0.018431, 0.015715),
        (3, 50, 0.012549, 0.165482, 0.147837),  # binom.test(3, 50) of R
        (0, 0, 0.0, 1.0, 1.0),
    ],
)
def test_a_rate_comes_with_its_exact_limits(seen: int, n: int, low: float, high: float, bound: float) -> None:
    """A rate has an exact two-sided interval and a one-sided "at most" bound."""
    rate = Rate.of(seen, n)
    assert (rate.low, rate.high, rate.bound) == (
        pytest.approx(low, abs=1e-5),
        pytest.approx(high, abs=1e-5),
        pytest.approx(bound, abs=1e-5),
    )


def test_only_decided_cases_bound_a_rate() -> None:
    """Invalid and aborted cases could not alarm and do not count."""
    controls = summed([case(1, *QUIET), case(2, *QUIET), case(3, *INVALID), case(4, trouble="no room")], [])
    assert (controls.cases, controls.invalid, controls.broke_off) == (4, 1, 1)
    assert controls.alarms_per_case == Rate.of(0, 2)
    checks = {row.check: row for row in controls.checks}
    assert (checks["queue-choice"].alarms, checks["queue-choice"].without_answer) == (Rate.of(0, 2), 1)


def test_an_alarm_is_counted_for_its_case_its_check_and_its_client_and_told() -> None:
    """An alarm counts for its case, check and client and is listed."""
    controls = summed([case(1, *QUIET), case(2, ALARM, subject="python:5.3.3")], [])
    assert controls.alarms_per_case == Rate.of(1, 2)
    assert {row.subject: row.alarms.seen for row in controls.subjects} == {"java:5.3.3": 0, "python:5.3.3": 1}
    assert {row.check: row.alarms.seen for row in controls.checks} == {"queue-choice": 1, "validity": 0}
    (alarm,) = controls.alarms
    assert (alarm.number, alarm.check, alarm.signatures) == (2, "queue-choice", ("queue.out-of-turn/first",))


def test_the_decided_cases_are_counted_by_sending_mode_and_by_client() -> None:
    """Decided cases count by send mode and by client over all releases; without a mode by client only."""
    controls = summed(
        [
            case(1, *QUIET, mode="sync"),
            case(2, ALARM, mode="async"),
            case(3, *QUIET, mode="async", subject="java:4.7.1"),
            case(4, *INVALID, mode="oneway"),
            case(5, *QUIET, subject="python:5.3.3"),
        ],
        [],
    )
    assert {row.mode: row.alarms for row in controls.modes} == {"async": Rate.of(1, 2), "sync": Rate.of(0, 1)}
    assert {row.client: row.alarms for row in controls.clients} == {"java": Rate.of(1, 3), "python": Rate.of(0, 1)}


@pytest.mark.parametrize("verdict", [Verdict.DIVERGES, Verdict.ERROR, Verdict.STALE])
def test_whatever_fails_a_gate_is_an_alarm(verdict: Verdict) -> None:
    """Any gating failure is an alarm, also of a check about the run."""
    assert summed([case(1, TalliedAnswer("protocol", verdict, Severity.MUST))], []).alarms_per_case == Rate.of(1, 1)


def test_what_does_not_gate_is_a_warning() -> None:
    """A SHOULD divergence is a warning: screened checks have their own error rate."""
    warning = TalliedAnswer("timing", Verdict.DIVERGES, Severity.SHOULD)
    controls = summed([case(1, *QUIET, warning)], [])
    assert controls.alarms_per_case == Rate.of(0, 1)
    assert {row.check: row.warnings for row in controls.checks}["timing"] == 1
    timing = next(row for row in controls.checks if row.check == "timing")
    assert (timing.alarms.n, timing.without_answer) == (0, 0), "what cannot alarm was no chance to"


def test_the_pools_of_a_gate_run_are_one_trial() -> None:
    """The overlapping pools of a gate run are one trial; warning pools are none."""
    quiet, alarm = (TalliedAnswer("timing", one, Severity.MUST) for one in (Verdict.EQUIVALENT, Verdict.DIVERGES))
    warns = TalliedAnswer("timing", Verdict.EQUIVALENT, Severity.SHOULD)
    controls = summed([], [case(1, quiet, quiet, quiet), case(2, quiet, alarm), case(3, warns)])
    assert {row.check: row.alarms for row in controls.checks} == {"timing": Rate.of(1, 2)}
    assert controls.alarms_per_run == Rate.of(1, 2)


def test_a_gate_run_alarms_by_its_pooled_checks_or_by_one_of_its_cases() -> None:
    """A gate run alarms by a pooled check or by one of its cases."""
    pooled = TalliedAnswer("timing", Verdict.DIVERGES, Severity.MUST, ("timing.blocked-send-duration-differs",))
    quiet = TalliedAnswer("timing", Verdict.EQUIVALENT, Severity.MUST)
    runs = [case(1, quiet), case(2, pooled), ControlOutcome(3, "run 3", "java:5.3.3", (quiet,), cases_alarmed=True)]
    controls = summed([case(1, *QUIET)], runs)
    assert controls.alarms_per_run == Rate.of(2, 3)
    assert controls.alarms_per_case == Rate.of(0, 1)


def test_an_answer_keeps_what_tells_an_alarm_from_others() -> None:
    """An answer keeps all signatures and the first example."""
    example = Example(7, 0, 0, "calm", "a queue in turn", "another one")
    result = CheckResult(
        "c", "loss", Verdict.DIVERGES, divergences=(Divergence("x", "s", 1, example), Divergence("y", "s", 2, example))
    )
    answer = TalliedAnswer.of(result)
    assert (answer.signatures, answer.expected, answer.observed) == (("x", "y"), "a queue in turn", "another one")


def test_a_known_divergence_is_found_out_of_the_repeats_that_were_decided() -> None:
    """A known divergence is rated over its decided repeats."""
    told = [
        KnownOutcome("K1", "java:4.7.1", "java:5.3.3", "a/queue-choice", seen) for seen in (True, True, False, None)
    ]
    (one,) = found(told)
    assert (one.entry, one.seen, one.without_answer) == ("K1", Rate.of(2, 3), 1)
