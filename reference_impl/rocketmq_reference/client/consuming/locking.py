"""Locks of queues at their brokers, for a member that consumes in order (RebalanceImpl.lock, lockAll, unlock, unlockAll)."""

from typing import Any

from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.codec import LockCodec
from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.effects import Body, Host, Running
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.rules.consumer.offsets import PROCESS_BUCKETS, TopicQueue, in_hash_order
from rocketmq_reference.rules.consumer.orderly import LOCK_TIMEOUT_MS
from rocketmq_reference.rules.java import hash_order, spread_hash, table_size

_FIRST_BUCKETS = 16


class Locking:
    """A broker's refusal unlocks a queue; without an answer nothing changes, and the lock expires. Unknown brokers are left out."""

    def __init__(
        self,
        memory: ConsumerMemory,
        host: Host,
        remoting: Remoting[Any, Any],
        codec: LockCodec[Any, Any],
        committing: Committing,
    ) -> None:
        self._memory = memory
        self._host = host
        self._remoting = remoting
        self._codec = codec
        self._committing = committing

    def lock(self, of: TopicQueue) -> Running[bool]:
        """Lock one queue, which need not be in the table yet; False if it is refused, or no answer comes."""
        locked = yield from self._locked([of])
        for each in locked or ():
            self._note_locked(each)
        return locked is not None and of in locked

    def renew(self) -> Body:
        """Lock all queues again, broker by broker."""
        for queues in self._by_broker():
            locked = yield from self._locked(queues)
            if locked is None:
                continue
            for of in queues:
                if of in locked:
                    self._note_locked(of)
                elif of in self._memory.process:
                    self._memory.process[of].is_locked = False

    def unlock(self, of: TopicQueue) -> Body:
        """Unlock one queue, without waiting for an answer."""
        address = self._committing.master_of(of)
        if address is not None:
            try:
                yield from self._remoting.invoke_one_way(address, LOCK_TIMEOUT_MS, self._codec.unlock([of]))
            except FAILURES:
                return

    def unlock_all(self) -> Body:
        """Unlock all queues, broker by broker, each with an answer."""
        for queues in self._by_broker():
            address = self._committing.master_of(queues[0])
            if address is None:
                continue
            try:
                address, question = self._committing.port_of(address), self._codec.unlock(queues)
                answer = yield from self._remoting.invoke(address, LOCK_TIMEOUT_MS, question)
                self._codec.expect_success(answer)
            except FAILURES:
                continue
            for of in queues:
                if of in self._memory.process:
                    self._memory.process[of].is_locked = False

    def _locked(self, queues: list[TopicQueue]) -> Running[set[TopicQueue] | None]:
        """Return which queues of one broker are locked for the member now; None without an answer."""
        address = self._committing.master_of(queues[0])
        if address is None:
            return None
        try:
            address, question = self._committing.port_of(address), self._codec.lock(queues)
            answer = yield from self._remoting.invoke(address, LOCK_TIMEOUT_MS, question)
            return self._codec.read_locked(answer)
        except FAILURES:
            return None

    def _note_locked(self, of: TopicQueue) -> None:
        if of in self._memory.process:
            self._memory.process[of].is_locked = True
            self._memory.process[of].last_lock_ms = self._host.now_ms

    def _by_broker(self) -> list[list[TopicQueue]]:
        found: dict[str, list[TopicQueue]] = {}
        process, rules = self._memory.process, self._memory.rules
        for of in in_hash_order(process, buckets=PROCESS_BUCKETS):
            if not process[of].is_dropped or rules.renews_dropped_queues:
                found.setdefault(of.queue.broker, []).append(of)
        if rules.locks_in_full_table:
            order = sorted(found, key=lambda broker: spread_hash(broker) % table_size(len(process)))
        else:
            order = hash_order(found, buckets=_FIRST_BUCKETS, concurrent=False)
        return [found[broker] for broker in order]
