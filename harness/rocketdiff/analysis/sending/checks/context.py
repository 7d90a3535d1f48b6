"""The context of a case's observers, their base class, and what calm sends leave to them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.fault_windows import FaultReach
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount
from rocketdiff.analysis.sending.send_arrays import Sends, sends_of_arm
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.analysis.sending.steps.attempts_in_context import FaultTimes
from rocketdiff.analysis.sending.steps.rulebook import Rulebook
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.traces.manifest import CaseEntry


@dataclass(frozen=True, slots=True)
class CaseContext:
    """A case, the rules of its baseline's release, and its collector of facts. times: of its faults."""

    trace: CaseTrace
    rulebook: Rulebook
    collector: SendFacts
    times: FaultTimes = field(init=False)
    _sends: dict[Arm, Sends] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", FaultTimes(self.trace.faults))

    @property
    def entry(self) -> CaseEntry:
        return self.trace.entry

    def sends(self, arm: Arm) -> Sends:
        """An arm's sends as arrays, made once."""
        if arm not in self._sends:
            self._sends[arm] = sends_of_arm(self.trace, arm)
        return self._sends[arm]

    def confuses_answers(self, side: SendView) -> bool:
        """
        True if, by the rules, an asynchronous send may get the answer of another request, or none.

        That happens while requests are repeated: under a fault, and as long afterwards as a send may last. It may affect any
        request, on any broker.
        """
        row = side.row
        return (
            row is not None
            and row.mode is SendMode.ASYNC
            and self.rulebook.habits.confuses_answers
            and FaultReach.of_sends(self.times.faults, self.entry.settings).meets(row.start_ns, row.end_ns)
        )

    def loses_callback(self, row: Send) -> bool:
        """True if the rules may lose the send's callback: its queue was given, and an attempt met its broker's fault."""
        reach = FaultReach.of_attempts(self.times.faults, self.entry.settings)
        return (
            self.rulebook.habits.loses_callbacks
            and row.kind is not SendKind.PLAIN
            and any(reach.meets(attempt.start_ns, attempt.end_ns, attempt.broker) for attempt in row.attempts)
        )


class CalmBefore(Protocol):
    """What the calm sends before the send at hand, which are never observed, show to observers that keep state."""

    @property
    def has_lanes(self) -> bool:
        """True if the application names the queues."""

    def clock_leads(self) -> Iterable[tuple[str, float]]:
        """Brokers, and by how many ms their clock is ahead at most."""

    def last_in_lane(self, side: SendView, copy: Copy) -> tuple[int, int] | None:
        """Send and offset of the last message before a copy in its lane; None without one."""

    def calls_ms(self) -> tuple[Iterable[float], Iterable[float]]:
        """How long the calm calls took that wait for no answer, the baseline's and the candidate's."""

    def last_attempts(self, arm: Arm) -> Iterable[tuple[int, int]]:
        """Each thread of an arm, and when the last attempt of the case began, in ns."""


class CaseObserver(ABC):
    """The part of a check that reads the sends of a case in order and writes facts to the collector."""

    def __init__(self, context: CaseContext) -> None:
        self._context = context
        self._collector = context.collector

    @abstractmethod
    def observe(self, send: AlignedSend) -> None:
        """Read one planned send of both arms; sends are ordered by thread and number."""

    def calm_before(self, send: AlignedSend, calm: CalmBefore) -> None:  # noqa: B027 - as below
        """Take over what calm sends before this one show; called before ``observe`` in a pass over columns."""

    def calm_at_end(self, calm: CalmBefore) -> None:  # noqa: B027 - as below
        """The same before ``finish``."""

    def finish(self) -> None:  # noqa: B027 - most observers keep no state between sends
        """Write what is open after the last send."""


class TableObserver(CaseObserver):
    """An observer that reads the tables of the case when it ends, because calm sends are never observed."""

    def observe(self, send: AlignedSend) -> None:
        """Nothing: all is in the tables."""


SendCheck = CheckCode[Callable[[CaseContext], CaseObserver], CalmCount]
"""The code of a check of sends."""
