"""Rounds of rebalancing of one member, in a thread of their own (RebalanceService, RebalanceImpl)."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rocketmq_reference.client.background import Background
from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.codec import ConsumeCodec
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.consuming.orderly import Orderly
from rocketmq_reference.client.effects import Body, Host, Running, Signal, Wait
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.client.routes import Routes
from rocketmq_reference.remoting.errors import Error
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.client.route import MASTER_ID
from rocketmq_reference.rules.consumer.allocation import AllocationError, Strategy, ids_in_java_order, in_java_order
from rocketmq_reference.rules.consumer.offsets import PROCESS_BUCKETS, RETRY_PREFIX, TopicQueue, in_hash_order
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue
from rocketmq_reference.rules.consumer.rebalance import Rounds
from rocketmq_reference.rules.java import hash_order, table_size
from rocketmq_reference.rules.tape import Tape

_FIRST_BUCKETS = 16
_NS_PER_MS = 1_000_000


class Rebalancing:
    """
    The member's rounds.

    strategy: divides queues among members. on_new: gets each queue that the member begins to work on, with its first offset,
    after a round of its topic. in_order: locks and unlocks queues, if they are consumed in order. on_changed: gets a topic and the
    member's share of it after a round that changed the queues it works on; these may lack some, whose offset is not known.
    """

    on_changed: Callable[[str, Sequence[Queue]], None] | None = None

    def __init__(
        self,
        memory: ConsumerMemory,
        host: Host,
        routes: Routes,
        remoting: Remoting[Any, Any],
        codec: ConsumeCodec[Any, Any],
        committing: Committing,
        background: Background,
        strategy: Strategy,
        tape: Tape,
        api_timeout_ms: int,
        on_new: Callable[[TopicQueue, ProcessQueue[StoredMessage], int], None],
        in_order: Orderly | None = None,
    ) -> None:
        self._memory = memory
        self._host = host
        self._routes = routes
        self._remoting = remoting
        self._codec = codec
        self._committing = committing
        self._background = background
        self.strategy = strategy
        self._tape = tape
        self._api_timeout_ms = api_timeout_ms
        self._on_new = on_new
        self._in_order = in_order
        self._signal = Signal()
        self._is_notified = False
        self._is_stopped = False

    def start(self) -> None:
        self._host.worker("rebalance").submit(self._run)

    def join(self) -> Body:
        """Look up the routes, greet the brokers, ask for a round (the end of DefaultMQPushConsumerImpl.start)."""
        yield from self._committing.load()
        for topic in self._memory.subscriptions:
            yield from self._routes.refresh(topic)
        has_beaten = yield from self._background.beat_all()
        if has_beaten or not self._memory.rules.first_round_needs_heartbeat:
            self.wake()

    def wake(self) -> None:
        """Ask for a round; several requests before it are one."""
        self._is_notified = True
        self._host.give(self._signal)

    def stop(self) -> None:
        self._is_stopped = True
        self._host.give(self._signal)

    def give_up(self, of: TopicQueue) -> Running[bool]:
        """Stop working on a queue; False if it stays in the table, because it is consumed in order and its listener has not returned."""
        queue = self._memory.process.get(of)
        if queue is not None:
            self._memory.stop_working_on(queue)
        is_over = yield from self.end_work_on(of, queue)
        if is_over and of in self._memory.process:
            self._memory.drop(of)
        return is_over

    def end_work_on(self, of: TopicQueue, queue: ProcessQueue[StoredMessage] | None) -> Running[bool]:
        """
        Commit a queue's offset, then forget it (removeUnnecessaryMessageQueue).

        False, with the offset kept in some releases, if it is consumed in order and its listener has not returned.
        """
        yield from self._committing.commit(of)
        if queue is None or self._in_order is None or self._memory.settings.is_broadcasting:
            self._committing.forget(of)
            return True
        return (yield from self._in_order.give_up(of, queue))

    def begin_anew(self, of: TopicQueue) -> Body:
        """Give a queue with a wrong offset up, unless a round has already; a round begins it anew, at once from 5.2.0."""
        if of in self._memory.process and not (yield from self.give_up(of)):
            self._memory.drop(of)
        if not self._memory.rules.wrong_offset_delay_ms:
            self.wake()

    def _run(self, _own: Thread) -> Body:
        rounds = Rounds(self._memory.rules, self._memory.settings, self._host.now_ms)
        while not self._is_stopped:
            if not self._is_notified:
                yield Wait(self._signal, self._host.now_ms + rounds.wait_ms)
            self._is_notified = False
            self._signal = Signal()
            if not self._is_stopped and rounds.is_due(self._host.now_ms):
                balanced = yield from self.round()
                rounds.ended(self._host.now_ms, balanced=balanced)

    def round(self) -> Running[bool]:
        """Make a round in this thread, unless the member is suspended; True if it works on exactly its share afterwards."""
        if self._memory.is_suspended:
            return False
        balanced = True
        for topic in hash_order(list(self._memory.subscriptions), buckets=_FIRST_BUCKETS, concurrent=True):
            try:
                balanced &= yield from self._rebalance(topic)
            except (*FAILURES, Error):
                balanced = False
        return balanced

    def _rebalance(self, topic: str) -> Running[bool]:
        """Bring the member's queues of a topic in line with its share; True if it works on exactly its share afterwards."""
        queues, rules = self._memory.queues.get(topic), self._memory.rules
        is_broadcasting = self._memory.settings.is_broadcasting
        if not queues and rules.leaves_empty_lists and not is_broadcasting:
            queues = None
        asks = not is_broadcasting and not (queues is None and rules.leaves_empty_lists)
        ids = (yield from self._ids(topic)) if asks else None  # before it announces anything
        if queues is None and rules.announces_unknown_topic and not topic.startswith(RETRY_PREFIX):
            yield from self._announce(topic)
        if is_broadcasting:
            return queues is None or (yield from self._work_on(topic, queues))
        if queues is None or ids is None or (rules.leaves_empty_lists and not ids):
            return True
        ordered, members = in_java_order(queues), ids_in_java_order(ids)
        share, error = self._share(topic, ordered, members)
        if self._memory.observer is not None:
            self._memory.observer.allocated(topic, members, ordered, share, error)
        if error is not None:
            return False
        return (yield from self._work_on(topic, share))

    def _work_on(self, topic: str, share: Sequence[Queue]) -> Running[bool]:
        """Return whether the member then works on exactly its share."""
        changed = yield from self.take_share(topic, share)
        if changed and self.on_changed is not None:
            self.on_changed(topic, share)
        if changed and self._memory.rules.announces_changes:
            yield from self._announce(topic)
        return set(share) == self._memory.working_on(topic)

    def _share(
        self, topic: str, queues: Sequence[Queue], ids: Sequence[str]
    ) -> tuple[tuple[Queue, ...], AllocationError | None]:
        try:
            return self.strategy(topic, queues, ids, self._memory.client_id), None
        except AllocationError as error:
            return (), error

    def _ids(self, topic: str) -> Running[list[str] | None]:
        """Ask a random broker of the topic for the ids of the group (findConsumerIdList); None without an answer."""
        address = self._any_broker(topic)
        if address is None:
            yield from self._routes.refresh(topic)
            address = self._any_broker(topic)
        if address is None:
            return None
        try:
            address, question = self._committing.port_of(address), self._codec.consumer_ids()
            answer = yield from self._remoting.invoke(address, self._api_timeout_ms, question)
            return self._codec.read_ids(answer)
        except FAILURES:
            return None

    def _any_broker(self, topic: str) -> str | None:
        route = self._routes.known.route(topic)
        if route is None or not route.brokers:
            return None
        members = list(route.brokers.values())[self._tape.below(len(route.brokers))]
        slaves = list(members.values())
        return members.get(MASTER_ID) or (slaves[self._tape.below(len(slaves))] if slaves else None)

    def take_share(self, topic: str, share: Sequence[Queue]) -> Running[bool]:
        memory, changed = self._memory, False
        for of in self._lost(topic, share):
            changed |= yield from self.give_up(of)
        begun: list[tuple[TopicQueue, ProcessQueue[StoredMessage], int]] = []
        is_refused = False
        # Java's sets and tables of queues decide which queue is asked for, and pulled from, first.
        for of in in_hash_order([TopicQueue(topic, queue) for queue in share], concurrent=False):
            if of in memory.process:
                continue
            if not (yield from self._is_locked(of)):
                is_refused = True
                continue
            self._committing.forget(of)
            try:
                offset = yield from self._committing.first_offset(of)
            except FAILURES:
                continue  # its next round tries again
            if of in memory.process:  # a round in another thread has taken it
                continue
            new: ProcessQueue[StoredMessage] = ProcessQueue(self._host.now_ms, memory.rules)
            begun.append((of, new, offset))
            new.is_locked = memory.rules.new_queue_is_locked
            memory.take(of, new)
        if is_refused and memory.rules.refused_lock_delay_ms:
            self._background.later(memory.rules.refused_lock_delay_ms, lambda _own: self.wake())
        for of, queue, offset in begun:
            self._on_new(of, queue, offset)
        return changed or bool(begun)

    def _lost(self, topic: str, share: Sequence[Queue]) -> Iterator[TopicQueue]:
        """Yield the queues to give up, each when its turn comes; from 5.0.0 on the work on all of them has stopped before."""
        memory = self._memory
        held = [of for of in in_hash_order(memory.process, buckets=PROCESS_BUCKETS) if of.topic == topic]
        if not memory.rules.stops_all_first:
            yield from (of for of in held if self._is_lost(of, share))
            return
        lost = [of for of in held if self._is_lost(of, share)]
        for of in lost:
            memory.stop_working_on(memory.process[of])
        yield from in_hash_order(lost, buckets=table_size(len(memory.process)), concurrent=False)

    def _is_lost(self, of: TopicQueue, share: Sequence[Queue]) -> bool:
        queue = self._memory.process.get(of)
        if queue is None:
            return False
        return of.queue not in share or (not self._memory.polls and queue.is_pull_expired(self._host.now_ms))

    def _is_locked(self, of: TopicQueue) -> Running[bool]:
        """True if the queue needs no lock, or the broker has locked it for the member."""
        is_free = self._memory.settings.is_broadcasting and not self._memory.rules.locks_to_broadcast
        return self._in_order is None or is_free or (yield from self._in_order.lock(of))

    def _announce(self, topic: str) -> Body:
        """Tell every broker that the member's queues have changed: a new version, and heartbeats (messageQueueChanged)."""
        self._memory.renew(topic, time.time_ns() // _NS_PER_MS)
        yield from self._background.beat_all()
