"""
Attach the state of the cluster to each attempt: its phase, the fault that hit it, and whether it was blocked.

A case has a handful of faults, so the interval join scans them all.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocketdiff.analysis.fault_windows import Windows, end_of, overlapping
from rocketdiff.analysis.sending.send_view import FaultContext, Phase, SendView
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.tables.fault import PAUSES, FaultKind, FaultRecord
from rocketdiff.core.tables.topology import may_meet


@dataclass(frozen=True, slots=True)
class Outage:
    """
    Overlapping pauses of brokers: one cause, and so one statistical unit, numbered by the lowest episode.

    start_ns: the first broker had stopped. end_ns: the last was about to be resumed; None if one never was.
    """

    episode: int
    start_ns: int
    end_ns: int | None
    pauses: tuple[FaultRecord, ...]


class FaultTimes:
    """The faults of one case, looked up by instant and by attempt."""

    def __init__(self, faults: Sequence[FaultRecord]) -> None:
        self.faults = tuple(faults)
        spans = Windows.of_faults(faults).spans
        self._begins_ns = [begin_ns for begin_ns, _ in spans]
        self._ends_ns = [end_ns for _, end_ns in spans]
        self._of_broker: dict[str, tuple[FaultRecord, ...]] = {}
        pauses = (fault for fault in faults if fault.kind in PAUSES)
        self.outages = tuple(map(_outage, overlapping(pauses)))

    def phase_at(self, instant_ns: int) -> Phase:
        """PAUSED from inject_ns to healed_ns of any fault. Otherwise CALM before the first fault and AFTER later."""
        at = bisect_right(self._begins_ns, instant_ns) - 1
        if at < 0:
            return Phase.CALM
        end_ns = self._ends_ns[at]
        return Phase.PAUSED if end_ns is None or instant_ns < end_ns else Phase.AFTER

    def context_of(self, attempt: Attempt) -> FaultContext:
        if attempt.broker not in self._of_broker:
            self._of_broker[attempt.broker] = tuple(fault for fault in self.faults if _may_hit(fault, attempt.broker))
        hit = next((fault for fault in self._of_broker[attempt.broker] if _hits(fault, attempt)), None)
        unanswered = attempt.outcome is not Outcome.OK
        blocked = hit is not None and (unanswered or (hit.heal_ns is not None and attempt.end_ns >= hit.heal_ns))
        return FaultContext(self.phase_at(attempt.start_ns), hit, blocked)

    def outage_of(self, fault: FaultRecord) -> Outage | None:
        return next((outage for outage in self.outages if fault in outage.pauses), None)


def attempts_in_context(sends: Iterable[SendView], times: FaultTimes) -> Iterator[SendView]:
    """Add the fault context of each attempt; without attempts, a send has the phase of its own start."""
    for send in sends:
        send.contexts = tuple(times.context_of(attempt) for attempt in send.attempts)
        begun = Phase.CALM if send.row is None else times.phase_at(send.row.start_ns)
        send.phase = send.contexts[0].phase if send.contexts else begun
        yield send


def _may_hit(fault: FaultRecord, broker: str) -> bool:
    return fault.kind is not FaultKind.PAUSE_NAME_SERVER and may_meet(fault.node, broker)


def _hits(fault: FaultRecord, attempt: Attempt) -> bool:
    """The fault counts from inject_ns: a killed broker resets connections up to 50 ms before its exit is proven."""
    return attempt.end_ns > fault.inject_ns and (fault.heal_ns is None or attempt.start_ns < fault.heal_ns)


def _outage(pauses: Sequence[FaultRecord]) -> Outage:
    return Outage(
        episode=min(pause.episode for pause in pauses),
        start_ns=min(pause.injected_ns for pause in pauses),
        end_ns=end_of([pause.heal_ns for pause in pauses]),
        pauses=tuple(pauses),
    )
