"""
The asynchronous send as a state machine (DefaultMQProducerImpl, MQClientAPIImpl.sendMessageAsync and onExceptionImpl).

Events in, steps out; None means that nothing is to be done now, because an answer is awaited or the callback is lost.
Every event that may select names the selector of the thread it happens in, made for the list of the first choice: a
retry counts with that thread's own counter. Times are milliseconds of one clock. Read in every release (A1–A12).
"""

from copy import copy
from dataclasses import replace
from enum import StrEnum

from rocketmq_reference.rules.async_rules import AsyncThread
from rocketmq_reference.rules.client.publish import PublishInfo, Queue, picked_queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.events import Charged, Observer
from rocketmq_reference.rules.producer.async_steps import AsyncStep, CallBack, Invoke, Throw
from rocketmq_reference.rules.producer.attempt import (
    AttemptResult,
    Ending,
    ErrorFamily,
    Finish,
    Step,
    Try,
    call_timeout,
    family_of,
)
from rocketmq_reference.rules.producer.direct_send import send_by_selector
from rocketmq_reference.rules.producer.one_way import OneWaySend
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.settings import SendSettings

_TOO_MUCH = "RemotingTooMuchRequestException"
_RESENDING_COUNTS_AS_MS = 3_000


class Form(StrEnum):
    """Who decides on the queue: the client, the application, or a function of the application's."""

    SELECTED = "selected"
    GIVEN_QUEUE = "given-queue"
    SELECTOR = "selector"


