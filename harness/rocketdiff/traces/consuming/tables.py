"""Columns of the tables of a case about consumers, with units and order; ``README.md`` of ``traces`` explains each."""

from dataclasses import replace

import pyarrow as pa

from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.schema import GROUP, WORD, TableName, TableSpec, column

READ_BACK = "read-back"
"""Guard that holds if every queue was read to its end."""

_CASE, _ARM = GROUP[0], GROUP[1]

_QUEUE = pa.struct([column("broker", pa.string()), column("queue_id", pa.int32())])
_TOPIC_QUEUE = pa.struct([column("kind", pa.string()), *_QUEUE.fields])

_PAUSE = pa.struct(
    [
        column("from_ns", pa.int64()),
        column("proven_ns", pa.int64(), nullable=True),
        column("until_ns", pa.int64(), nullable=True),
    ]
)

_APPLIED = pa.struct(
    [
        column("what", pa.string()),
        *_QUEUE.fields,
        column("start_ns", pa.int64()),
        column("end_ns", pa.int64()),
        column("offset", pa.int64(), nullable=True),
        column("error", pa.string(), nullable=True),
    ]
)

_PLACE = [column("broker", WORD), column("queue_id", pa.int32())]

FED = pa.schema(
    [
        _CASE,
        column("thread", pa.int32()),
        column("send", pa.int64()),
        column("due_ns", pa.int64()),
        column("start_ns", pa.int64()),
        column("end_ns", pa.int64()),
        column("outcome", WORD),
        column("reason", WORD),
        column("error", WORD, nullable=True),
        column("code", pa.int32(), nullable=True),
        column("status", WORD, nullable=True),
        column("broker", WORD, nullable=True),
        column("queue_id", pa.int32(), nullable=True),
        column("queue_offset", pa.int64(), nullable=True),
        column("body_bytes", pa.int32()),
        column("properties", WORD, nullable=True),
    ]
)

HELD = pa.schema(
    [
        _CASE,
        *_PLACE,
        column("queue_offset", pa.int64()),
        column("send", pa.int64(), nullable=True),
        column("store_timestamp_ms", pa.int64()),
        column("born_timestamp_ms", pa.int64()),
        column("born_host", WORD),
        column("body_ok", pa.bool_()),
        column("flag", pa.int32(), nullable=True),
        column("sys_flag", pa.int32(), nullable=True),
        column("properties", pa.string(), nullable=True),
        column("body_digest", pa.string(), nullable=True),
    ]
)

MEMBERS = pa.schema(
    [
        _CASE,
        _ARM,
        column("member", pa.int32()),
        column("incarnation", pa.int32()),
        column("subject", WORD),
        column("client_id", WORD, nullable=True),
        column("join_planned_ns", pa.int64(), nullable=True),
        column("join_start_ns", pa.int64(), nullable=True),
        column("join_end_ns", pa.int64(), nullable=True),
        column("leave_start_ns", pa.int64(), nullable=True),
        column("leave_end_ns", pa.int64(), nullable=True),
        column("ended", WORD),
        column("error", WORD, nullable=True),
        column("killed_ns", pa.int64(), nullable=True),
        column("pauses", pa.list_(_PAUSE), nullable=True),
        column("leave_error", WORD, nullable=True),
        column("applied", pa.list_(_APPLIED), nullable=True),
    ]
)

CALLS = pa.schema(
    [
        _CASE,
        _ARM,
        column("member", pa.int32()),
        column("call", pa.int64()),
        column("incarnation", pa.int32()),
        column("thread", pa.int32()),
        column("kind", WORD),
        *_PLACE,
        column("start_ns", pa.int64()),
        column("end_ns", pa.int64(), nullable=True),
        column("result", WORD, nullable=True),
        column("delay_level", pa.int64(), nullable=True),
        column("suspend_ms", pa.int64(), nullable=True),
        column("ack_index", pa.int64(), nullable=True),
        column("messages", pa.int32()),
    ]
)

DELIVERIES = pa.schema(
    [
        _CASE,
        _ARM,
        column("member", pa.int32()),
        column("call", pa.int64()),
        column("place", pa.int32()),
        column("send", pa.int64(), nullable=True),
        column("queue_offset", pa.int64()),
        column("times", pa.int32()),
        column("shown_topic", WORD),
        column("unique_key", pa.string(), nullable=True),
        column("origin_id", pa.string(), nullable=True),
        column("store_timestamp_ms", pa.int64()),
        column("body_ok", pa.bool_()),
        column("properties", pa.string(), nullable=True),
    ]
)

ALLOCATIONS = pa.schema(
    [
        _CASE,
        _ARM,
        column("member", pa.int32()),
        column("number", pa.int32()),
        column("incarnation", pa.int32()),
        column("at_ns", pa.int64()),
        column("kind", WORD),
        column("strategy", WORD),
        column("ids", pa.list_(pa.string())),
        column("queues", pa.list_(_QUEUE)),
        column("result", pa.list_(_QUEUE)),
        column("error", WORD, nullable=True),
    ]
)

