"""
The output of the pass over one case: small rows of six kinds. Spark receives nothing else.

A row of the table ``facts`` has the run, the case number, the number of facts it stands for, and exactly one non-null column among
the six kinds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from operator import attrgetter
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
    """A fact with its run and case number; count: of the differences of which it is the example."""

    run: str
    number: int
    fact: Fact
    count: int = 1


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


def _struct(kind: type[Any]) -> pa.StructType:
    hints = get_type_hints(kind)
    return pa.struct([pa.field(name, arrow_type(hints[name])) for name in columns_of(kind)])


_STRUCTS = {kind: _struct(kind) for kind in KINDS.values()}
_COLUMN_TYPES: dict[str, pa.DataType] = {
    "run": pa.string(),
    "number": pa.int64(),
    "count": pa.int64(),
    **{name: _STRUCTS[kind] for name, kind in KINDS.items()},
}

ARROW_SCHEMA = pa.schema(_COLUMN_TYPES)
"""Arrow schema of ``facts``."""

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
    every = [fact.fact for fact in facts]
    columns: list[Any] = [
        pa.array([fact.run for fact in facts], type=pa.string()),
        pa.array([fact.number for fact in facts], type=pa.int64()),
        pa.array([fact.count for fact in facts], type=pa.int64()),
        *(_column(every, kind) for kind in KINDS.values()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ARROW_SCHEMA)


def _column(facts: Sequence[Fact], kind: type[Fact]) -> Any:
    """Return the facts of a kind as an Arrow array, null for every other fact."""
    declared = _STRUCTS[kind]
    own = [fact for fact in facts if type(fact) is kind]
    if not own:
        return pa.nulls(len(facts), declared)
    members = [pa.array(_values(own, kind, name), type=declared.field(name).type) for name in _MEMBERS[kind]]
    numbers = iter(range(len(own)))
    places = [next(numbers) if type(fact) is kind else None for fact in facts]
    return pa.StructArray.from_arrays(members, fields=list(declared)).take(pa.array(places, type=pa.int64()))


def _values(facts: Sequence[Fact], kind: type[Fact], name: str) -> list[object]:
    values = list(map(attrgetter(name), facts))
    if kind is DifferenceFact and name == "sides":
        return [[asdict(side) for side in sides] for sides in values]
    if kind is DifferenceFact and name == "figures":
        return [msgspec.json.encode(figures).decode() for figures in values]
    return values


def difference_of(row: Mapping[str, Any]) -> DifferenceFact:
    """Return the difference that a row holds."""
    members = {name: row[name] for name in columns_of(DifferenceFact)}
    return msgspec.convert(members | {"figures": msgspec.json.decode(row["figures"])}, DifferenceFact)
