"""One entry of the ledger against all answers of a run: where it was seen, where it should have been, what that makes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from rocketdiff.core.policy import Policy
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.verdict import CheckResult, Divergence, Severity, Verdict
from rocketdiff.ledger.age import Age, age_of
from rocketdiff.ledger.cover import check_path, covers, declares, is_expected, subjects_of
from rocketdiff.ledger.frequency import frequency_of
from rocketdiff.ledger.model import Entry
from rocketdiff.ledger.outcome import EntryState

ABLE_TO_TELL = frozenset({Verdict.CONFORMS, Verdict.EQUIVALENT, Verdict.DIVERGES})
"""Answers, before the ledger, in which a declared divergence either occurred or did not."""


@dataclass(frozen=True, slots=True)
class Examined:
    """
    An entry that speaks about the run.

    seen, missing: places in the list of answers. decisive: how many answers could tell. said: interval of a tested rate.
    warning: about its age. gates: whether its absence may fail the run.
    """

    entry: Entry
    subjects: frozenset[str]
    state: EntryState
    seen: tuple[int, ...]
    missing: tuple[int, ...]
    decisive: int
    said: str
    warning: str
    gates: bool

    @property
    def excuses(self) -> bool:
        """Whether it declares what was seen; one that is stale in one case still does so in another."""
        return self.state in (EntryState.DECLARED, EntryState.STALE)

    @property
    def stale_at(self) -> tuple[int, ...]:
        """Answers that become STALE: each that lacks what is always there; a rate that is too low, one alone."""
        if self.state is not EntryState.STALE or not self.gates:
            return ()
        return self.missing if self.entry.rate is None else self.missing[:1]

    def marks(self, divergence: Divergence) -> bool:
        """Whether a divergence is the one this entry excuses."""
        return self.excuses and declares(self.entry, divergence, self.subjects)


def examine(entry: Entry, results: Sequence[CheckResult], run: RunInfo, policy: Policy, day: date) -> Examined | None:
    """None when the entry says nothing about this run: other clients, or no check of it."""
    subjects = subjects_of(entry, run)
    covered = _covered(entry, results, run) if subjects else []
    able = [place for place in covered if results[place].verdict in ABLE_TO_TELL]
    seen = tuple(place for place in able if any(declares(entry, d, subjects) for d in results[place].divergences))
    expected = is_expected(entry, run)
    if not covered or not (seen or expected):
        return None
    missing = tuple(place for place in able if place not in seen) if expected else ()
    frequency = frequency_of(entry.rate, seen=len(seen), decisive=len(able))
    age, warning = age_of(entry, day)
    state = EntryState.DECLARED if frequency.state is EntryState.STALE and not expected else frequency.state
    state = EntryState.LAPSED if age is Age.LAPSED else state
    return Examined(
        entry=entry,
        subjects=subjects,
        state=EntryState.PROPOSED if entry.proposed else state,
        seen=seen,
        missing=missing,
        decisive=len(able),
        said=frequency.said,
        warning=warning,
        gates=entry.severity is Severity.MUST or (policy.strict and entry.severity is Severity.SHOULD),
    )


def _covered(entry: Entry, results: Sequence[CheckResult], run: RunInfo) -> list[int]:
    cases = {case.case: case for case in run.cases}
    return [
        place
        for place, result in enumerate(results)
        if covers(entry, check_path(result.case, result.check, run), cases.get(result.case))
    ]