OWNED = pa.schema(
    [
        _CASE,
        _ARM,
        column("member", pa.int32()),
        column("number", pa.int32()),
        column("incarnation", pa.int32()),
        column("at_ns", pa.int64()),
        column("queues", pa.list_(_TOPIC_QUEUE)),
    ]
)

OFFSETS = pa.schema(
    [
        _CASE,
        _ARM,
        column("member", pa.int32()),
        column("number", pa.int32()),
        column("incarnation", pa.int32()),
        column("at_ns", pa.int64()),
        column("what", WORD),
        column("kind", WORD),
        *_PLACE,
        column("value", pa.int64(), nullable=True),
    ]
)

COMMITTED = pa.schema(
    [
        _CASE,
        _ARM,
        column("poll", pa.int32()),
        column("asked_ns", pa.int64()),
        column("answered_ns", pa.int64(), nullable=True),
        column("kind", WORD),
        *_PLACE,
        column("value", pa.int64(), nullable=True),
        column("end", pa.int64(), nullable=True),
    ]
)

LISTED = pa.schema(
    [
        _CASE,
        _ARM,
        column("poll", pa.int32()),
        column("broker", WORD),
        column("asked_ns", pa.int64()),
        column("answered_ns", pa.int64(), nullable=True),
        column("code", pa.int32(), nullable=True),
        column("ids", pa.list_(pa.string())),
    ]
)

RETURNED = pa.schema(
    [
        _CASE,
        _ARM,
        column("place", WORD),
        *_PLACE,
        column("queue_offset", pa.int64()),
        column("send", pa.int64(), nullable=True),
        column("times", pa.int32()),
        column("delay_level", pa.int32(), nullable=True),
        column("unique_key", pa.string(), nullable=True),
        column("origin_id", pa.string(), nullable=True),
        column("store_timestamp_ms", pa.int64()),
        column("born_timestamp_ms", pa.int64()),
        column("born_host", WORD),
        column("body_ok", pa.bool_()),
        column("properties", pa.string(), nullable=True),
    ]
)

WIRE = pa.schema(
    [
        _CASE,
        _ARM,
        column("member", pa.int32()),
        column("number", pa.int64()),
        column("connection", pa.int32()),
        column("node", WORD),
        column("what", WORD),
        column("in_ns", pa.int64()),
        column("out_ns", pa.int64(), nullable=True),
        column("answered_ns", pa.int64(), nullable=True),
        column("code", pa.int32(), nullable=True),
        column("kind", WORD, nullable=True),
        column("broker", WORD, nullable=True),
        column("queue_id", pa.int32(), nullable=True),
        column("offset", pa.int64(), nullable=True),
        column("commit_offset", pa.int64(), nullable=True),
        column("next_offset", pa.int64(), nullable=True),
        column("first_offset", pa.int64(), nullable=True),
        column("last_offset", pa.int64(), nullable=True),
        column("count", pa.int32(), nullable=True),
        column("suggested", pa.int32(), nullable=True),
        column("ids", pa.list_(pa.string()), nullable=True),
    ]
)


def _of_members(name: TableName, schema: pa.Schema, *keys: str) -> TableSpec:
    return TableSpec(name, schema, ("member", *keys), ClientRole.CONSUMER, group="member")


CONSUMING_TABLES = (
    TableSpec(TableName.FED, FED, ("thread", "send"), ClientRole.CONSUMER, is_per_arm=False),
    TableSpec(
        TableName.HELD,
        HELD,
        ("broker", "queue_id", "queue_offset"),
        ClientRole.CONSUMER,
        is_per_arm=False,
        guard=READ_BACK,
    ),
    _of_members(TableName.MEMBERS, MEMBERS, "incarnation"),
    _of_members(TableName.CALLS, CALLS, "call"),
    _of_members(TableName.DELIVERIES, DELIVERIES, "call", "place"),
    _of_members(TableName.ALLOCATIONS, ALLOCATIONS, "number"),
    _of_members(TableName.OWNED, OWNED, "number"),
    _of_members(TableName.OFFSETS, OFFSETS, "number"),
    TableSpec(TableName.COMMITTED, COMMITTED, ("poll", "kind", "broker", "queue_id"), ClientRole.CONSUMER),
    TableSpec(TableName.LISTED, LISTED, ("poll", "broker"), ClientRole.CONSUMER),
    TableSpec(
        TableName.RETURNED,
        RETURNED,
        ("place", "broker", "queue_id", "queue_offset"),
        ClientRole.CONSUMER,
        guard=READ_BACK,
    ),
    replace(_of_members(TableName.WIRE, WIRE, "number"), is_optional=True),
)
"""A round of questions that brought nothing new has no rows in ``committed`` and ``listed``; a case without relays has no ``wire``."""
