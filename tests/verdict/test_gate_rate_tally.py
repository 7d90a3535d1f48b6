"""False alarms and their rates, with limits calculated manually or taken from tables."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.verdict import calibration, defects_found
from rocketdiff.verdict.calibration import Rate
from rocketdiff.verdict.gate_rate_tally import ControlOutcome, KnownOutcome, TalliedAnswer, found, summed
from tests.ledger.ledger_entries import ONE, divergence, result

FIXTURES = Path(__file__).parents[2] / "fixtures"
MUST, SHOULD, INFO = Severity.MUST, Severity.SHOULD, Severity.INFO

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


def test_an_alarm_counts_for_its_case_check_and_client() -> None:
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


def test_the_pools_of_a_gate_run_are_one_trial() -> None:
    """The overlapping pools of a gate run are one trial if one of them was decided; warning pools are none."""
    quiet, alarm = (TalliedAnswer("timing", one, Severity.MUST) for one in (Verdict.EQUIVALENT, Verdict.DIVERGES))
    warns = TalliedAnswer("timing", Verdict.EQUIVALENT, Severity.SHOULD)
    open_one = TalliedAnswer("timing", Verdict.INCONCLUSIVE, Severity.MUST)
    controls = summed([], [case(1, quiet, quiet, open_one), case(2, quiet, alarm), case(3, warns)])
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


def test_only_gating_answers_make_a_control_case_invalid() -> None:
    """Only an INVALID gating answer makes a control case invalid."""
    measured = TalliedAnswer("timing", Verdict.INVALID, Severity.INFO)
    gating = TalliedAnswer("loss", Verdict.INVALID, Severity.MUST)
    assert summed([case(1, measured), case(1, gating)], []).invalid == 1


def test_a_gate_run_whose_cases_alarmed_is_a_trial() -> None:
    """A gate run whose cases alarmed is a trial, even without a decided pooled check."""
    open_question = TalliedAnswer("timing", Verdict.INCONCLUSIVE, Severity.SHOULD)
    assert summed(
        [], [replace(case(1, open_question), cases_alarmed=True), case(1, open_question)]
    ).alarms_per_run == Rate.of(1, 1)


def test_a_check_of_several_pools_is_one_trial() -> None:
    """Pools of a check are one trial if one was decided; a SHOULD divergence is a warning."""
    passed = TalliedAnswer("timing", Verdict.EQUIVALENT, Severity.MUST)
    open_question = TalliedAnswer("timing", Verdict.INCONCLUSIVE, Severity.SHOULD)
    warning = TalliedAnswer("loss", Verdict.DIVERGES, Severity.SHOULD)
    alarm = TalliedAnswer("order", Verdict.DIVERGES, Severity.MUST)
    rows = {row.check: row for row in summed([], [case(1, passed, open_question, warning, alarm)]).checks}
    assert (rows["timing"].alarms, rows["timing"].without_answer) == (Rate.of(0, 1), 0)
    assert (rows["loss"].alarms, rows["loss"].warnings) == (Rate.of(0, 0), 1)
    assert (rows["order"].alarms, rows["order"].warnings) == (Rate.of(1, 1), 0)


def test_a_long_sentence_is_kept_to_its_four_hundredth_character() -> None:
    """Expected, observed and reason are cut to 400 characters, from the first divergence."""
    long = replace(divergence(), example=replace(divergence().example, expected="e" * 401, observed="o" * 400))
    kept = TalliedAnswer.of(result(ONE, long, divergence("second"), reason="r" * 401))
    assert (kept.expected, kept.observed, kept.reason) == ("e" * 400, "o" * 400, "r" * 400)
    assert kept.signatures == ("avoidance.used/first", "second")
    assert TalliedAnswer.of(result(ONE)).expected == ""


@pytest.mark.parametrize(
    ("verdict", "severity", "is_alarm", "is_trial"),
    [
        (Verdict.DIVERGES, MUST, True, True),
        (Verdict.STALE, MUST, True, True),
        (Verdict.ERROR, MUST, True, True),
        (Verdict.ERROR, SHOULD, True, True),
        (Verdict.ERROR, INFO, True, True),
        (Verdict.DIVERGES, SHOULD, False, False),
        (Verdict.STALE, INFO, False, False),
        (Verdict.CONFORMS, MUST, False, True),
        (Verdict.EQUIVALENT, MUST, False, True),
        (Verdict.CONFORMS, SHOULD, False, False),
        (Verdict.INCONCLUSIVE, MUST, False, False),
        (Verdict.INVALID, MUST, False, False),
        (Verdict.NOT_APPLICABLE, MUST, False, False),
    ],
)
def test_an_alarm_fails_a_gate(verdict: Verdict, severity: Severity, is_alarm: bool, is_trial: bool) -> None:
    """An alarm fails a gate, as any ERROR does; a trial is an alarm or a decisive gating answer."""
    answer = TalliedAnswer("loss", verdict, severity)
    assert (answer.is_alarm, answer.is_trial) == (is_alarm, is_trial)
    assert case(1, answer).has_alarm is is_alarm


@pytest.mark.parametrize(
    ("check", "verdict", "severity", "is_decided"),
    [
        ("loss", Verdict.CONFORMS, MUST, True),
        ("loss", Verdict.CONFORMS, SHOULD, False),
        ("loss", Verdict.CONFORMS, INFO, False),
        ("loss", Verdict.INVALID, MUST, False),
        ("validity", Verdict.CONFORMS, MUST, False),
        ("protocol", Verdict.CONFORMS, MUST, False),
        ("protocol", Verdict.DIVERGES, MUST, True),
        ("validity", Verdict.ERROR, INFO, True),
    ],
)
def test_a_case_is_decided_by_a_gating_check_about_the_client(
    check: str, verdict: Verdict, severity: Severity, is_decided: bool
) -> None:
    """A gating check about the client decides a case; checks of the run do so only by failing."""
    assert case(1, TalliedAnswer(check, verdict, severity)).is_decided is is_decided


def test_only_a_should_divergence_is_a_warning() -> None:
    """A SHOULD divergence is a warning; a pass is none, and an ERROR is an alarm."""
    answers = [
        TalliedAnswer("timing", Verdict.EQUIVALENT, SHOULD),
        TalliedAnswer("order", Verdict.DIVERGES, SHOULD),
        TalliedAnswer("loss", Verdict.ERROR, SHOULD),
    ]
    rows = {row.check: row for row in summed([case(1, *answers)], []).checks}
    assert {name: row.warnings for name, row in rows.items()} == {"timing": 0, "order": 1, "loss": 0}
    assert {name: row.without_answer for name, row in rows.items()} == {"timing": 0, "order": 0, "loss": 0}
    assert rows["loss"].alarms == Rate.of(1, 1)


def test_a_known_divergence_that_was_seen_three_times_in_four() -> None:
    """A known divergence seen in three of four decided repeats has that rate."""
    outcomes = [KnownOutcome("K1", "java:4.7.1", "java:5.3.3", "a", seen) for seen in (True, True, True, False, None)]
    (one,) = found(outcomes)
    assert (one.entry, one.seen, one.without_answer) == ("K1", Rate.of(3, 4), 1)


@pytest.mark.parametrize(
    ("file", "version"),
    [("calibration.json", calibration.SCHEMA_VERSION), ("sensitivity.json", defects_found.SCHEMA_VERSION)],
)
def test_stored_figures_have_the_current_major_version(file: str, version: str) -> None:
    """Stored figures have the current major version and no newer minor one."""
    stored = json.loads((FIXTURES / file).read_text(encoding="utf-8"))["schema_version"]
    (major, minor, _), (stored_major, stored_minor, _) = (tuple(map(int, one.split("."))) for one in (version, stored))
    assert (major, minor >= stored_minor) == (stored_major, True)
