"""The context that every observer of a case is given, and what an observer is."""

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
    """The case, its faults and the collector of its facts; habits: what the rules let callbacks do. bodies_compared: as of the trace."""

    entry: CaseEntry
    times: FaultTimes
    collector: FactCollector
    habits: AsyncHabits = NO_HABITS
    bodies_compared: bool = False

    def confuses_answers(self, side: SendView) -> bool:
        """
        Whether an asynchronous send may get the answer of another request, or none, by the rules.

        That happens while requests are repeated: under a fault, and afterwards for as long as a send may last. Any other
        request may be affected.
        """
        if not self.habits.confuses_answers or side.row is None or side.row.mode is not SendMode.ASYNC:
            return False
        reach = FaultReach.of_sends(self.times.faults, self.entry.settings)
        return reach.meets(side.row.start_ns, side.row.end_ns)

    def loses_callback(self, side: SendView) -> bool:
        """Whether a send's callback may be lost by rule: its queue was given, and an attempt met its broker's fault."""
        if not self.habits.loses_callbacks or side.row is None or side.row.kind is SendKind.PLAIN:
            return False
        reach = FaultReach.of_attempts(self.times.faults, self.entry.settings)
        return any(reach.meets(attempt.start_ns, attempt.end_ns, attempt.broker) for attempt in side.attempts)


class CaseObserver(ABC):
    """The part of a check that reads the sends of one case, in order, and writes facts into the collector."""

    def __init__(self, context: CaseContext) -> None:
        self._context = context
        self._collector = context.collector

    @abstractmethod
    def observe(self, send: AlignedSend) -> None:
        """Read one planned send of both arms; sends come by thread and number."""

    def finish(self) -> None:  # noqa: B027 - most observers keep nothing from send to send
        """Write what is still open after the last send."""
