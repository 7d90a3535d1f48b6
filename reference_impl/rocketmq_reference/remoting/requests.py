"""
Requests to name servers and brokers as commands; sends are in sending.py.

Builders of a client's requests take ``serialization`` for the header's encoding. Read in the header classes of 5.3.3 under
org.apache.rocketmq.remoting.protocol.header; older servers ignore fields that they do not know.
"""

import time
from collections.abc import Iterable, Mapping, Sequence

from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.frames import Command, Serialization
from rocketmq_reference.remoting.json_text import write_json

DEFAULT_TOPIC = "TBW102"
"""Topic whose route and configuration are used for a topic that does not exist yet (AUTO_CREATE_TOPIC_KEY_TOPIC)."""

TOOLS_GROUP = "TOOLS_CONSUMER"
"""Consumer group that every broker has by default (MixAll.TOOLS_CONSUMER_GROUP)."""

_PERM_READ_WRITE = 0b110
_PULL_WITH_SUBSCRIPTION = 0b100  # FLAG_SUBSCRIPTION of PullSysFlag: the request names its own filter


def get_route(topic: str, *, serialization: Serialization = Serialization.JSON) -> Command:
    """Ask a name server for a topic's route; answer: parse_route."""
    return _command(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}, serialization)


def get_cluster() -> Command:
    """Ask a name server for all brokers registered with it; answer: parse_cluster."""
    return Command(RequestCode.GET_BROKER_CLUSTER_INFO, {})


def create_topic(topic: str, queues: int, *, order: bool = False) -> Command:
    """
    Create or change a topic on one broker, with equally many read and write queues; answer: expect_success.

    The broker registers the topic with its name servers before it answers.
    """
    fields = {
        "topic": topic,
        "defaultTopic": DEFAULT_TOPIC,
        "readQueueNums": str(queues),
        "writeQueueNums": str(queues),
        "perm": str(_PERM_READ_WRITE),
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": _boolean(order),
    }
    return Command(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)


def delete_topic(topic: str) -> Command:
    """Delete a topic on one broker; answer: expect_success."""
    return Command(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": topic})


def get_max_offset(topic: str, queue_id: int, *, serialization: Serialization = Serialization.JSON) -> Command:
    """Ask a broker for one past the last offset of a queue; answer: parse_offset."""
    return _command(RequestCode.GET_MAX_OFFSET, _queue(topic, queue_id), serialization)


def get_min_offset(topic: str, queue_id: int, *, serialization: Serialization = Serialization.JSON) -> Command:
    """Ask a broker for the first offset of a queue; answer: parse_offset."""
    return _command(RequestCode.GET_MIN_OFFSET, _queue(topic, queue_id), serialization)


def pull(topic: str, queue_id: int, offset: int, *, max_messages: int = 32, now_ms: int | None = None) -> Command:
    """
    Pull up to ``max_messages`` messages of a queue from an offset, without waiting for new ones; answer: parse_pull.

    The request carries its own subscription to everything, so it needs no earlier heartbeat. now_ms: version of that
    subscription, the current time by default. A broker's own limits may return fewer messages.
    """
    fields = {
        **_queue(topic, queue_id),
        "consumerGroup": TOOLS_GROUP,
        "queueOffset": str(offset),
        "maxMsgNums": str(max_messages),
        "sysFlag": str(_PULL_WITH_SUBSCRIPTION),
        "commitOffset": "0",
        "suspendTimeoutMillis": "0",
        "subscription": "*",
        "subVersion": str(time.time_ns() // 1_000_000 if now_ms is None else now_ms),
        "expressionType": "TAG",
    }
    return Command(RequestCode.PULL_MESSAGE, fields)


def heartbeat(
    client_id: str,
    producer_groups: Iterable[str],
    consumers: Sequence[Mapping[str, object]] = (),
    *,
    serialization: Serialization = Serialization.JSON,
    version: int = 0,
) -> Command:
    """Send a heartbeat of a client's groups (MQClientAPIImpl.sendHeartbeat, HeartbeatData); answer: expect_success."""
    body = write_json(
        {
            "clientID": client_id,
            "consumerDataSet": list(consumers),
            "producerDataSet": [{"groupName": group} for group in sorted(producer_groups)],
        }
    )
    return Command(RequestCode.HEART_BEAT, body=body, serialization=serialization, language="PYTHON", version=version)


def unregister(client_id: str, producer_group: str, *, serialization: Serialization = Serialization.JSON) -> Command:
    """Unregister a client's producer from a broker (MQClientAPIImpl.unregisterClient); answer: expect_success."""
    fields = {"clientID": client_id, "producerGroup": producer_group}
    return _command(RequestCode.UNREGISTER_CLIENT, fields, serialization)


def get_runtime_info() -> Command:
    """Ask a broker for its runtime figures, such as bootTimestamp and brokerVersionDesc; answer: parse_table."""
    return Command(RequestCode.GET_BROKER_RUNTIME_INFO, {})


def _queue(topic: str, queue_id: int) -> dict[str, str]:
    return {"topic": topic, "queueId": str(queue_id)}


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _command(code: RequestCode, fields: dict[str, str], serialization: Serialization) -> Command:
    return Command(code, fields, serialization=serialization)
