"""
The gate's measured error rates: false alarms where nothing differs, and detection of known differences.

A rate is meaningful only with its interval and the circumstances of the measurement; both are part of the value.
"""

from dataclasses import dataclass
from typing import Self

from rocketdiff.core.run_info import Machine
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.statistics.significance import clopper_pearson

SCHEMA_VERSION = "1.2.0"
"""Minor: a new field. Major: an older reader would misread it."""

CONFIDENCE = 0.95
"""Level of every interval here, one- or two-sided. At this level 299 clean cases show a rate below 1 %."""


@dataclass(frozen=True, slots=True)
class Rate:
    """
    ``seen`` times in ``n``.

    low, high: exact two-sided interval. bound: exact one-sided upper bound, to be quoted as "at most".
    """

    seen: int
    n: int
    low: float
    high: float
    bound: float

    @classmethod
    def of(cls, seen: int, n: int) -> Self:
        """Return the rate with its Clopper–Pearson limits; n = 0 bounds nothing."""
        low, high = clopper_pearson(seen, n, CONFIDENCE)
        _, bound = clopper_pearson(seen, n, 1 - 2 * (1 - CONFIDENCE))
        return cls(seen, n, low, high, bound)


@dataclass(frozen=True, slots=True)
class CheckRate:
    """
    One check over all control cases.

    alarms: gating divergences, out of the decided cases. without_answer: cases where it was asked but not decided (not
    applicable, inconclusive, invalid); they count neither way. warnings: divergences that do not gate.
    """

    check: str
    alarms: Rate
    without_answer: int
    warnings: int


@dataclass(frozen=True, slots=True)
class SubjectRate:
    """Alarms of one client against itself, out of its decided cases."""

    subject: str
    alarms: Rate


@dataclass(frozen=True, slots=True)
class ModeRate:
    """Alarms of the decided control cases of one send mode: ``sync``, ``async`` or ``oneway``."""

    mode: str
    alarms: Rate


@dataclass(frozen=True, slots=True)
class ClientRate:
    """Alarms of one client against itself (``java`` against ``java``) over all its releases, out of its decided cases."""

    client: str
    alarms: Rate


@dataclass(frozen=True, slots=True)
class Alarm:
    """
    One alarm of a control case: false until shown to be real.

    number: the control case, to be repeated with ``rocketdiff calibrate --only``; for a pooled check, the gate run.
    """

    number: int
    case: str
    check: str
    verdict: str
    signatures: tuple[str, ...]
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class Controls:
    """
    A client against itself, many times.

    cases: those run. alarms_per_case: out of the decided ones. invalid: the set-up did not hold. broke_off: ended with
    an error of rocketdiff or of the machine. alarms_per_run: gate runs (several cases judged together, with pooled
    statistics) with an alarm, out of the completed ones. modes, clients: two partitions of the decided cases; empty
    before schema 1.1.0.
    """

    cases: int
    invalid: int
    broke_off: int
    alarms_per_case: Rate
    alarms_per_run: Rate
    checks: tuple[CheckRate, ...]
    subjects: tuple[SubjectRate, ...]
    alarms: tuple[Alarm, ...]
    modes: tuple[ModeRate, ...] = ()
    clients: tuple[ClientRate, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """How often a divergence declared in the ledger was seen when its case was repeated and decided."""

    entry: str
    baseline: str
    candidate: str
    check: str
    seen: Rate
    without_answer: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """
    All measured rates, with the circumstances.

    first_at, last_at: end of the first and of the last case, ISO 8601. sources: digests of the program; several if it
    changed meanwhile. judging_sources: digests of the part that decides about alarms, so that a reader can compare;
    empty before schema 1.1.0. load_median: of the machine's load averages, one per case. role: of the clients, since 1.2.0.
    """

    schema_version: str
    rocketdiff: str
    sources: tuple[str, ...]
    first_at: str
    last_at: str
    server_release: str
    backend: str
    machine: Machine
    load_median: float
    command: str
    controls: Controls
    sensitivity: tuple[Found, ...] = ()
    judging_sources: tuple[str, ...] = ()
    role: ClientRole = ClientRole.PRODUCER
