"""Helpers of the rules' tests: a list written "a4 b4", a scripted tape, a queue written "a1"."""

from collections.abc import Sequence
from typing import Any, TypeVar

from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import PublishInfo, Queue, picked_queue
from rocketmq_reference.rules.producer.attempt import AttemptResult, Finish, Try
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.events import Observer
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector

Item = TypeVar("Item")


class ScriptedTape:
    """Returns the given numbers in turn; a shuffle reverses."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = list(numbers)

    def int32(self) -> int:
        return self.numbers.pop(0)

    def below(self, bound: int) -> int:
        return self.numbers.pop(0) % bound

    def shuffle(self, items: list[Item]) -> None:
        items.reverse()


def queues_of(text: str) -> list[tuple[str, int]]:
    return [(part[0], number) for part in text.split() for number in range(int(part[1:]))]


def named(queue: Queue) -> str:
    return f"{queue.broker}{queue.queue_id}"


class Toy:
    """One thread of one producer; the test sets all times, in ms."""

    def __init__(
        self,
        release: str,
        queues: str = "a4 b4",
        *,
        index: int | None = -1,
        draws: Sequence[int] = (),
        observer: Observer | None = None,
        **settings: Any,
    ) -> None:
        """index: the counter before the first selection; −1 begins at the first queue."""
        self.dialect = dialect_of(release)
        self.settings = SendSettings(**settings)
        self.info = PublishInfo.of(queues_of(queues))
        self.index = ThreadIndex(self.dialect.producer.index, index)
        self.worst = ThreadIndex(self.dialect.producer.index, -1)
        self.faults = FaultTable(self.dialect.producer.fault_table)
        self.tape = ScriptedTape(*draws)
        self.selector = Selector(self.info, self.index, self.faults, self.worst, self.tape, observer)

    def thread(self, index: int = -1) -> Selector:
        return Selector(self.info, ThreadIndex(self.dialect.producer.index, index), self.faults, self.worst, self.tape)

    @property
    def listed(self) -> str:
        return " ".join(map(named, self.info.queues))

    def plain(self, last: str | None = None) -> str:
        return named(picked_queue(self.info, self.dialect.producer.select_plain(self.selector, last, False, 0)))

    def avoiding(self, last: str | None = None, *, now: int = 0, reset: bool = False) -> str:
        return named(picked_queue(self.info, self.dialect.producer.select_queue(self.selector, last, reset, now)))

    def note(self, broker: str, latency: int, *, failed: bool = False, reachable: bool = True, now: int = 0) -> None:
        self.faults.update(broker, latency, self.dialect.producer.avoidance_ms(latency, failed), reachable, now)

    def loop(self) -> SendLoop:
        return SendLoop(self.dialect, self.settings, self.selector)

    def send(self, *attempts: tuple[int, AttemptResult], began: int = 0) -> list[str | Finish]:
        """Run attempts (end in ms, result); return the queues tried, then the end of the call if it was reached."""
        loop = self.loop()
        seen: list[str | Finish] = []
        step = loop.begin(began, began)
        for ends_at, result in attempts:
            assert isinstance(step, Try), f"no attempt left for {result}"
            seen.append(named(step.queue))
            step = loop.attempt_ended(ends_at, result)
        seen.append(named(step.queue) if isinstance(step, Try) else step)
        return seen


OK = AttemptResult.ok()
TIMEOUT = AttemptResult.failed("RemotingTimeoutException")
REFUSED = AttemptResult.failed("RemotingConnectException")
