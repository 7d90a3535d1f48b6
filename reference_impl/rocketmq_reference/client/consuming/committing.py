"""Offsets between a member and its brokers (RemoteBrokerOffsetStore)."""

from collections.abc import Callable, Collection
from typing import Any

from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.consuming.codec import ConsumeCodec
from rocketmq_reference.client.consuming.memory import ConsumerMemory, OffsetEvent
from rocketmq_reference.client.effects import Body, Running
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.client.routes import Routes
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQBrokerException, MQClientException
from rocketmq_reference.rules.client.route import MASTER_ID
from rocketmq_reference.rules.consumer.offsets import TopicQueue, begins_at_zero
from rocketmq_reference.rules.consumer.pull_broker import Asked, asked_for_commit, asked_for_query, member_of

_TIMEOUT_MS = 5_000
_ADMIN_TIMEOUT_MS = 6_000
"""Of a question for the greatest offset (MQAdminImpl)."""

_NONE, _UNKNOWN = -1, -2
"""Offsets of a group without one, and of one whose brokers do not answer."""


class OffsetUnknown(MQClientException):
    """The question for a group's offset failed (readOffset returns −2)."""


class Committing:
    """Queries and commits of one member. port_of: maps a broker's address to the one for all requests but pulls."""

    def __init__(
        self,
        memory: ConsumerMemory,
        routes: Routes,
        remoting: Remoting[Any, Any],
        codec: ConsumeCodec[Any, Any],
        port_of: Callable[[str], str],
    ) -> None:
        self._memory = memory
        self._routes = routes
        self._remoting = remoting
        self._codec = codec
        self.port_of = port_of

    def load(self) -> Body:
        """Before the start; brokers are asked for each queue when it begins."""
        return
        yield  # a coroutine without waits

    def first_offset(self, of: TopicQueue) -> Running[int]:
        """
        Return where a new queue begins (computePullFromWhereWithException).

        Raises the failure of a question, which no offset may stand in for; OffsetUnknown if it was that for the group's offset.
        """
        asked = yield from self.begins_at(of)
        return (yield from self.end(of)) if asked is None else asked

    def begins_at(self, of: TopicQueue) -> Running[int | None]:
        """
        Return the group's offset of a new queue, else 0 if it begins there, else None: at the queue's end.

        A lite pull consumer looks into its memory before it asks a broker. Raises the failure of the question.
        """
        memory = self._memory
        committed = memory.offsets.get(of) if memory.polls else None
        if committed is None:
            try:
                committed = yield from self.committed(of)
            except FAILURES as failure:
                memory.note(OffsetEvent.QUERY, of, _UNKNOWN)
                raise OffsetUnknown(str(failure)) from failure
        memory.note(OffsetEvent.QUERY, of, _NONE if committed is None else committed)
        if committed is not None:
            memory.offsets.update(of, committed, increase_only=False)
            return committed
        return 0 if begins_at_zero(of.topic, memory.settings.consume_from_where) else None

    def end(self, of: TopicQueue) -> Running[int]:
        """Return a queue's greatest offset, as its master answers. Raises the failure of the question."""
        answer = yield from self._ask(of, Asked.ONLY, self._codec.max_offset(of), _ADMIN_TIMEOUT_MS)
        return self._codec.read_offset(answer)

    def beginning(self, of: TopicQueue) -> Running[int]:
        """Return a queue's least offset, as its master answers. Raises the failure of the question."""
        answer = yield from self._ask(of, Asked.ONLY, self._codec.min_offset(of), _ADMIN_TIMEOUT_MS)
        return self._codec.read_offset(answer)

    def committed(self, of: TopicQueue) -> Running[int | None]:
        """Return the group's offset as its broker has it, None if it has none. Raises the failure of the question."""
        rules = self._memory.rules
        answer = yield from self._ask(of, asked_for_query(rules), self._codec.query_offset(of), _TIMEOUT_MS)
        try:
            committed = self._codec.read_committed(answer)
        except MQBrokerException:
            if rules.any_error_is_no_offset:
                return None
            raise
        if committed is None and not rules.understands_no_offset:
            raise MQBrokerException(ResponseCode.QUERY_NOT_FOUND, None)
        return committed

    def update(self, of: TopicQueue, offset: int, *, increase_only: bool = True) -> None:
        """Remember an offset until the next commit."""
        self._memory.offsets.update(of, offset, increase_only=increase_only)
        self._memory.note(OffsetEvent.UPDATE, of, offset)

    def freeze(self, of: TopicQueue, offset: int) -> None:
        self._memory.offsets.freeze(of, offset)
        self._memory.note(OffsetEvent.FREEZE, of, offset)

    def forget(self, of: TopicQueue) -> None:
        self._memory.offsets.forget(of)
        self._memory.note(OffsetEvent.FORGET, of)

    def commit_all(self) -> Body:
        """Commit the offset of every queue that the member works on, changed or not, and forget others; each failure is ignored."""
        return self.commit_these(self._memory.process)

    def commit_these(self, queues: Collection[TopicQueue]) -> Body:
        """Commit the offsets of these queues likewise (persistAll)."""
        offsets, wanted, unused = self._memory.offsets, set(queues), list[TopicQueue]()
        if not wanted:  # nothing is forgotten either
            return
        ahead = offsets.following(None)
        while ahead is not None:
            remembered, ahead = ahead, offsets.following(ahead)  # as Java's iterator, which is always one ahead
            if remembered.of in wanted:
                yield from self._commit(remembered.of, remembered.offset)
            else:
                unused.append(remembered.of)
        for each in unused:
            offsets.forget(each)

    def commit(self, of: TopicQueue) -> Body:
        """Commit one queue's offset, if there is one."""
        offset = self._memory.offsets.get(of)
        if offset is not None:
            yield from self._commit(of, offset)

    def _commit(self, of: TopicQueue, offset: int) -> Body:
        self._memory.note(OffsetEvent.COMMIT, of, offset)
        try:
            _, address = yield from self.member_of(of, MASTER_ID, asked_for_commit(self._memory.rules))
            update = self._codec.update_offset(of, offset)
            yield from self._remoting.invoke_one_way(self.port_of(address), _TIMEOUT_MS, update)
        except FAILURES:
            return

    def master_of(self, of: TopicQueue) -> str | None:
        return self._routes.known.master(of.queue.broker)

    def _ask(self, of: TopicQueue, asked: Asked, question: Any, timeout_ms: int) -> Running[Any]:
        _, address = yield from self.member_of(of, MASTER_ID, asked)
        return (yield from self._remoting.invoke(self.port_of(address), timeout_ms, question))

    def member_of(self, of: TopicQueue, broker_id: int, asked: Asked) -> Running[tuple[int, str]]:
        """
        Return id and address of the member of a queue's broker that is asked; the route is looked up once if there is none.

        Raises MQClientException if there is none then.
        """
        known, tries_next = self._routes.known, self._memory.rules.tries_next_slave
        for was_looked_up in (False, True):
            members, is_only = known.addresses.get(of.queue.broker, {}), asked.is_only(was_looked_up=was_looked_up)
            found = member_of(members, broker_id, is_only=is_only, tries_next_slave=tries_next)
            if found is not None:
                return found
            if not was_looked_up:
                yield from self._routes.refresh(of.topic)
        raise MQClientException(f"The broker[{of.queue.broker}] not exist")
