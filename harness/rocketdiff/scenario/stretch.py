"""
Longer faults for a client whose attempts last longer than ``send_msg_timeout_ms`` asks for.

Such a client would wait through a pause that is tuned to the setting, and its timeout would never be seen. A fault that
outlasts the setting on purpose therefore lasts at least twice the attempt timeout; a fault that is shorter than the setting is meant
to cause no timeout, and stays as it is. Everything that follows is as much later. The same holds for both arms. Pure: the
judge does it again from the scenario's text and the number that ``run.json`` has.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from rocketdiff.core.tables.fault import HOLD_ANSWERS_BACK, FaultKind, FaultSpec, fault_sentence
from rocketdiff.scenario.model import Scenario

TIMES = 2
"""An attempt that begins in the first half of a fault then ends with a timeout before the fault does."""

_DECIMALS = 6
"""Times are written to the microsecond, so that 1.5 + 4.5 s is 6 s."""


def stretched(scenario: Scenario, attempt_timeout_ms: int) -> Scenario:
    """The scenario for subjects whose attempts last so long; itself where the setting is not exceeded or nothing holds answers back."""
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
    """Each fault in words, with what it was before where it lasts longer."""
    pairs = zip(scenario.faults, stretched(scenario, attempt_timeout_ms).faults, strict=True)
    return tuple(_sentence(before, after, attempt_timeout_ms) for before, after in pairs)


def _sentence(before: FaultSpec, after: FaultSpec, attempt_timeout_ms: int) -> str:
    if before.for_s == after.for_s:
        return fault_sentence(after)
    return f"{fault_sentence(after)} ({before.for_s:g} s in the file; an attempt may last {attempt_timeout_ms:,} ms)"


def _delayed(fault: FaultSpec, setting_ms: int, attempt_timeout_ms: int) -> FaultSpec:
    """A delay that is longer than the setting is as much longer than the attempt timeout."""
    if fault.kind is not FaultKind.WIRE_DELAY or fault.delay_ms <= setting_ms:
        return fault
    return replace(fault, delay_ms=fault.delay_ms * attempt_timeout_ms / setting_ms)


def _needed_s(fault: FaultSpec, setting_ms: int, attempt_timeout_ms: int) -> float:
    """How long a fault has to last; 0 for one that may stay as it is."""
    if fault.kind not in HOLD_ANSWERS_BACK or fault.for_s is None:
        return 0.0
    if fault.kind is FaultKind.WIRE_DELAY and fault.delay_ms <= setting_ms:
        return 0.0
    longest_ms = max(fault.delay_ms, attempt_timeout_ms)
    return TIMES * longest_ms / 1_000 if fault.for_s * 1_000 > setting_ms else 0.0


class _Times:
    """From times of the file to stretched ones: monotone, so that what overlapped does so still, and what followed still follows."""

    def __init__(self, instants: Sequence[float], factors: Sequence[float]) -> None:
        """factors: of the span from each instant to the next."""
        self._instants, self._factors = instants, factors

    @classmethod
    def of(cls, faults: Sequence[FaultSpec], needed_s: Sequence[float]) -> "_Times":
        """A span is stretched as much as the fault in it that needs it most."""
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
        """When an instant of the file comes."""
        moved = time_s
        for (first, last), factor in zip(pairwise(self._instants), self._factors, strict=True):
            moved += (factor - 1) * max(0.0, min(time_s, last) - first)
        return round(moved, _DECIMALS)

    def moved(self, fault: FaultSpec) -> FaultSpec:
        """A fault at its new time."""
        at_s = self.later(fault.at_s)
        if fault.for_s is None:
            return replace(fault, at_s=at_s)
        return replace(fault, at_s=at_s, for_s=round(self.later(fault.at_s + fault.for_s) - at_s, _DECIMALS))
