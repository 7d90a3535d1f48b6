"""Known divergences are looked for where, and with whom, their ledger says they were seen."""

from dataclasses import replace

import pytest

from harness.core.errors import UsageError
from harness.core.run_info import Machine, RunInfo, SubjectInfo
from harness.core.verdict import CheckResult, Divergence, Example, Verdict
from harness.sensitivity import KnownCase, known_cases, looked_for, pair_of_entry

CASES = {case.name: case for case in known_cases()}
ONE = CASES["fault-latency/kill-one-of-two/java:4.7.1~java:5.3.3"]


def run_of(case: KnownCase) -> RunInfo:
    baseline, candidate = (SubjectInfo(str(one), one.client, one.release) for one in (case.baseline, case.candidate))
    machine = Machine("Linux", "x", 2, 4096, "3.11", "17")
    return RunInfo(
        "r", 1, "all", baseline, candidate, "5.3.3", "processes", "2026-11-21T21:00:00+00:00", 1, machine, (), "", ""
    )


def seen(*results: CheckResult) -> list[bool | None]:
    return [one.seen for one in looked_for(ONE, results, run_of(ONE))]


def diverging(signature: str, subject: str = "java:5.3.3") -> CheckResult:
    divergence = Divergence(signature, subject, 1, Example(1, 0, None, "after", "x", "y"))
    return CheckResult("c", "queue-choice", Verdict.DIVERGES, divergences=(divergence,))


def test_every_shipped_entry_has_a_case() -> None:
    """One that could never be looked for would have no rate."""
    entries = [known.entry.id for case in CASES.values() for known in case.known]
    assert len(entries) == len(set(entries)) >= 12


def test_found_means_the_declared_signature_of_the_declared_client() -> None:
    """Anything else is another divergence, which does not show that this one is seen."""
    (known,) = ONE.known
    assert seen(diverging(known.entry.signatures[0])) == [True]
    assert seen(diverging("queue.something-else/first")) == [False]
    assert seen(diverging(known.entry.signatures[0], subject="java:4.7.1")) == [False]


@pytest.mark.parametrize("verdict", [Verdict.INVALID, Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE])
def test_a_check_that_was_not_decided_is_neither_found_nor_missed(verdict: Verdict) -> None:
    """As is one that never ran."""
    assert seen(CheckResult("c", "queue-choice", verdict)) == [None]
    assert seen() == [None]
    assert seen(CheckResult("c", "queue-choice", Verdict.CONFORMS)) == [False]


def test_an_entry_without_a_command_cannot_be_repeated() -> None:
    """Which two releases to run is in its evidence."""
    (known,) = ONE.known
    with pytest.raises(UsageError, match="two subjects"):
        pair_of_entry(replace(known.entry, evidence=None))
