"""Reading of stored messages: every message of every queue of a topic."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.interface import Cluster, security_of
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import ClusterError
from rocketdiff.core.sends.message import ID_PROPERTY, body_digest, padded, properties_text
from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.messages import StoredMessage


@dataclass(frozen=True, slots=True)
class StoredRow:
    """
    One message as a consumer would get it.

    identity: our id in its property, or None. send: number of its send, None if the id is not of this topic. body_ok: the body
    equals the planned one byte by byte. Timestamps: wall clock, in milliseconds. properties: all of them as one text
    (``core.sends.message``). body_digest: of the body as the application gave it. times: reconsume times.
    """

    broker: str
    queue_id: int
    queue_offset: int
    identity: str | None
    send: int | None
    store_timestamp_ms: int
    born_timestamp_ms: int
    body_ok: bool
    flag: int
    sys_flag: int
    properties: str
    body_digest: str
    born_host: str = ""
    times: int = 0


BodyBytes = Mapping[int, int]
"""Planned body size by send."""


def read_stored(
    cluster: Cluster, topic: str, body_bytes: BodyBytes, *, sent_to: str | None = None
) -> Iterator[StoredRow]:
    """
    Yield every message of a topic, by broker, queue and offset; all brokers must run. sent_to: the topic of its ids, if another.

    Raises ClusterError if a broker does not return them.
    """
    addresses = {node.name: node.address for node in cluster.brokers}
    with channels_to(security_of(cluster)) as channels:
        try:
            queues = admin.topic_queues(channels, cluster.name_server_addresses[0], topic)
            for broker in sorted(queues):
                for queue_id in range(queues[broker]):
                    for message in admin.read_queue(channels, addresses[broker], topic, queue_id):
                        yield row_of(broker, sent_to or topic, message, body_bytes)
        except (*admin.ADMIN_ERRORS, RemotingCommandException) as error:
            raise ClusterError(f"every queue of {topic} to be read to its end", seen=str(error)) from error


def send_number(identity: str | None, topic: str) -> int | None:
    """Return the number of the send in an id ``RUN/TOPIC/SEND`` of this topic; None for any other text."""
    if identity is None:
        return None
    parts = identity.rsplit("/", 2)
    is_ours = len(parts) == 3 and parts[1] == topic and parts[2].isascii() and parts[2].isdigit()
    return int(parts[2]) if is_ours else None


def row_of(broker: str, topic: str, message: StoredMessage, body_bytes: BodyBytes) -> StoredRow:
    """Return the row of a message that was read from a queue."""
    identity = message.properties.get(ID_PROPERTY)
    send = send_number(identity, topic)
    is_planned = identity is not None and send in body_bytes
    return StoredRow(
        broker=broker,
        queue_id=message.queue_id,
        queue_offset=message.queue_offset,
        identity=identity,
        send=send,
        store_timestamp_ms=message.store_timestamp_ms,
        born_timestamp_ms=message.born_timestamp_ms,
        body_ok=is_planned and message.body == padded(identity or "", body_bytes[send or 0]),
        flag=message.flag,
        sys_flag=message.sys_flag,
        properties=properties_text(message.properties),
        body_digest=body_digest(message.body),
        born_host=message.born_host,
        times=message.reconsume_times,
    )
