"""An asynchronous send: its steps carried out, on the threads on which the release takes them, to the callback."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from rocketdiff.simulation.script.model import Send
from rocketdiff.simulation.virtual.book import Attempt, Book, End
from rocketdiff.simulation.virtual.client import Client, Published, Thread
from rocketdiff.simulation.virtual.kernel import Body, Kernel, Wait
from rocketdiff.simulation.virtual.routes import Routes
from rocketdiff.simulation.virtual.thrown import Thrown
from rocketdiff.simulation.virtual.transport import AsyncEnd, Target, Transport
from rocketdiff.simulation.virtual.worker import Worker
from rocketmq_reference.rules.async_rules import AsyncThread
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import AsyncStep, CallBack, Invoke, Throw
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish
from rocketmq_reference.rules.producer.direct_send import no_route, send_by_selector
from rocketmq_reference.rules.queue_choice.selection import Selector

Report = Callable[[End, Thread], None]
"""Is told how the send ended, at each call of the callback, and in which thread that was."""


@dataclass(slots=True)
class _Task:
    """One asynchronous send under way; queue_id: what its last answer named."""

    rules: AsyncSend
    send: Send
    book: Book
    report: Report
    published: Published | None = None
    queue_id: int | None = None


class AsyncSender:
    """Does the asynchronous sends of one producer."""

    __slots__ = ("_client", "_kernel", "_routes", "_transport", "_workers")

    def __init__(
        self, client: Client, kernel: Kernel, routes: Routes, transport: Transport, workers: dict[str, Worker]
    ) -> None:
        self._client = client
        self._kernel = kernel
        self._routes = routes
        self._transport = transport
        self._workers = workers

    def send(self, send: Send, book: Book, report: Report) -> Body:
        """The application's call, in its thread; what is left to do when it returns is done by threads of the client."""
        settings = self._client.settings
        if send.timeout_ms is not None:
            settings = replace(settings, send_msg_timeout_ms=send.timeout_ms)
        form = _form_of(send)
        chooses_first = (
            form is Form.SELECTOR and send.timeout_ms is None and self._client.dialect.selector_restarts_time
        )
        if chooses_first:
            form = Form.GIVEN_QUEUE
        rules = AsyncSend(self._client.dialect, settings, self._client.faults, form, self._client.observer)
        task = _Task(rules, send, book, report)
        queue = None
        if chooses_first:
            queue = yield from self._choose_first(task)
            if queue is None:
                return
        elif send.queue is not None:
            queue = Queue(send.queue.broker, send.queue.queue_id)
        runs_on = self._client.dialect.asynchronous.runs_on
        called_ms = self._kernel.now_ms
        if runs_on is AsyncThread.CALLER:
            yield from self._run(task, queue, called_ms, send.thread)
        else:
            self._workers[runs_on].submit(lambda: self._run(task, queue, called_ms, str(runs_on)))

    def _choose_first(self, task: _Task) -> Generator[Wait, bool, Queue | None]:
        """A selector without a timeout, from 5.1.4 on: the caller's thread looks up the route and chooses."""
        began_ms = self._kernel.now_ms
        step: AsyncStep
        try:
            published = yield from self._routes.find()
        except Thrown as thrown:
            step = task.rules.refused(_finish_of(thrown))
        else:
            if published is None:
                step = task.rules.refused(self._no_route(by_selector=True))
            else:
                queue = _chosen(published, task.send)
                timeout_ms = task.rules.settings.send_msg_timeout_ms
                spent_ms = self._kernel.now_ms - began_ms
                tried = send_by_selector(self._client.dialect, queue, timeout_ms, spent_ms, timeout_given=False)
                if not isinstance(tried, Finish):
                    return queue
                step = task.rules.refused(tried)
        yield from self._follow(task, step, task.send.thread)
        return None

    def _run(self, task: _Task, queue: Queue | None, called_ms: int, thread: Thread) -> Body:
        step = task.rules.accepted(called_ms, self._kernel.now_ms)
        if step is None:
            step = yield from self._first(task, queue, thread)
        yield from self._follow(task, step, thread)

    def _first(self, task: _Task, queue: Queue | None, thread: Thread) -> Generator[Wait, bool, AsyncStep]:
        """From the route to the first request."""
        rules = task.rules
        if queue is not None:
            return rules.begin_at(queue, self._kernel.now_ms)
        try:
            task.published = yield from self._routes.find()
        except Thrown as thrown:
            return rules.refused(_finish_of(thrown))
        if task.published is None:
            return rules.refused(self._no_route(by_selector=rules.form is Form.SELECTOR))
        if rules.form is Form.SELECTOR:
            return rules.begin_at(_chosen(task.published, task.send), self._kernel.now_ms)
        return rules.begin(self._client.selector(thread, task.published), self._kernel.now_ms)

    def _follow(self, task: _Task, step: AsyncStep | None, thread: Thread) -> Body:
        while step is not None:
            match step:
                case Invoke():
                    step = yield from self._invoke(task, step, thread)
                case CallBack(finish):
                    task.report(_end_of(finish, task, step.broker), thread)
                    task.rules.called_back(step, self._kernel.now_ms)
                    step = None
                case Throw(finish):
                    task.report(_end_of(finish, task, None), thread)
                    step = None

    def _invoke(self, task: _Task, invoke: Invoke, thread: Thread) -> Generator[Wait, bool, AsyncStep | None]:
        """Hand the request over; a first attempt looks for its broker's address, a retry takes what there is."""
        if invoke.attempt == 0:
            step = yield from self._addressed(task, invoke)
            if not isinstance(step, Invoke):
                return step
            invoke = step
        broker = self._routes.known.master(invoke.broker)
        attempt = Attempt(broker, invoke.queue_id, invoke.timeout_ms, self._kernel.now_ms, invoke.vip)
        task.book.attempts.append(attempt)

        def on_end(end: AsyncEnd, where: Thread) -> Body:
            return self._ended(task, invoke, attempt, end, where)

        target = Target(broker, invoke.queue_id, invoke.vip)
        try:
            yield from self._transport.send_async(
                target, invoke.timeout_ms, on_end, thread, is_retry=invoke.attempt > 0
            )
        except Thrown as thrown:
            attempt.ended(self._kernel.now_ms, thrown.result)
            selector = self._selector(task, thread)
            return task.rules.threw(invoke, selector, self._kernel.now_ms, thrown.error)
        task.rules.returned(invoke, self._kernel.now_ms)
        return None

    def _addressed(self, task: _Task, invoke: Invoke) -> Generator[Wait, bool, AsyncStep]:
        try:
            yield from self._routes.address_of(invoke.broker)
        except Thrown as thrown:
            if thrown.error != "MQClientException":
                return task.rules.refused(_finish_of(thrown))
            return task.rules.addressed(invoke, self._kernel.now_ms, known=False)
        return task.rules.addressed(invoke, self._kernel.now_ms, known=True)

    def _ended(self, task: _Task, invoke: Invoke, attempt: Attempt, end: AsyncEnd, thread: Thread) -> Body:
        now_ms = self._kernel.now_ms
        if end.answer is None or end.error is not None:
            result = AttemptResult(error=end.error)
            attempt.ended(now_ms, result)
        else:
            result = end.answer.result
            attempt.ended(now_ms, end.answer.outcome)
            task.queue_id = end.answer.queue_id
        selector = self._selector(task, thread)
        step = task.rules.ended(invoke, selector, now_ms, result, direct=end.direct, written_ms=end.written_ms)
        yield from self._follow(task, step, thread)

    def _selector(self, task: _Task, thread: Thread) -> Selector | None:
        return None if task.published is None else self._client.selector(thread, task.published)

    def _no_route(self, *, by_selector: bool) -> Finish:
        dialect = self._client.dialect
        return no_route(dialect, name_servers_set=True, name_server_reached=True, by_selector=by_selector)


def _form_of(send: Send) -> Form:
    if send.queue is not None:
        return Form.GIVEN_QUEUE
    return Form.SELECTED if send.selector is None else Form.SELECTOR


def _chosen(published: Published, send: Send) -> Queue:
    assert send.selector is not None
    queues = published.info.queues
    return queues[send.selector % len(queues)]


def _finish_of(thrown: Thrown) -> Finish:
    return Finish(Ending.RETHROWN, error=thrown.error, code=thrown.code, cause=thrown.cause)


def _end_of(finish: Finish, task: _Task, broker: str | None) -> End:
    if finish.ending is Ending.RESULT:
        return End("ok", finish.status, broker, task.queue_id)
    return End("exception", exception=finish.error, code=finish.code, cause=finish.cause)
