"""What every watcher is given of a case before it sees the first send, and what a watcher is."""

from dataclasses import dataclass
from typing import Protocol

from rocketdiff.analysis.notebook import Notebook
from rocketdiff.analysis.send_view import SendView
from rocketdiff.analysis.steps.aligned import AlignedSend
from rocketdiff.analysis.steps.attempts_in_context import FaultTimes
from rocketdiff.analysis.steps.fault_reach import FaultReach
from rocketdiff.core.plan import SendKind, SendMode
from rocketdiff.oracle.async_habits import NO_HABITS, AsyncHabits
from rocketdiff.traces.manifest import CaseEntry


@dataclass(frozen=True, slots=True)
class Scene:
    """The case, its faults and the notebook to write into; habits: what the rules let callbacks do."""

    entry: CaseEntry
    times: FaultTimes
    notebook: Notebook
    habits: AsyncHabits = NO_HABITS

    def confuses_answers(self, side: SendView) -> bool:
        """
        Whether an asynchronous send may get another one's answer, or none: by rule, while requests are made again.

        Requests are made again under a fault and as long after it as a send may last; its victim may be anybody's.
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
        return any(reach.meets(one.start_ns, one.end_ns, one.broker) for one in side.attempts)


class Watcher(Protocol):
    """The part of a check that looks at the sends of one case, in order; it writes into the scene's notebook."""

    def see(self, send: AlignedSend) -> None:
        """Look at one send of both arms."""

    def end(self) -> None:
        """No send is left; write down what is still open."""
