"""Requests of every client as frames, and its answers from frames."""

from collections.abc import Sequence

from rocketmq_reference.host.channels import Question, question_of
from rocketmq_reference.remoting import requests
from rocketmq_reference.remoting.answers import parse_route
from rocketmq_reference.remoting.consuming import ConsumerGroup, unregister_consumer
from rocketmq_reference.remoting.frames import Command, Serialization
from rocketmq_reference.remoting.signing import Credentials
from rocketmq_reference.remoting.versions import mq_version
from rocketmq_reference.rules.client.route import BrokerQueues, TopicRoute
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.java import string_hash

_VIP_PORT_OFFSET = 2


def vip_address(address: str) -> str:
    """Return the address with the port two below."""
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) - _VIP_PORT_OFFSET}"


class FrameCodec:
    """ClientCodec of one client, in the wire form of its dialect; with credentials every request is signed."""

    def __init__(
        self, dialect: Dialect, serialization: Serialization, client_id: str, credentials: Credentials | None = None
    ) -> None:
        self._serialization = serialization
        self._client_id = client_id
        self._credentials = credentials
        self._version = mq_version(dialect.releases.first)

    def route(self, topic: str) -> Question:
        return self._asked(requests.get_route(topic, serialization=self._serialization))

    def read_route(self, _topic: str, answer: Command) -> TopicRoute:
        """Return the route in an answer; raises MQClientException with the server's code if it has none (17: no such topic)."""
        route = parse_route(answer)
        return TopicRoute(
            queues=tuple(
                BrokerQueues(data.broker, data.read_queues, data.write_queues, data.perm) for data in route.queues
            ),
            brokers={data.broker: dict(data.addresses) for data in route.brokers},
            order_conf=route.order_topic_conf,
        )

    def heartbeat(self, producer_groups: Sequence[str], consumers: Sequence[ConsumerGroup]) -> Question:
        serialization, version = self._serialization, self._version
        groups = [group.as_json(string_hash) for group in consumers]
        return self._asked(
            requests.heartbeat(self._client_id, producer_groups, groups, serialization=serialization, version=version)
        )

    def unregister(self, producer_group: str) -> Question:
        return self._asked(requests.unregister(self._client_id, producer_group, serialization=self._serialization))

    def unregister_consumer(self, group: str) -> Question:
        return self._asked(unregister_consumer(self._client_id, group, serialization=self._serialization))

    def _asked(self, command: Command) -> Question:
        return question_of(command, self._credentials)
