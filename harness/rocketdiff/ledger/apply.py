"""
Applies the ledger to a run's answers: DIVERGES becomes DECLARED; a missing declared divergence becomes STALE.

The ledger excuses divergences, never a lack of evidence: INVALID answers, errors and missing answers stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Severity, Verdict, dominant
from rocketdiff.core.run_info import RunInfo
from rocketdiff.ledger.matching import Age, age_of, check_path, covers, declares, frequency_of, is_expected, subjects_of
from rocketdiff.ledger.model import SHARED, Entry, EntryState, Ledger


@dataclass(frozen=True, slots=True)
class EntryOutcome:
    """
    Outcome of one entry that applies to the run.

    place: file and line. occurrence, seen_text: for people. decisive: number of covered decisive checks. seen: those
    with the divergence. missing: names of those that should have it. warning: about the entry's age.
    """

    id: str
    place: str
    state: EntryState
    check: str
    signatures: tuple[str, ...]
    occurrence: str
    seen_text: str
    decisive: int
    seen: int
    arm_at_fault: str
    severity: Severity
    reason: str
    ref: str
    owner: str
    expires: date
    missing: tuple[str, ...] = ()
    warning: str = ""

    @property
    def is_shared(self) -> bool:
        """True if the fault is both clients' or left open by the specification."""
        return self.arm_at_fault in SHARED


def occurrence_text(entry: Entry) -> str:
    """Return ``always``, or ``in 2 % to 20 % of checks``."""
    return "always" if entry.rate is None else f"in {entry.rate.low:.0%} to {entry.rate.high:.0%} of checks"


DECISIVE_VERDICTS = frozenset({Verdict.CONFORMS, Verdict.EQUIVALENT, Verdict.DIVERGES})
"""Answers, before the ledger, that determine whether a declared divergence occurred."""


@dataclass(frozen=True, slots=True)
class Examined:
    """
    An entry that applies to the run.

    seen, missing: positions in the list of answers. decisive: number of decisive answers. said: interval of a tested
    rate. warning: about its age. gates: its absence may fail the run.
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
        """True if it excuses what was seen; an entry that is stale in one case still does so in another."""
        return self.state in (EntryState.DECLARED, EntryState.STALE)

    @property
    def stale_at(self) -> tuple[int, ...]:
        """Positions of answers that become STALE: all missing ones, or only the first if a rate is too low."""
        if self.state is not EntryState.STALE or not self.gates:
            return ()
        return self.missing if self.entry.rate is None else self.missing[:1]

    def marks(self, divergence: Divergence) -> bool:
        return self.excuses and declares(self.entry, divergence, self.subjects)


def examine(entry: Entry, results: Sequence[CheckResult], run: RunInfo, policy: Policy, day: date) -> Examined | None:
    """Return the entry's examination; None if it does not apply (other clients, or no check of this run)."""
    subjects = subjects_of(entry, run)
    covered = _covered(entry, results, run) if subjects else []
    able = [place for place in covered if results[place].verdict in DECISIVE_VERDICTS]
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


@dataclass(frozen=True, slots=True)
class Applied:
    """Answers after the ledger, in order, and the outcome of each entry that applies."""

    results: tuple[CheckResult, ...]
    outcomes: tuple[EntryOutcome, ...]


def apply_ledger(ledger: Ledger, results: Sequence[CheckResult], run: RunInfo, policy: Policy) -> Applied:
    """
    Match every divergence with the ledger and every entry with the run.

    An entry's age is counted on the day the run began, so the same run and ledger always give the same verdict.
    """
    if not ledger.entries:
        return Applied(tuple(results), ())
    day = datetime.fromisoformat(run.started_at).astimezone(UTC).date()
    examined = [item for entry in ledger.entries if (item := examine(entry, results, run, policy, day)) is not None]
    return Applied(
        tuple(_rewritten(place, result, examined) for place, result in enumerate(results)),
        tuple(_outcome(item, results, run) for item in examined),
    )


def _outcome(examined: Examined, results: Sequence[CheckResult], run: RunInfo) -> EntryOutcome:
    entry, decisive, seen = examined.entry, examined.decisive, len(examined.seen)
    seen_text = f"seen in {seen} of {decisive} decisive {'check' if decisive == 1 else 'checks'}{examined.said}"
    return EntryOutcome(
        id=entry.id,
        place=entry.place,
        state=examined.state,
        check=entry.check,
        signatures=entry.signatures,
        occurrence=occurrence_text(entry),
        seen_text=seen_text if decisive else "no check it covers was decisive",
        decisive=decisive,
        seen=seen,
        arm_at_fault=entry.arm_at_fault,
        severity=entry.severity,
        reason=entry.reason,
        ref=entry.ref,
        owner=entry.owner,
        expires=entry.expires,
        missing=tuple(check_path(results[place].case, results[place].check, run) for place in examined.missing),
        warning=examined.warning,
    )


def _rewritten(place: int, result: CheckResult, examined: Sequence[Examined]) -> CheckResult:
    """One answer after the ledger; its reason names every entry that affected it."""
    here = [item for item in examined if place in item.seen]
    stale = [item for item in examined if place in item.stale_at]
    if not here and not stale:
        return result
    marked = tuple(
        replace(divergence, declared_by=next((item.entry.id for item in here if item.marks(divergence)), ""))
        for divergence in result.divergences
    )
    verdict = result.verdict
    if here and all(divergence.declared_by for divergence in marked):
        verdict = Verdict.DECLARED
    if stale:
        verdict = dominant([verdict, Verdict.STALE])
    reasons = (result.reason, *map(_reason_if_seen, here), *map(_reason_if_stale, stale))
    return replace(result, verdict=verdict, divergences=marked, reason="; ".join(filter(None, reasons)))


def _reason_if_seen(item: Examined) -> str:
    entry = item.entry
    match item.state:
        case EntryState.LAPSED:
            return f"{entry.id} ({entry.place}) no longer declares it: it {item.warning}"
        case EntryState.PROPOSED:
            return f"{entry.id} ({entry.place}) is only proposed and declares nothing until it is edited"
        case EntryState.EXCEEDED:
            most = 1.0 if entry.rate is None else entry.rate.high
            return f"{entry.id} ({entry.place}) declares it in at most {most:.0%} of checks, and it was {_count(item)}"
    return f"declared by {entry.id}: {entry.reason} ({entry.ref})"


def _reason_if_stale(item: Examined) -> str:
    entry = item.entry
    what = f"stale: {entry.id} ({entry.place}) declares {' or '.join(entry.signatures)}"
    if entry.rate is None:
        return f"{what} here always, and it did not occur"
    return f"{what} in at least {entry.rate.low:.0%} of checks, and it was {_count(item)}"


def _count(item: Examined) -> str:
    return f"seen in {len(item.seen)} of {item.decisive}{item.said}"
