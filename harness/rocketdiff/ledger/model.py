"""
What an entry of the ledger is: a known difference between two clients that does not fail a run.

An entry says where (a glob over checks, conditions on the run), what (signatures), how often, why, and until when. What an
entry means for a run is worked out in ``apply``. Ranges of releases and of counts are written ``>=4.0.0,<4.9.8 || >=5.0.0,<5.1.4``.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Self

from rocketdiff.core.answers.verdict import Severity

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
    Alternatives joined by ``||``, each a list of conditions joined by commas that must all hold.

    A version without a sign means that version alone. ``4.0.0-incubating`` comes before ``4.0.0``, and ``4.9`` is ``4.9.0``.
    """

    text: str
    alternatives: tuple[tuple[tuple[str, str], ...], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a range; ValueError names the part that is none."""
        alternatives = tuple(tuple(_term(part) for part in group.split(",")) for group in text.split("||"))
        return cls(text, alternatives)

    def holds(self, version: str) -> bool:
        """Whether a version is inside; one that is no number (a toy's defect) is inside no range."""
        key = _key(version)
        if key is None:
            return False
        return any(all(_is_met(key, sign, bound) for sign, bound in group) for group in self.alternatives)


def _term(part: str) -> tuple[str, str]:
    match = _TERM.fullmatch(part.strip())
    if match is None:
        raise ValueError(part.strip() or "nothing between the signs")
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
"""Faults that are not one client's own; entries with them are listed separately, so that shared wrongness is visible."""

RULES = "rules/"
"""Signatures of a baseline that its own rules do not explain begin with this."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Share of the decisive checks covered by an entry in which its divergence is expected."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Party:
    """A client, of any release or of some."""

    client: str
    version: Range | None = None

    def matches(self, subject: str) -> bool:
        """Whether ``client:release`` is meant."""
        client, _, release = subject.partition(":")
        return client == self.client and (self.version is None or self.version.holds(release))


@dataclass(frozen=True, slots=True)
class Conditions:
    """
    When an entry speaks; all must hold.

    subject: the client whose behaviour is declared. against: the baseline it is held against, where that matters. server:
    release of the brokers. faults: how many nodes the case hits, by the names of ``core.tables.fault.FAULT_COUNTS``. settings:
    values of the client's settings in the case.
    """

    subject: Party
    against: Party | None = None
    server: Range | None = None
    faults: tuple[tuple[str, Range], ...] = ()
    settings: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The run that showed the divergence: its seed, its id, the digest of its tables, the command that repeats it."""

    seed: int
    run: str = ""
    trace: str = ""
    reproduce: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One declared divergence.

    check: glob over ``<scenario>/<check>``. signatures: any of them, word by word. rate: None means always. severity: what
    its absence is worth. proposed: written by a program and not yet looked at; excuses nothing. place: file and line.
    """

    id: str
    check: str
    when: Conditions
    arm_at_fault: str
    signatures: tuple[str, ...]
    rate: Rate | None
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
    """Every entry of every file that was named; ids are unique."""

    entries: tuple[Entry, ...] = ()


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
