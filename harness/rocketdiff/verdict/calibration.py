"""
The gate's own error rates, as measured: how often it alarms where nothing differs, and finds what is known to differ.

A rate without its interval, or an interval without the circumstances it was measured in,
says nothing, so both are part of the value that a report shows.
"""

from dataclasses import dataclass
from typing import Self

from rocketdiff.core.run_info import Machine
from rocketdiff.statistics.significance import clopper_pearson

SCHEMA_VERSION = "1.1.0"
"""Of the stored calibration: a new field is a new minor version, anything an older reader would misread a new major."""

CONFIDENCE = 0.95
"""Of every interval here, two-sided or not; the usual level, at which 299 clean cases show a rate below one per cent."""


@dataclass(frozen=True, slots=True)
class Rate:
    """
    ``seen`` times in ``n``.

    low, high: exact two-sided interval. bound: exact one-sided upper bound, the figure to quote as "at most".
    """

    seen: int
    n: int
    low: float
    high: float
    bound: float

    @classmethod
    def of(cls, seen: int, n: int) -> Self:
        """The rate with its Clopper–Pearson limits; nothing observed at all bounds nothing."""
        low, high = clopper_pearson(seen, n, CONFIDENCE)
        _, bound = clopper_pearson(seen, n, 1 - 2 * (1 - CONFIDENCE))
        return cls(seen, n, low, high, bound)


@dataclass(frozen=True, slots=True)
class CheckRate:
    """
    One check over all control cases.

    alarms: gating divergences, out of the cases that the check decided. without_answer: cases that it was asked of and did
    not decide (not applicable, inconclusive, invalid), which count neither way. warnings: divergences that do not gate.
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
    """Alarms of the control cases that sent in one way: ``sync``, ``async`` or ``oneway``; out of the decided ones."""

    mode: str
    alarms: Rate


@dataclass(frozen=True, slots=True)
class ClientRate:
    """Alarms of one client against itself (``java`` beside ``java``), all its releases, out of its decided cases."""

    client: str
    alarms: Rate


@dataclass(frozen=True, slots=True)
class Alarm:
    """
    One false alarm, or what is one until somebody shows that it is not.

    number: of the control case, with which ``rocketdiff calibrate --only`` repeats it; of the gate run for a pooled check.
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

    cases: that ran; alarms_per_case is out of those that were decided. invalid: whose set-up did not hold. broke_off: that
    ended with an error of ours or of the machine. alarms_per_run: gate runs (several cases judged together, pooled
    statistics included) with at least one alarm, out of those that came to their end. modes, clients: what the decided
    cases were, two cuts through the same cases; empty in a file older than 1.1.0, which did not count them.
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
    """How often a divergence that the ledger declares was seen when its case was run again and decided."""

    entry: str
    baseline: str
    candidate: str
    check: str
    seen: Rate
    without_answer: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """
    Everything measured, and where, when and with what.

    first_at, last_at: ISO 8601, when the first and the last case ended. sources: digests of the program as it was; more than
    one means that it changed under way. judging_sources: the same of the part that decides what is an alarm, for a reader who
    wants to know whether it is still that one; empty in a file older than 1.1.0. load_median: of the machine's load averages, one a case: what else it had to do.
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
