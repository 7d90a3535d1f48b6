"""
What the pass over one case writes down: small rows of six kinds, the only thing that ever crosses into Spark.

A row of the table ``facts`` has the run, the case's number and exactly one of the six kinds filled in.
"""

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields

import pyarrow as pa

from rocketdiff.core.errors import TraceError
from rocketdiff.core.fault import FaultRecord


@dataclass(frozen=True, slots=True)
class Difference:
    """
    One place where a check found something that may not be.

    arm: the side it is about. weight: attempts both arms made at that send (the fewer, the easier to follow). at_ns: on
    the monotonic clock. detail: JSON.
    """

    check: str
    signature: str
    arm: str
    thread: int
    send: int
    attempt: int | None
    phase: str
    at_ns: int
    weight: int
    expected: str
    observed: str
    detail: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How often something was seen (``n``) and what it added up to (``total``), in one phase of one arm."""

    check: str
    arm: str
    phase: str
    key: str
    n: int
    total: float


@dataclass(frozen=True, slots=True)
class EpisodeValue:
    """One arm's value (ns) for one spell of pauses; n: how many sends or attempts it is made of; ended: an Ending."""

    check: str
    sample: str
    arm: str
    episode: int
    value_ns: float
    n: int
    ended: str


@dataclass(frozen=True, slots=True)
class LaneBar:
    """One attempt kept for a picture; window: number of the picture among those of its case, from 0."""

    arm: str
    thread: int
    send: int
    attempt: int
    broker: str
    queue_id: int
    start_ns: int
    end_ns: int
    outcome: str
    reason: str
    window: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """A TraceError met where the case was read, on its way to where somebody can be told."""

    expected: str
    seen: str
    hint: str

    @classmethod
    def of(cls, error: TraceError) -> "Trouble":
        """The parts of an error; a worker's traceback would reach the user as one."""
        return cls(error.expected, error.seen, error.hint)


Fact = Difference | Tally | EpisodeValue | LaneBar | FaultRecord | Trouble


@dataclass(frozen=True, slots=True)
class CaseFact:
    """A fact and where it belongs."""

    run: str
    number: int
    fact: Fact


_TYPES: dict[str, pa.DataType] = {
    "str": pa.string(),
    "int": pa.int64(),
    "int | None": pa.int64(),
    "float": pa.float64(),
    "FaultKind": pa.string(),
}
_DDL_TYPES = {"str": "string", "int": "bigint", "int | None": "bigint", "float": "double", "FaultKind": "string"}

KINDS: dict[str, type[Fact]] = {
    "difference": Difference,
    "tally": Tally,
    "episode": EpisodeValue,
    "lane": LaneBar,
    "fault": FaultRecord,
    "trouble": Trouble,
}
"""Column of ``facts`` to the kind of row in it."""


def _written(kind: type[Fact], field: str) -> str:
    """The type of a field as its source spells it."""
    declared = kind.__annotations__[field]
    return declared.__name__ if isinstance(declared, type) else str(declared)


def columns_of(kind: type[Fact]) -> tuple[str, ...]:
    """Names of a kind's columns, in order."""
    return tuple(field.name for field in fields(kind))


def _struct(kind: type[Fact]) -> pa.DataType:
    return pa.struct([pa.field(column, _TYPES[_written(kind, column)]) for column in columns_of(kind)])


_COLUMN_TYPES: dict[str, pa.DataType] = {
    "run": pa.string(),
    "number": pa.int64(),
    **{name: _struct(kind) for name, kind in KINDS.items()},
}

ARROW_SCHEMA = pa.schema(_COLUMN_TYPES)
"""Schema of ``facts`` in Arrow."""

SPARK_SCHEMA = "run string, number bigint, " + ", ".join(
    f"{name} struct<{', '.join(f'{column}: {_DDL_TYPES[_written(kind, column)]}' for column in columns_of(kind))}>"
    for name, kind in KINDS.items()
)
"""The same schema as Spark writes it."""

_COLUMN_OF_KIND = {kind: name for name, kind in KINDS.items()}


def batches(facts: Iterable[CaseFact], rows: int = 8_192) -> Iterator[pa.RecordBatch]:
    """Facts as Arrow batches of at most ``rows`` rows, in their order."""
    waiting: list[CaseFact] = []
    for fact in facts:
        waiting.append(fact)
        if len(waiting) == rows:
            yield _batch(waiting)
            waiting.clear()
    if waiting:
        yield _batch(waiting)


def _batch(facts: list[CaseFact]) -> pa.RecordBatch:
    columns: dict[str, list[object]] = {name: [] for name in ARROW_SCHEMA.names}
    for fact in facts:
        columns["run"].append(fact.run)
        columns["number"].append(fact.number)
        filled = _COLUMN_OF_KIND[type(fact.fact)]
        for name, kind in KINDS.items():
            row = dict(zip(columns_of(kind), astuple(fact.fact), strict=True)) if name == filled else None
            columns[name].append(row)
    return pa.RecordBatch.from_pydict(columns, schema=ARROW_SCHEMA)
