"""
The ledger of declared divergences: known differences between two clients that do not fail a run.

An entry says where (a glob over checks, conditions on the run), what (signatures), how often, why, and until when. What
an entry means for a run is worked out in ``ledger_apply``.
"""

from dataclasses import dataclass
from datetime import date

from rocketdiff.core.verdict import Severity
from rocketdiff.ledger.ranges import Range

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
    release of the brokers. faults: how many nodes the case hits, by the names of ``core.fault.FAULT_COUNTS``. settings:
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
