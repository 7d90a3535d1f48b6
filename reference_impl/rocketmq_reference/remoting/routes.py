"""Topic routes and cluster information in the answers of name servers (TopicRouteData, ClusterInfo)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.json_text import read_json

MASTER_ID = 0
PERM_WRITE = 0b010
PERM_READ = 0b100


@dataclass(frozen=True, slots=True)
class QueueData:
    """A broker's queues of a topic; ``perm`` has PERM_READ and PERM_WRITE (QueueData)."""

    broker: str
    read_queues: int
    write_queues: int
    perm: int
    topic_sys_flag: int = 0


@dataclass(frozen=True, slots=True)
class BrokerData:
    """A broker's name and the addresses of its members by id; MASTER_ID is the master's (BrokerData)."""

    broker: str
    cluster: str
    addresses: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class TopicRouteData:
    """
    Answer to a route request, in the name server's order (TopicRouteData).

    order_topic_conf: ``broker:queues;broker:queues`` for ordered topics, else None.
    """

    queues: tuple[QueueData, ...]
    brokers: tuple[BrokerData, ...]
    order_topic_conf: str | None = None

    def master_addresses(self) -> dict[str, str]:
        """Return the master's address of every broker that has one, by broker name."""
        return {broker.broker: broker.addresses[MASTER_ID] for broker in self.brokers if MASTER_ID in broker.addresses}


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """All brokers of a name server by name, and the broker names of each cluster (ClusterInfo)."""

    brokers: Mapping[str, BrokerData]
    clusters: Mapping[str, frozenset[str]]


def decode_route(body: bytes) -> TopicRouteData:
    """
    Read the body of a route answer: strict JSON, or fastjson's with bare number keys.

    Raises RemotingCommandException for anything else.
    """
    data = read_json(body)
    try:
        return TopicRouteData(
            queues=tuple(map(_queue_data, data.get("queueDatas") or ())),
            brokers=tuple(map(_broker_data, data.get("brokerDatas") or ())),
            order_topic_conf=data.get("orderTopicConf") or None,
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RemotingCommandException(f"expected a topic route, saw {body[:200]!r}: {error!r}") from error


def decode_cluster(body: bytes) -> ClusterInfo:
    """
    Read the body of a cluster info answer.

    Raises RemotingCommandException for anything else.
    """
    data = read_json(body)
    try:
        table = data.get("brokerAddrTable") or {}
        clusters = data.get("clusterAddrTable") or {}
        return ClusterInfo(
            brokers={name: _broker_data(entry) for name, entry in table.items()},
            clusters={name: frozenset(brokers) for name, brokers in clusters.items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RemotingCommandException(f"expected cluster info, saw {body[:200]!r}: {error!r}") from error


def _queue_data(entry: Mapping[str, Any]) -> QueueData:
    return QueueData(
        broker=entry["brokerName"],
        read_queues=int(entry["readQueueNums"]),
        write_queues=int(entry["writeQueueNums"]),
        perm=int(entry["perm"]),
        topic_sys_flag=int(entry.get("topicSysFlag") or entry.get("topicSynFlag") or 0),
    )


def _broker_data(entry: Mapping[str, Any]) -> BrokerData:
    addresses = entry.get("brokerAddrs") or {}
    return BrokerData(
        broker=entry["brokerName"],
        cluster=entry.get("cluster") or "",
        addresses={int(number): address for number, address in addresses.items()},
    )
