"""
Longer faults for a client whose attempts last longer than ``send_msg_timeout_ms``.

Such a client would wait until a pause tuned to the setting ends, and never time out. So a fault longer than the
setting is stretched to at least twice the attempt timeout. A shorter fault is meant to cause no timeout and is kept.
Later events move accordingly, in both arms alike. Pure: the judge repeats it from the scenario's text and the number
in ``run.json``.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from rocketdiff.core.tables.fault import HOLD_ANSWERS_BACK, FaultKind, FaultSpec, fault_sentence
from rocketdiff.scenario.model import Scenario

TIMES = 2
"""An attempt that begins in the first half of a fault then times out within the fault."""

_DECIMALS = 6
"""Times are rounded to microseconds, so that 1.5 + 4.5 s is 6 s."""


def stretched(scenario: Scenario, attempt_timeout_ms: int) -> Scenario:
    """Return the scenario for this attempt timeout; unchanged if it is within the setting or no fault needs it."""
    setting_ms = scenario.settings.send_msg_timeout_ms
    if attempt_timeout_ms <= setting_ms:
        return scenario
    delayed = [_delayed(fault, setting_ms, attempt_timeout_ms) for fault in scenario.faults]
    needed = [_needed_s(fault, setting_ms, attempt_timeout_ms) for fault in delayed]
    times = _Times.of(delayed, needed)
    faults = tuple(times.moved(fault) for fault in delayed)
    if faults == scenario.faults:
        return scenario
    workload = replace(scenario.workload, duration_s=times.later(scenario.workload.duration_s))
    return replace(scenario, faults=faults, workload=workload)


def stretched_sentences(scenario: Scenario, attempt_timeout_ms: int) -> tuple[str, ...]:
    """Return each fault in words, with its original duration if stretched."""
    pairs = zip(scenario.faults, stretched(scenario, attempt_timeout_ms).faults, strict=True)
    return tuple(_sentence(before, after, attempt_timeout_ms) for before, after in pairs)


def _sentence(before: FaultSpec, after: FaultSpec, attempt_timeout_ms: int) -> str:
    if before.for_s == after.for_s:
        return fault_sentence(after)
    return f"{fault_sentence(after)} ({before.for_s:g} s in the file; an attempt may last {attempt_timeout_ms:,} ms)"


def _delayed(fault: FaultSpec, setting_ms: int, attempt_timeout_ms: int) -> FaultSpec:
    """Scale a delay longer than the setting to the attempt timeout."""
    if fault.kind is not FaultKind.WIRE_DELAY or fault.delay_ms <= setting_ms:
        return fault
    return replace(fault, delay_ms=fault.delay_ms * attempt_timeout_ms / setting_ms)


def _needed_s(fault: FaultSpec, setting_ms: int, attempt_timeout_ms: int) -> float:
    """Minimum duration of a fault; 0 if it stays as it is."""
    if fault.kind not in HOLD_ANSWERS_BACK or fault.for_s is None:
        return 0.0
    if fault.kind is FaultKind.WIRE_DELAY and fault.delay_ms <= setting_ms:
        return 0.0
    longest_ms = max(fault.delay_ms, attempt_timeout_ms)
    return TIMES * longest_ms / 1_000 if fault.for_s * 1_000 > setting_ms else 0.0


class _Times:
    """Monotone map from the file's times to stretched times: overlaps and order are preserved."""

    def __init__(self, instants: Sequence[float], factors: Sequence[float]) -> None:
        """factors: of the span from each instant to the next."""
        self._instants, self._factors = instants, factors

    @classmethod
    def of(cls, faults: Sequence[FaultSpec], needed_s: Sequence[float]) -> "_Times":
        """A span is stretched as much as its most demanding fault requires."""
        spans = [(fault.at_s, fault.at_s + (fault.for_s or 0), fault.for_s or 0) for fault in faults]
        instants = sorted({0.0, *(instant for start, end, _ in spans for instant in (start, end))})
        factors = [
            max(
                [
                    1.0,
                    *(
                        need / lasts
                        for (start, end, lasts), need in zip(spans, needed_s, strict=True)
                        if lasts and start <= first and last <= end
                    ),
                ]
            )
            for first, last in pairwise(instants)
        ]
        return cls(instants, factors)

    def later(self, time_s: float) -> float:
        moved = time_s
        for (first, last), factor in zip(pairwise(self._instants), self._factors, strict=True):
            moved += (factor - 1) * max(0.0, min(time_s, last) - first)
        return round(moved, _DECIMALS)

    def moved(self, fault: FaultSpec) -> FaultSpec:
        at_s = self.later(fault.at_s)
        if fault.for_s is None:
            return replace(fault, at_s=at_s)
        return replace(fault, at_s=at_s, for_s=round(self.later(fault.at_s + fault.for_s) - at_s, _DECIMALS))
