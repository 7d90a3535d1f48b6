"""Which runs, checks and subjects an entry applies to, and its age."""

from dataclasses import replace
from datetime import date

import pytest

from rocketdiff.core.run_info import RunInfo, SubjectInfo
from rocketdiff.ledger.matching import (
    Age,
    age_of,
    check_path,
    checks_until_stale,
    covers,
    frequency_of,
    subjects_of,
)
from rocketdiff.ledger.model import Conditions, EntryState, ExpectedRate, Party, Range
from tests.ledger.ledger_entries import BOTH, ENTRY, NEW, OLD, ONE, PAIR, RUN, entry


def run(baseline: str, candidate: str, **more: str) -> RunInfo:
    both = {"baseline": SubjectInfo(baseline, "", ""), "candidate": SubjectInfo(candidate, "", "")}
    return replace(RUN, **both, **more)  # type: ignore[arg-type]  # fields of RunInfo by name


def test_a_check_is_named_without_the_pair_of_subjects() -> None:
    """A check is named without the pair of subjects, which conditions describe."""
    assert check_path(f"{ONE}/{PAIR}", "loss", RUN) == f"{ONE}/loss"
    assert check_path(f"pooled/x/{PAIR}", "timing", RUN) == "pooled/x/timing"


@pytest.mark.parametrize(
    ("baseline", "candidate", "declared"),
    [
        (OLD, NEW, {NEW}),
        (NEW, OLD, set()),
        (NEW, "java:5.5.0", set()),
        ("python:4.7.1", NEW, set()),
        (OLD, "python:5.3.3", set()),
        (OLD, "toy:drops", set()),
    ],
)
def test_with_a_baseline_only_the_candidate_is_declared(baseline: str, candidate: str, declared: set[str]) -> None:
    """With ``against`` only the candidate is declared, and both releases must be in range."""
    assert subjects_of(ENTRY, run(baseline, candidate)) == declared


def test_without_a_baseline_either_arm_is_declared() -> None:
    """Without ``against`` either arm is declared."""
    alone = entry(when=Conditions(Party("java")))
    assert subjects_of(alone, run(OLD, NEW)) == {OLD, NEW}
    assert subjects_of(alone, run("python:5.3.3", NEW)) == {NEW}
    assert subjects_of(alone, run(OLD, "python:5.3.3")) == {OLD}


def test_the_release_of_the_servers_is_a_condition() -> None:
    """The servers' release is a condition: an old broker's answer code says nothing about a client."""
    on_old = replace(ENTRY, when=replace(ENTRY.when, server=Range.parse("<5.0.0")))
    assert not subjects_of(on_old, run(OLD, NEW))
    assert subjects_of(on_old, run(OLD, NEW, server_release="4.9.8")) == {NEW}


@pytest.mark.parametrize(
    ("pattern", "path", "is_covered"),
    [
        ("latency/*/avoidance", f"{ONE}/avoidance", True),
        ("latency/**", f"{ONE}/avoidance", True),
        ("**", f"{ONE}/avoidance", True),
        ("latency/*", f"{ONE}/avoidance", False),
        ("latency/pause-one/loss", f"{ONE}/avoidance", False),
        ("**", f"{ONE}/validity", False),
    ],
)
def test_a_glob_covers_whole_names_and_never_validity(pattern: str, path: str, is_covered: bool) -> None:
    """One star stays within a part, two cross parts, and none covers ``validity``."""
    assert covers(entry(check=pattern), path, RUN.cases[0]) is is_covered


def test_faults_and_settings_of_the_case_are_conditions() -> None:
    """A case must meet the entry's conditions on faults and settings."""
    two = replace(ENTRY.when, faults=(("paused_brokers", Range.parse(">=2")),))
    assert not covers(entry(when=two), f"{ONE}/avoidance", RUN.cases[0])
    assert covers(entry(when=two), f"{BOTH}/avoidance", RUN.cases[1])
    off = replace(ENTRY.when, settings=(("send_latency_fault_enable", False),))
    assert not covers(entry(when=off), f"{ONE}/avoidance", RUN.cases[0])


@pytest.mark.parametrize(
    ("day", "age"),
    [
        (date(2027, 5, 1), Age.CURRENT),
        (date(2027, 5, 2), Age.WARNED),
        (date(2027, 5, 31), Age.WARNED),
        (date(2027, 6, 1), Age.LAPSED),
    ],
)
def test_an_entry_expires_after_its_last_day_and_lapses_a_month_later(day: date, age: Age) -> None:
    """An entry that expires on 2027-05-01 warns from the next day and lapses a month later."""
    assert age_of(entry(), day)[0] is age


@pytest.mark.parametrize(("day", "age"), [(date(2026, 12, 1), Age.WARNED), (date(2026, 12, 2), Age.LAPSED)])
def test_an_entry_without_an_owner_has_a_month_from_its_first_day(day: date, age: Age) -> None:
    """An entry of 2026-11-01 without an owner lapses after a month."""
    found, output = age_of(entry(owner=""), day)
    assert (found, output.startswith("has had no owner since 2026-11-01: name one")) == (age, True)


def test_both_reasons_are_given_and_the_earlier_counts() -> None:
    """An entry ownerless since November and expired in May has both reasons, and the earlier counts."""
    age, output = age_of(entry(owner=""), date(2027, 5, 2))
    assert age is Age.LAPSED
    assert output == (
        "expired on 2027-05-01: confirm it by a run and set added anew, or remove it;"
        " has had no owner since 2026-11-01: name one; since 2026-12-01 it declares nothing"
    )


def test_a_proposal_has_no_age() -> None:
    """A proposal has no age, because it declares nothing."""
    assert age_of(entry(owner="", proposed=True), date(2030, 1, 1)) == (Age.CURRENT, "")


def test_an_entry_that_is_always_there_is_stale_at_once() -> None:
    """An entry declared always is stale after one check; at a half after six (0.025^(1/6) is 0.541)."""
    assert checks_until_stale(ExpectedRate(1.0, 1.0)) == 1
    assert checks_until_stale(ExpectedRate(0.5, 1.0)) == 6
    assert checks_until_stale(ExpectedRate(0.0, 1.0)) is None


@pytest.mark.parametrize(
    ("low", "high", "seen", "decisive", "state"),
    [
        (0.0, 0.0, 0, 5, EntryState.DECLARED),
        (1.0, 1.0, 5, 5, EntryState.DECLARED),
        (0.9, 1.0, 0, 5, EntryState.STALE),
        (0.0, 0.1, 5, 5, EntryState.EXCEEDED),
        (0.0, 1.0, 0, 0, EntryState.UNTESTED),
    ],
)
def test_an_interval_that_touches_the_declared_rate_is_inside(
    low: float, high: float, seen: int, decisive: int, state: EntryState
) -> None:
    """A declared rate at the interval's edge is inside: 0 of 5 is 0 % to 52 %, 5 of 5 48 % to 100 %."""
    assert frequency_of(ExpectedRate(low, high), seen=seen, decisive=decisive).state is state
