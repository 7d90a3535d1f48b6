"""Delayed messages in the brokers' own topic, and waiting until those due soon have been delivered."""

import time
from collections.abc import Iterator, Sequence

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.interface import Cluster, Node, security_of
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.operations.stored import BodyBytes, StoredRow, read_stored, row_of, send_number
from rocketdiff.core.errors import ClusterError
from rocketdiff.core.sends.message import AWAITED_S, DELAY_S, ID_PROPERTY, is_awaited
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.errors import MQBrokerException, RemotingCommandException

SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
"""Queue n keeps the messages of delay level n + 1 permanently; due messages are copied to their topic."""

_MARGIN_S = 20.0
"""Brokers check each level ten times per second; one that is busy with late writes may be seconds behind."""

_POLL_S = 0.2

_NO_MESSAGES = frozenset({17, 24})
"""Response codes of a broker without delayed messages so far: no such topic, no such queue."""


def read_scheduled(cluster: Cluster, topic: str, body_bytes: BodyBytes) -> Iterator[StoredRow]:
    """
    Yield every delayed message of a topic, by broker, level and offset, delivered or not; all brokers must run.

    Raises ClusterError if a broker does not return them.
    """
    with channels_to(security_of(cluster)) as channels:
        try:
            for node in sorted(cluster.brokers, key=lambda broker: broker.name):
                for queue_id in range(len(DELAY_S)):
                    yield from _queue(channels, node, topic, queue_id, body_bytes)
        except (*admin.ADMIN_ERRORS, RemotingCommandException) as error:
            raise ClusterError(f"the delayed messages of {topic} to be read", seen=str(error)) from error


def await_delivered(cluster: Cluster, topics: Sequence[str], body_bytes: BodyBytes) -> dict[str, tuple[StoredRow, ...]]:
    """
    Return the delayed messages of each topic after those due within AWAITED_S are delivered, or at the deadline.

    A message not delivered by then is no error here: it is missing from the stored messages, and judged.
    """
    kept = {topic: tuple(read_scheduled(cluster, topic, body_bytes)) for topic in topics}
    deadline = time.monotonic() + AWAITED_S + _MARGIN_S
    for topic, rows in kept.items():
        due = {row.send for row in rows if row.send is not None and is_awaited(row.queue_id + 1)}
        while due - {row.send for row in read_stored(cluster, topic, body_bytes)} and time.monotonic() < deadline:
            time.sleep(_POLL_S)
    return kept


def _queue(channels: Channels, node: Node, topic: str, queue_id: int, body_bytes: BodyBytes) -> Iterator[StoredRow]:
    try:
        for message in admin.read_queue(channels, node.address, SCHEDULE_TOPIC, queue_id):
            if send_number(message.properties.get(ID_PROPERTY), topic) is not None:
                yield row_of(node.name, topic, message, body_bytes)
    except MQBrokerException as error:
        if error.code not in _NO_MESSAGES:
            raise
