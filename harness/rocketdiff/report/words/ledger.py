"""The ledger in words: why a divergence is declared, and the result of each entry."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketdiff.ledger.apply import EntryOutcome
from rocketdiff.ledger.model import EntryState
from rocketdiff.report.clusters import DivergenceCluster
from rocketdiff.report.document import Document


@dataclass(frozen=True, slots=True)
class StateSign:
    """Display of an entry's state: mark, words, and CSS class."""

    mark: str
    word: str
    tone: str


STATE_SIGNS = {
    EntryState.DECLARED: StateSign("◆", "as declared", "known"),
    EntryState.STALE: StateSign("∅", "stale", "bad"),
    EntryState.EXCEEDED: StateSign("✗", "more often than declared", "bad"),
    EntryState.UNTESTED: StateSign("?", "not tested", "mute"),
    EntryState.LAPSED: StateSign("!", "lapsed, declares nothing", "warn"),
    EntryState.PROPOSED: StateSign("–", "proposed, declares nothing", "mute"),
}


@dataclass(frozen=True, slots=True)
class LedgerPart:
    """Entries under one title."""

    title: str
    entries: tuple[EntryOutcome, ...]


def ledger_parts(document: Document) -> tuple[LedgerPart, ...]:
    """
    Return entries with one client at fault, then entries with both at fault or a gap in the specification; no empty parts.
    """
    own = tuple(entry for entry in document.ledger if not entry.is_shared)
    shared = tuple(entry for entry in document.ledger if entry.is_shared)
    parts = (LedgerPart("One client at fault", own), LedgerPart("Both at fault, or a gap in the specification", shared))
    return tuple(part for part in parts if part.entries)


def declarations(cluster: DivergenceCluster, document: Document) -> tuple[EntryOutcome, ...]:
    """Return the entries that declare a cluster."""
    return tuple(entry for entry in document.ledger if entry.id in cluster.declared_by)


def because(entry: EntryOutcome) -> str:
    """Return id, reason and reference in one line."""
    return f"{entry.id}: {entry.reason} ({entry.ref}; at fault: {entry.arm_at_fault})"


def to_look_at(document: Document) -> tuple[EntryOutcome, ...]:
    """Return entries that need action: a warning, or another state than DECLARED and UNTESTED."""
    fine = (EntryState.DECLARED, EntryState.UNTESTED)
    return tuple(entry for entry in document.ledger if entry.state not in fine or entry.warning)


def trouble_text(entry: EntryOutcome) -> str:
    """Return the problem of an entry, in one line."""
    parts = [f"{entry.id} ({entry.place}): {STATE_SIGNS[entry.state].word}"]
    if entry.state in (EntryState.STALE, EntryState.EXCEEDED):
        parts.append(f"declared {entry.occurrence}, {entry.seen_text}{_missing(entry.missing)}")
    if entry.warning:
        parts.append(f"it {entry.warning}")
    return "; ".join(parts)


_MISSING_SHOWN = 3
"""Number of checks named in one line; the document has all."""


def _missing(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _MISSING_SHOWN} more" if len(names) > _MISSING_SHOWN else ""
    return f", absent from {', '.join(names[:_MISSING_SHOWN])}{more}"
