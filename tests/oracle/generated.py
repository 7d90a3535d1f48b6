"""
Generates traces by running the rules in virtual time, recorded as a witness would record them.

Every step of the client takes some ns; its own clock shows whole milliseconds with a random phase. Threads share fault
table and publish list and run in the order of their times. With ``interrupted``, other threads also run between two
reads of one choice, between the two writes of a fallback, and before each read of the selected element afterwards.
"""

import heapq
import math
import random
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import PublishInfo, Queue
from rocketmq_reference.rules.producer.attempt import AttemptResult, Finish, Try
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.fault_table import FaultRules, FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.tape import RandomTape
from tests.oracle.histories import attempt_of, send_of

MS = 1_000_000
START_NS = 1_000 * MS

TROUBLES = (
    "paused",
    "refused",
    "lost",
    "busy",
    "error",
    "status",
    "slow-50",
    "slow-100",
    "slow-550",
    "slow-700",
    "slow-1800",
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A broker misbehaves between two times, in seconds from the start."""

    broker: str
    from_s: float
    to_s: float
    kind: str


@dataclass(frozen=True, slots=True)
class World:
    """Input of a generated trace. interrupted: probability that a thread stops at a read of the fault table."""

    release: str
    queues: tuple[tuple[str, int], ...]
    settings: ClientSettings
    troubles: tuple[Trouble, ...]
    sends: int
    threads: int
    gap_ms: float
    seed: int
    interrupted: float = 0


def random_world(seed: int, release: str, *, threads: int = 1, sends: int = 150) -> World:
    draw = random.Random(f"{seed} {release}")
    names = [f"broker-{letter}" for letter in "abcde"[: draw.choice([1, 2, 2, 3, 3, 4, 5])]]
    numbers = draw.choice([1, 2, 3, 4, 4])
    troubles = []
    for _ in range(draw.randint(1, 6)):
        from_s = draw.uniform(0, 4)
        troubles.append(Trouble(draw.choice(names), from_s, from_s + draw.uniform(0.05, 2), draw.choice(TROUBLES)))
    settings = ClientSettings(
        send_latency_fault_enable=draw.random() < 0.75,
        send_msg_timeout_ms=draw.choice([100, 500, 700, 3_000]),
        retry_times_when_send_failed=draw.choice([0, 1, 2, 2, 5]),
        retry_another_broker_when_not_store_ok=draw.random() < 0.5,
        send_msg_max_timeout_per_request_ms=draw.choice([-1, -1, 50]),
    )
    queues = tuple((name, number) for name in names for number in range(numbers))
    return World(release, queues, settings, tuple(troubles), sends, threads, draw.choice([0.001, 1, 15]), seed)


def generated(state: World) -> list[Send]:
    run = _Run(state)
    run.go_on()
    return sorted(run.seen, key=lambda send: (send.start_ns, send.thread))


class _ReadTable(FaultTable):
    """A fault table that lets other threads run at each read. read: returns the time after the read, in ms."""

    def __init__(self, rules: FaultRules, read: Callable[[], int]) -> None:
        super().__init__(rules)
        self.read = read

    def is_available(self, broker: str, now_ms: int) -> bool:
        return super().is_available(broker, max(now_ms, self.read()))


class _SharedList(PublishInfo):
    """A publish list that lets other threads run between the two writes of a rewrite."""

    let_run: Callable[[], int]

    def rewrite(self, position: int, queue: Queue) -> None:
        self.let_run()
        self.queues[position] = self.queues[position]._replace(broker=queue.broker)
        self.let_run()
        self.queues[position] = self.queues[position]._replace(queue_id=queue.queue_id)


class _Run:
    def __init__(self, state: World) -> None:
        self.state = state
        self.draw = random.Random(state.seed)
        self.tape = RandomTape(state.seed)
        self.phase_ns = self.draw.randrange(MS)
        self.dialect = dialect_of(state.release)
        self.info = _SharedList.of(state.queues)
        self.info.let_run = self._read
        self.faults = _ReadTable(self.dialect.producer.fault_table, self._read)
        self.now_ns = START_NS
        self.is_interrupted = False
        self.seen: list[Send] = []
        self.begun = 0
        settings = state.settings
        self.settings = SendSettings(
            settings.send_latency_fault_enable,
            settings.send_msg_timeout_ms,
            settings.retry_times_when_send_failed,
            settings.retry_another_broker_when_not_store_ok,
            settings.send_msg_max_timeout_per_request_ms,
        )
        self.threads = [self.thread(number) for number in range(state.threads)]
        self.due = [(next(thread), number) for number, thread in enumerate(self.threads)]
        heapq.heapify(self.due)

    def go_on(self, until_ns: float = math.inf) -> None:
        """Run all waiting threads in the order of their times."""
        while self.due and self.due[0][0] <= until_ns:
            _, number = heapq.heappop(self.due)
            wakes = next(self.threads[number], None)
            if wakes is not None:
                heapq.heappush(self.due, (wakes, number))

    def _read(self) -> int:
        """Sometimes stop the choosing thread for some ms; return the time afterwards."""
        if not self.is_interrupted and self.state.interrupted and self.draw.random() < self.state.interrupted:
            here_ns = self.now_ns + self._late()
            self.is_interrupted = True
            self.go_on(here_ns)
            self.is_interrupted = False
            self.now_ns = here_ns
        return self._clock(self.now_ns)

    def thread(self, number: int) -> Iterator[int]:
        """Yield the time of each step that steps of other threads may precede."""
        index, worst = ThreadIndex(self.dialect.producer.index), ThreadIndex(self.dialect.producer.index)
        selector = Selector(self.info, index, self.faults, worst, self.tape)
        now_ns = START_NS + self.draw.randrange(MS)
        while self.begun < self.state.sends:
            send = self.begun
            self.begun += 1
            yield now_ns
            start_ns = now_ns
            began_ms = self._clock(now_ns := now_ns + self._pause())
            yield (now_ns := now_ns + self._pause())
            loop = SendLoop(self.dialect, self.settings, selector)
            self.now_ns = now_ns
            step = loop.begin(began_ms, self._clock(now_ns))
            attempts: list[Attempt] = []
            named: Queue | None = None
            while isinstance(step, Try):
                asked, now_ns = yield from self._selected(loop, self.now_ns)
                began_ns = now_ns = now_ns + self._pause()
                seen, now_ns = yield from self._selected(loop, now_ns)
                seen, now_ns = yield from self._selected(loop, now_ns, broker=seen.broker)
                sent, now_ns = yield from self._selected(loop, now_ns)
                again, now_ns = yield from self._selected(loop, now_ns)
                named = Queue((again if self.dialect.producer.reads_broker_again else asked).broker, sent.queue_id)
                result, took_ns = self._attempt(asked, step.timeout_ms, now_ns)
                attempts.append(_seen(len(attempts), seen, began_ns, now_ns + took_ns, result))
                yield (now_ns := now_ns + took_ns + self._pause())
                self.now_ns = now_ns
                step = loop.attempt_ended(self._clock(now_ns), result)
            now_ns = self.now_ns + self._pause()
            self.seen.append(_ended(send, number, start_ns, now_ns, step, tuple(attempts), named))
            now_ns += self.draw.randrange(max(1, int(self.state.gap_ms * 2 * MS)))

    def _selected(
        self, loop: SendLoop, now_ns: int, broker: str | None = None
    ) -> Generator[int, None, tuple[Queue, int]]:
        """Read the selected element, sometimes after other threads ran; return it and the time. broker: one read before."""
        if self.state.interrupted:
            yield (now_ns := now_ns + (self._late() if self.draw.random() < self.state.interrupted else 0))
        queue = loop.picked()
        return (queue if broker is None else queue._replace(broker=broker)), now_ns

    def _late(self) -> int:
        return self.draw.randrange(5 * MS)

    def _clock(self, now_ns: int) -> int:
        return (now_ns + self.phase_ns) // MS

    def _pause(self) -> int:
        """Nanoseconds of the client's own work; one in fifty may be long, as on a busy machine."""
        rare = self.draw.random() < 0.02
        return self.draw.choice([200_000, 3_000_000] if rare else [1_000, 20_000, 50_000])

    def _attempt(self, queue: Queue, timeout_ms: int, now_ns: int) -> tuple[AttemptResult, int]:
        at_s = (now_ns - START_NS) / MS / 1_000
        for trouble in self.state.troubles:
            if trouble.broker == queue.broker and trouble.from_s <= at_s < trouble.to_s:
                return self._troubled(trouble.kind, timeout_ms)
        return AttemptResult.ok(), self.draw.randrange(300_000, 3_000_000)

    def _troubled(self, kind: str, timeout_ms: int) -> tuple[AttemptResult, int]:
        quick_ns = self.draw.randrange(100_000, 900_000)
        if kind.startswith("slow-"):
            latency_ms = int(kind[5:])
            if latency_ms > timeout_ms:
                kind = "paused"
            else:
                return AttemptResult.ok(), latency_ms * MS + self.draw.randrange(-600_000, 600_000)
        if kind == "paused":
            late_ns = self.draw.randrange(1_500_000)
            return AttemptResult.failed("RemotingTimeoutException"), timeout_ms * MS + late_ns
        results = {
            "refused": AttemptResult.failed("RemotingConnectException"),
            "lost": AttemptResult.failed("RemotingSendRequestException"),
            "busy": AttemptResult.failed("MQBrokerException", 2),
            "error": AttemptResult.failed("MQBrokerException", 1),
            "status": AttemptResult.ok("SLAVE_NOT_AVAILABLE"),
        }
        return results[kind], quick_ns


def _seen(number: int, queue: Queue, start_ns: int, end_ns: int, result: AttemptResult) -> Attempt:
    return attempt_of(number, queue.broker, queue.queue_id, start_ns, end_ns, result.error, result.code, result.status)


def _ended(
    send: int,
    thread: int,
    start_ns: int,
    end_ns: int,
    finish: Finish,
    attempts: tuple[Attempt, ...],
    named: Queue | None,
) -> Send:
    """named: the queue of the last attempt's result."""
    has_result = named is not None and finish.error is None and finish.attempt == len(attempts) - 1
    return send_of(
        send=send,
        thread=thread,
        kind=SendKind.PLAIN,
        argument=0,
        start_ns=start_ns,
        end_ns=end_ns,
        error=finish.error,
        cause=finish.cause,
        code=finish.code,
        status=finish.status,
        broker=named.broker if named is not None and has_result else None,
        queue_id=named.queue_id if named is not None and has_result else None,
        route=1,
        route_after=1,
        attempts=attempts,
    )


def changed(sends: list[Send], number: int, change: Callable[[Send], Send]) -> list[Send]:
    return [change(send) if place == number else send for place, send in enumerate(sends)]
