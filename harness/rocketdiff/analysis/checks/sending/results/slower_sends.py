"""
Which arm's send of a message was held up: both succeeded at the first attempt, one of them far later than the other.

Both ran beside each other on the same brokers, so a machine or a broker that stands still holds up both. Beside a fault
only sends to brokers that it does not touch are asked: what holds those up is their own client, which lets a thread wait
for another that is blocked. Real clients do so at times (4.x while it connects), and any may collect garbage; so one
occurrence tells nothing, and ``outcomes`` counts fault periods.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from rocketdiff.analysis.checks.context import CaseContext
from rocketdiff.analysis.steps.aligned import AlignedSend
from rocketdiff.analysis.steps.fault_reach import FaultReach
from rocketdiff.core.events import Arm
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.sends.records import Send
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.topology import master_of

HELD_UP_NS = 250_000_000
"""What a send that succeeded at once takes longer than the other arm's: the bound of ``lateness-*``."""


@dataclass(frozen=True, slots=True)
class SlowerSends:
    """
    The question with the faults of a case at hand.

    brokers: what may touch a broker, under its master's name. clients: faults that any send may have to do with.
    """

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
        """The arm whose send was held up, if one was; one-way calls are the business of ``held_up``."""
        if not all(_succeeded_at_once(row) for row in rows.values()):
            return []
        if not is_calm and not all(self._is_beside(row) for row in rows.values()):
            return []
        if not is_calm and any(self.context.confuses_answers(side) for side in send.sides):
            return []  # it may be another message's
        took_ns = {arm: row.end_ns - row.start_ns for arm, row in rows.items()}
        return [arm for arm in Arm if took_ns[arm] - min(took_ns.values()) > HELD_UP_NS]

    def _is_beside(self, row: Send) -> bool:
        """Whether no fault touches the brokers of a send from its start to its end."""
        brokers = {attempt.broker for attempt in row.attempts}
        touched = any(self.brokers.meets(row.start_ns, row.end_ns, broker) for broker in brokers)
        return bool(brokers) and not touched and not self.clients.meets(row.start_ns, row.end_ns)


def _succeeded_at_once(row: Send) -> bool:
    return row.mode is not SendMode.ONEWAY and not row.error and not any(attempt.error for attempt in row.attempts)
