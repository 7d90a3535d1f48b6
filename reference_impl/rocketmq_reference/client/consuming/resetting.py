"""A broker's request to go on at other offsets (MQClientInstance.resetOffset)."""

from collections.abc import Mapping

from rocketmq_reference.client.consuming.committing import Committing
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.consuming.orderly import Orderly
from rocketmq_reference.client.consuming.rebalancing import Rebalancing
from rocketmq_reference.client.effects import Body, Host, Lock, Wait
from rocketmq_reference.client.memory import ClientMemory
from rocketmq_reference.rules.consumer.offsets import PROCESS_BUCKETS, RESET_WAIT_MS, TopicQueue, in_hash_order


class Resetting:
    """
    Resets offsets of queues that the member works on, in the thread that serves the request.

    The member is suspended meanwhile: it pulls nothing, also of other queues, and makes no round until the last queue is given up. Messages of
    the queues that wait for their call are forgotten, and results of calls under way are thrown away. A queue that the member begins to work on
    after that is given up too, but the work on it goes on, beside that which the next round begins. in_order: if the member consumes in
    order. turn: the client's monitor, for which its shutdown waits too.
    """

    def __init__(
        self,
        memory: ConsumerMemory,
        client: ClientMemory,
        host: Host,
        committing: Committing,
        rebalancing: Rebalancing,
        in_order: Orderly | None,
        turn: Lock,
    ) -> None:
        self._memory = memory
        self._client = client
        self._host = host
        self._committing = committing
        self._rebalancing = rebalancing
        self._in_order = in_order
        self._turn = turn

    def reset(self, group: str, offsets: Mapping[TopicQueue, int]) -> Body:
        """Go on at these offsets; without effect for another group, or once the member has been unregistered."""
        in_turn = self._memory.rules.resets_in_turn
        if in_turn:
            yield from self._turn.acquire(None)
        if group == self._memory.group and self._memory in self._client.consumers:
            yield from self._reset(offsets)
        if in_turn:
            self._turn.release()

    def _reset(self, offsets: Mapping[TopicQueue, int]) -> Body:
        memory = self._memory
        memory.is_suspended = True
        for of, queue in memory.process.items():
            if of in offsets:
                memory.stop_working_on(queue)
                queue.clear()
        in_order = self._in_order if memory.rules.resets_after_call else None
        if in_order is None:
            yield Wait(until_ms=self._host.now_ms + RESET_WAIT_MS)
        for of in in_hash_order(memory.process, buckets=PROCESS_BUCKETS):
            held = memory.process.get(of)
            if held is None or of not in offsets:
                continue
            if in_order is not None:
                yield from in_order.await_call(held)
            self._committing.update(of, offsets[of], increase_only=False)
            yield from self._rebalancing.end_work_on(of, held)
            memory.lose(of)
        memory.is_suspended = False
        yield from self._rebalancing.round()
