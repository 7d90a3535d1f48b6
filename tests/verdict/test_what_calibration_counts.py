"""Alarms, trials and warnings of control cases; notes on entries and proposals."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.ledger.lint import never_stale, unmatched
from rocketdiff.ledger.model import ExpectedRate as Share
from rocketdiff.ledger.model import Range
from rocketdiff.ledger.proposal import proposed_file
from rocketdiff.verdict import calibration, defects_found
from rocketdiff.verdict.calibration import Rate
from rocketdiff.verdict.gate_rate_tally import ControlOutcome, KnownOutcome, TalliedAnswer, found, summed
from tests.ledger.ledger_entries import ENTRY, OLD, ONE, RUN, divergence, entry, result
from tests.ledger.test_lint import KNOWN
from tests.ledger.test_lint import found as noted
from tests.ledger.test_proposal import DAY, DIVERGING, EVIDENCE, read

MUST, SHOULD, INFO = Severity.MUST, Severity.SHOULD, Severity.INFO
FIXTURES = Path(__file__).parents[2] / "fixtures"


def outcome(*answers: TalliedAnswer) -> ControlOutcome:
    return ControlOutcome(1, "control", "java:5.3.3", answers)


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
def test_an_alarm_is_what_would_have_failed_a_gate(
    verdict: Verdict, severity: Severity, is_alarm: bool, is_trial: bool
) -> None:
    """An alarm fails a gate, as any ERROR does; a trial is an alarm or a decisive gating answer."""
    answer = TalliedAnswer("loss", verdict, severity)
    assert (answer.is_alarm, answer.is_trial) == (is_alarm, is_trial)
    assert outcome(answer).has_alarm is is_alarm


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
    assert outcome(TalliedAnswer(check, verdict, severity)).is_decided is is_decided


def test_a_gate_run_with_one_trial_among_its_pools_is_a_trial() -> None:
    """A gate run with one decided pool is a trial."""
    passed, open_one = (
        TalliedAnswer("timing", Verdict.EQUIVALENT, MUST),
        TalliedAnswer("loss", Verdict.INCONCLUSIVE, MUST),
    )
    assert summed([], [outcome(passed, open_one)]).alarms_per_run == Rate.of(0, 1)


def test_a_check_that_only_warns_and_passes_is_no_warning() -> None:
    """A SHOULD divergence is a warning; a pass is none, and an ERROR is an alarm."""
    answers = [
        TalliedAnswer("timing", Verdict.EQUIVALENT, SHOULD),
        TalliedAnswer("order", Verdict.DIVERGES, SHOULD),
        TalliedAnswer("loss", Verdict.ERROR, SHOULD),
    ]
    rows = {row.check: row for row in summed([outcome(*answers)], []).checks}
    assert {name: row.warnings for name, row in rows.items()} == {"timing": 0, "order": 1, "loss": 0}
    assert {name: row.without_answer for name, row in rows.items()} == {"timing": 0, "order": 0, "loss": 0}
    assert rows["loss"].alarms == Rate.of(1, 1)


def test_a_known_divergence_that_was_seen_three_times_in_four() -> None:
    """A known divergence seen in three of four decided repeats has that rate."""
    told = [KnownOutcome("K1", "java:4.7.1", "java:5.3.3", "a", seen) for seen in (True, True, True, False, None)]
    (one,) = found(told)
    assert (one.seen, one.without_answer) == (Rate.of(3, 4), 1)


@pytest.mark.parametrize(
    ("file", "version"),
    [("calibration.json", calibration.SCHEMA_VERSION), ("sensitivity.json", defects_found.SCHEMA_VERSION)],
)
def test_what_is_stored_is_of_the_major_version_that_is_written(file: str, version: str) -> None:
    """Stored figures have the current major version and no newer minor one."""
    stored = json.loads((FIXTURES / file).read_text(encoding="utf-8"))["schema_version"]
    (major, minor, _), (stored_major, stored_minor, _) = (tuple(map(int, one.split("."))) for one in (version, stored))
    assert (major, minor >= stored_minor) == (stored_major, True)


def test_the_nearest_check_is_told_for_one_that_nobody_asks() -> None:
    """A misspelt check is noted with the closest known one; a sound entry has no note."""
    ((_, said),) = noted(entry(check="latency/pause-one/avoidence"))
    assert said.endswith("; close: latency/pause-one/avoidance")
    often = entry(rate=Share(0.98, 1.0))
    assert [unmatched(ENTRY, KNOWN), never_stale(ENTRY, KNOWN), never_stale(often, KNOWN)] == [""] * 3


def test_a_proposal_is_of_the_release_that_was_run() -> None:
    """A proposed entry covers only the releases of the run."""
    (first, _) = read(proposed_file(DIVERGING, RUN, EVIDENCE, DAY)).entries
    assert first.when.subject.version == Range.parse("==5.3.3")
    assert first.when.against is not None
    assert first.when.against.version == Range.parse("==4.7.1")


def test_a_difference_of_the_baseline_is_proposed_against_nobody() -> None:
    """A divergence of the baseline is proposed for any other client."""
    (own,) = read(proposed_file([result(ONE, divergence(subject=OLD))], RUN, EVIDENCE, DAY)).entries
    assert (own.when.subject.matches(OLD), own.when.against) == (True, None)


def test_a_proposal_is_written_as_people_read_it() -> None:
    """A proposal keeps non-ASCII letters, and quotation marks do not end its text."""
    command = 'rocketdiff compare --label "Büro" java:4.7.1 java:5.3.3'
    text = proposed_file(DIVERGING, RUN, replace(EVIDENCE, reproduce=command), DAY)
    assert "Büro" in text
    assert yaml.safe_load(text)["entries"][0]["evidence"]["reproduce"] == command
