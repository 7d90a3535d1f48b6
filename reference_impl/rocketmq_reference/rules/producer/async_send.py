"""
The asynchronous send as a state machine (DefaultMQProducerImpl, MQClientAPIImpl.sendMessageAsync and onExceptionImpl).

Each method is an event and returns a step; None: nothing to do now, because an answer is awaited or the callback is lost.
An event that may select a queue is given the selector of the current thread, for the list of the first selection: a retry uses
that thread's counter. Times are milliseconds of one clock. Read in every release (A1–A12).
"""

from copy import copy
from dataclasses import replace
from enum import StrEnum

from rocketmq_reference.rules.client.publish import PublishInfo, Queue, picked_queue
from rocketmq_reference.rules.producer.async_rules import AsyncThread
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
from rocketmq_reference.rules.producer.producer_rules import ProducerDialect
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.events import Charged, Observer
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.selection import Selector

_TOO_MUCH = "RemotingTooMuchRequestException"
_RESENDING_COUNTS_AS_MS = 3_000


class Form(StrEnum):
    """How the queue is selected: by the client, by the application, or by a function of the application."""

    SELECTED = "selected"
    GIVEN_QUEUE = "given-queue"
    SELECTOR = "selector"


class AsyncSend:
    """One call of ``send(message, callback)`` with the timeout of the settings."""

    def __init__(
        self,
        dialect: ProducerDialect,
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
        """Return a copy of the call in its current state, for replays that branch."""
        clone = copy(self)
        if self.loop is not None:
            clone.loop = self.loop.copy(self.loop.selector)
        return clone

    def accepted(self, called_ms: int, now_ms: int) -> AsyncStep | None:
        """
        Start the send in the thread that runs it; None: look up the route if necessary, then call begin or begin_at.

        called_ms: when the application called.
        """
        self._began_ms = now_ms
        if self.dialect.producer.asynchronous.runs_on is AsyncThread.CALLER:
            return None
        # From 4.3.0 the send is a job of a pool, and its wait for a thread counts against the timeout.
        self._time_ms -= now_ms - called_ms
        return None if self._time_ms > 0 else self.refused(call_timeout())

    def refused(self, finish: Finish) -> AsyncStep:
        """End the send before its first request, for example without a route or a selected queue."""
        # The caller's thread throws; a pool thread has only the callback to report to.
        return Throw(finish) if self.dialect.producer.asynchronous.runs_on is AsyncThread.CALLER else CallBack(finish)

    def begin(self, selector: Selector, now_ms: int) -> AsyncStep:
        self.info = selector.info
        # sendDefaultImpl makes a single pass for asynchronous sends: retries are onExceptionImpl's.
        settings = replace(self.settings, send_msg_timeout_ms=self._time_ms)
        self.loop = OneWaySend(self.dialect, settings, selector)
        step = self.loop.begin(self._began_ms, now_ms)
        return self._first(step, now_ms)

    def begin_at(self, queue: Queue, now_ms: int) -> AsyncStep:
        if self.form is Form.GIVEN_QUEUE:
            return self._first(Try(queue, self._time_ms), now_ms)
        return self._first(send_by_selector(self.dialect, queue, self._time_ms, now_ms - self._began_ms), now_ms)

    def addressed(self, invoke: Invoke, now_ms: int, *, known: bool) -> AsyncStep:
        """Continue the first attempt after the lookup of its broker's address; the time it took counts (from 4.3.0)."""
        if not known:
            return self._thrown_by_kernel(now_ms, "MQClientException")
        left_ms = self.dialect.producer.loop.left_ms(invoke.timeout_ms, now_ms - invoke.began_ms)
        if left_ms is None:
            return self._thrown_by_kernel(now_ms, _TOO_MUCH)
        return replace(invoke, timeout_ms=left_ms, began_ms=now_ms)

    def returned(self, invoke: Invoke, now_ms: int) -> None:
        """Record that the request was handed to remoting; it may already have ended."""
        # sendDefaultImpl then records a success of the broker it selected, before any answer.
        if invoke.dispatching and self.loop is not None:
            self.loop.attempt_ended(now_ms, AttemptResult())

    def threw(self, invoke: Invoke, selector: Selector | None, now_ms: int, error: str) -> AsyncStep | None:
        """
        Handle an exception of the hand-over to remoting.

        Up to 4.9.2 an exception of the first attempt ends the send. One of a retry is charged to the broker that failed before
        it, with 3 s, and retried unless it is RemotingTooMuchRequestException. From 4.9.3 every exception is charged to its own
        broker and retried.
        """
        finish = Finish(Ending.RETHROWN, invoke.attempt, error=error)
        if self.dialect.producer.asynchronous.thrown_is_retried:
            spent_ms = now_ms - invoke.began_ms
            reachable = not self.dialect.producer.loop.broker_error_is_unreachable
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
        Handle the end of a request: answered, timed out, or lost with its connection (InvokeCallback).

        direct: the failure did not come through a future, so nothing wraps it. written_ms: start of the latency up to 5.1.4. A
        broker's error is never retried, whatever its code. Neither is NullPointerException: the answer was another request's
        and has no header.
        """
        since_ms = invoke.began_ms if written_ms is None or self.dialect.client.remoting.futures else written_ms
        if result.error is None:
            return CallBack(
                Finish(Ending.RESULT, invoke.attempt, result.status), broker=invoke.broker, since_ms=since_ms
            )
        self._charge(invoke.broker, now_ms - since_ms, now_ms, isolated=True)
        # Before 4.7.0 a retry has a timeout of 0, not the rest of the time; a scan then ends it after the grace of 1 s.
        left_ms = (
            invoke.timeout_ms - (now_ms - invoke.began_ms)
            if self.dialect.producer.asynchronous.retry_has_time_left
            else 0
        )
        if family_of(result.error) in (ErrorFamily.BROKER, ErrorFamily.FOREIGN):
            finish = Finish(Ending.RETHROWN, invoke.attempt, error=result.error, code=result.code)
            return self._failed(invoke, selector, now_ms, finish, left_ms, is_retried=False)
        cause = self._cause(result.error, direct=direct)
        finish = Finish(Ending.GAVE_UP, invoke.attempt, error="MQClientException", cause=cause)
        return self._failed(invoke, selector, now_ms, finish, left_ms, is_retried=cause != _TOO_MUCH)

    def called_back(self, callback: CallBack, now_ms: int) -> None:
        # Java reads the clock after the callback, so its duration is part of the broker's latency.
        if callback.broker is not None:
            self._charge(callback.broker, now_ms - callback.since_ms, now_ms, isolated=False)
        # The application's call, or its job, is still under way below this, and records its own success when it
        # returns.
        if callback.dispatching and self.loop is not None:
            self.loop.attempt_ended(now_ms, AttemptResult())

    def _first(self, step: Step, now_ms: int) -> AsyncStep:
        if isinstance(step, Finish):
            return self.refused(step)
        self.attempts = 1
        vip = self.dialect.client.uses_vip_channel(self.settings.vip_channel_enabled)
        queue, timeout_ms = step.queue, step.timeout_ms
        return Invoke(0, queue.broker, queue.queue_id, timeout_ms, now_ms, dispatching=True, vip=vip)

    def _thrown_by_kernel(self, now_ms: int, error: str) -> AsyncStep:
        """End the send by an exception of sendKernelImpl; it is recorded and wrapped if the client selected the queue."""
        if self.loop is None:
            # No selection, so sendDefaultImpl's loop is not involved: the exception arrives unchanged.
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
        """Retry if allowed, otherwise call the application back (onExceptionImpl)."""
        rules = self.dialect.producer.asynchronous
        self.failures += 1
        in_time = left_ms > 0 or not rules.needs_time_to_retry
        if not (is_retried and in_time and self.failures <= self.settings.retry_times_when_send_async_failed):
            return CallBack(finish, dispatching)
        if self.form is not Form.SELECTED and not rules.retries_given_queue:
            # 4.0.0 meets a NullPointerException here and never calls the callback (ROCKETMQ-101).
            return None
        # Only the broker changes: a retry keeps the first attempt's queue id.
        broker = self._other(invoke.broker, selector, now_ms)
        attempt = self.attempts
        self.attempts += 1
        return Invoke(attempt, broker, invoke.queue_id, left_ms, now_ms, dispatching, previous=invoke.broker)

    def _other(self, failed: str, selector: Selector | None, now_ms: int) -> str:
        """Return the broker of a retry: the same one if the client did not select the queue."""
        # The counter is that of the callback's thread, and is not restarted in any release.
        if self.form is not Form.SELECTED or selector is None:
            return failed
        on = self.settings.send_latency_fault_enable
        select = self.dialect.producer.select_queue if on else self.dialect.producer.select_plain
        return picked_queue(selector.info, select(selector, failed, False, now_ms)).broker

    def _cause(self, error: str, *, direct: bool) -> str | None:
        """Return the cause of a failure's MQClientException, None if it has none."""
        # Before 5.2.0 there are no futures, and the exception has no cause. To 5.3.1 the future's wrapper is the cause.
        if not self.dialect.client.remoting.futures:
            return None
        return error if direct or self.dialect.producer.asynchronous.unwraps_failures else "CompletionException"

    def _charge(self, broker: str, latency_ms: int, now_ms: int, *, isolated: bool, reachable: bool = True) -> None:
        if not self.settings.send_latency_fault_enable:
            return
        avoid_ms = self.dialect.producer.avoidance_ms(latency_ms, isolated)
        self.faults.update(broker, latency_ms, avoid_ms, reachable, now_ms)
        if self.observer is not None:
            self.observer(Charged(broker, latency_ms, avoid_ms, isolated, reachable))
