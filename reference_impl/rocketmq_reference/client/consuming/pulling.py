"""The pull loop of one member (PullMessageService, DefaultMQPushConsumerImpl.pullMessage, from 4.2.0)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rocketmq_reference.client.codec import FAILURES, AsyncEnd
from rocketmq_reference.client.consuming.calling import CallRefused
from rocketmq_reference.client.consuming.codec import ConsumeCodec
from rocketmq_reference.client.consuming.committing import Committing, OffsetUnknown
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.effects import Body, Host, Running, Signal, Wait, Worker
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.remoting.answers import PullAnswer, PullStatus
from rocketmq_reference.remoting.consuming import Pull
from rocketmq_reference.remoting.errors import Error, MQBrokerException
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.properties import MAX_OFFSET, MIN_OFFSET, TAGS, TRANSACTION_PREPARED
from rocketmq_reference.rules.client.route import MASTER_ID
from rocketmq_reference.rules.consumer import pull_loop as rules
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue, ProcessQueueError
from rocketmq_reference.rules.consumer.pull_broker import Asked

Deliver = Callable[[TopicQueue, ProcessQueue[StoredMessage], Sequence[StoredMessage]], None]
"""Gets the messages of an answer, in the order of their offsets."""


@dataclass(slots=True)
class PullRequest:
    """The one request of a queue that is under way or waits for its turn. was_locked: in order, its first offset is known."""

    of: TopicQueue
    queue: ProcessQueue[StoredMessage]
    next_offset: int
    was_locked: bool = False


class Pulling:
    """
    One thread takes the requests in turn, another delays them.

    deliver: gets what was pulled. on_moved: gets a queue whose offset was wrong, at the time of the repair; set before the first pull.
    """

    on_moved: Callable[[TopicQueue], Body]

    def __init__(
        self,
        memory: ConsumerMemory,
        host: Host,
        remoting: Remoting[Any, Any],
        codec: ConsumeCodec[Any, Any],
        committing: Committing,
        deliver: Deliver,
    ) -> None:
        self._memory = memory
        self._host = host
        self._remoting = remoting
        self._codec = codec
        self._committing = committing
        self.deliver = deliver
        self._loop: Worker = host.worker("pull")
        self._delays: Worker = host.worker("pull-delays")
        self.is_stopped = self._has_died = False
        self._delayed = 0
        self._is_quiet = Signal()

    def begin(self, of: TopicQueue, queue: ProcessQueue[StoredMessage], offset: int) -> None:
        """Pull from a new queue."""
        self._later(PullRequest(of, queue, offset), self._memory.rules.first_pull_delay_ms)

    def stop(self) -> None:
        self.is_stopped = True

    def drain(self) -> Body:
        """Wait for what is delayed, pulls and repairs, as long as a shutdown does (PullMessageService.shutdown)."""
        until_ms = self._host.now_ms + self._memory.rules.shutdown_wait_ms
        while self._delayed and self._host.now_ms < until_ms:
            self._is_quiet = Signal()
            yield Wait(self._is_quiet, until_ms)

    def _delay(self, due_ms: int, job: Callable[[Thread], Body | None]) -> None:
        def due(own: Thread) -> Body:
            rest = job(own)
            if rest is not None:
                yield from rest
            self._delayed -= 1
            if not self._delayed:
                self._host.give(self._is_quiet)

        self._delayed += 1
        self._delays.schedule(due_ms, due)

    def _now(self, request: PullRequest) -> None:
        self._loop.submit(lambda own: self._take(request, own))

    def _take(self, request: PullRequest, own: Thread) -> Body:
        """Pull in the thread of pulls, unless an error has ended it; the error's own queue is not pulled again in any release."""
        if self._has_died:
            return
        try:
            yield from self.pull(request, own)
        except Error:
            self._has_died = self._memory.rules.pulling_can_die

    def _later(self, request: PullRequest, delay_ms: int) -> None:
        if not delay_ms:
            self._now(request)
            return

        def due(_own: Thread) -> None:
            self._now(request)

        self._delay(self._host.now_ms + delay_ms, due)

    def pull(self, request: PullRequest, own: Thread) -> Body:
        """Pull now, unless the queue is given up or has too many messages."""
        memory, queue = self._memory, request.queue
        if queue.is_dropped or self.is_stopped:
            return
        queue.last_pull_ms = self._host.now_ms
        if memory.is_suspended:
            self._later(request, rules.SUSPENDED_MS)
            return
        if rules.is_held_back(queue, memory.settings, is_orderly=memory.is_orderly):
            self._later(request, rules.FLOW_CONTROL_MS)
            return
        if memory.is_orderly and not (yield from self._is_ready(request)):
            self._failed(request, None)
            return
        try:
            broker_id = memory.brokers.get(request.of, MASTER_ID)
            broker_id, address = yield from self._committing.member_of(request.of, broker_id, Asked.ANY)
            question = self._codec.pull(self._asked(request, broker_id))
            yield from self._remoting.invoke_async(
                address,
                rules.CLIENT_TIMEOUT_MS,
                question,
                lambda end, _: self.ended(request, end),
                own,
                is_retry=False,
            )
        except FAILURES:
            self._failed(request, None)

    def _is_ready(self, request: PullRequest) -> Running[bool]:
        """Ask for the first offset again when the broker has locked the queue; False without the lock, or without the offset."""
        if not request.queue.is_locked:
            return False
        if not request.was_locked:
            try:
                request.next_offset = yield from self._committing.first_offset(request.of)
            except FAILURES as failure:
                is_query = isinstance(failure, OffsetUnknown)
                if not (
                    self._memory.rules.pulls_without_query if is_query else self._memory.rules.pulls_without_offset
                ):
                    return False
                request.next_offset = -1
            request.was_locked = True
        return True

    def _failed(self, request: PullRequest, code: int | None) -> None:
        self._later(request, rules.delay_after_failure_ms(code, self._memory.rules, self._memory.settings))

    def _asked(self, request: PullRequest, broker_id: int) -> Pull:
        memory, (topic, (broker, queue_id)) = self._memory, request.of
        commit = memory.offsets.get(request.of)
        # A slave is never told an offset, nor is any broker by a broadcasting member.
        may_commit = broker_id == MASTER_ID and not memory.settings.is_broadcasting
        has_commit = commit is not None and commit > 0 and may_commit
        return Pull(
            group=memory.group,
            topic=topic,
            broker=broker,
            queue_id=queue_id,
            offset=request.next_offset,
            max_messages=memory.settings.pull_batch_size,
            max_bytes=memory.rules.pull_batch_bytes,
            commit=commit if has_commit else None,
            suspend_ms=rules.BROKER_SUSPEND_MS,
            version=memory.subscriptions[topic].version,
        )

    def ended(self, request: PullRequest, end: AsyncEnd) -> Body:
        """Take an answer, or a failure; the next pull of the queue follows."""
        try:
            if end.error is not None:
                raise end.error
            answer = self._codec.read_pull(end.answer)
        except FAILURES as error:
            code = error.code if isinstance(error, MQBrokerException) else None
            self._failed(request, code)
            return
        self._memory.brokers[request.of] = answer.suggested_broker
        if answer.status is PullStatus.OFFSET_ILLEGAL:
            self._repair(request, answer.next_offset)
            return
        request.next_offset = answer.next_offset
        if answer.status is PullStatus.FOUND:
            self._found(request, answer)
            return
        if not request.queue.count:
            self._committing.update(request.of, request.next_offset)
        self._now(request)
        return
        yield  # a coroutine without waits

    def _found(self, request: PullRequest, answer: PullAnswer) -> None:
        tags = self._memory.subscriptions[request.of.topic].tags
        wanted = [message for message in answer.messages if not tags or message.properties.get(TAGS) in tags]
        for message in wanted:  # PullAPIWrapper#processPullResult
            message.properties.update({MIN_OFFSET: str(answer.min_offset), MAX_OFFSET: str(answer.max_offset)})
        if self._memory.rules.names_transaction:
            wanted = [_with_transaction(message) for message in wanted]
        if wanted:
            try:
                request.queue.put(wanted)
                self.deliver(request.of, request.queue, wanted)
            except (ProcessQueueError, CallRefused):  # the listener never sees them, and no later ones are committed
                self._failed(request, None)
                return
        self._later(request, self._memory.settings.pull_interval_ms if wanted else 0)

    def _repair(self, request: PullRequest, offset: int) -> None:
        """Go on at the offset that the broker suggests, with a new queue (OFFSET_ILLEGAL)."""
        delay_ms = self._memory.rules.wrong_offset_delay_ms

        def due(_own: Thread) -> Body:
            if delay_ms:
                self._committing.update(request.of, offset, increase_only=False)
            else:
                self._committing.freeze(request.of, offset)
            yield from self._committing.commit(request.of)
            yield from self.on_moved(request.of)

        self._memory.stop_working_on(request.queue)
        self._delay(self._host.now_ms + delay_ms, due)


def _with_transaction(message: StoredMessage) -> StoredMessage:
    if message.properties.get(TRANSACTION_PREPARED, "").lower() != "true":
        return message
    return replace(message, transaction_id=message.unique_key)