class AsyncSend:
    """One call of ``send(message, callback)``; its timeout is the setting's."""

    def __init__(
        self,
        dialect: Dialect,
        settings: SendSettings,
        faults: FaultTable,
        form: Form = Form.SELECTED,
        observer: Observer | None = None,
    ) -> None:
        self.dialect = dialect
        self.settings = settings
        self.faults = faults
        self.form = form
        self.observer = observer
        self.info: PublishInfo | None = None
        self.attempts = 0
        self.failures = 0
        self._time_ms = settings.send_msg_timeout_ms
        self._began_ms = 0
        self.loop: OneWaySend | None = None

    def copy(self) -> "AsyncSend":
        """The same call at the same point, to go on with in another way."""
        clone = copy(self)
        if self.loop is not None:
            clone.loop = self.loop.copy(self.loop.selector)
        return clone

    def accepted(self, called_ms: int, now_ms: int) -> AsyncStep | None:
        """
        The send begins, in the thread that runs it; None: look up the route, if there is need, and begin.

        called_ms: when the application called. From 4.3.0 on, waiting for the thread has cost time.
        """
        self._began_ms = now_ms
        if self.dialect.asynchronous.runs_on is AsyncThread.CALLER:
            return None
        self._time_ms -= now_ms - called_ms
        return None if self._time_ms > 0 else self.refused(call_timeout())

    def refused(self, finish: Finish) -> AsyncStep:
        """It came to nothing before there was a request, for want of a route or of a queue chosen."""
        return Throw(finish) if self.dialect.asynchronous.runs_on is AsyncThread.CALLER else CallBack(finish)

    def begin(self, selector: Selector, now_ms: int) -> AsyncStep:
        """The route is there: the client selects."""
        self.info = selector.info
        settings = replace(self.settings, send_msg_timeout_ms=self._time_ms)
        self.loop = OneWaySend(self.dialect, settings, selector)
        step = self.loop.begin(self._began_ms, now_ms)
        return self._first(step, now_ms)

    def begin_at(self, queue: Queue, now_ms: int) -> AsyncStep:
        """The queue is given, or a selector has chosen it."""
        if self.form is Form.GIVEN_QUEUE:
            return self._first(Try(queue, self._time_ms), now_ms)
        return self._first(send_by_selector(self.dialect, queue, self._time_ms, now_ms - self._began_ms), now_ms)

    def addressed(self, invoke: Invoke, now_ms: int, *, known: bool) -> AsyncStep:
        """The address of a first attempt's broker was looked for, which may have taken time."""
        if not known:
            return self._thrown_by_kernel(now_ms, "MQClientException")
        left_ms = self.dialect.loop.left_ms(invoke.timeout_ms, now_ms - invoke.began_ms)
        if left_ms is None:
            return self._thrown_by_kernel(now_ms, _TOO_MUCH)
        return replace(invoke, timeout_ms=left_ms, began_ms=now_ms)

    def returned(self, invoke: Invoke, now_ms: int) -> None:
        """The request was handed over, whatever has become of it since; the first choice is credited with that."""
        if invoke.dispatching and self.loop is not None:
            self.loop.attempt_ended(now_ms, AttemptResult())

    def threw(self, invoke: Invoke, selector: Selector | None, now_ms: int, error: str) -> AsyncStep | None:
        """
        Handing the request over ended in an exception.

        To 4.9.2 a first attempt's ends the send, and a retry's is charged to the broker that failed before it, with three
        seconds; RemotingTooMuchRequestException ends the send even then. From 4.9.3 on each is charged and retried alike.
        """
        finish = Finish(Ending.RETHROWN, invoke.attempt, error=error)
        if self.dialect.asynchronous.thrown_is_retried:
            spent_ms = now_ms - invoke.began_ms
            reachable = not self.dialect.loop.broker_error_is_unreachable
            self._charge(invoke.broker, spent_ms, now_ms, isolated=True, reachable=reachable)
            left_ms = invoke.timeout_ms - spent_ms
            return self._failed(invoke, selector, now_ms, finish, left_ms, dispatching=invoke.dispatching)
        if invoke.previous is None:
            return self._thrown_by_kernel(now_ms, error)
        is_retried = family_of(error) is ErrorFamily.REMOTING and error != _TOO_MUCH
        if is_retried:
            self._charge(invoke.previous, _RESENDING_COUNTS_AS_MS, now_ms, isolated=True)
        return self._failed(invoke, selector, now_ms, finish, invoke.timeout_ms, is_retried=is_retried)

    def ended(
        self,
        invoke: Invoke,
        selector: Selector | None,
        now_ms: int,
        result: AttemptResult,
        *,
        direct: bool = False,
        written_ms: int | None = None,
    ) -> AsyncStep | None:
        """
        The request is over: answered, timed out, or lost with its connection (InvokeCallback).

        direct: the failure did not come through a future, so nothing wraps it. written_ms: when the request was written,
        from which its latency counts to 5.1.4. An error of the broker is never retried; the code does not matter. Nor is an
        answer that cannot be read (NullPointerException), because it is that of another request and has no header.
        """
        since_ms = invoke.began_ms if written_ms is None or self.dialect.remoting.futures else written_ms
        if result.error is None:
            return CallBack(
                Finish(Ending.RESULT, invoke.attempt, result.status), broker=invoke.broker, since_ms=since_ms
            )
        self._charge(invoke.broker, now_ms - since_ms, now_ms, isolated=True)
        left_ms = invoke.timeout_ms - (now_ms - invoke.began_ms) if self.dialect.asynchronous.retry_has_time_left else 0
        if family_of(result.error) in (ErrorFamily.BROKER, ErrorFamily.FOREIGN):
            finish = Finish(Ending.RETHROWN, invoke.attempt, error=result.error, code=result.code)
            return self._failed(invoke, selector, now_ms, finish, left_ms, is_retried=False)
        cause = self._cause(result.error, direct=direct)
        finish = Finish(Ending.GAVE_UP, invoke.attempt, error="MQClientException", cause=cause)
        return self._failed(invoke, selector, now_ms, finish, left_ms, is_retried=cause != _TOO_MUCH)

    def called_back(self, callback: CallBack, now_ms: int) -> None:
        """The application's callback has returned; the time it took counts as the broker's."""
        if callback.broker is not None:
            self._charge(callback.broker, now_ms - callback.since_ms, now_ms, isolated=False)
        if callback.dispatching and self.loop is not None:
            self.loop.attempt_ended(now_ms, AttemptResult())

    def _first(self, step: Step, now_ms: int) -> AsyncStep:
        if isinstance(step, Finish):
            return self.refused(step)
        self.attempts = 1
        vip = self.dialect.uses_vip_channel(self.settings)
        queue, timeout_ms = step.queue, step.timeout_ms
        return Invoke(0, queue.broker, queue.queue_id, timeout_ms, now_ms, dispatching=True, vip=vip)

    def _thrown_by_kernel(self, now_ms: int, error: str) -> AsyncStep:
        """An exception that leaves sendKernelImpl: noted, wrapped and given up where the client had selected."""
        if self.loop is None:
            return self.refused(Finish(Ending.RETHROWN, 0, error=error))
        step = self.loop.attempt_ended(now_ms, AttemptResult.failed(error))
        assert isinstance(step, Finish)
        return self.refused(step)

    def _failed(
        self,
        invoke: Invoke,
        selector: Selector | None,
        now_ms: int,
        finish: Finish,
        left_ms: int,
        *,
        is_retried: bool = True,
        dispatching: bool = False,
    ) -> AsyncStep | None:
        """Another attempt if there may be one, the callback if not (onExceptionImpl)."""
        rules = self.dialect.asynchronous
        self.failures += 1
        in_time = left_ms > 0 or not rules.needs_time_to_retry
        if not (is_retried and in_time and self.failures <= self.settings.retry_times_when_send_async_failed):
            return CallBack(finish, dispatching)
        if self.form is not Form.SELECTED and not rules.retries_given_queue:
            return None
        broker = self._other(invoke.broker, selector, now_ms)
        attempt = self.attempts
        self.attempts += 1
        return Invoke(attempt, broker, invoke.queue_id, left_ms, now_ms, dispatching, previous=invoke.broker)

    def _other(self, failed: str, selector: Selector | None, now_ms: int) -> str:
        """Broker of the retry: the same one where the client did not select the queue; the counter is not restarted."""
        if self.form is not Form.SELECTED or selector is None:
            return failed
        on = self.settings.send_latency_fault_enable
        select = self.dialect.select_queue if on else self.dialect.select_plain
        return picked_queue(selector.info, select(selector, failed, False, now_ms)).broker

    def _cause(self, error: str, *, direct: bool) -> str | None:
        """What the MQClientException of a failure names as its cause."""
        if not self.dialect.remoting.futures:
            return None
        return error if direct or self.dialect.asynchronous.unwraps_failures else "CompletionException"

    def _charge(self, broker: str, latency_ms: int, now_ms: int, *, isolated: bool, reachable: bool = True) -> None:
        if not self.settings.send_latency_fault_enable:
            return
        avoid_ms = self.dialect.avoidance_ms(latency_ms, isolated)
        self.faults.update(broker, latency_ms, avoid_ms, reachable, now_ms)
        if self.observer is not None:
            self.observer(Charged(broker, latency_ms, avoid_ms, isolated, reachable))
