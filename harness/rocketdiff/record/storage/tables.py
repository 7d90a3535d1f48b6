"""
The tables of a record and their columns: bronze (raw rows), silver (judged facts) and answers.

Tables are partitioned by ``month`` (of the run) and ``batch`` (of the command); both are in a file's path and not in its
columns. A batch becomes visible in all tables at once, with its row in ``batches`` (``store.py``).
"""

from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from rocketdiff.analysis.facts import ARROW_SCHEMA
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.tables import TABLES

RECORD_VERSION = "1"
"""Version of tables and columns; a record of another version is refused."""


class Kept(StrEnum):
    """The tables; each is a folder of the record."""

    BATCHES = "batches"
    RUNS = "runs"
    CASES = "cases"
    SENDS = "sends"
    ATTEMPTS = "attempts"
    ROUTES = "routes"
    FAULTS = "faults"
    STORED = "stored"
    SCHEDULED = "scheduled"
    FED = "fed"
    HELD = "held"
    MEMBERS = "members"
    CALLS = "calls"
    DELIVERIES = "deliveries"
    ALLOCATIONS = "allocations"
    OWNED = "owned"
    OFFSETS = "offsets"
    COMMITTED = "committed"
    LISTED = "listed"
    RETURNED = "returned"
    WIRE = "wire"
    QUARANTINE = "quarantine"
    JUDGED = "judged"
    SIGNATURES = "signatures"
    DIFFERENCES = "differences"
    TALLIES = "tallies"
    EPISODES = "episodes"
    JUDGED_FAULTS = "judged_faults"
    BARS = "bars"
    VERDICTS = "verdicts"
    ANSWERS = "answers"


PARTITION = ("month", "batch")

TRACES: dict[TableName, Kept] = {name: Kept(name.value) for name in TABLES}
"""The record's table for each table of a run; a record of an older release lacks some, which have no rows then."""

SILVER = (Kept.SIGNATURES, Kept.DIFFERENCES, Kept.TALLIES, Kept.EPISODES, Kept.JUDGED_FAULTS, Kept.BARS)
"""Tables of facts, which ``judged`` counts."""

_TEXT, _LONG = pa.string(), pa.int64()


def _columns(**kinds: pa.DataType) -> pa.Schema:
    return pa.schema(list(kinds.items()))


def _plain(schema: pa.Schema) -> pa.Schema:
    fields = [pa.field(column.name, _TEXT if pa.types.is_dictionary(column.type) else column.type) for column in schema]
    return pa.schema([pa.field("run", _TEXT), *fields])


def _facts(kind: str, **more: pa.DataType) -> pa.Schema:
    """``owner``: the check that a fact belongs to (``rules.owner_of``)."""
    found = ARROW_SCHEMA.field(kind).type
    assert isinstance(found, pa.StructType)
    head = {"run": _TEXT, "case": _LONG, "owner": _TEXT, **more}
    return pa.schema([*head.items(), *((column.name, column.type) for column in found)])


_DIVERGENCE = pa.struct([("signature", _TEXT), ("subject", _TEXT), ("count", _LONG), ("declared_by", _TEXT)])

_NUMBER = pa.float64()
_MEASURE = pa.struct(
    [("name", _TEXT), ("value", _NUMBER), ("unit", _TEXT), ("n", _LONG), ("low", _NUMBER), ("high", _NUMBER)]
)

COLUMNS: dict[Kept, pa.Schema] = {
    # rules: digest by check, as JSON. checks: the judged ones. scope: digest of what else an answer depends on.
    # replaces: batches whose rows this batch holds in larger files. files: those of the batch, as JSON (``batch.py``);
    # digest: of the row. Both are null in rows of older releases.
    Kept.BATCHES: _columns(
        batch=_TEXT,
        kind=_TEXT,
        at_ms=_LONG,
        rocketdiff=_TEXT,
        runs=_LONG,
        rules=_TEXT,
        checks=pa.list_(_TEXT),
        scope=_TEXT,
        replaces=pa.list_(_TEXT),
        files=_TEXT,
        digest=_TEXT,
    ),
    # part: name of the files that hold the run's rows. manifest: run.json, unchanged. sends: planned, of consumers those of the feeder.
    Kept.RUNS: _columns(
        run=_TEXT,
        digest=_TEXT,
        part=_TEXT,
        baseline=_TEXT,
        candidate=_TEXT,
        server=_TEXT,
        backend=_TEXT,
        suite=_TEXT,
        seed=_LONG,
        created_ms=_LONG,
        ended_ms=_LONG,
        machine=_TEXT,
        cores=_LONG,
        rocketdiff=_TEXT,
        trace_schema=_TEXT,
        cases=_LONG,
        sends=_LONG,
        manifest=_TEXT,
    ),
    # statements: those of the sealed files, as JSON, with which a reader verifies the groups of rows.
    Kept.CASES: _columns(
        run=_TEXT,
        case=_LONG,
        name=_TEXT,
        scenario=_TEXT,
        plan_digest=_TEXT,
        topology=_TEXT,
        settings=_TEXT,
        checks=pa.list_(_TEXT),
        broken_guards=pa.list_(_TEXT),
        status=_TEXT,
        sends_planned=_LONG,
        sends=_LONG,
        attempts=_LONG,
        statements=_TEXT,
    ),
    **{kept: _plain(TABLES[table].schema) for table, kept in TRACES.items()},
    # place: only the folder's name, because a path has no meaning on another machine.
    Kept.QUARANTINE: _columns(place=_TEXT, run=_TEXT, expected=_TEXT, seen=_TEXT, hint=_TEXT),
    # trouble: why the case could not be judged, or empty.
    Kept.JUDGED: _columns(run=_TEXT, case=_LONG, trouble=_TEXT, facts=_LONG),
    Kept.SIGNATURES: _facts("difference", count=_LONG),
    Kept.DIFFERENCES: _facts("difference"),
    Kept.TALLIES: _facts("tally"),
    Kept.EPISODES: _facts("episode"),
    Kept.JUDGED_FAULTS: _facts("fault"),
    Kept.BARS: _facts("lane"),
    Kept.VERDICTS: _columns(run=_TEXT, verdict=_TEXT, exit_code=_LONG, line=_TEXT, trouble=_TEXT),
    Kept.ANSWERS: _columns(
        run=_TEXT,
        case=_TEXT,
        check=_TEXT,
        verdict=_TEXT,
        severity=_TEXT,
        gates=pa.bool_(),
        reason=_TEXT,
        divergences=pa.list_(_DIVERGENCE),
        measures=pa.list_(_MEASURE),
    ),
}
"""Columns of the files of each table."""


def partition_of(table: Kept) -> tuple[str, ...]:
    """Return a table's partition columns; ``batches`` has few rows and none."""
    return () if table is Kept.BATCHES else PARTITION


def whole_schema(table: Kept) -> pa.Schema:
    """Return the columns of a table, partition columns included."""
    return pa.schema([*COLUMNS[table], *(pa.field(name, _TEXT) for name in partition_of(table))])


@dataclass(frozen=True, slots=True)
class NewFile:
    """A Parquet file that a task has written and no table contains yet. path: relative to the folder of its table."""

    table: str
    path: str
    month: str
    batch: str
    size: int
    rows: int
    first_run: str
    last_run: str
    digest: str


NEW_FILES = pa.schema(
    [
        (name, _LONG if name in {"size", "rows"} else _TEXT)
        for name in ("table", "path", "month", "batch", "size", "rows", "first_run", "last_run", "digest")
    ]
)
"""Schema in which a task returns the files it has written."""
