"""The reference as a producer in a script: its sends, queue choices and counters."""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from rocketdiff.simulation.script.depths import depth_of
from rocketdiff.simulation.script.model import Action, Script, Step
from rocketdiff.simulation.script.steps.sending import Content, Select, Send, SetIndex, SetWorstIndex, Update
from rocketdiff.simulation.script.vocabulary import Depth, DumpPart, Mode
from rocketdiff.simulation.virtual.assembly import (
    VirtualClient,
    producer_with_network,
    producer_without_network,
    send_settings,
)
from rocketdiff.simulation.virtual.codec import TOPIC, Message, Result, end_of
from rocketdiff.simulation.virtual.lines import dump_text, faults_text, number, of_repeat, queues_text, selected_text
from rocketdiff.simulation.virtual.requests import message_of
from rocketdiff.simulation.virtual.send_record import SendRecord
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketdiff.simulation.virtual.tape import ScriptedTape
from rocketdiff.simulation.virtual.worker import VirtualWorker
from rocketmq_reference.client.async_sending import AsyncTask
from rocketmq_reference.client.codec import FAILURES, Failure
from rocketmq_reference.client.effects import Body, Running, Signal, Wait
from rocketmq_reference.client.memory import ProducerMemory, Published, Thread
from rocketmq_reference.client.send_request import RequestMaker
from rocketmq_reference.remoting.errors import IllegalStateException, RuntimeException
from rocketmq_reference.rules.client.publish import Queue, picked_queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.queue_choice.events import Observer
from rocketmq_reference.rules.queue_choice.selection import Selector

DRAIN_MS = 120_000
"""Time after the last step in which callbacks of asynchronous sends may still arrive; the same in the Java host."""

_GROUP = "simulation"
"""The group of the producer in the Java host."""

_TRACED = (DumpPart.INDEX, DumpPart.WORST_INDEX, DumpPart.QUEUES, DumpPart.FAULTS)


@dataclass(slots=True)
class _Open:
    """An asynchronous send: the beginning of its line, and the number of callback calls."""

    head: str
    record: SendRecord
    calls: int = 0


