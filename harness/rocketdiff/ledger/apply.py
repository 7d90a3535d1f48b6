"""
The ledger applied to a run's answers: DIVERGES becomes DECLARED, a declared divergence that did not occur STALE.

Only answers about the clients are touched. What was measured under a broken set-up stays INVALID, an error stays an
error, a missing answer stays missing: the ledger excuses divergences, never the lack of evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from rocketdiff.core.policy import Policy
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.verdict import CheckResult, Verdict, dominant
from rocketdiff.ledger.cover import check_path
from rocketdiff.ledger.examined import Examined, examine
from rocketdiff.ledger.model import Ledger
from rocketdiff.ledger.outcome import EntryOutcome, EntryState, outcome_of


@dataclass(frozen=True, slots=True)
class Applied:
    """Answers after the ledger, in their order, and what became of each entry that speaks about the run."""

    results: tuple[CheckResult, ...]
    outcomes: tuple[EntryOutcome, ...]


def apply_ledger(ledger: Ledger, results: Sequence[CheckResult], run: RunInfo, policy: Policy) -> Applied:
    """
    Look every divergence up in the ledger, and every entry in the run.

    An entry's age is counted on the day the run began, so that the same run and ledger always give the same verdict.
    """
    if not ledger.entries:
        return Applied(tuple(results), ())
    day = datetime.fromisoformat(run.started_at).astimezone(UTC).date()
    examined = [one for entry in ledger.entries if (one := examine(entry, results, run, policy, day)) is not None]
    return Applied(
        tuple(_rewritten(place, result, examined) for place, result in enumerate(results)),
        tuple(_outcome(one, results, run) for one in examined),
    )


def _outcome(one: Examined, results: Sequence[CheckResult], run: RunInfo) -> EntryOutcome:
    missing = tuple(check_path(results[place].case, results[place].check, run) for place in one.missing)
    return outcome_of(
        one.entry,
        one.state,
        decisive=one.decisive,
        seen=len(one.seen),
        missing=missing,
        said=one.said,
        warning=one.warning,
    )


def _rewritten(place: int, result: CheckResult, examined: Sequence[Examined]) -> CheckResult:
    """One answer after the ledger; the reason names every entry that had a say."""
    here = [one for one in examined if place in one.seen]
    stale = [one for one in examined if place in one.stale_at]
    if not here and not stale:
        return result
    marked = tuple(
        replace(divergence, declared_by=next((one.entry.id for one in here if one.marks(divergence)), ""))
        for divergence in result.divergences
    )
    verdict = result.verdict
    if here and all(divergence.declared_by for divergence in marked):
        verdict = Verdict.DECLARED
    if stale:
        verdict = dominant([verdict, Verdict.STALE])
    reasons = (result.reason, *map(_said_of_seen, here), *map(_said_of_stale, stale))
    return replace(result, verdict=verdict, divergences=marked, reason="; ".join(filter(None, reasons)))


def _said_of_seen(one: Examined) -> str:
    entry = one.entry
    match one.state:
        case EntryState.LAPSED:
            return f"{entry.id} ({entry.place}) no longer declares it: it {one.warning}"
        case EntryState.PROPOSED:
            return f"{entry.id} ({entry.place}) is only proposed and declares nothing until somebody edits it"
        case EntryState.EXCEEDED:
            most = 1.0 if entry.rate is None else entry.rate.high
            return f"{entry.id} ({entry.place}) declares it in at most {most:.0%} of checks, and it was {_count(one)}"
    return f"declared by {entry.id}: {entry.reason} ({entry.ref})"


def _said_of_stale(one: Examined) -> str:
    entry = one.entry
    what = f"stale: {entry.id} ({entry.place}) declares {' or '.join(entry.signatures)}"
    if entry.rate is None:
        return f"{what} here always, and it did not occur"
    return f"{what} in at least {entry.rate.low:.0%} of checks, and it was {_count(one)}"


def _count(one: Examined) -> str:
    return f"seen in {len(one.seen)} of {one.decisive}{one.said}"
