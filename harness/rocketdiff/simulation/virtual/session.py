"""One script run on the reference: servers, client, clock and answer lines."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from rocketdiff.simulation.script.depths import depth_of
from rocketdiff.simulation.script.model import Script, Select, Send
from rocketdiff.simulation.script.vocabulary import Depth, DumpPart, Lookup, Mode
from rocketdiff.simulation.virtual.assembly import producer_with_network, producer_without_network, send_settings
from rocketdiff.simulation.virtual.codec import TOPIC, Message, Result, end_of
from rocketdiff.simulation.virtual.lines import of_repeat, selected_text
from rocketdiff.simulation.virtual.send_record import SendRecord
from rocketdiff.simulation.virtual.servers import Servers
from rocketdiff.simulation.virtual.state import dump, state
from rocketdiff.simulation.virtual.tape import ScriptedTape
from rocketdiff.simulation.virtual.worker import VirtualHost, VirtualWorker
from rocketmq_reference.client.async_sending import AsyncTask
from rocketmq_reference.client.codec import FAILURES, Failure
from rocketmq_reference.client.effects import Body, Running, Signal, Wait
from rocketmq_reference.client.memory import ProducerMemory, Published, Thread
from rocketmq_reference.remoting.errors import IllegalStateException
from rocketmq_reference.rules.client.publish import Queue, picked_queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.queue_choice.events import Observer
from rocketmq_reference.rules.queue_choice.selection import Selector

DRAIN_MS = 120_000
"""Time after the last step in which callbacks of asynchronous sends may still arrive; the same in the Java host."""


@dataclass(slots=True)
class _Open:
    """An asynchronous send: the beginning of its line, and the number of callback calls."""

    head: str
    record: SendRecord
    calls: int = 0


class ScriptSession:
    """The state of a running script."""

    def __init__(
        self, dialect: Dialect, name: str, script: Script, *, trace: bool, observer: Observer | None = None
    ) -> None:
        self.name = name
        self.lines: list[str] = []
        self.kernel = VirtualHost(script.expired_wait_extra_ms)
        self.servers = Servers(self.kernel, script.route)
        tape = ScriptedTape(script.seed)
        self.memory = ProducerMemory(dialect, send_settings(script.settings), lambda: tape, observer)
        self._trace = trace
        self._start_index = script.start_index
        self._threads: dict[int, Thread] = {}
        self._asynchronous: list[_Open] = []
        self._senders: dict[int, VirtualWorker] = {}
        if depth_of(script) is Depth.REMOTING:
            self.producer = producer_with_network(self.memory, self.kernel, self.servers, script.settings)
        else:
            self.producer = producer_without_network(self.memory, self.kernel, self.servers)
        settings = self.memory.settings
        self._rule = (
            dialect.producer.select_queue if settings.send_latency_fault_enable else dialect.producer.select_plain
        )

    def select(self, head: str, select: Select) -> None:
        selector = self.selector(select.thread)
        try:
            pick = self._rule(selector, select.last_broker, select.reset_index, self.kernel.now_ms)
        except ZeroDivisionError:
            answer = '{"exception": "ArithmeticException"}'
        else:
            answer = selected_text(picked_queue(selector.info, pick))
        self.answer(head, f'"select": {answer}', select.thread)

    def thread(self, number: int) -> Thread:
        """Return a sender thread; the script may set the initial raw value of its counter."""
        thread = self._threads.get(number)
        if thread is None:
            start = self._start_index[number] if number < len(self._start_index) else None
            thread = self._threads[number] = Thread(f"sender {number}", start)
        return thread

    def selector(self, number: int) -> Selector:
        return self.memory.selector(self.thread(number), self.memory.published(TOPIC))

    def send(self, head: str, send: Send) -> Body:
        began_ms = self.kernel.now_ms
        for number in range(send.count):
            due_ms = began_ms + number * send.every_ms
            if due_ms > self.kernel.now_ms:
                yield Wait(until_ms=due_ms)
            where = head if send.count == 1 else of_repeat(head, number)
            record = SendRecord(self.kernel.now_ms)
            if send.mode is Mode.ASYNC:
                yield from self._send_async(where, send, record)
            else:
                outcome = yield from self._send(send, record)
                self.answer(where, record.send_text(end_of(outcome), self.kernel.now_ms), send.thread)

    def by_thread(self, head: str, step: Select | Send) -> Body:
        """Let a step's thread do it and wait for its end; thread 0 executes the script."""
        if step.thread == 0:
            yield from self.kernel.turn()
            yield from self.do(head, step)
            return
        done = Signal()

        def job(_own: Thread) -> Body:
            yield from self.do(head, step)
            self.kernel.give(done)

        self.sender_thread(step.thread).submit(job)
        yield Wait(done)

    def do(self, head: str, step: Select | Send) -> Body:
        if isinstance(step, Send):
            yield from self.send(head, step)
        else:
            self.select(head, step)

    def sender_thread(self, number: int) -> VirtualWorker:
        """Return a sender thread other than 0, which starts at its first use."""
        if number not in self._senders:
            self._senders[number] = VirtualWorker(self.kernel, self.thread(number))
        return self._senders[number]

    def finish(self) -> Body:
        """End the script: wait for outstanding callbacks and report sends without one."""
        if self._asynchronous:
            yield Wait(until_ms=self.kernel.now_ms + DRAIN_MS)
        for send in self._asynchronous:
            if send.calls == 0:
                self.answer(send.head, send.record.pending_text(), 0)

    def dump(self, head: str, parts: tuple[DumpPart, ...]) -> None:
        """Add a line with the requested parts of the state; counters are those of thread 0."""
        self._line(f'{head}"dump": {dump(self.memory, self.kernel, self.producer, parts, self.thread(0))}}}')

    def answer(self, head: str, text: str, thread: int | Thread) -> None:
        """Add an answer line; in a trace, with the client state after it and the thread's counters."""
        seen_by = self.thread(thread) if isinstance(thread, int) else thread
        left = f', "state": {state(self.memory, seen_by)}' if self._trace else ""
        self._line(f"{head}{text}{left}}}")

    def _line(self, text: str) -> None:
        self.lines.append(text)
        self.kernel.answered()

    def changed(self, head: str, step: str, thread: int = 0) -> None:
        """In a trace, add a line for a step that changes the client but has no answer."""
        if self._trace:
            self.answer(head, f'"{step}": true', thread)

    def run(self, script: Script, play: Callable[[], Body]) -> None:
        """Run the script to its end, after a route lookup if the script asks for it."""
        over = Signal()

        def sender_0() -> Body:
            if script.lookup is Lookup.BEFORE:
                yield from self._look_up()
            yield from play()
            yield from self.finish()
            self.kernel.give(over)

        self.kernel.run(sender_0())
        self.kernel.run_until(over)

    def _send(self, send: Send, record: SendRecord) -> Running[Result | Failure | None]:
        sender, message, one_way = self.producer.sender, Message(record), send.mode is Mode.ONE_WAY
        try:
            if send.queue is not None:
                queue = Queue(send.queue.broker, send.queue.queue_id)
                return (yield from sender.send_to_queue(message, queue, send.timeout_ms, one_way=one_way))
            if send.selector is not None:
                choose = partial(_chosen, send)
                return (yield from sender.send_by_selector(message, choose, send.timeout_ms, one_way=one_way))
            return (yield from sender.send(message, self.thread(send.thread), send.timeout_ms, one_way=one_way))
        except FAILURES as error:
            return error

    def _send_async(self, head: str, send: Send, record: SendRecord) -> Body:
        assert self.producer.connected is not None
        opened = _Open(head, record)
        self._asynchronous.append(opened)
        task: AsyncTask[Message, Result] = AsyncTask(
            Message(record),
            lambda outcome, thread: self._called_back(opened, outcome, thread),
            send.timeout_ms,
            None if send.queue is None else Queue(send.queue.broker, send.queue.queue_id),
            None if send.selector is None else partial(_chosen, send),
        )
        try:
            yield from self.producer.connected.async_sender.send(task, self.thread(send.thread))
        except FAILURES as error:
            self._called_back(opened, error, self.thread(send.thread))

    def _called_back(self, opened: _Open, outcome: Result | Failure, thread: Thread) -> None:
        opened.calls += 1
        self.answer(opened.head, opened.record.send_text(end_of(outcome), self.kernel.now_ms, opened.calls), thread)

    def _look_up(self) -> Body:
        with suppress(IllegalStateException):
            yield from self.producer.routes.refresh(TOPIC)


def _chosen(send: Send, published: Published) -> Queue:
    assert send.selector is not None
    queues = published.info.queues
    return queues[send.selector % len(queues)]
