"""Asynchronous sends: carries out their steps, up to the callback, on the threads that the release uses."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic

from rocketmq_reference.client.codec import FAILURES, Answer, AsyncEnd, Failure, Msg, Request, Result, attempt_result
from rocketmq_reference.client.effects import Body, Running, Worker
from rocketmq_reference.client.memory import Published, Thread
from rocketmq_reference.client.sending import Choose, Sender
from rocketmq_reference.remoting.errors import (
    CompletionException,
    MQClientException,
    RemotingTooMuchRequestException,
)
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.async_rules import AsyncThread
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import AsyncStep, CallBack, Invoke, Throw
from rocketmq_reference.rules.producer.attempt import Ending, Finish
from rocketmq_reference.rules.producer.direct_send import send_by_selector
from rocketmq_reference.rules.queue_choice.selection import Selector


@dataclass(slots=True)
class AsyncTask(Generic[Msg, Result]):
    """
    One asynchronous send; tell: the application's callback, called with a result or failure and the current thread.

    queue: given by the application, if any. choose: the application's selector, if any. check: validates the message when the
    send runs. outcomes: result or failure of each attempt by its number. question: the request that all attempts send.
    published: the list that the queue was selected from.
    """

    message: Msg
    tell: Callable[[Result | Failure, Thread], None]
    timeout_ms: int | None = None
    queue: Queue | None = None
    choose: Choose | None = None
    check: Callable[[], None] | None = None
    outcomes: dict[int, Result | Failure] = field(default_factory=dict)
    question: Any = None
    published: Published | None = None


class AsyncSender(Generic[Msg, Request, Answer, Result]):
    """Asynchronous sends of one client; workers: its pools by the rules' names."""

    def __init__(self, sender: Sender[Msg, Request, Answer, Result], workers: dict[AsyncThread, Worker]) -> None:
        self._sender = sender
        self._memory = sender.memory
        self._host = sender.host
        self._lists = sender.lists
        self._routes = sender.routes
        self._workers = workers

    def send(self, task: AsyncTask[Msg, Result], thread: Thread) -> Body:
        """
        Start a send in the application's thread; threads of the client do the rest after this returns.

        Up to 4.2.0 raises whatever prevents the first attempt.
        """
        form = Form.SELECTED if task.choose is None else Form.SELECTOR
        if task.queue is not None:
            form = Form.GIVEN_QUEUE
        dialect = self._memory.dialect
        # From 5.1.4 this call is a selection in the caller's thread followed by a send to the given queue.
        chooses_first = form is Form.SELECTOR and task.timeout_ms is None and dialect.producer.selector_restarts_time
        if chooses_first:
            form = Form.GIVEN_QUEUE
        settings = self._sender.settings(task.timeout_ms)
        rules = AsyncSend(dialect, settings, self._memory.faults, form, self._memory.observer)
        if chooses_first:
            task.queue = yield from self._choose_first(task, rules, thread)
            if task.queue is None:
                return
        called_ms = self._host.now_ms
        if dialect.producer.asynchronous.runs_on is AsyncThread.CALLER:
            yield from self._run(task, rules, called_ms, thread)
        else:
            worker = self._workers[dialect.producer.asynchronous.runs_on]
            worker.submit(lambda own: self._run(task, rules, called_ms, own))

    def _choose_first(self, task: AsyncTask[Msg, Result], rules: AsyncSend, thread: Thread) -> Running[Queue | None]:
        """Look up the route and choose in the caller's thread: a selector without a timeout, from 5.1.4."""
        began_ms = self._host.now_ms
        try:
            queue = yield from self._chosen(task)
        except FAILURES as error:
            yield from self._refused(task, rules, error, thread)
            return None
        timeout_ms, spent_ms = rules.settings.send_msg_timeout_ms, self._host.now_ms - began_ms
        tried = send_by_selector(self._memory.dialect, queue, timeout_ms, spent_ms, timeout_given=False)
        if not isinstance(tried, Finish):
            return queue
        yield from self._follow(task, rules, rules.refused(tried), thread)
        return None

    def _chosen(self, task: AsyncTask[Msg, Result]) -> Running[Queue]:
        assert task.choose is not None
        if task.check is not None:
            task.check()
        published = yield from self._lists.published(task.message.topic, by_selector=True)
        return (yield from self._host.outside(partial(task.choose, published)))

    def _run(self, task: AsyncTask[Msg, Result], rules: AsyncSend, called_ms: int, thread: Thread) -> Body:
        try:
            if task.check is not None:
                task.check()
            step = rules.accepted(called_ms, self._host.now_ms)
            if step is None:
                step = yield from self._first(task, rules, thread)
        except FAILURES as error:
            yield from self._refused(task, rules, error, thread)
            return
        yield from self._follow(task, rules, step, thread)

    def _first(self, task: AsyncTask[Msg, Result], rules: AsyncSend, thread: Thread) -> Running[AsyncStep]:
        if task.queue is not None:
            return rules.begin_at(task.queue, self._host.now_ms)
        by_selector = task.choose is not None
        task.published = yield from self._lists.published(task.message.topic, by_selector=by_selector)
        if task.choose is not None:
            queue = yield from self._host.outside(partial(task.choose, task.published))
            return rules.begin_at(queue, self._host.now_ms)
        return rules.begin(self._memory.selector(thread, task.published), self._host.now_ms)

    def _refused(self, task: AsyncTask[Msg, Result], rules: AsyncSend, error: Failure, thread: Thread) -> Body:
        task.outcomes[0] = error
        finish = Finish(Ending.RETHROWN, 0, error=type(error).__name__)
        return self._follow(task, rules, rules.refused(finish), thread)

    def _follow(self, task: AsyncTask[Msg, Result], rules: AsyncSend, step: AsyncStep | None, thread: Thread) -> Body:
        while step is not None:
            match step:
                case Invoke():
                    step = yield from self._invoke(task, rules, step, thread)
                case CallBack(finish):
                    yield from self._host.outside(partial(task.tell, _outcome_of(finish, task), thread))
                    rules.called_back(step, self._host.now_ms)
                    return
                case Throw(finish):
                    error = _outcome_of(finish, task)
                    assert isinstance(error, FAILURES)
                    raise error

    def _invoke(
        self, task: AsyncTask[Msg, Result], rules: AsyncSend, invoke: Invoke, thread: Thread
    ) -> Running[AsyncStep | None]:
        """Hand the request to remoting; the first attempt looks up its broker's address, a retry uses only a known one."""
        if invoke.attempt == 0:
            step = yield from self._addressed(task, rules, invoke)
            if not isinstance(step, Invoke):
                return step
            invoke = step
        address = self._routes.known.master(invoke.broker)
        attempts = self._sender.attempts
        attempt = attempts.begun(task.message, invoke.attempt, invoke.broker, invoke.queue_id, address, vip=invoke.vip)
        attempts.requested(attempt, invoke.timeout_ms)

        def on_end(end: AsyncEnd, where: Thread) -> Body:
            return self._ended(task, rules, invoke, attempt, address or "", end, where)

        try:
            if address is None:
                # A retry to a broker without a known address goes to a name server, remoting's default target.
                address = yield from self._routes.name_servers.chosen()
            target = self._sender.vip_address(address) if invoke.vip else address
            yield from self._sender.transport.invoke_async(
                target, invoke.timeout_ms, task.question, on_end, thread, is_retry=invoke.attempt > 0
            )
        except FAILURES as error:
            task.outcomes[invoke.attempt] = error
            attempts.ended(attempt, error, None)
            # A retry from here counts with the counter of this thread, not with the one of the first selection.
            selector = self._selector(task, thread)
            return rules.threw(invoke, selector, self._host.now_ms, type(error).__name__)
        rules.returned(invoke, self._host.now_ms)
        return None

    def _addressed(self, task: AsyncTask[Msg, Result], rules: AsyncSend, invoke: Invoke) -> Running[AsyncStep]:
        given = Queue(invoke.broker, invoke.queue_id)

        def selected() -> Queue:
            return given if rules.loop is None else rules.loop.picked()

        codec = self._sender.codec
        try:
            broker, _ = yield from self._lists.address_of(task.message.topic, selected)
        except FAILURES as error:
            task.outcomes[0] = error
            if not isinstance(error, MQClientException):
                return rules.refused(Finish(Ending.RETHROWN, 0, error=type(error).__name__))
            return rules.addressed(invoke, self._host.now_ms, known=False)
        body = None
        if codec.takes_time(task.message):
            body = yield from self._host.outside(partial(codec.compressed, task.message))
        invoke = replace(invoke, broker=broker, queue_id=selected().queue_id)
        # Made once, after the lookup: retries send the same request.
        task.question = codec.send(task.message, broker, invoke.queue_id, body, one_way=False)
        step = rules.addressed(invoke, self._host.now_ms, known=True)
        if not isinstance(step, Invoke):
            task.outcomes[0] = RemotingTooMuchRequestException("sendKernelImpl call timeout")
        return step

    def _ended(
        self,
        task: AsyncTask[Msg, Result],
        rules: AsyncSend,
        invoke: Invoke,
        attempt: Any,
        address: str,
        end: AsyncEnd,
        thread: Thread,
    ) -> Body:
        now_ms = self._host.now_ms
        outcome: Result | Failure
        if end.error is not None:
            outcome = end.error
        else:
            try:
                outcome = self._sender.codec.result(task.message, invoke.broker, end.answer, address)
            except FAILURES as error:
                outcome = error
        task.outcomes[invoke.attempt] = outcome
        self._sender.attempts.ended(attempt, outcome, end.answer if end.error is None else None)
        selector, result = self._selector(task, thread), attempt_result(outcome)
        step = rules.ended(invoke, selector, now_ms, result, direct=end.direct, written_ms=end.written_ms)
        yield from self._follow(task, rules, step, thread)

    def _selector(self, task: AsyncTask[Msg, Result], thread: Thread) -> Selector | None:
        return None if task.published is None else self._memory.selector(thread, task.published)


def _outcome_of(finish: Finish, task: AsyncTask[Msg, Result]) -> Result | Failure:
    if finish.ending is Ending.CALL_TIMEOUT:
        return RemotingTooMuchRequestException("DEFAULT ASYNC send call timeout")
    assert finish.attempt is not None
    outcome = task.outcomes[finish.attempt]
    if finish.ending is not Ending.GAVE_UP:
        return outcome
    assert isinstance(outcome, FAILURES)
    error = MQClientException(f"Send {task.message.topic} failed", -1 if finish.code is None else finish.code)
    if finish.cause == "CompletionException":
        error.__cause__ = CompletionException(str(outcome))
        error.__cause__.__cause__ = outcome
    elif finish.cause is not None:
        error.__cause__ = outcome
    return error
