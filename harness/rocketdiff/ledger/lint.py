"""Checks ledgers without a run: entries that can never match, are too old, or are too many."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from enum import StrEnum

from rocketdiff.core.tables.checks import VALIDITY
from rocketdiff.core.text.glob import path_glob
from rocketdiff.ledger.file import ParsedFile
from rocketdiff.ledger.matching import Age, age_of, checks_until_stale, meets
from rocketdiff.ledger.model import Entry, Party


class Level(StrEnum):
    """An ERROR makes `ledger lint` fail."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem and its place."""

    level: Level
    place: str
    said: str


@dataclass(frozen=True, slots=True)
class KnownCheck:
    """A check of some scenario; a pooled one has no faults, settings or group. group: as in ``matching.meets``."""

    path: str
    settings: Mapping[str, object]
    fault_counts: Mapping[str, int]
    group: Mapping[str, object] = field(default_factory=dict)


def unmatched(entry: Entry, known: Sequence[KnownCheck]) -> str:
    """Return why an entry matches no known check and so protects nothing; empty if it matches one."""
    named = _named(entry, known)
    if not named:
        close = get_close_matches(entry.check, [check.path for check in known], cutoff=0.4)
        return f"no scenario has a check {entry.check}" + (f"; close: {close[0]}" if close else "")
    if not _met(entry, named):
        return f"none of the {len(named)} checks that {entry.check} names meets the conditions on fault, settings and consumer"
    return ""


def _named(entry: Entry, known: Sequence[KnownCheck]) -> list[KnownCheck]:
    expression = path_glob(entry.check)
    return [check for check in known if expression.fullmatch(check.path) and check.path.rpartition("/")[2] != VALIDITY]


def _met(entry: Entry, named: Sequence[KnownCheck]) -> list[KnownCheck]:
    return [
        check
        for check in named
        if meets(entry.when, settings=check.settings, fault_counts=check.fault_counts, group=check.group)
    ]


def never_stale(entry: Entry, known: Sequence[KnownCheck]) -> str:
    """
    Return why no single run that answers each covered check once can make an entry stale; empty if one can.

    Such an entry excuses its divergence but is never tested itself.
    """
    if entry.rate is None:
        return ""
    needed, had = checks_until_stale(entry.rate), len(_met(entry, _named(entry, known)))
    if needed is None:
        return "its rate begins at 0: however often its divergence is missing, the entry is never stale"
    if needed <= had:
        return ""
    return (
        f"no single run can find it stale: with a rate from {entry.rate.low:g} that takes {needed} decisive checks"
        f" without its divergence, and a run has {had}; judge several runs together (rocketdiff analyze RUN RUN …)"
    )


def lint(
    files: Sequence[ParsedFile],
    known: Sequence[KnownCheck],
    subjects: Mapping[str, Collection[str]],
    day: date,
    *,
    allow_growth: bool,
) -> tuple[Finding, ...]:
    """
    Return every finding about readable files, in file order.

    subjects: known releases by client. allow_growth: more entries than a file's ratchet are only a warning.
    """
    return tuple(
        finding for file in files for finding in _of_file(file, known, subjects, day, allow_growth=allow_growth)
    )


_LIKE = 0.75
"""Similarity that suggests a typing error: jav and java, pyton and python; not rust and cpp."""


def _of_file(
    file: ParsedFile,
    known: Sequence[KnownCheck],
    subjects: Mapping[str, Collection[str]],
    day: date,
    *,
    allow_growth: bool,
) -> Iterator[Finding]:
    for entry in file.entries:
        yield from _of_entry(entry, known, subjects, day)
    yield from _strangers(file.entries, subjects)
    count, ratchet = len(file.entries), file.ratchet
    if ratchet is not None and count > ratchet:
        level = Level.WARNING if allow_growth else Level.ERROR
        text = f"{count} entries, and its ratchet is {ratchet}: remove some, or raise it and lint with --allow-growth"
        yield Finding(level, file.origin, text)
    if ratchet is not None and count < ratchet:
        yield Finding(Level.WARNING, file.origin, f"{count} of {ratchet} entries are left: lower its ratchet")


def _of_entry(
    entry: Entry, known: Sequence[KnownCheck], subjects: Mapping[str, Collection[str]], day: date
) -> Iterator[Finding]:
    if problem := unmatched(entry, known):
        yield Finding(Level.ERROR, entry.place, f"{entry.id}: {problem}")
    elif problem := never_stale(entry, known):
        yield Finding(Level.WARNING, entry.place, f"{entry.id}: {problem}")
    for party in _parties(entry):
        if problem := _unknown(party, subjects):
            yield Finding(Level.ERROR, entry.place, f"{entry.id}: {problem}")
    age, warning = age_of(entry, day)
    if warning:
        level = Level.ERROR if age is Age.LAPSED else Level.WARNING
        yield Finding(level, entry.place, f"{entry.id} {warning}")
    if entry.proposed:
        yield Finding(Level.WARNING, entry.place, f"{entry.id} is only proposed: edit it, or remove it")


def _parties(entry: Entry) -> Iterator[Party]:
    return filter(None, (entry.when.subject, entry.when.against))


def _unknown(party: Party, subjects: Mapping[str, Collection[str]]) -> str:
    """
    Why the party matches no known client; empty if it may. A client without known releases may have any.

    A user's client is named in its hello, so an unknown name is an error only if it resembles a known one.
    """
    if party.client not in subjects:
        return "" if _is_stranger(party.client, subjects) else _no_client(party.client, subjects)
    releases = subjects[party.client]
    if releases and party.version is not None and not any(party.version.holds(release) for release in releases):
        return f"no known release of {party.client} is in {party.version.text}"
    return ""


def _strangers(entries: Sequence[Entry], subjects: Mapping[str, Collection[str]]) -> Iterator[Finding]:
    """One finding per client that resembles no known one, at its first entry."""
    named: dict[str, list[Entry]] = {}
    for entry in entries:
        for name in {party.client for party in _parties(entry)}:
            if _is_stranger(name, subjects):
                named.setdefault(name, []).append(entry)
    for name, (first, *others) in named.items():
        who = f"{first.id} and {len(others)} more" if others else first.id
        text = f"{who}: {_no_client(name, subjects)}; right if it is a program of yours, whose hello says that name"
        yield Finding(Level.WARNING, first.place, text)


def _is_stranger(name: str, subjects: Mapping[str, Collection[str]]) -> bool:
    return name not in subjects and not get_close_matches(name, subjects, n=1, cutoff=_LIKE)


def _no_client(name: str, subjects: Mapping[str, Collection[str]]) -> str:
    return f"no client {name}; known: {', '.join(sorted(subjects))}"
