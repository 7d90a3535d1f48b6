"""Asynchronous calls by the application: the rules' steps are carried out by the client's own threads, to the callback."""

import contextlib
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from rocketmq_reference.application.listener import AttemptEnded, AttemptStarted, Listener
from rocketmq_reference.application.message import Message, SendResult
from rocketmq_reference.connections.async_requests import AsyncEnd
from rocketmq_reference.live.calls import now_ms
from rocketmq_reference.live.kernel import Kernel
from rocketmq_reference.live.route_table import PublishedTopic
from rocketmq_reference.remoting.errors import (
    CompletionException,
    IllegalStateException,
    MQClientException,
    RemotingTooMuchRequestException,
    RocketMQException,
)
from rocketmq_reference.remoting.sending import SendRequest
from rocketmq_reference.rules.async_rules import AsyncThread
from rocketmq_reference.rules.client.publish import PublishInfo, Queue
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import AsyncStep, CallBack, Invoke, Throw
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish
from rocketmq_reference.rules.queue_choice.selection import Selector

Failure = RocketMQException | IllegalStateException
"""What may prevent a send or end an attempt."""


class SendCallback(Protocol):
    """What an application is told by; what it raises is ignored, as in Java."""

    def on_success(self, result: SendResult) -> None:
        """A broker has taken the message."""
        ...

    def on_exception(self, error: Exception) -> None:
        """The client has given up. In 5.3.0 and 5.3.1 that can be said twice of one send."""
        ...


@dataclass(slots=True)
class AsyncTask:
    """
    One send under way. find: looks the publish list up; choose: a queue from it, where a function of the application's does.

    queue: where the application gave one. outcomes: what each attempt came to, by its number.
    """

    message: Message
    callback: SendCallback
    rules: AsyncSend
    check: Callable[[], None]
    find: Callable[[], PublishedTopic]
    choose: Callable[[PublishedTopic], Queue] | None = None
    queue: Queue | None = None
    published: PublishedTopic | None = None
    request: SendRequest | None = None
    began_ms: int = field(default_factory=now_ms)
    outcomes: dict[int, SendResult | RocketMQException] = field(default_factory=dict)


