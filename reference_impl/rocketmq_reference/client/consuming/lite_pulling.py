"""
Pulls and polls of a lite pull consumer (DefaultLitePullConsumerImpl, from 4.6.1).

Each queue has a task. It takes one of the pull threads for as long as its pull is held, and puts what comes into a cache of batches. A
poll takes one batch out; with that its messages are consumed, and a later poll, or the application, commits them.
"""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.codec import ConsumeCodec
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.effects import Body, Host, Lock, Running, Signal, Wait
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.remoting.answers import PullAnswer
from rocketmq_reference.remoting.consuming import EVERYTHING, Pull, Subscription
from rocketmq_reference.remoting.errors import MQBrokerException, MQClientException
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.properties import MAX_OFFSET, MIN_OFFSET, TAGS
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.client.route import MASTER_ID
from rocketmq_reference.rules.consumer import lite_pull as rules
from rocketmq_reference.rules.consumer.lite_pull_rules import LitePullRules
from rocketmq_reference.rules.consumer.offsets import TopicQueue, in_hash_order
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue, ProcessQueueError
from rocketmq_reference.rules.consumer.pull_broker import Asked
from rocketmq_reference.rules.consumer.pull_loop import delay_after_failure_ms

PULL_THREADS = "lite-pull"
"""The pool whose threads wait for the answers of pulls."""

Pulled = ProcessQueue[StoredMessage]


@dataclass(slots=True, eq=False)
class Assigned:
    """
    A queue that the member works on (MessageQueueState).

    pull_offset: None before the first answer; consume_offset: before the first poll. seek_offset: where the next pull goes on, None
    for after the last. task: number of the task that pulls; earlier ones are cancelled. is_cancelled: it too.
    """

    of: TopicQueue
    queue: Pulled
    pull_offset: int | None = None
    consume_offset: int | None = None
    seek_offset: int | None = None
    is_paused: bool = False
    is_cancelled: bool = False
    task: int = 0


class Batch(NamedTuple):
    """Messages of one answer, which one poll hands out together (ConsumeRequest)."""

    of: TopicQueue
    queue: Pulled
    messages: Sequence[StoredMessage]


