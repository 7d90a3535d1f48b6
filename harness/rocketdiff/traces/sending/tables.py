"""
Columns of the tables of a case about producers, with units and order; ``README.md`` of ``traces`` explains each.
"""

import pyarrow as pa

from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.schema import GROUP, WORD, TableName, TableSpec, column

READ_BACK = "read-back"
"""Guard that holds if every queue was read to its end."""

_ENDING = [
    column("outcome", WORD),
    column("reason", WORD),
    column("error", WORD, nullable=True),
    column("cause", WORD, nullable=True),
    column("code", pa.int32(), nullable=True),
    column("status", WORD, nullable=True),
]

SENDS = pa.schema(
    [
        *GROUP,
        column("send", pa.int64()),
        column("due_ns", pa.int64()),
        column("start_ns", pa.int64()),
        column("end_ns", pa.int64()),
        *_ENDING,
        column("broker", WORD, nullable=True),
        column("queue_id", pa.int32(), nullable=True),
        column("queue_offset", pa.int64(), nullable=True),
        column("route", pa.int32()),
        column("route_after", pa.int32()),
        column("kind", WORD),
        column("argument", pa.int64()),
        column("body_bytes", pa.int32()),
        column("mode", WORD, nullable=True),
        column("returned_ns", pa.int64(), nullable=True),
        column("callbacks", pa.int32(), nullable=True),
        column("delay_level", pa.int32(), nullable=True),
        column("properties", WORD, nullable=True),
        column("message", WORD, nullable=True),
    ]
)

ATTEMPTS = pa.schema(
    [
        *GROUP,
        column("send", pa.int64()),
        column("attempt", pa.int32()),
        column("broker", WORD),
        column("queue_id", pa.int32()),
        column("start_ns", pa.int64()),
        column("end_ns", pa.int64()),
        *(field for field in _ENDING if field.name != "cause"),
        column("chooser", pa.int32(), nullable=True),
    ]
)

ROUTES = pa.schema(
    [
        *GROUP[:2],
        column("route", pa.int32()),
        column("at_ns", pa.int64()),
        column("queues", pa.list_(pa.struct([column("broker", pa.string()), column("queue_id", pa.int32())]))),
    ]
)

STORED = pa.schema(
    [
        *GROUP[:2],
        column("broker", WORD),
        column("queue_id", pa.int32()),
        column("queue_offset", pa.int64()),
        column("send", pa.int64(), nullable=True),
        column("store_timestamp_ms", pa.int64()),
        column("born_timestamp_ms", pa.int64()),
        column("body_ok", pa.bool_()),
        column("flag", pa.int32(), nullable=True),
        column("sys_flag", pa.int32(), nullable=True),
        column("properties", pa.string(), nullable=True),
        column("body_digest", pa.string(), nullable=True),
    ]
)

_STORED_KEYS = ("broker", "queue_id", "queue_offset")

SENDING_TABLES = (
    TableSpec(TableName.SENDS, SENDS, ("thread", "send"), ClientRole.PRODUCER),
    TableSpec(TableName.ATTEMPTS, ATTEMPTS, ("thread", "send", "attempt"), ClientRole.PRODUCER),
    TableSpec(TableName.ROUTES, ROUTES, ("route",), ClientRole.PRODUCER),
    TableSpec(TableName.STORED, STORED, _STORED_KEYS, ClientRole.PRODUCER, guard=READ_BACK),
    TableSpec(TableName.SCHEDULED, STORED, _STORED_KEYS, ClientRole.PRODUCER, is_optional=True),
)
"""``scheduled`` exists only with delayed messages."""
