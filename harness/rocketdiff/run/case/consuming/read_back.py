"""Reads what the brokers hold of a case about consumers: the fed topic, and each group's returned copies."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.scheduled import read_scheduled
from rocketdiff.cluster.operations.stored import BodyBytes, StoredRow, read_stored
from rocketdiff.core.consuming.watched import GroupTopics
from rocketdiff.core.sends.message import DELAY

RETRY, DEAD, WAITING = "retry", "dead", "waiting"
"""Places of returned copies: the retry topic, the dead letters, the brokers' own topic of delayed messages (for good)."""

_ORIGIN, _UNIQUE_KEY, _REAL_TOPIC = "ORIGIN_MESSAGE_ID", "UNIQ_KEY", "REAL_TOPIC"


@dataclass(frozen=True, slots=True)
class ReturnedRow:
    """One copy of a failed message; columns of ``returned``."""

    place: str
    broker: str
    queue_id: int
    queue_offset: int
    send: int | None
    times: int
    delay_level: int | None
    unique_key: str | None
    origin_id: str | None
    store_timestamp_ms: int
    born_timestamp_ms: int
    born_host: str
    body_ok: bool
    properties: str

    @classmethod
    def of(cls, place: str, row: StoredRow) -> "ReturnedRow":
        named: dict[str, str] = json.loads(row.properties)
        level = named.get(DELAY)
        return cls(
            place=place,
            broker=row.broker,
            queue_id=row.queue_id,
            queue_offset=row.queue_offset,
            send=row.send,
            times=row.times,
            delay_level=row.queue_id + 1 if place == WAITING else int(level) if level is not None else None,
            unique_key=named.get(_UNIQUE_KEY),
            origin_id=named.get(_ORIGIN),
            store_timestamp_ms=row.store_timestamp_ms,
            born_timestamp_ms=row.born_timestamp_ms,
            born_host=row.born_host,
            body_ok=row.body_ok,
            properties=row.properties,
        )


def returned_rows(cluster: Cluster, topics: GroupTopics, body_bytes: BodyBytes) -> Iterator[ReturnedRow]:
    """
    Yield the copies of a group's failed messages, wherever they are. Raises ClusterError.

    A cluster of others is not searched for those that still wait, among the delayed messages of all its users.
    """
    for place, topic in ((RETRY, topics.retry), (DEAD, topics.dead)):
        for row in read_stored(cluster, topic, body_bytes, sent_to=topics.fed):
            yield ReturnedRow.of(place, row)
    for row in () if cluster.is_shared else read_scheduled(cluster, topics.fed, body_bytes):
        if json.loads(row.properties).get(_REAL_TOPIC) in (topics.retry, topics.dead):
            yield ReturnedRow.of(WAITING, row)
