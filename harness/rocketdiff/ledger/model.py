"""
Data model of the ledger: an entry is a known difference between two clients that does not fail a run.

Ranges of releases and of counts are written ``>=4.0.0,<4.9.8 || >=5.0.0,<5.1.4``.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Self

from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.consuming.plan import ListenerKind

_VERSION = re.compile(r"(?P<numbers>\d+(?:\.\d+)*)(?:-(?P<suffix>[A-Za-z0-9.]+))?")
_TERM = re.compile(rf"(?P<sign>>=|<=|==|!=|>|<|)\s*(?P<version>{_VERSION.pattern})")
_HOLDS: dict[str, Callable[["_Key", "_Key"], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "": operator.eq,
}

FORM = "a range such as '>=4.0.0,<4.9.8 || >=5.0.0,<5.1.4'"

_Key = tuple[tuple[int, ...], bool, str]


@dataclass(frozen=True, slots=True)
class Range:
    """
    Alternatives joined by ``||``, each a comma-separated list of conditions that must all hold.

    Without a sign: equality. ``4.0.0-incubating`` comes before ``4.0.0``, and ``4.9`` is ``4.9.0``.
    """

    text: str
    alternatives: tuple[tuple[tuple[str, str], ...], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a range; ValueError names the invalid part."""
        alternatives = tuple(tuple(_term(part) for part in group.split(",")) for group in text.split("||"))
        return cls(text, alternatives)

    def holds(self, version: str) -> bool:
        """True if a version is in the range; a non-numeric version (a toy's defect) is in none."""
        key = _key(version)
        if key is None:
            return False
        return any(all(_is_met(key, sign, bound) for sign, bound in group) for group in self.alternatives)


def _term(part: str) -> tuple[str, str]:
    match = _TERM.fullmatch(part.strip())
    if match is None:
        raise ValueError(part.strip() or "an empty term")
    return match["sign"], match["version"]


def _is_met(key: _Key, sign: str, bound: str) -> bool:
    limit = _key(bound)
    assert limit is not None, "terms are checked when they are read"
    return _HOLDS[sign](key, limit)


def _key(version: str) -> _Key | None:
    match = _VERSION.fullmatch(version)
    if match is None:
        return None
    numbers = [int(number) for number in match["numbers"].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), match["suffix"] is None, match["suffix"] or ""


REFERENCE, BOTH, SPEC_GAP = "reference", "both", "spec-gap"
SHARED = frozenset({BOTH, SPEC_GAP})
"""Faults of both clients, or left open by the specification; listed separately, so that shared errors stay visible."""

RULES = "rules/"
"""Prefix of signatures of a baseline that its own rules do not explain."""


@dataclass(frozen=True, slots=True)
class ExpectedRate:
    """Expected share of the covered decisive checks that show the divergence."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Party:
    """A client, optionally with a range of releases."""

    client: str
    version: Range | None = None

    def matches(self, subject: str) -> bool:
        client, _, release = subject.partition(":")
        return client == self.client and (self.version is None or self.version.holds(release))


@dataclass(frozen=True, slots=True)
class Conditions:
    """
    Conditions of an entry; all must hold.

    subject: the client whose behaviour is declared. against: the baseline, if it matters. server: release of the
    brokers. faults: number of nodes hit, by the names of ``core.tables.fault.FAULT_COUNTS``. settings: the client's settings
    in the case (of consumers: the feeder's). listener, members: of the case's group of consumers.
    """

    subject: Party
    against: Party | None = None
    server: Range | None = None
    faults: tuple[tuple[str, Range], ...] = ()
    settings: tuple[tuple[str, object], ...] = ()
    listener: ListenerKind | None = None
    members: Range | None = None

    @property
    def is_of_cases(self) -> bool:
        """True if something is asked of a case, which a pool, a mixture of cases, never meets."""
        return bool(self.faults or self.settings or self.listener or self.members)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The run that showed the divergence: seed, id, digest of its tables, and the command to repeat it."""

    seed: int
    run: str = ""
    trace: str = ""
    reproduce: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One declared divergence.

    check: glob over ``<scenario>/<check>``. signatures: alternatives, verbatim. rate: None means always. severity:
    weight of its absence. proposed: written by a program and not yet edited; excuses nothing. place: file and line.
    """

    id: str
    check: str
    when: Conditions
    arm_at_fault: str
    signatures: tuple[str, ...]
    rate: ExpectedRate | None
    severity: Severity
    reason: str
    ref: str
    evidence: Confirmation | None
    added: date
    expires: date
    owner: str
    proposed: bool
    place: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All entries of all loaded files; ids are unique."""

    entries: tuple[Entry, ...] = ()


class EntryState(StrEnum):
    """
    STALE: absent from a decisive check, or rarer than declared. EXCEEDED: more frequent than declared, so it excuses nothing.

    DECLARED: occurred as declared. UNTESTED: no covered check was decisive. LAPSED (expired or ownerless for too long)
    and PROPOSED (not yet edited) excuse nothing.
    """

    DECLARED = "declared"
    STALE = "stale"
    EXCEEDED = "exceeded"
    UNTESTED = "untested"
    LAPSED = "lapsed"
    PROPOSED = "proposed"
