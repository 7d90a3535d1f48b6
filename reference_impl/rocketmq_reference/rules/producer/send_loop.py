"""
The synchronous send as a state machine (DefaultMQProducerImpl.sendDefaultImpl of every release).

Each method takes the time and an event, and returns the next attempt or the end of the call. Times are milliseconds of one
clock, or intervals (see fault_table). A step after an attempt has two parts, ``settle`` and ``choose``; the oracle calls them
separately, because other threads of the producer can run between them.
"""

from typing import Self

from rocketmq_reference.rules.client.publish import Pick, Queue, picked_queue
from rocketmq_reference.rules.producer.attempt import (
    SEND_OK,
    AttemptResult,
    Ending,
    ErrorFamily,
    Finish,
    Step,
    Try,
    call_timeout,
    family_of,
    gave_up,
)
from rocketmq_reference.rules.producer.producer_rules import ProducerDialect
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.events import BudgetChecked, Charged
from rocketmq_reference.rules.queue_choice.selection import Selector


class SendLoop:
    """One call of ``send(message)`` by one thread, once the publish list is known."""

    __slots__ = (
        "attempt_began_ms",
        "attempts",
        "began_ms",
        "dialect",
        "last",
        "pick",
        "result_kept",
        "selector",
        "settings",
    )

    def __init__(self, dialect: ProducerDialect, settings: SendSettings, selector: Selector) -> None:
        self.dialect = dialect
        self.settings = settings
        self.selector = selector
        self.attempts = 0
        self.began_ms = 0
        self.attempt_began_ms = 0
        self.pick: Pick | None = None
        self.last: AttemptResult | None = None
        self.result_kept: Finish | None = None

    def begin(self, began_ms: int, now_ms: int) -> Step:
        """
        Return the first attempt, or a call timeout if the route lookup took too long.

        began_ms: when the application called, before the route lookup.
        """
        self.began_ms = began_ms
        return self.choose(now_ms)

    def attempt_ended(self, now_ms: int, result: AttemptResult) -> Step:
        """Record the end of the last attempt; return the next attempt or the end of the call."""
        return self.settle(now_ms, result) or self.choose(now_ms)

    def settle(self, now_ms: int, result: AttemptResult) -> Finish | None:
        """
        Record an attempt's end in the fault table; None if another attempt may follow.

        The charged broker is the one that the picked list element names now. A status other than SEND_OK is kept while another
        broker is tried; only a later status replaces it, not a later error.
        """
        attempt = self.attempts
        self.attempts += 1
        latency_ms = now_ms - self.attempt_began_ms
        if result.error is None:
            self._charge(now_ms, latency_ms, isolated=False, reachable=True)
            self.result_kept = Finish(Ending.RESULT, attempt, status=result.status)
            if result.status != SEND_OK and self.settings.retry_another_broker_when_not_store_ok:
                return None
            return self.result_kept
        self.last = result
        rethrown = Finish(Ending.RETHROWN, attempt, error=result.error, code=result.code)
        family = family_of(result.error)
        if family is ErrorFamily.FOREIGN:
            # sendDefaultImpl does not catch runtime exceptions, so the fault table is not updated.
            return rethrown
        self._charge_failure(now_ms, latency_ms, family)
        if family is ErrorFamily.INTERRUPTED:
            return rethrown
        if family is ErrorFamily.BROKER and not self._is_retried(result.code):
            return self.result_kept or rethrown
        return None

    def choose(self, now_ms: int) -> Step:
        """
        Return the next attempt if allowed, otherwise the end of the call.

        The queue is selected before the budget is checked, so a call that times out here has still advanced the index (and, up
        to 5.1.3, may have rewritten the list).
        """
        settings = self.settings
        if self.attempts > settings.retry_times_when_send_failed:
            return self.result_kept or gave_up(self.attempts - 1, self.last)
        selector = self.selector
        # Read through the list again: up to 5.1.3 another thread may have rewritten the element during the attempt.
        last_broker = None if self.pick is None else picked_queue(selector.info, self.pick).broker
        select = (
            self.dialect.producer.select_queue
            if settings.send_latency_fault_enable
            else self.dialect.producer.select_plain
        )
        self.pick = select(selector, last_broker, self.attempts > 0 and self.dialect.producer.index.resets, now_ms)
        self.attempt_began_ms = now_ms
        timeout_ms = self._time_for_attempt(now_ms - self.began_ms)
        if timeout_ms is None:
            return self.result_kept or call_timeout()
        return Try(self.picked(), timeout_ms)

    def picked(self) -> Queue:
        """Return the selected queue as the list has it now: what the client reads for the address, the hooks and the request."""
        assert self.pick is not None, "asked before the first selection"
        return picked_queue(self.selector.info, self.pick)

    def copy(self, selector: Selector) -> Self:
        """Return a copy of the call in its current state on another selector, for replays that branch."""
        clone = type(self)(self.dialect, self.settings, selector)
        clone.attempts = self.attempts
        clone.began_ms = +self.began_ms
        clone.attempt_began_ms = +self.attempt_began_ms
        clone.pick = self.pick
        clone.last = self.last
        clone.result_kept = self.result_kept
        return clone

    def _time_for_attempt(self, spent_ms: int) -> int | None:
        """Return the timeout of the next attempt, 0 if the shared budget is exactly spent, None if it is overspent."""
        settings, loop = self.settings, self.dialect.producer.loop
        timeout_ms = settings.send_msg_timeout_ms
        if self.selector.observer is not None:
            self.selector.observer(BudgetChecked(spent_ms, timeout_ms if loop.shared_budget else None))
        if not loop.shared_budget:
            return timeout_ms
        if timeout_ms < spent_ms:
            return None
        left_ms = timeout_ms - spent_ms
        cap_ms = settings.send_msg_max_timeout_per_request_ms
        can_retry = self.attempts < settings.retry_times_when_send_failed
        if loop.per_request_cap and cap_ms > -1 and can_retry and left_ms > cap_ms:
            return cap_ms
        return left_ms

    def _is_retried(self, code: int | None) -> bool:
        if code in self.dialect.producer.loop.retry_codes:
            return True
        return self.dialect.producer.loop.codes_can_be_added and code in self.settings.added_retry_response_codes

    def _charge_failure(self, now_ms: int, latency_ms: int, family: ErrorFamily) -> None:
        loop = self.dialect.producer.loop
        if family is ErrorFamily.INTERRUPTED:
            self._charge(now_ms, latency_ms, isolated=False, reachable=True)
        elif family is ErrorFamily.CLIENT:
            self._charge(now_ms, latency_ms, isolated=loop.client_error_isolates, reachable=True)
        else:
            for_detector = family is not ErrorFamily.REMOTING or self.dialect.producer.detects(self.settings)
            unreachable = loop.broker_error_is_unreachable and for_detector
            self._charge(now_ms, latency_ms, isolated=True, reachable=not unreachable)

    def _charge(self, now_ms: int, latency_ms: int, *, isolated: bool, reachable: bool) -> None:
        selector = self.selector
        if not self.settings.send_latency_fault_enable or self.pick is None:
            return
        broker = picked_queue(selector.info, self.pick).broker
        avoid_ms = self.dialect.producer.avoidance_ms(latency_ms, isolated)
        selector.faults.update(broker, latency_ms, avoid_ms, reachable, now_ms)
        if selector.observer is not None:
            selector.observer(Charged(broker, latency_ms, avoid_ms, isolated, reachable))
