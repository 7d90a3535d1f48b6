"""Transport of the depth "remoting": requests on connections."""

from collections.abc import Generator

from rocketdiff.simulation.virtual.client import Thread
from rocketdiff.simulation.virtual.kernel import Body, Wait
from rocketdiff.simulation.virtual.network import NAME_SERVER, vip_address
from rocketdiff.simulation.virtual.remoting import Remoting
from rocketdiff.simulation.virtual.thrown import Thrown
from rocketdiff.simulation.virtual.transport import Answered, AsyncEnd, OnEnd, Target, route_answered
from rocketmq_reference.rules.client.connection_steps import Ended
from rocketmq_reference.rules.client.route import TopicRoute


class RemotingTransport:
    """The remoting client, with connections, threads and pending requests."""

    __slots__ = ("_remoting",)

    def __init__(self, remoting: Remoting) -> None:
        self._remoting = remoting

    def send(self, target: Target, timeout_ms: int) -> Generator[Wait, bool, Answered]:
        """One request on the broker's connection."""
        return self._remoting.invoke(_address(target), timeout_ms, queue_id=target.queue_id)

    def send_one_way(self, target: Target, timeout_ms: int) -> Body:
        """Written, or (from 5.3.0) left to the network thread to write."""
        return self._remoting.invoke_one_way(_address(target), timeout_ms, target.queue_id)

    def send_async(self, target: Target, timeout_ms: int, on_end: OnEnd, thread: Thread, *, is_retry: bool) -> Body:
        """One request whose end is told in ``callbacks``, or where else the connection rules say."""

        def told(ended: Ended, answer: Answered | None, where: Thread) -> Body:
            return on_end(AsyncEnd(answer, ended.error, ended.request.written_ms, ended.direct), where)

        return self._remoting.invoke_async(
            _address(target), timeout_ms, told, thread, queue_id=target.queue_id, is_retry=is_retry
        )

    def route(self, timeout_ms: int, *, default_topic: bool) -> Generator[Wait, bool, TopicRoute]:
        """Asked on the name server's connection."""
        answer = yield from self._remoting.invoke(NAME_SERVER, timeout_ms)
        if answer.queue_id is not None:
            raise Thrown("MQClientException", answer.code)
        return route_answered(answer.route, answer.code, default_topic=default_topic)


def _address(target: Target) -> str:
    if target.broker is None:
        return NAME_SERVER
    return vip_address(target.broker) if target.vip else target.broker
