"""
Consumption in order: one call at a time for a queue (ConsumeMessageOrderlyService).

A run takes the messages of one queue, from the first, until none waits. One that stops earlier (a failed message, a lost lock, a minute)
is followed by another one later, and meanwhile what is pulled only waits.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from rocketmq_reference.client.background import Background
from rocketmq_reference.client.consuming.calling import (
    CONSUME,
    CallRefused,
    Hook,
    Messages,
    Resend,
    as_sent,
    send_away,
    show_hook,
    status_of,
)
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.locking import Locking
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.effects import Body, Host, Lock, Running
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.remoting.errors import Error
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.properties import RECONSUME_TIME
from rocketmq_reference.rules.consumer import orderly as rules
from rocketmq_reference.rules.consumer.offsets import RESET_WAIT_MS, TopicQueue
from rocketmq_reference.rules.consumer.orderly import OrderlyContext, OrderlyStatus, Then
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue, ProcessQueueError

Pulled = ProcessQueue[StoredMessage]


class ListenInOrder(Protocol):
    """The application's listener, called with messages of one queue; it may raise anything."""

    def __call__(self, messages: Messages, of: TopicQueue, context: OrderlyContext, /) -> OrderlyStatus | None: ...


class Orderly:
    """
    Calls of one member's listener in the order of each queue.

    background: of its client, in whose thread late unlocks are sent. hook: the application's.
    """

    hook: Hook | None = None

    def __init__(
        self,
        memory: ConsumerMemory,
        host: Host,
        background: Background,
        committing: Committing,
        locking: Locking,
        listen: ListenInOrder,
        resend: Resend,
    ) -> None:
        self._memory = memory
        self._host = host
        self._background = background
        self._committing = committing
        self.locking = locking
        self._listen = listen
        self._resend = resend
        self._pool = host.worker(CONSUME)
        self._delays = host.worker("consume-delays")
        self._pop_delays = host.worker("pop-consume-delays")
        self._turns: dict[TopicQueue, Lock] = {}
        self._calls: dict[Pulled, Lock] = {}
        self._is_stopped = False

    def start(self) -> None:
        """Renew the locks of all queues from now on; a broadcasting member has none to renew."""
        if not self._memory.settings.is_broadcasting:
            first_ms = self._host.now_ms + rules.FIRST_RENEWAL_MS
            self._delays.schedule(first_ms, self._renewing(), self._memory.settings.lock_interval_ms)
            # ConsumeMessagePopOrderlyService is started too, and never stopped.
            if self._memory.rules.renews_locks_twice:
                interval_ms = self._memory.settings.lock_interval_ms
                self._pop_delays.schedule(first_ms, self._renewing(is_endless=True), interval_ms)

    def stop(self) -> Body:
        """Begin no run any more, and give all locks back; runs under way end after their call."""
        self._is_stopped = True
        if not self._memory.settings.is_broadcasting:
            yield from self.locking.unlock_all()

    def lock(self, of: TopicQueue) -> Running[bool]:
        """Lock a queue that the member is about to work on; False if another member has it."""
        return self.locking.lock(of)

    def deliver(self, of: TopicQueue, queue: Pulled, _messages: Messages) -> None:
        """Begin a run, unless one takes what was pulled. Raises CallRefused after a shutdown."""
        if queue.begin_run():
            if self._is_stopped:
                raise CallRefused
            self._submit(of, queue)

    def give_up(self, of: TopicQueue, queue: Pulled) -> Running[bool]:
        """
        Unlock a queue when its listener has returned; False if it did not within a moment, so that a later round tries again.

        Up to 5.1.4 others wait 20 s for a queue in which messages wait.
        """
        call, at_once = self._call_of(queue), self._memory.rules.unlocks_at_once
        if not at_once:
            self._committing.forget(of)
        is_forced = at_once and queue.is_dropped and self._host.now_ms > queue.last_lock_ms + rules.UNLOCK_DELAY_MS
        wait_ms = rules.GIVE_UP_WAIT_SINCE_5_2_0_MS if at_once else rules.GIVE_UP_WAIT_MS
        if not is_forced and not (yield from call.acquire(self._host.now_ms + wait_ms)):
            return False
        try:
            if at_once:
                queue.is_locked = False
                yield from self._committing.commit(of)
                self._committing.forget(of)
            if at_once or not queue.has_waiting:
                yield from self.locking.unlock(of)
            else:
                self._background.later(rules.UNLOCK_DELAY_MS, lambda _own: self.locking.unlock(of))
        finally:
            if not is_forced:
                call.release()
        self._calls.pop(queue, None)
        return True

    def await_call(self, queue: Pulled) -> Body:
        """Wait until the queue's listener has returned, or for RESET_WAIT_MS."""
        call = self._call_of(queue)
        if (yield from call.acquire(self._host.now_ms + RESET_WAIT_MS)):
            call.release()

    def _renewing(self, *, is_endless: bool = False) -> Callable[[Thread], Body]:
        """Return a job that renews all locks; is_endless: also after a shutdown."""
        has_died = False

        def renew(_own: Thread) -> Body:
            nonlocal has_died
            if has_died or (self._is_stopped and not is_endless):
                return
            try:
                yield from self.locking.renew()
            except Error:
                has_died = self._memory.rules.renewing_can_die

        return renew

    def _submit(self, of: TopicQueue, queue: Pulled) -> None:
        self._pool.submit(lambda _own: self.run(of, queue))

    def _later(self, of: TopicQueue, queue: Pulled, delay_ms: int) -> None:
        if not self._is_stopped:
            self._delays.schedule(self._host.now_ms + delay_ms, lambda _own: self._submit(of, queue))

    def _lock_and_run_later(self, of: TopicQueue, queue: Pulled, delay_ms: int) -> None:
        def due(_own: Thread) -> Body:
            try:
                is_locked = not self._is_stopped and (yield from self.locking.lock(of))
            except Error:  # no run of the queue follows
                return
            self._later(of, queue, rules.LEAST_SUSPEND_MS if is_locked else rules.REFUSED_MS)

        if not self._is_stopped:
            self._delays.schedule(self._host.now_ms + delay_ms, due)

    def run(self, of: TopicQueue, queue: Pulled) -> Body:
        """Consume the queue, when no other run of it is under way."""
        if queue.is_dropped:
            return
        turn = self._turns.setdefault(of, Lock(self._host))
        yield from turn.acquire(None)
        try:
            if rules.may_consume(queue, self._host.now_ms, self._memory.settings):
                yield from self._consume(of, queue)
            elif not queue.is_dropped:
                self._lock_and_run_later(of, queue, rules.WITHOUT_LOCK_MS)
        finally:
            turn.release()

    def _consume(self, of: TopicQueue, queue: Pulled) -> Body:
        began_ms, goes_on = self._host.now_ms, True
        while goes_on and not queue.is_dropped:
            if not rules.may_consume(queue, self._host.now_ms, self._memory.settings):
                self._lock_and_run_later(of, queue, rules.LEAST_SUSPEND_MS)
                return
            if self._host.now_ms - began_ms > rules.CONTINUOUSLY_MS:
                self._later(of, queue, rules.LEAST_SUSPEND_MS)
                return
            messages = self.take(queue)
            goes_on = bool(messages) and (yield from self._call(of, queue, messages))

    def take(self, queue: Pulled) -> Sequence[StoredMessage]:
        """Take the messages of the next call; none if none waits."""
        return queue.take(self._memory.settings.consume_message_batch_max_size)

    def _call(self, of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> Running[bool]:
        """Call the listener; return whether the run goes on."""
        shown, context, call = as_sent(messages), OrderlyContext(), self._call_of(queue)
        show_hook(self.hook, messages, shown, as_sent=self._memory.rules.hooks_see_first_topic)
        yield from call.acquire(None)
        try:
            if queue.is_dropped:
                return False
            status = yield from self._host.outside(partial(status_of, partial(self._listen, shown, of, context)))
        finally:
            call.release()
        return (yield from self._settle(of, queue, shown, status, context))

    def _call_of(self, queue: Pulled) -> Lock:
        return self._calls.setdefault(queue, Lock(self._host))

    def _settle(
        self,
        of: TopicQueue,
        queue: Pulled,
        messages: Messages,
        status: OrderlyStatus | None,
        context: OrderlyContext,
    ) -> Running[bool]:
        then = rules.follows(status, context)
        if then is Then.FAIL:
            again = yield from self._failed(messages)
            if again is not None:
                queue.put_back(again)
            then = Then.ROLL_BACK if again is not None else Then.COMMIT if context.auto_commit else Then.KEEP
        elif then is Then.ROLL_BACK:
            queue.put_back()
        if then is Then.ROLL_BACK:
            self._later(of, queue, rules.suspended_ms(context, self._memory.settings))
            return False
        if then is Then.COMMIT:
            try:
                offset = queue.commit()
            except ProcessQueueError:  # the run dies, and no other one of the queue begins
                return False
            if not queue.is_dropped:
                self._committing.update(of, offset, increase_only=False)
        return True

    def _failed(self, messages: Messages) -> Running[Messages | None]:
        """
        Send messages that have failed too often away; return all of them if one stays, to be consumed again.

        One that stays has one reconsume time more (checkReconsumeTimes).
        """
        again, stays = [], False
        for message in messages:
            times = message.reconsume_times
            is_away = False
            if rules.has_failed_too_often(times, self._memory.settings):
                message.properties[RECONSUME_TIME] = str(times)
                is_away = yield from send_away(self._resend, message)
            stays |= not is_away
            again.append(message if is_away else replace(message, reconsume_times=times + 1))
        return again if stays else None
