"""
Which arm's send of a message was held up: both succeeded at the first attempt, one far later than the other.

Both ran at the same time on the same brokers, so a stalled machine or broker holds up both. During a fault only sends
to unaffected brokers are examined: their own client holds them up, when a thread waits for a blocked one. Real clients
do so at times (4.x while it connects), and any may collect garbage, so one occurrence shows nothing, and ``outcomes``
counts fault periods.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from rocketdiff.analysis.fault_windows import FaultReach
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.topology import master_of

SEND_HELD_UP_NS = 250_000_000
"""How much longer than the other arm's a send must take: the bound of the guard ``on-schedule-*``."""


@dataclass(frozen=True, slots=True)
class SlowerSends:
    """Compares sends. brokers: faults by the broker's master. clients: faults that may affect any send."""

    context: CaseContext
    brokers: FaultReach
    clients: FaultReach

    @classmethod
    def of(cls, context: CaseContext) -> Self:
        """A name server's fault belongs to no broker: the first send of a topic waits for its route."""
        faults = context.times.faults
        lasting_ns = FaultReach.of_attempts(faults, context.entry.settings).lasting_ns
        return cls(
            context,
            FaultReach(tuple(replace(fault, node=master_of(fault.node)) for fault in faults), lasting_ns),
            FaultReach(tuple(fault for fault in faults if fault.kind is FaultKind.PAUSE_NAME_SERVER), lasting_ns),
        )

    def held_up(self, send: AlignedSend, rows: Mapping[Arm, Send], *, is_calm: bool) -> list[Arm]:
        """The arm whose send was held up, if any; one-way calls are left to the module ``held_up``."""
        if not all(_succeeded_at_once(row) for row in rows.values()):
            return []
        if not is_calm and not all(self._is_beside(row) for row in rows.values()):
            return []
        if not is_calm and any(self.context.confuses_answers(side) for side in send.sides):
            return []  # the answer may be another message's
        took_ns = {arm: row.end_ns - row.start_ns for arm, row in rows.items()}
        return [arm for arm in Arm if took_ns[arm] - min(took_ns.values()) > SEND_HELD_UP_NS]

    def _is_beside(self, row: Send) -> bool:
        brokers = {attempt.broker for attempt in row.attempts}
        touched = any(self.brokers.meets(row.start_ns, row.end_ns, broker) for broker in brokers)
        return bool(brokers) and not touched and not self.clients.meets(row.start_ns, row.end_ns)


def _succeeded_at_once(row: Send) -> bool:
    return row.mode is not SendMode.ONEWAY and not row.error and not any(attempt.error for attempt in row.attempts)
