"""Concurrent consumption: calls of the listener, and what follows each (ConsumeMessageConcurrentlyService)."""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from rocketmq_reference.client.codec import FAILURES
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
from rocketmq_reference.client.consuming.codec import ConsumeCodec
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.effects import Body, Host, Running
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.properties import (
    CONSUME_START_TIME,
    DELAY,
    MAX_RECONSUME_TIMES,
    ORIGIN_MESSAGE_ID,
    RECONSUME_TIME,
    RETRY_TOPIC,
)
from rocketmq_reference.rules.consumer import concurrent as rules
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.offsets import PROCESS_BUCKETS, TopicQueue, in_hash_order
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue, ProcessQueueError

_NS_PER_MS = 1_000_000


class Listen(Protocol):
    """The application's listener, called with messages of one queue; it may raise anything."""

    def __call__(self, messages: Messages, of: TopicQueue, context: ConsumeContext, /) -> ConsumeStatus | None: ...


class Concurrent:
    """
    Calls of one member's listener; messages of a queue begin in the order of their offsets and may end in any order.

    hook: the application's.
    """

    hook: Hook | None = None

    def __init__(
        self,
        memory: ConsumerMemory,
        host: Host,
        remoting: Remoting[Any, Any],
        codec: ConsumeCodec[Any, Any],
        committing: Committing,
        listen: Listen,
        resend: Resend,
    ) -> None:
        self._memory = memory
        self._host = host
        self._remoting = remoting
        self._codec = codec
        self._committing = committing
        self._listen = listen
        self._resend = resend
        self._pool = host.worker(CONSUME)
        self._delays = host.worker("consume-delays")
        self._cleaning = host.worker("clean-expired")
        self._is_stopped = self._has_died = False

    def start(self) -> None:
        """Look for calls that take too long from now on."""
        timeout_ms = rules.timeout_ms(self._memory.settings)
        self._cleaning.schedule(self._host.now_ms + timeout_ms, self._clean, timeout_ms)

    def stop(self) -> None:
        """Accept no messages any more; those that wait for their call are dropped from 4.7.1 on."""
        self._is_stopped = True

    def deliver(self, of: TopicQueue, queue: ProcessQueue[StoredMessage], messages: Messages) -> None:
        """Let the listener be called. Raises CallRefused after a shutdown."""
        if self._is_stopped:
            raise CallRefused
        size = self._memory.settings.consume_message_batch_max_size
        for begin in range(0, len(messages), size):
            self._pool.submit(partial(self._consume, of, queue, messages[begin : begin + size]))

    def _consume(self, of: TopicQueue, queue: ProcessQueue[StoredMessage], messages: Messages, _own: Thread) -> Body:
        if queue.is_dropped or (self._is_stopped and self._memory.rules.drops_waiting_calls):
            return
        shown = as_sent(messages)
        for message in shown:
            message.properties[CONSUME_START_TIME] = str(time.time_ns() // _NS_PER_MS)
            queue.begun_ms[message.queue_offset] = self._host.now_ms
        show_hook(self.hook, messages, shown, as_sent=self._memory.rules.hooks_see_first_topic)
        context = ConsumeContext()
        status = yield from self._host.outside(partial(status_of, partial(self._listen, shown, of, context)))
        if not queue.is_dropped:  # else the result is thrown away, and the next owner consumes them again
            yield from self._settle(of, queue, messages, shown, status, context)

    def _settle(
        self,
        of: TopicQueue,
        queue: ProcessQueue[StoredMessage],
        messages: Messages,
        shown: Messages,
        status: ConsumeStatus | None,
        context: ConsumeContext,
    ) -> Body:
        first_failed = rules.acknowledged(status, context, len(messages))
        kept: set[int] = set()
        # A broadcasting member has no retries.
        failed = () if self._memory.settings.is_broadcasting else range(first_failed, len(messages))
        for place in failed:
            named = self._memory.rules.sends_back_by_name
            is_back = yield from self.send_back(shown[place], of, context.delay_level, named=named)
            if not is_back:
                kept.add(place)
        if kept:
            again = [
                replace(messages[place], reconsume_times=messages[place].reconsume_times + 1) for place in sorted(kept)
            ]
            job = partial(self._again, of, queue, again)
            self._delays.schedule(self._host.now_ms + rules.LOCAL_RETRY_MS, job)
        offset = queue.remove([message for place, message in enumerate(messages) if place not in kept])
        if offset is not None and not queue.is_dropped:
            self._committing.update(of, offset)

    def _again(self, of: TopicQueue, queue: ProcessQueue[StoredMessage], messages: Messages, _own: Thread) -> None:
        if not self._is_stopped:
            self._pool.submit(partial(self._consume, of, queue, messages))

    def _clean(self, _own: Thread) -> Body:
        """Send back what has been with the listener for too long (cleanExpireMsg)."""
        for of in in_hash_order(self._memory.process, buckets=PROCESS_BUCKETS):
            queue = self._memory.process.get(of)
            if queue is None or self._is_stopped or self._has_died:
                continue
            try:
                yield from self._clean_queue(of, queue)
            except ProcessQueueError:
                self._has_died = True

    def _clean_queue(self, of: TopicQueue, queue: ProcessQueue[StoredMessage]) -> Body:
        """Raises ProcessQueueError for a message whose call has not begun (up to 4.9.2)."""
        for _ in range(min(len(queue.waiting), rules.MOST_EXPIRED)):
            message = queue.expired(self._host.now_ms, rules.timeout_ms(self._memory.settings))
            if message is None:
                return
            named = self._memory.rules.sends_expired_back_by_name
            if (yield from self.send_back(message, of, rules.EXPIRED_LEVEL, named=named)):
                with suppress(ProcessQueueError):
                    queue.remove_expired(message)

    def send_back(self, message: StoredMessage, of: TopicQueue, delay_level: int, *, named: bool) -> Running[bool]:
        """
        Hand a failed message back to its broker, else send it to the retry topic; False if both fail (sendMessageBack).

        named: its broker is the one of that name, wherever that is now; else whoever is at the address in the message.
        """
        try:
            address = self._committing.master_of(of) if named else message.store_host
            if address is not None:
                question = self._codec.send_back(message, of.queue.broker if named else None, delay_level)
                address = self._committing.port_of(address)
                answer = yield from self._remoting.invoke(address, rules.SEND_BACK_TIMEOUT_MS, question)
                self._codec.expect_success(answer)
                return True
        except FAILURES:
            pass
        return (yield from send_away(self._resend, message))


def properties_of_resend(
    properties: Mapping[str, str], *, topic: str, times: int, most_times: int, first_id: str | None
) -> dict[str, str]:
    """
    Return what the client's own send of a failed message adds to its properties; the listener's delay level has no say.

    topic: as the listener saw it. times: reconsume times of the failed delivery. first_id: the message's id when it was stored
    first, if the release keeps it (from 5.4.0).
    """
    added = {
        RETRY_TOPIC: topic,
        RECONSUME_TIME: str(times + 1),
        MAX_RECONSUME_TIMES: str(most_times),
        DELAY: str(rules.FIRST_RETRY_LEVEL + times),
    }
    if first_id is not None:
        added[ORIGIN_MESSAGE_ID] = properties.get(ORIGIN_MESSAGE_ID) or first_id
    return added
