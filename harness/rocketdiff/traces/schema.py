"""
Columns of the tables of a run, with units and order; ``README.md`` beside this file explains each.

Columns named ``…_ns`` are int64 nanoseconds, not timestamps, because Spark refuses nanosecond timestamps. Words are
dictionary-coded. A minor version only adds nullable columns at the end of a table, and tables that a case may lack. A major
version changes meanings.
"""

from enum import StrEnum

import pyarrow as pa

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError

SCHEMA_VERSION = "1.7"

DIGESTS_SINCE = 3
"""Minor version from which ``run.json`` has a digest of itself and of every sealed table."""

BODIES_COMPARED_SINCE = 7
"""Minor version from which ``body_ok`` is certainly compared byte by byte, so body digests are not needed."""

ARM_CODES = {Arm.BASELINE: 0, Arm.CANDIDATE: 1}


class TableName(StrEnum):
    """The tables of a run, each a folder of its directory."""

    SENDS = "sends"
    ATTEMPTS = "attempts"
    ROUTES = "routes"
    FAULTS = "faults"
    STORED = "stored"
    SCHEDULED = "scheduled"


OPTIONAL_TABLES = frozenset({TableName.SCHEDULED})
"""Tables that a complete case may lack: ``scheduled`` exists only with delayed messages."""


WORD = pa.dictionary(pa.int32(), pa.string())


def _field(name: str, kind: pa.DataType, *, nullable: bool = False) -> "pa.Field[pa.DataType]":
    return pa.field(name, kind, nullable=nullable)


_GROUP = [_field("case", pa.int32()), _field("arm", pa.int8()), _field("thread", pa.int32())]

_ENDING = [
    _field("outcome", WORD),
    _field("reason", WORD),
    _field("error", WORD, nullable=True),
    _field("cause", WORD, nullable=True),
    _field("code", pa.int32(), nullable=True),
    _field("status", WORD, nullable=True),
]

SENDS = pa.schema(
    [
        *_GROUP,
        _field("send", pa.int64()),
        _field("due_ns", pa.int64()),
        _field("start_ns", pa.int64()),
        _field("end_ns", pa.int64()),
        *_ENDING,
        _field("broker", WORD, nullable=True),
        _field("queue_id", pa.int32(), nullable=True),
        _field("queue_offset", pa.int64(), nullable=True),
        _field("route", pa.int32()),
        _field("route_after", pa.int32()),
        _field("kind", WORD),
        _field("argument", pa.int64()),
        _field("body_bytes", pa.int32()),
        _field("mode", WORD, nullable=True),
        _field("returned_ns", pa.int64(), nullable=True),
        _field("callbacks", pa.int32(), nullable=True),
        _field("delay_level", pa.int32(), nullable=True),
        _field("properties", WORD, nullable=True),
    ]
)

ATTEMPTS = pa.schema(
    [
        *_GROUP,
        _field("send", pa.int64()),
        _field("attempt", pa.int32()),
        _field("broker", WORD),
        _field("queue_id", pa.int32()),
        _field("start_ns", pa.int64()),
        _field("end_ns", pa.int64()),
        *(field for field in _ENDING if field.name != "cause"),
        _field("chooser", pa.int32(), nullable=True),
    ]
)

ROUTES = pa.schema(
    [
        *_GROUP[:2],
        _field("route", pa.int32()),
        _field("at_ns", pa.int64()),
        _field("queues", pa.list_(pa.struct([_field("broker", pa.string()), _field("queue_id", pa.int32())]))),
    ]
)

FAULTS = pa.schema(
    [
        _GROUP[0],
        _field("episode", pa.int32()),
        _field("kind", WORD),
        _field("node", WORD),
        _field("inject_ns", pa.int64()),
        _field("injected_ns", pa.int64()),
        _field("proven_ns", pa.int64(), nullable=True),
        _field("heal_ns", pa.int64(), nullable=True),
        _field("healed_ns", pa.int64(), nullable=True),
        _field("heal_proven_ns", pa.int64(), nullable=True),
    ]
)

STORED = pa.schema(
    [
        *_GROUP[:2],
        _field("broker", WORD),
        _field("queue_id", pa.int32()),
        _field("queue_offset", pa.int64()),
        _field("send", pa.int64(), nullable=True),
        _field("store_timestamp_ms", pa.int64()),
        _field("born_timestamp_ms", pa.int64()),
        _field("body_ok", pa.bool_()),
        _field("flag", pa.int32(), nullable=True),
        _field("sys_flag", pa.int32(), nullable=True),
        _field("properties", pa.string(), nullable=True),
        _field("body_digest", pa.string(), nullable=True),
    ]
)

SCHEMAS = {
    TableName.SENDS: SENDS,
    TableName.ATTEMPTS: ATTEMPTS,
    TableName.ROUTES: ROUTES,
    TableName.FAULTS: FAULTS,
    TableName.STORED: STORED,
    TableName.SCHEDULED: STORED,
}

SORT_KEYS = {
    TableName.SENDS: ("thread", "send"),
    TableName.ATTEMPTS: ("thread", "send", "attempt"),
    TableName.ROUTES: ("route",),
    TableName.FAULTS: ("episode", "node"),
    TableName.STORED: ("broker", "queue_id", "queue_offset"),
    TableName.SCHEDULED: ("broker", "queue_id", "queue_offset"),
}
"""Columns by which each table's rows rise strictly within a file, so no row can occur twice."""


def completed(table: pa.Table, name: TableName) -> pa.Table:
    """Return a table of any minor version with the columns of this version: missing ones are null, unknown ones are dropped."""
    columns = [
        table.column(field.name)
        if field.name in table.column_names or not field.nullable
        else pa.nulls(table.num_rows, field.type)
        for field in SCHEMAS[name]
    ]
    return pa.table(columns, schema=SCHEMAS[name]) if table.column_names != SCHEMAS[name].names else table


def minor_of(version: str) -> int:
    """Return the minor number of a version whose major number is known."""
    digits = version.partition(".")[2].partition(".")[0]
    return int(digits) if digits.isdecimal() and len(digits) < 4 else 0


def require_known_version(version: object, *, where: str) -> None:
    """Raise TraceError unless ``version`` has the major number that this program writes."""
    known, _, _ = SCHEMA_VERSION.partition(".")
    if not isinstance(version, str) or version.partition(".")[0] != known:
        raise TraceError(
            f"traces of schema version {known}.x",
            seen=f"version {version!r} in {where}",
            hint="read the run with the rocketdiff that recorded it, or a newer one",
        )
