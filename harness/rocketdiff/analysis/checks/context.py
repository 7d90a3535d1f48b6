"""The context of a case's observers, and their base class."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from rocketdiff.analysis.fact_collector import FactCollector
from rocketdiff.analysis.send_view import SendView
from rocketdiff.analysis.steps.aligned import AlignedSend
from rocketdiff.analysis.steps.attempts_in_context import FaultTimes
from rocketdiff.analysis.steps.fault_reach import FaultReach
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.oracle.producer.asynchronous.habits import NO_HABITS, AsyncHabits
from rocketdiff.traces.manifest import CaseEntry


@dataclass(frozen=True, slots=True)
class CaseContext:
    """
    A case, its faults and its collector of facts. habits: what the rules allow callbacks. bodies_compared: as of the trace.
    """

    entry: CaseEntry
    times: FaultTimes
    collector: FactCollector
    habits: AsyncHabits = NO_HABITS
    bodies_compared: bool = False

    def confuses_answers(self, side: SendView) -> bool:
        """
        True if, by the rules, an asynchronous send may get the answer of another request, or none.

        That happens while requests are repeated: under a fault, and as long afterwards as a send may last. It may affect any
        request, on any broker.
        """
        if not self.habits.confuses_answers or side.row is None or side.row.mode is not SendMode.ASYNC:
            return False
        reach = FaultReach.of_sends(self.times.faults, self.entry.settings)
        return reach.meets(side.row.start_ns, side.row.end_ns)

    def loses_callback(self, side: SendView) -> bool:
        """True if the rules may lose the send's callback: its queue was given, and an attempt met its broker's fault."""
        if not self.habits.loses_callbacks or side.row is None or side.row.kind is SendKind.PLAIN:
            return False
        reach = FaultReach.of_attempts(self.times.faults, self.entry.settings)
        return any(reach.meets(attempt.start_ns, attempt.end_ns, attempt.broker) for attempt in side.attempts)


class CaseObserver(ABC):
    """The part of a check that reads the sends of a case in order and writes facts to the collector."""

    def __init__(self, context: CaseContext) -> None:
        self._context = context
        self._collector = context.collector

    @abstractmethod
    def observe(self, send: AlignedSend) -> None:
        """Read one planned send of both arms; sends are ordered by thread and number."""

    def finish(self) -> None:  # noqa: B027 - most observers keep no state between sends
        """Write what is open after the last send."""
