"""
The output of the pass over one case: small rows of six kinds. Spark receives nothing else.

A row of the table ``facts`` has the run, the case number and exactly one non-null column among the six kinds.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pyarrow as pa

from rocketdiff.core.answers.verdict import SideExample
from rocketdiff.core.errors import TraceError
from rocketdiff.core.tables.fault import IN_NO_TABLE, FaultRecord


@dataclass(frozen=True, slots=True)
class DifferenceFact:
    """
    One violation of the rules or the plan, or one difference from the other arm, found by a check.

    weight: how hard it is to follow (``verdict.difficulty``). at_ns: monotonic clock. sides: actions of each arm;
    empty if no send is concerned. figures: any JSON values.
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
    sides: tuple[SideExample, ...] = ()
    figures: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tally:
    """Count and sum of something in one phase of one arm."""

    check: str
    arm: str
    phase: str
    key: str
    n: int
    total: float


@dataclass(frozen=True, slots=True)
class OutageValue:
    """One arm's value (ns) for one outage; n: number of sends or attempts behind it; ended: an Ending."""

    check: str
    sample: str
    arm: str
    episode: int
    value_ns: float
    n: int
    ended: str


@dataclass(frozen=True, slots=True)
class LaneBar:
    """
    One attempt kept for a swim lane; window: number of the picture within its case, from 0.

    Of a group of consumers: a ``core.answers.plots.WorkBar`` or ``MemberMark`` with outcome = work or what, reason = topic,
    thread = member, attempt = calls.
    """

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
    """A TraceError from a worker; the driver raises it."""

    expected: str
    seen: str
    hint: str

    @classmethod
    def of(cls, error: TraceError) -> "Trouble":
        """Copy the parts of an error. An exception in a worker would reach the user as a traceback."""
        return cls(error.expected, error.seen, error.hint)


Fact = DifferenceFact | Tally | OutageValue | LaneBar | FaultRecord | Trouble


@dataclass(frozen=True, slots=True)
class CaseFact:
    """A fact with its run and case number."""

    run: str
    number: int
    fact: Fact


KINDS: dict[str, type[Fact]] = {
    "difference": DifferenceFact,
    "tally": Tally,
    "episode": OutageValue,
    "lane": LaneBar,
    "fault": FaultRecord,
    "trouble": Trouble,
}
"""The kind of row in each column of ``facts``."""


def columns_of(kind: type[Fact]) -> tuple[str, ...]:
    """Return the column names of a kind, in order."""
    return tuple(field.name for field in fields(kind) if IN_NO_TABLE.keys().isdisjoint(field.metadata))


def arrow_type(declared: Any) -> pa.DataType:
    """Return the Arrow type of a field; a dictionary of any JSON values becomes JSON text."""
    if get_origin(declared) in (Union, UnionType):
        (declared,) = (argument for argument in get_args(declared) if argument is not NoneType)
    if get_origin(declared) is tuple:
        return pa.list_(arrow_type(get_args(declared)[0]))
    if get_origin(declared) is dict or issubclass(declared, str):
        return pa.string()
    if declared is int:
        return pa.int64()
    return pa.float64() if declared is float else _struct(declared)


def _struct(kind: type[Any]) -> pa.DataType:
    hints = get_type_hints(kind)
    return pa.struct([pa.field(name, arrow_type(hints[name])) for name in columns_of(kind)])


_COLUMN_TYPES: dict[str, pa.DataType] = {
    "run": pa.string(),
    "number": pa.int64(),
    **{name: _struct(kind) for name, kind in KINDS.items()},
}

ARROW_SCHEMA = pa.schema(_COLUMN_TYPES)
"""Arrow schema of ``facts``."""

_COLUMN_OF_KIND = {kind: name for name, kind in KINDS.items()}
_MEMBERS = {kind: columns_of(kind) for kind in KINDS.values()}


def batches(facts: Iterable[CaseFact], rows: int = 8_192) -> Iterator[pa.RecordBatch]:
    """Yield facts as Arrow batches of at most ``rows`` rows, in order."""
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
        for name in KINDS:
            columns[name].append(_row(fact.fact) if name == filled else None)
    return pa.RecordBatch.from_pydict(columns, schema=ARROW_SCHEMA)


def _row(fact: Fact) -> dict[str, object]:
    row = {name: getattr(fact, name) for name in _MEMBERS[type(fact)]}
    if isinstance(fact, DifferenceFact):
        row["sides"] = [asdict(side) for side in fact.sides]
        row["figures"] = msgspec.json.encode(fact.figures).decode()
    return row


def difference_of(row: Mapping[str, Any]) -> DifferenceFact:
    """Return the difference that a row holds."""
    members = {name: row[name] for name in columns_of(DifferenceFact)}
    return msgspec.convert(members | {"figures": msgspec.json.decode(row["figures"])}, DifferenceFact)