class SendingSession:
    """The producer of a running script; a RoleSession."""

    def __init__(self, session: ScriptSession, dialect: Dialect, script: Script, observer: Observer | None) -> None:
        self.session = session
        self._kernel = session.kernel
        tape = ScriptedTape(script.seed)
        self._memory = ProducerMemory(dialect, send_settings(script.settings), lambda: tape, observer)
        self._requests = RequestMaker(dialect, _GROUP, script.settings.compress_msg_body_over_howmuch)
        self._start_index = script.start_index
        self._threads: dict[int, Thread] = {}
        self._asynchronous: list[_Open] = []
        self._workers: dict[int, VirtualWorker] = {}
        if depth_of(script) is Depth.REMOTING:
            self._producer = producer_with_network(self._memory, session.kernel, session.servers, script.settings)
        else:
            self._producer = producer_without_network(self._memory, session.kernel, session.servers)
        settings = self._memory.settings
        self._rule = (
            dialect.producer.select_queue if settings.send_latency_fault_enable else dialect.producer.select_plain
        )

    @property
    def client(self) -> VirtualClient:
        return self._producer.client

    def look_up(self) -> Body:
        with suppress(IllegalStateException):
            yield from self.client.routes.refresh(TOPIC)

    def do(self, head: str, step: Step) -> Body | None:
        """Do one step on thread 0; return an actor for a step that takes time or has to wait its turn."""
        match step:
            case Select(thread=0) if not self._kernel.is_due:
                self._select(head, step)
            case Select() | Send():
                return self._by_thread(head, step)
            case SetIndex(value, thread):
                self._selector(thread).index.value = value
                self._changed(head, "index", thread)
            case SetWorstIndex(value, thread):
                self._selector(thread).worst_index.value = value
                self._changed(head, "worst_index", thread)
            case Update(broker, latency_ms, isolation, reachable):
                now_ms = self._kernel.now_ms
                self._memory.note(broker, latency_ms, now_ms, isolated=isolation, reachable=reachable)
                self._changed(head, "update")
            case _:
                raise TypeError(f"no step of a producer: {step}")
        return None

    def thread_of(self, action: Action) -> int | None:
        return action.thread if isinstance(action, Send | Select) else None

    def worker(self, thread: int) -> VirtualWorker:
        """Return a sender thread other than 0, which starts at its first use."""
        if thread not in self._workers:
            self._workers[thread] = VirtualWorker(self._kernel, self._thread(thread))
        return self._workers[thread]

    def perform(self, head: str, action: Action) -> Body:
        if isinstance(action, Send):
            yield from self._send_all(head, action)
        elif isinstance(action, Select):
            self._select(head, action)

    def finish(self) -> Body:
        """Wait for outstanding callbacks and report sends without one."""
        if self._asynchronous:
            yield Wait(until_ms=self._kernel.now_ms + DRAIN_MS)
        for send in self._asynchronous:
            if send.calls == 0:
                self._answer(send.head, send.record.pending_text(), 0)

    def part(self, part: DumpPart) -> str:
        """Return a part of the state; counters are those of thread 0."""
        return _part_text(self._memory, part, self._thread(0))

    def state(self) -> str:
        return self._state(0)

    def _select(self, head: str, select: Select) -> None:
        selector = self._selector(select.thread)
        try:
            pick = self._rule(selector, select.last_broker, select.reset_index, self._kernel.now_ms)
        except ZeroDivisionError:
            answer = '{"exception": "ArithmeticException"}'
        else:
            answer = selected_text(picked_queue(selector.info, pick))
        self._answer(head, f'"select": {answer}', select.thread)

    def _thread(self, number: int) -> Thread:
        """Return a sender thread; the script may set the initial raw value of its counter."""
        thread = self._threads.get(number)
        if thread is None:
            start = self._start_index[number] if number < len(self._start_index) else None
            thread = self._threads[number] = Thread(f"sender {number}", start)
        return thread

    def _selector(self, number: int) -> Selector:
        return self._memory.selector(self._thread(number), self._memory.published(TOPIC))

    def _send_all(self, head: str, send: Send) -> Body:
        began_ms = self._kernel.now_ms
        for repeat in range(send.count):
            due_ms = began_ms + repeat * send.every_ms
            if due_ms > self._kernel.now_ms:
                yield Wait(until_ms=due_ms)
            where = head if send.count == 1 else of_repeat(head, repeat)
            record = SendRecord(self._kernel.now_ms)
            if send.mode is Mode.ASYNC:
                yield from self._send_async(where, send, record)
            else:
                outcome = yield from self._send(send, record)
                self._answer(where, record.send_text(end_of(outcome), self._kernel.now_ms), send.thread)

    def _by_thread(self, head: str, step: Select | Send) -> Body:
        """Let a step's thread do it and wait for its end; thread 0 executes the script."""
        if step.thread == 0:
            yield from self._kernel.turn()
            yield from self.perform(head, step)
            return
        done = Signal()

        def job(_own: Thread) -> Body:
            yield from self.perform(head, step)
            self._kernel.give(done)

        self.worker(step.thread).submit(job)
        yield Wait(done)

    def _answer(self, head: str, text: str, thread: int | Thread) -> None:
        """Add an answer line; in a trace, with the state after it and the thread's counters."""
        self.session.answer(head, text, lambda: self._state(thread))

    def _changed(self, head: str, step: str, thread: int = 0) -> None:
        self.session.changed(head, step, lambda: self._state(thread))

    def _state(self, thread: int | Thread) -> str:
        own = self._thread(thread) if isinstance(thread, int) else thread
        return dump_text({part: _part_text(self._memory, part, own) for part in _TRACED})

    def _send(self, send: Send, record: SendRecord) -> Running[Result | Failure | RuntimeException | None]:
        sender, one_way = self._producer.sender, send.mode is Mode.ONE_WAY
        try:
            message = self._message(send, record)
            if send.queue is not None:
                queue = Queue(send.queue.broker, send.queue.queue_id)
                return (yield from sender.send_to_queue(message, queue, send.timeout_ms, one_way=one_way))
            if send.selector is not None:
                choose = partial(_chosen, send)
                return (yield from sender.send_by_selector(message, choose, send.timeout_ms, one_way=one_way))
            return (yield from sender.send(message, self._thread(send.thread), send.timeout_ms, one_way=one_way))
        except (*FAILURES, RuntimeException) as error:
            return error

    def _message(self, send: Send, record: SendRecord) -> Message:
        """Return the message of a send; raises what the client refuses."""
        if send.message is None and not send.request:
            return Message(record)
        carried = message_of(send.message or Content(), TOPIC, self._memory.dialect)
        return Message(record, carried.topic, carried, self._requests if send.request else None)

    def _send_async(self, head: str, send: Send, record: SendRecord) -> Body:
        assert self._producer.async_sender is not None
        opened = _Open(head, record)
        self._asynchronous.append(opened)
        try:
            message = self._message(send, record)
        except (*FAILURES, RuntimeException) as error:
            self._called_back(opened, error, self._thread(send.thread))
            return
        task: AsyncTask[Message, Result] = AsyncTask(
            message,
            lambda outcome, thread: self._called_back(opened, outcome, thread),
            send.timeout_ms,
            None if send.queue is None else Queue(send.queue.broker, send.queue.queue_id),
            None if send.selector is None else partial(_chosen, send),
        )
        try:
            yield from self._producer.async_sender.send(task, self._thread(send.thread))
        except FAILURES as error:
            self._called_back(opened, error, self._thread(send.thread))

    def _called_back(self, opened: _Open, outcome: Result | Failure | RuntimeException, thread: Thread) -> None:
        opened.calls += 1
        self._answer(opened.head, opened.record.send_text(end_of(outcome), self._kernel.now_ms, opened.calls), thread)


def _chosen(send: Send, published: Published) -> Queue:
    assert send.selector is not None
    queues = published.info.queues
    return queues[send.selector % len(queues)]


def _part_text(memory: ProducerMemory, part: DumpPart, thread: Thread) -> str:
    if part is DumpPart.QUEUES:
        return queues_text(memory.published(TOPIC).info)
    if part is DumpPart.FAULTS:
        return faults_text(memory.faults)
    published = memory.published(TOPIC)
    index = memory.selector(thread, published).index if part is DumpPart.INDEX else memory.worst_index(thread)
    return number(index.value)