class LitePulling:
    """Tasks, cache and polls of one member. hook: the application's, gets messages of one queue."""

    hook: Callable[[TopicQueue, Sequence[StoredMessage]], None] | None = None

    def __init__(
        self,
        memory: ConsumerMemory,
        own: LitePullRules,
        host: Host,
        remoting: Remoting[Any, Any],
        codec: ConsumeCodec[Any, Any],
        committing: Committing,
    ) -> None:
        self._memory = memory
        self._own = own
        self._host = host
        self._remoting = remoting
        self._codec = codec
        self._committing = committing
        self._threads = host.worker(PULL_THREADS)
        self._delays = host.worker("lite-pull-delays")
        self._auto_commit = rules.AutoCommit()
        self._polling = Lock(host)
        self._arrived = Signal()
        self.assigned: dict[TopicQueue, Assigned] = {}
        self.batches: deque[Batch] = deque()
        self.is_stopped = False

    def begin(self, _of: TopicQueue, _queue: Pulled, _offset: int) -> None:
        """Leave a new queue to ``changed``: its task asks for its first offset itself."""

    def changed(self, topic: str, share: Sequence[Queue]) -> None:
        """
        End the tasks of queues that are not in the member's share any more, and begin those of new ones (MessageQueueListenerImpl).

        Also of a queue whose offset the round could not get, with messages of its own: no offset of it is committed until a later
        round has.
        """
        wanted = in_hash_order([TopicQueue(topic, queue) for queue in share], concurrent=False)
        for of in [of for of in self.assigned if of.topic == topic and of not in wanted]:
            self._cancel(of)
        for of in wanted:
            if of not in self.assigned:
                queue = self._memory.process.get(of) or ProcessQueue(self._host.now_ms, self._memory.rules)
                self.assigned[of] = Assigned(of, queue)
                self._later(self.assigned[of], 0, 0)

    def assign(self, queues: Sequence[TopicQueue]) -> None:
        """
        Work on these queues, and on no others, without a subscription.

        A queue that stays goes on as it is; one that comes back begins anew, where its offset is remembered until the next commit.
        """
        memory = self._memory
        for of in [of for of in self.assigned if of not in queues]:
            self._cancel(of)
            memory.drop(of)
        new = [of for of in dict.fromkeys(queues) if of not in self.assigned]
        for of in new:
            memory.take(of, ProcessQueue(self._host.now_ms, memory.rules))
            self.assigned[of] = Assigned(of, memory.process[of])
        for of in new:
            self._later(self.assigned[of], 0, 0)

    def pause(self, of: TopicQueue, *, is_paused: bool) -> None:
        """Pull no more from a queue, or again; what waits for a poll is handed out."""
        if of in self.assigned:
            self.assigned[of].is_paused = is_paused

    def seek(self, of: TopicQueue, offset: int) -> Body:
        """
        Go on at an offset of a queue; what was pulled before is dropped.

        From 4.9.2 a new pull begins at once; before, when the one under way has ended. Raises MQClientException for a queue that the
        member does not work on, an offset outside the queue, and a question for its ends that failed.
        """
        yield from self._polling.acquire(None)
        try:
            if of not in self.assigned or self.assigned[of].queue.is_dropped:
                raise MQClientException("The message queue is not in assigned list")
            try:
                least = yield from self._committing.beginning(of)
                most = yield from self._committing.end(of)
            except FAILURES as error:
                raise MQClientException("Invoke Broker exception") from error
            if not least <= offset <= most:
                raise MQClientException(f"Seek offset illegal: {offset}, not from {least} to {most}")
            self._seek(self.assigned[of], offset)
        finally:
            self._polling.release()

    def seek_to_begin(self, of: TopicQueue) -> Body:
        """Go on at the least offset of a queue (seekToBegin); its master is asked for it, and again by the seek."""
        yield from self.seek(of, (yield from self._asked(self._committing.beginning(of))))

    def seek_to_end(self, of: TopicQueue) -> Body:
        """Go on at the greatest offset of a queue (seekToEnd), likewise."""
        yield from self.seek(of, (yield from self._asked(self._committing.end(of))))

    def _asked(self, question: Running[int]) -> Running[int]:
        try:
            return (yield from question)
        except FAILURES as error:
            raise MQClientException("Invoke Broker exception") from error

    def _seek(self, assigned: Assigned, offset: int) -> None:
        assigned.queue.clear()
        self.batches = deque(batch for batch in self.batches if batch.of != assigned.of)
        assigned.seek_offset = offset
        if self._own.seek_interrupts:
            assigned.task += 1
            self._later(assigned, 0, assigned.task)

    def stop(self) -> None:
        self.is_stopped = True

    def poll(self, timeout_ms: int) -> Running[Batch | None]:
        """Hand one batch out; None if none comes in time. The messages of a queue that was given up meanwhile are left out."""
        yield from self._polling.acquire(None)
        try:
            if self._auto_commit.is_due(self._host.now_ms, self._memory.settings):
                self.commit_all()
            until_ms = self._host.now_ms + timeout_ms
            batch = yield from self._next(until_ms)
            while batch is not None and batch.queue.is_dropped and self._host.now_ms < until_ms:
                batch = yield from self._next(until_ms)
            if batch is None or batch.queue.is_dropped:
                return None
            self._handed_out(batch)
            if self.hook is not None and self._own.hooks_polls:
                self.hook(batch.of, batch.messages)
            return batch
        finally:
            self._polling.release()

    def commit(self) -> Body:
        """Commit for the application (commitSync), not beside a poll."""
        yield from self._polling.acquire(None)
        try:
            self.commit_all()
        finally:
            self._polling.release()

    def commit_queues(self, queues: Collection[TopicQueue]) -> Body:
        """Commit some queues for the application at once, and forget the offsets of others (commit, from 4.9.4)."""
        yield from self._polling.acquire(None)
        try:
            self._remember(queues)
            if queues:
                yield from self._committing.commit_these(queues)
        finally:
            self._polling.release()

    def commit_all(self) -> None:
        """Remember what polls have handed out of each queue, for the next commit (commitAll)."""
        self._remember(self.assigned)

    def _remember(self, queues: Collection[TopicQueue]) -> None:
        for of in in_hash_order(queues):
            assigned = self.assigned.get(of)
            if assigned is None:
                continue
            if assigned.consume_offset is not None and not assigned.queue.is_dropped:
                self._committing.update(of, assigned.consume_offset, increase_only=False)

    def put(self, assigned: Assigned, messages: Sequence[StoredMessage]) -> None:
        """Let a batch wait for a poll. Raises ProcessQueueError."""
        assigned.queue.put(messages)
        self.batches.append(Batch(assigned.of, assigned.queue, messages))
        self._host.give(self._arrived)

    def _next(self, until_ms: int) -> Running[Batch | None]:
        while not self.batches:
            self._arrived = Signal()
            if not (yield Wait(self._arrived, until_ms)):
                return None
        return self.batches.popleft()

    def _handed_out(self, batch: Batch) -> None:
        assigned = self.assigned.get(batch.of)
        offset = batch.queue.remove(batch.messages)
        if assigned is not None:
            assigned.consume_offset = offset

    def _later(self, assigned: Assigned, delay_ms: int, task: int) -> None:
        def look(_own: Thread) -> Body:
            return self._look(assigned, task)

        def due(_own: Thread) -> None:
            self._threads.submit(look)

        if delay_ms:
            self._delays.schedule(self._host.now_ms + delay_ms, due)
        else:
            self._threads.submit(look)

    def _cancel(self, of: TopicQueue) -> None:
        gone = self.assigned.pop(of)
        gone.queue.is_dropped = gone.is_cancelled = True

    def _is_cancelled(self, assigned: Assigned, task: int) -> bool:
        return self.is_stopped or assigned.is_cancelled or task != assigned.task

    def _is_over(self, assigned: Assigned, task: int) -> bool:
        """True also if a round has given the queue up that has not ended yet."""
        return assigned.queue.is_dropped or self._is_cancelled(assigned, task)

    def _look(self, assigned: Assigned, task: int) -> Body:
        """Pull once, unless the queue is given up or paused or too much waits; then the next look follows (PullTaskImpl)."""
        if self._is_cancelled(assigned, task) or (self._own.stops_with_round and assigned.queue.is_dropped):
            return
        if assigned.is_paused:
            self._later(assigned, rules.PAUSED_MS, task)
            return
        assigned.queue.last_pull_ms = self._host.now_ms
        if rules.is_held_back(len(self.batches), assigned.queue, self._memory.settings):
            self._later(assigned, rules.FLOW_CONTROL_MS, task)
            return
        delay_ms = yield from self._pulled(assigned, task)
        if not self._is_cancelled(assigned, task):
            self._later(assigned, delay_ms, task)

    def _pulled(self, assigned: Assigned, task: int) -> Running[int]:
        """Pull once; return after how many ms the next look follows."""
        try:
            offset = yield from self._next_offset(assigned)
            if self._own.ends_given_up_pulls and self._is_over(assigned, task):
                return 0
            answer = yield from self._pull(assigned, offset, task)
            if not self._is_over(assigned, task):
                self._take(assigned, assigned, answer)
            elif not self._own.ends_given_up_pulls and not self.is_stopped:
                self._take(assigned, self.assigned.get(assigned.of), answer)
        except _EndUnknownError:
            return self._own.failed_end_delay_ms
        except (*FAILURES, ProcessQueueError) as error:
            code = error.code if isinstance(error, MQBrokerException) else None
            return delay_after_failure_ms(code, self._memory.rules, self._memory.settings)
        return 0

    def _next_offset(self, assigned: Assigned) -> Running[int]:
        if assigned.seek_offset is not None:
            assigned.consume_offset, assigned.seek_offset = assigned.seek_offset, None
            return assigned.consume_offset
        if assigned.pull_offset is not None:
            return assigned.pull_offset
        asked = yield from self._committing.begins_at(assigned.of)
        if asked is not None:
            return asked
        try:
            return (yield from self._committing.end(assigned.of))
        except FAILURES as error:
            raise _EndUnknownError from error

    def _pull(self, assigned: Assigned, offset: int, task: int) -> Running[PullAnswer]:
        memory, of = self._memory, assigned.of
        topic, (broker, queue_id) = of
        asked = Pull(
            group=memory.group,
            topic=topic,
            broker=broker,
            queue_id=queue_id,
            offset=offset,
            max_messages=memory.settings.pull_batch_size,
            max_bytes=None if memory.rules.pull_batch_bytes is None else rules.MOST_BYTES,
            commit=None,
            suspend_ms=rules.BROKER_SUSPEND_MS,
            version=0,
            expression=self._subscription(topic).expression,
            has_own_code=self._own.has_own_code,
        )
        broker_id = memory.brokers.get(of, MASTER_ID)
        _, address = yield from self._committing.member_of(of, broker_id, Asked.ANY)
        answer = yield from self._remoting.invoke(
            address, rules.CLIENT_TIMEOUT_MS, self._codec.pull(asked), lambda: task != assigned.task
        )
        read = self._codec.read_pull(answer)
        memory.brokers[of] = read.suggested_broker
        tags = self._subscription(topic).tags
        wanted = tuple(message for message in read.messages if not tags or message.properties.get(TAGS) in tags)
        for message in wanted:  # PullAPIWrapper#processPullResult
            message.properties.update({MIN_OFFSET: str(read.min_offset), MAX_OFFSET: str(read.max_offset)})
        if wanted and self.hook is not None and self._own.hooks_pulls:
            self.hook(of, wanted)
        return replace(read, messages=wanted)

    def _subscription(self, topic: str) -> Subscription:
        """Return what the member wants of a topic: everything of queues that are assigned to it."""
        return self._memory.subscriptions.get(topic) or Subscription(topic, EVERYTHING, 0)

    def _take(self, assigned: Assigned, now: Assigned | None, answer: PullAnswer) -> None:
        """
        Take an answer; also after a wrong offset the next pull goes on where the broker says.

        assigned: the queue as it was when it was asked for. now: as the member works on it now, None if it does not.
        """
        is_sought = now is not None and now.seek_offset is not None
        if answer.messages and not is_sought:
            self.put(assigned, answer.messages)
        if now is not None and not is_sought:
            now.pull_offset = answer.next_offset


class _EndUnknownError(Exception):
    """The question for a queue's end has failed."""
