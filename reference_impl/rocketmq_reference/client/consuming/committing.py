"""Offsets between a member and its brokers (RemoteBrokerOffsetStore, from 5.2.0)."""

from typing import Any

from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.codec import ConsumeCodec
from rocketmq_reference.client.consuming.memory import ConsumerMemory, OffsetEvent
from rocketmq_reference.client.effects import Body, Running
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.client.routes import Routes
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.rules.client.route import MASTER_ID
from rocketmq_reference.rules.consumer.offsets import TopicQueue, begins_at_zero

_TIMEOUT_MS = 5_000
_ADMIN_TIMEOUT_MS = 6_000
"""Of a question for the greatest offset (MQAdminImpl)."""


class Committing:
    """Queries and commits of one member; addresses: of brokers that it reads from."""

    def __init__(
        self, memory: ConsumerMemory, routes: Routes, remoting: Remoting[Any, Any], codec: ConsumeCodec[Any, Any]
    ) -> None:
        self._memory = memory
        self._routes = routes
        self._remoting = remoting
        self._codec = codec

    def first_offset(self, of: TopicQueue) -> Running[int]:
        """
        Return where a new queue begins (computePullFromWhereWithException).

        Raises the failure of a question, which no offset may stand in for.
        """
        memory = self._memory
        stored = yield from self._ask(of, self._codec.query_offset(of), _TIMEOUT_MS)
        committed = self._codec.read_committed(stored)
        memory.note(OffsetEvent.QUERY, of, -1 if committed is None else committed)
        if committed is not None:
            memory.offsets.update(of, committed, increase_only=False)
            return committed
        if begins_at_zero(of.topic, memory.settings.consume_from_where):
            return 0
        answer = yield from self._ask(of, self._codec.max_offset(of), _ADMIN_TIMEOUT_MS)
        return self._codec.read_offset(answer)

    def update(self, of: TopicQueue, offset: int) -> None:
        """Remember an offset until the next commit; it only rises."""
        self._memory.offsets.update(of, offset, increase_only=True)
        self._memory.note(OffsetEvent.UPDATE, of, offset)

    def freeze(self, of: TopicQueue, offset: int) -> None:
        self._memory.offsets.freeze(of, offset)
        self._memory.note(OffsetEvent.FREEZE, of, offset)

    def forget(self, of: TopicQueue) -> None:
        self._memory.offsets.forget(of)
        self._memory.note(OffsetEvent.FORGET, of)

    def commit_all(self) -> Body:
        """Commit the offset of every queue that the member works on, changed or not; each failure is ignored."""
        for of, offset in self._memory.offsets.keep_only(self._memory.process).items():
            yield from self._commit(of, offset)

    def commit(self, of: TopicQueue) -> Body:
        """Commit one queue's offset, if there is one."""
        offset = self._memory.offsets.get(of)
        if offset is not None:
            yield from self._commit(of, offset)

    def _commit(self, of: TopicQueue, offset: int) -> Body:
        self._memory.note(OffsetEvent.COMMIT, of, offset)
        try:
            address = yield from self.address_of(of)
            yield from self._remoting.invoke_one_way(address, _TIMEOUT_MS, self._codec.update_offset(of, offset))
        except FAILURES:
            return

    def master_of(self, of: TopicQueue) -> str | None:
        return self._routes.known.master(of.queue.broker)

    def _ask(self, of: TopicQueue, question: Any, timeout_ms: int) -> Running[Any]:
        address = yield from self.address_of(of)
        return (yield from self._remoting.invoke(address, timeout_ms, question))

    def address_of(self, of: TopicQueue, broker_id: int = MASTER_ID) -> Running[str]:
        """
        Return the address of a queue's broker: of the wanted id, else of any (findBrokerAddressInSubscribe).

        An unknown broker is looked up once. Raises MQClientException if it stays unknown.
        """
        for is_last in (False, True):
            known = self._routes.known.addresses.get(of.queue.broker, {})
            if known:
                # A missing slave is replaced by the next id (from 4.8.0), then by any.
                return known.get(broker_id) or known.get(broker_id + 1) or known[min(known)]
            if not is_last:
                yield from self._routes.refresh(of.topic)
        raise MQClientException(f"The broker[{of.queue.broker}] not exist")
