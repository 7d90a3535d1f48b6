"""A send by the application: what the rules ask for is done, attempt by attempt, and the end is told in a line."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from rocketdiff.simulation.script.model import Send
from rocketdiff.simulation.script.vocabulary import Mode
from rocketdiff.simulation.virtual.book import WRITTEN, Attempt, Book, End
from rocketdiff.simulation.virtual.client import Client
from rocketdiff.simulation.virtual.kernel import Kernel, Wait
from rocketdiff.simulation.virtual.routes import Routes
from rocketdiff.simulation.virtual.thrown import Thrown
from rocketdiff.simulation.virtual.transport import Answered, Target, Transport
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish, Step, Try
from rocketmq_reference.rules.producer.direct_send import direct_send_ended, no_route, send_by_selector, send_to_queue
from rocketmq_reference.rules.producer.one_way import OneWaySend, one_way_to_queue
from rocketmq_reference.rules.producer.send_loop import SendLoop

Ended = Callable[[int, AttemptResult], Step]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one attempt ended, as the rules see it, with what a result or an exception carries besides."""

    result: AttemptResult
    broker: str
    queue_id: int | None = None
    cause: str | None = None


class Sender:
    """Does synchronous and one-way sends of one producer, on whatever thread."""

    __slots__ = ("_client", "_kernel", "_routes", "_transport")

    def __init__(self, client: Client, kernel: Kernel, routes: Routes, transport: Transport) -> None:
        self._client = client
        self._kernel = kernel
        self._routes = routes
        self._transport = transport

    def send(self, send: Send, book: Book) -> Generator[Wait, bool, End]:
        """One send, to its end."""
        try:
            if send.queue is not None:
                return (yield from self._to_queue(send, book))
            if send.selector is not None:
                return (yield from self._by_selector(send, book, send.selector))
            return (yield from self._plain(send, book))
        except Thrown as thrown:
            return _exception(thrown)

    def _plain(self, send: Send, book: Book) -> Generator[Wait, bool, End]:
        published = yield from self._routes.find()
        if published is None:
            return self._no_route(by_selector=False)
        settings = self._client.settings
        if send.timeout_ms is not None:
            settings = replace(settings, send_msg_timeout_ms=send.timeout_ms)
        kind = OneWaySend if send.mode is Mode.ONE_WAY else SendLoop
        loop = kind(self._client.dialect, settings, self._client.selector(send.thread, published))
        step = loop.begin(book.began_ms, self._kernel.now_ms)
        return (yield from self._carry_out(send.mode, book, step, loop.attempt_ended))

    def _to_queue(self, send: Send, book: Book) -> Generator[Wait, bool, End]:
        assert send.queue is not None
        queue = Queue(send.queue.broker, send.queue.queue_id)
        timeout_ms = self._timeout_ms(send)
        if send.mode is Mode.ONE_WAY:
            step: Step = one_way_to_queue(queue, timeout_ms)
        else:
            step = send_to_queue(self._client.dialect, queue, timeout_ms, 0)
        return (yield from self._carry_out(send.mode, book, step, _direct_ended))

    def _by_selector(self, send: Send, book: Book, argument: int) -> Generator[Wait, bool, End]:
        published = yield from self._routes.find()
        if published is None:
            return self._no_route(by_selector=True)
        queues = published.info.queues
        spent_ms = self._kernel.now_ms - book.began_ms
        chosen = queues[argument % len(queues)]
        given = send.timeout_ms is not None
        dialect, timeout_ms = self._client.dialect, self._timeout_ms(send)
        step = send_by_selector(dialect, chosen, timeout_ms, spent_ms, timeout_given=given)
        return (yield from self._carry_out(send.mode, book, step, _direct_ended))

    def _carry_out(self, mode: Mode, book: Book, step: Step, ended: Ended) -> Generator[Wait, bool, End]:
        outcomes: list[Outcome] = []
        while isinstance(step, Try):
            outcome = yield from self._attempt(mode, book, step)
            outcomes.append(outcome)
            step = ended(self._kernel.now_ms, outcome.result)
        return _end(mode, step, outcomes)

    def _attempt(self, mode: Mode, book: Book, step: Try) -> Generator[Wait, bool, Outcome]:
        """One attempt, from looking for the broker's address to the answer (sendKernelImpl)."""
        began_ms = self._kernel.now_ms
        try:
            address = yield from self._routes.address_of(step.queue.broker)
            timeout_ms = self._left_ms(step.timeout_ms, self._kernel.now_ms - began_ms)
            vip = self._client.dialect.uses_vip_channel(self._client.settings)
            attempt = Attempt(address, step.queue.queue_id, timeout_ms, self._kernel.now_ms, vip)
            book.attempts.append(attempt)
            answer = yield from self._request(mode, attempt)
        except Thrown as thrown:
            return Outcome(thrown.result, step.queue.broker, cause=thrown.cause)
        if answer is None:
            return Outcome(AttemptResult(), step.queue.broker)
        return Outcome(answer.result, step.queue.broker, answer.queue_id)

    def _request(self, mode: Mode, attempt: Attempt) -> Generator[Wait, bool, Answered | None]:
        target = Target(attempt.broker, attempt.queue_id, attempt.vip)
        try:
            if mode is Mode.ONE_WAY:
                yield from self._transport.send_one_way(target, attempt.timeout_ms)
                attempt.end(self._kernel.now_ms, WRITTEN)
                return None
            answer = yield from self._transport.send(target, attempt.timeout_ms)
        except Thrown as thrown:
            attempt.ended(self._kernel.now_ms, thrown.result)
            raise
        attempt.ended(self._kernel.now_ms, answer.outcome)
        return answer

    def _left_ms(self, timeout_ms: int, spent_ms: int) -> int:
        if not self._client.dialect.loop.shared_budget:
            return timeout_ms
        if timeout_ms < spent_ms:
            raise Thrown("RemotingTooMuchRequestException")
        return timeout_ms - spent_ms

    def _timeout_ms(self, send: Send) -> int:
        return self._client.settings.send_msg_timeout_ms if send.timeout_ms is None else send.timeout_ms

    def _no_route(self, *, by_selector: bool) -> End:
        finish = no_route(
            self._client.dialect, name_servers_set=True, name_server_reached=True, by_selector=by_selector
        )
        return End("exception", exception=finish.error, code=finish.code)


def _direct_ended(_now_ms: int, result: AttemptResult) -> Step:
    return direct_send_ended(result)


def _exception(thrown: Thrown) -> End:
    return End("exception", exception=thrown.error, code=thrown.code, cause=thrown.cause)


def _end(mode: Mode, step: Step, outcomes: list[Outcome]) -> End:
    assert isinstance(step, Finish)
    outcome = None if step.attempt is None else outcomes[step.attempt]
    if step.ending is Ending.RESULT and outcome is not None:
        if mode is Mode.ONE_WAY:
            return End("ok")
        return End("ok", outcome.result.status, outcome.broker, outcome.queue_id)
    if step.ending is Ending.RETHROWN and outcome is not None:
        return End("exception", exception=step.error, code=step.code, cause=outcome.cause)
    return End("exception", exception=step.error, code=step.code, cause=step.cause)
