"""
The synchronous send as a state machine (DefaultMQProducerImpl.sendDefaultImpl of every release).

Hand in the time and what happened; get the next attempt or the end of the call. Times are milliseconds of one clock
(see fault_table for what else they may be). A step after an attempt is made of two parts, ``settle`` and ``choose``,
which the oracle takes one by one, because threads of one producer can come between them.
"""

from typing import Self

from rocketmq_reference.rules.client.publish import Pick, picked_queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.events import BudgetChecked, Charged
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
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.settings import SendSettings


class SendLoop:
    """One call of ``send(message)`` by one thread, from the moment the publish list is known."""

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

    def __init__(self, dialect: Dialect, settings: SendSettings, selector: Selector) -> None:
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
        First attempt, or a call timeout if looking up the route took too long.

        began_ms: when the application called, before the route was looked up; now_ms: now.
        """
        self.began_ms = began_ms
        return self.choose(now_ms)

    def attempt_ended(self, now_ms: int, result: AttemptResult) -> Step:
        """The attempt last asked for ended now: next attempt or end of the call."""
        return self.settle(now_ms, result) or self.choose(now_ms)

    def settle(self, now_ms: int, result: AttemptResult) -> Finish | None:
        """
        Note an attempt's end in the fault table; None if another attempt may follow.

        The broker charged is the one the picked element of the list names now. A status other than SEND_OK is kept
        while another broker is tried, and wins over whatever happens later, except a later status.
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
            return rethrown
        self._charge_failure(now_ms, latency_ms, family)
        if family is ErrorFamily.INTERRUPTED:
            return rethrown
        if family is ErrorFamily.BROKER and not self._is_retried(result.code):
            return self.result_kept or rethrown
        return None

    def choose(self, now_ms: int) -> Step:
        """
        Next attempt, if there may be one.

        The queue is selected before the budget is looked at, so a call that times out here has still moved the index on
        (and, to 5.1.3, may have rewritten the list).
        """
        settings = self.settings
        if self.attempts > settings.retry_times_when_send_failed:
            return self.result_kept or gave_up(self.attempts - 1, self.last)
        selector = self.selector
        last_broker = None if self.pick is None else picked_queue(selector.info, self.pick).broker
        select = self.dialect.select_queue if settings.send_latency_fault_enable else self.dialect.select_plain
        self.pick = select(selector, last_broker, self.attempts > 0 and self.dialect.index.resets, now_ms)
        self.attempt_began_ms = now_ms
        timeout_ms = self._time_for_attempt(now_ms - self.began_ms)
        if timeout_ms is None:
            return self.result_kept or call_timeout()
        return Try(picked_queue(selector.info, self.pick), timeout_ms)

    def copy(self, selector: Selector) -> Self:
        """The same call in the same state, on another selector; for replays that branch."""
        clone = type(self)(self.dialect, self.settings, selector)
        clone.attempts = self.attempts
        clone.began_ms = +self.began_ms
        clone.attempt_began_ms = +self.attempt_began_ms
        clone.pick = self.pick
        clone.last = self.last
        clone.result_kept = self.result_kept
        return clone

    def _time_for_attempt(self, spent_ms: int) -> int | None:
        """Timeout of the next attempt, None if the shared budget is overspent; spending exactly all of it leaves 0."""
        settings, loop = self.settings, self.dialect.loop
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
        if code in self.dialect.loop.retry_codes:
            return True
        return self.dialect.loop.codes_can_be_added and code in self.settings.added_retry_response_codes

    def _charge_failure(self, now_ms: int, latency_ms: int, family: ErrorFamily) -> None:
        loop = self.dialect.loop
        if family is ErrorFamily.INTERRUPTED:
            self._charge(now_ms, latency_ms, isolated=False, reachable=True)
        elif family is ErrorFamily.CLIENT:
            self._charge(now_ms, latency_ms, isolated=loop.client_error_isolates, reachable=True)
        else:
            for_detector = family is not ErrorFamily.REMOTING or self.dialect.detects(self.settings)
            unreachable = loop.broker_error_is_unreachable and for_detector
            self._charge(now_ms, latency_ms, isolated=True, reachable=not unreachable)

    def _charge(self, now_ms: int, latency_ms: int, *, isolated: bool, reachable: bool) -> None:
        selector = self.selector
        if not self.settings.send_latency_fault_enable or self.pick is None:
            return
        broker = picked_queue(selector.info, self.pick).broker
        avoid_ms = self.dialect.avoidance_ms(latency_ms, isolated)
        selector.faults.update(broker, latency_ms, avoid_ms, reachable, now_ms)
        if selector.observer is not None:
            selector.observer(Charged(broker, latency_ms, avoid_ms, isolated, reachable))
