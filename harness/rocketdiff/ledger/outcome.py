"""What became of one entry of the ledger in one run; part of the report document."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from rocketdiff.core.verdict import Severity
from rocketdiff.ledger.model import SHARED, Entry


class EntryState(StrEnum):
    """
    STALE: absent from a decisive check, or rarer than declared. EXCEEDED: more frequent than declared, so it excuses nothing.

    DECLARED: as the entry says. UNTESTED: no check it covers was decisive. LAPSED: too long expired or without owner, and
    PROPOSED: not yet edited by anybody; neither excuses anything.
    """

    DECLARED = "declared"
    STALE = "stale"
    EXCEEDED = "exceeded"
    UNTESTED = "untested"
    LAPSED = "lapsed"
    PROPOSED = "proposed"


@dataclass(frozen=True, slots=True)
class EntryOutcome:
    """
    One entry that speaks about the run.

    place: file and line. occurrence, seen_text: for people. decisive, seen: checks it covers that could tell, and those of
    them that showed it. missing: names of those that should have and did not. warning: about its age.
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
        """Whether it is nobody's own fault: both clients', or one that the specification leaves open."""
        return self.arm_at_fault in SHARED


def outcome_of(
    entry: Entry, state: EntryState, *, decisive: int, seen: int, missing: tuple[str, ...], said: str, warning: str
) -> EntryOutcome:
    """An outcome with what it repeats of its entry; ``said``: more about how often it was seen."""
    seen_text = f"seen in {seen} of {decisive} decisive {'check' if decisive == 1 else 'checks'}{said}"
    return EntryOutcome(
        id=entry.id,
        place=entry.place,
        state=state,
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
        missing=missing,
        warning=warning,
    )


def occurrence_text(entry: Entry) -> str:
    """``always``, or ``in 2 % to 20 % of checks``."""
    return "always" if entry.rate is None else f"in {entry.rate.low:.0%} to {entry.rate.high:.0%} of checks"