class AsyncCalls:
    """
    Carries asynchronous sends out. callbacks: the pool whose threads call applications back.

    selector: what a thread selects with from a list; called in that thread. any_name_server: where a retry goes whose
    broker has no address any more.
    """

    def __init__(
        self,
        kernel: Kernel,
        listener: Listener | None,
        callbacks: Executor,
        selector: Callable[[PublishInfo], Selector],
        master_address: Callable[[str], str | None],
        any_name_server: Callable[[], str],
    ) -> None:
        self._kernel = kernel
        self._listener = listener
        self._selector = selector
        self._master_address = master_address
        self._any_name_server = any_name_server
        own = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="AsyncSenderExecutor")
        self._pools: dict[AsyncThread, Executor] = {AsyncThread.OWN: own, AsyncThread.CALLBACKS: callbacks}

    def submit(self, task: AsyncTask) -> None:
        """
        Begin a send, in the caller's thread to 4.2.0, where it raises what prevents it.

        Raises MQClientException after close().
        """
        runs_on = task.rules.dialect.asynchronous.runs_on
        if runs_on is AsyncThread.CALLER:
            self._run(task)
            return
        try:
            self._pools[runs_on].submit(self._run, task)
        except RuntimeError as error:
            raise MQClientException("executor rejected") from error

    def close(self) -> None:
        """Take no more sends; those under way end as they can."""
        self._pools[AsyncThread.OWN].shutdown(wait=False)

    def _run(self, task: AsyncTask) -> None:
        try:
            task.check()
            step = task.rules.accepted(task.began_ms, now_ms()) or self._first(task)
        except (RocketMQException, IllegalStateException) as error:
            if task.rules.dialect.asynchronous.runs_on is AsyncThread.CALLER:
                raise
            _tell(task.callback, error)
            return
        self._follow(task, step)

    def _first(self, task: AsyncTask) -> AsyncStep:
        if task.queue is not None:
            return task.rules.begin_at(task.queue, now_ms())
        task.published = task.find()
        if task.choose is not None:
            return task.rules.begin_at(task.choose(task.published), now_ms())
        return task.rules.begin(task.published.selector(self._selector), now_ms())

    def _follow(self, task: AsyncTask, step: AsyncStep | None) -> None:
        while step is not None:
            match step:
                case Invoke():
                    step = self._invoke(task, step)
                case CallBack(finish):
                    told = _told(finish, task)
                    _tell(task.callback, told)
                    task.rules.called_back(step, now_ms())
                    return
                case Throw(finish):
                    told = _told(finish, task)
                    assert isinstance(told, Exception)
                    raise told

    def _invoke(self, task: AsyncTask, invoke: Invoke) -> AsyncStep | None:
        message, broker = task.message, invoke.broker
        try:
            if invoke.attempt == 0:
                address = self._kernel.address_of(message.topic, broker)
                queue = Queue(broker, invoke.queue_id)
                task.request = self._kernel.request(message, self._kernel.payload(message), queue)
                step = task.rules.addressed(invoke, now_ms(), known=True)
                if not isinstance(step, Invoke):
                    return step
                invoke = step
            else:
                address = self._master_address(broker) or self._any_name_server()
        except RocketMQException as error:
            task.outcomes[invoke.attempt] = error
            if invoke.attempt == 0:
                return task.rules.addressed(invoke, now_ms(), known=False)
            return task.rules.threw(invoke, self._selecting(task), now_ms(), type(error).__name__)
        return self._hand_over(task, invoke, address)

    def _hand_over(self, task: AsyncTask, invoke: Invoke, address: str) -> AsyncStep | None:
        assert task.request is not None
        start_ns = time.monotonic_ns()
        if self._listener is not None:
            queue_id = invoke.queue_id
            self._listener.attempt_started(
                AttemptStarted(task.message, invoke.attempt, invoke.broker, queue_id, start_ns)
            )

        def on_end(end: AsyncEnd) -> None:
            outcome = self._outcome(task, invoke, end, address)
            self._note(task, invoke, start_ns, outcome)
            self._follow(task, self._ended(task, invoke, end, outcome))

        try:
            self._kernel.send_async(task.request, address, invoke.timeout_ms, on_end)
        except RocketMQException as error:
            self._note(task, invoke, start_ns, error)
            return task.rules.threw(invoke, self._selecting(task), now_ms(), type(error).__name__)
        task.rules.returned(invoke, now_ms())
        return None

    def _outcome(self, task: AsyncTask, invoke: Invoke, end: AsyncEnd, address: str) -> SendResult | RocketMQException:
        if end.answer is None:
            assert end.error is not None
            return end.error
        try:
            return self._kernel.result(task.message, invoke.broker, end.answer, address)
        except RocketMQException as error:
            return error

    def _ended(
        self, task: AsyncTask, invoke: Invoke, end: AsyncEnd, outcome: SendResult | RocketMQException
    ) -> AsyncStep | None:
        if isinstance(outcome, SendResult):
            result = AttemptResult.ok(outcome.status)
        else:
            result = AttemptResult.failed(type(outcome).__name__, getattr(outcome, "code", None))
        selector = self._selecting(task)
        return task.rules.ended(invoke, selector, now_ms(), result, direct=end.direct, written_ms=end.written_ms)

    def _note(self, task: AsyncTask, invoke: Invoke, start_ns: int, outcome: SendResult | RocketMQException) -> None:
        task.outcomes[invoke.attempt] = outcome
        if self._listener is not None:
            status, error = (outcome.status, None) if isinstance(outcome, SendResult) else (None, outcome)
            end_ns = time.monotonic_ns()
            self._listener.attempt_ended(
                AttemptEnded(
                    task.message, invoke.attempt, invoke.broker, invoke.queue_id, start_ns, end_ns, status, error
                )
            )

    def _selecting(self, task: AsyncTask) -> Selector | None:
        """The running thread's selector, where the client selected and so will again."""
        if task.rules.form is not Form.SELECTED or task.published is None:
            return None
        return task.published.selector(self._selector)


def _tell(callback: SendCallback, told: SendResult | Exception) -> None:
    with contextlib.suppress(Exception):
        if isinstance(told, SendResult):
            callback.on_success(told)
        else:
            callback.on_exception(told)


def _told(finish: Finish, task: AsyncTask) -> SendResult | Exception:
    """What the application is to see of an end."""
    if finish.ending is Ending.CALL_TIMEOUT:
        return RemotingTooMuchRequestException("DEFAULT ASYNC send call timeout")
    assert finish.attempt is not None
    outcome = task.outcomes[finish.attempt]
    if finish.ending is not Ending.GAVE_UP:
        return outcome
    assert isinstance(outcome, Exception)
    error = MQClientException(f"Send {task.message.topic} failed", -1 if finish.code is None else finish.code)
    if finish.cause == "CompletionException":
        error.__cause__ = CompletionException(str(outcome))
        error.__cause__.__cause__ = outcome
    elif finish.cause is not None:
        error.__cause__ = outcome
    return error
