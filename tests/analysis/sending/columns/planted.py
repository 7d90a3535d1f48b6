"""Mostly calm cases, and changes of any value in any row of their tables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from rocketdiff.analysis.case_trace import CaseTrace, TableKey, read_case
from rocketdiff.analysis.facts import CaseFact, Tally
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.tables import TABLES
from tests.analysis.synthetic import MS, ORIGIN_NS, STEADY, Pause, Story, write_run
from tests.analysis.synthetic_modes import ModeStory

SHORT = ClientSettings(send_msg_timeout_ms=500)
ROTATING = ModeStory(name="calm", pauses=(), sends=90, keys="k", checks=())

AVOIDING = Story(name="latency", pauses=(Pause("broker-b", 500, 900),), sends=90, every_ms=50, checks=())
"""With fault latency; the paused broker is avoided for 10 s, up to 5.1.3 for 600 s."""

STEPPED = replace(STEADY, offsets=((ORIGIN_NS, 0), (ORIGIN_NS + 1_200 * MS, 0), (ORIGIN_NS + 1_300 * MS, 30 * MS)))
"""A wall clock set 30 ms ahead between two samples."""

STORIES: dict[str, Story] = {
    "calm": ROTATING,
    "three threads": replace(ROTATING, threads=3),
    "a pause": replace(ROTATING, pauses=(Pause("broker-b", 1_200, 900),)),
    "two pauses, three brokers": replace(
        ROTATING,
        brokers=("broker-a", "broker-b", "broker-c"),
        pauses=(Pause("broker-b", 800, 600), Pause("broker-c", 900, 1_500)),
        threads=2,
    ),
    "nothing carried": Story(name="bare", settings=SHORT, pauses=(Pause("broker-b", 900, 700),), sends=90, checks=()),
    "fault latency": Story(
        name="latency", pauses=(Pause("broker-b", 3_000, 1_500),), sends=90, every_ms=700, checks=()
    ),
    "fault latency, three brokers": Story(
        name="latency",
        brokers=("broker-a", "broker-b", "broker-c"),
        pauses=(Pause("broker-a", 3_000, 4_000), Pause("broker-c", 40_000, 4_000)),
        sends=90,
        every_ms=700,
        checks=(),
    ),
    "made again": replace(
        ROTATING,
        pauses=tuple(Pause("broker-b", at_ms, 250, FaultKind.KILL, refuses=True) for at_ms in (300, 900, 1_300)),
    ),
    "made again by two threads, or given up": replace(
        ROTATING,
        brokers=("broker-a", "broker-b", "broker-c"),
        settings=ClientSettings(send_msg_timeout_ms=500, retry_times_when_send_failed=1),
        pauses=(
            Pause("broker-b", 300, 500, FaultKind.KILL, refuses=True),
            Pause("broker-c", 500, 200, FaultKind.KILL, refuses=True),
        ),
        threads=2,
    ),
    "made again with fault latency": Story(
        name="latency",
        brokers=("broker-a", "broker-b", "broker-c"),
        pauses=(
            Pause("broker-a", 3_000, 800, FaultKind.KILL, refuses=True),
            Pause("broker-c", 45_000, 800, FaultKind.KILL, refuses=True),
        ),
        sends=130,
        every_ms=700,
        checks=(),
    ),
    "fault latency, a broker avoided to the end": AVOIDING,
    "fault latency, both brokers avoided": replace(
        AVOIDING, pauses=(Pause("broker-b", 500, 900), Pause("broker-a", 1_500, 900)), every_ms=50, sends=130
    ),
    "fault latency, avoided until it is back": replace(AVOIDING, every_ms=400),
    "fault latency, two of three brokers dead": replace(
        AVOIDING,
        brokers=("broker-a", "broker-b", "broker-c"),
        pauses=tuple(
            Pause(f"broker-{name}", at, 300, FaultKind.KILL, refuses=True) for name, at in (("a", 500), ("c", 900))
        ),
        every_ms=300,
    ),
    "fault latency of 4.7.1": replace(AVOIDING, every_ms=1_700),
    "fault latency of 4.9.8": replace(AVOIDING, brokers=("broker-a", "broker-b", "broker-c"), every_ms=1_700),
    "fault latency of 5.1.3, both brokers avoided": replace(
        AVOIDING, pauses=(Pause("broker-b", 500, 900), Pause("broker-a", 1_500, 900)), every_ms=50
    ),
    "fault latency of 5.1.4": replace(AVOIDING, every_ms=400),
    "calm but for the clock": ROTATING,
    "fault latency and the clock": AVOIDING,
    "asynchronous, calm": replace(ROTATING, mode=SendMode.ASYNC),
    "asynchronous, a pause": replace(ROTATING, mode=SendMode.ASYNC, pauses=(Pause("broker-b", 1_200, 900),)),
    "asynchronous, made again": replace(
        ROTATING, mode=SendMode.ASYNC, sends=240, pauses=(Pause("broker-b", 1_200, 2_000),)
    ),
    "asynchronous, a pause with 4.7.1": replace(ROTATING, mode=SendMode.ASYNC, pauses=(Pause("broker-b", 1_200, 600),)),
    "asynchronous beside the clock": replace(ROTATING, mode=SendMode.ASYNC),
    "one-way, calm": replace(ROTATING, mode=SendMode.ONEWAY),
    "one-way, a pause": replace(ROTATING, mode=SendMode.ONEWAY, pauses=(Pause("broker-b", 1_200, 900),)),
    "one-way, a kill": replace(
        ROTATING, mode=SendMode.ONEWAY, pauses=(Pause("broker-b", 1_700, 250, FaultKind.KILL, refuses=True),)
    ),
    "one-way beside the clock": replace(ROTATING, mode=SendMode.ONEWAY),
    "to named queues": replace(ROTATING, kind=SendKind.QUEUE),
    "to named queues beside the clock": replace(ROTATING, kind=SendKind.QUEUE),
    "to named queues, three threads and a pause": replace(
        ROTATING, kind=SendKind.QUEUE, threads=3, pauses=(Pause("broker-b", 1_200, 900),)
    ),
    "by a selector": replace(ROTATING, kind=SendKind.SELECTOR),
    "batches": Story(name="batches", settings=SHORT, pauses=(), sends=90, kind=SendKind.BATCH, checks=()),
}
"""90 to 240 sends per arm; the first case is calm from its second send to its last."""


BEFORE_1_7 = "calm, of a trace whose digests are asked"


def traces(folder: Path) -> dict[str, CaseTrace]:
    """Each case, played by two faithful clients and read from disk."""
    runs = ((name, _written(folder / name, name, story)) for name, story in STORIES.items())
    records = {name: read_case(run, 1) for name, run in runs}
    return records | {BEFORE_1_7: replace(records["calm"], bodies_compared=False)}


def _written(folder: Path, name: str, story: Story) -> RunDirectory:
    """The run of a story whose name has the release of both clients, 5.3.3 otherwise, and whether the clock is stepped."""
    release = next(iter(re.findall(r"\d+\.\d+\.\d+", name)), "5.3.3")
    clock = STEPPED if "clock" in name else STEADY
    return write_run(folder, [story], baseline=f"java:{release}", candidate=f"python:{release}", clock=clock)


def both_ways(trace: CaseTrace) -> tuple[list[CaseFact] | str, list[CaseFact] | str]:
    """The facts of a case in columns and send by send, or the exception's name."""
    return _facts(trace, plainly=False), _facts(trace, plainly=True)


def _facts(trace: CaseTrace, *, plainly: bool) -> list[CaseFact] | str:
    try:
        facts = list(judge_case(trace, plainly=plainly))
    except Exception as problem:  # noqa: BLE001 - both ways must raise the same
        return type(problem).__name__
    noted = [one for one in facts if not isinstance(one.fact, Tally)]
    return noted + sorted((one for one in facts if isinstance(one.fact, Tally)), key=repr)  # their order has no meaning


TIMES = (-3_000 * MS, -60 * MS, -MS, -1, 1, 2 * MS, 21 * MS, 101 * MS, 160 * MS, 1_200 * MS)
"""Near every limit of a check: 20 ms late, 100 ms early, 150 ms too long, 1 s of a busy machine."""

WORDS: dict[str, tuple[str | None, ...]] = {
    "status": (None, "FLUSH_DISK_TIMEOUT"),
    "error": ("RemotingTimeoutException", "MQBrokerException", "RemotingConnectException", "RuntimeException"),
    "cause": ("RemotingTimeoutException",),
    "outcome": ("unknown", "failed"),
    "broker": ("broker-a", "broker-b", "broker-x"),
    "mode": (None, "async", "oneway"),
    "kind": ("queue", "selector"),
    "properties": (None, '{"KEYS":"other"}', '{"KEYS":"k"}', "{}"),
    "body_digest": (None, "0123456789abcdef"),
    "message": (None, "a name that the client reserves"),
}


@dataclass(frozen=True)
class Change:
    """One value of a row, or the row; each number is taken modulo the choices."""

    table: TableName
    arm: Arm
    row: int
    column: int
    value: int


CHANGED_TABLES = (TableName.SENDS, TableName.ATTEMPTS, TableName.STORED)

changes = st.builds(
    Change,
    st.sampled_from(CHANGED_TABLES),
    st.sampled_from(list(Arm)),
    st.integers(0, 400),
    st.integers(0, 30),
    st.integers(0, 30),
)


class Cases(dict[str, CaseTrace]):
    """Cases by name; a failing example shows only the names."""

    def __repr__(self) -> str:
        return f"Cases({', '.join(self)})"


DROPPED, TWICE = "dropped", "twice"


def changed(trace: CaseTrace, changes: Sequence[Change]) -> CaseTrace:
    """The trace with all changes in turn."""
    tables: dict[TableKey, pa.Table] = dict(trace.tables)
    for change in changes:
        key: TableKey = (change.table, change.arm)
        if key in tables and tables[key].num_rows:
            tables[key] = _table(change.table, _rows(tables[key].to_pylist(), change))
    return replace(trace, tables=tables)


def _table(name: TableName, rows: list[dict[str, Any]]) -> pa.Table:
    rows = sorted(rows, key=lambda row: tuple(row[key] for key in TABLES[name].keys))
    return pa.Table.from_pylist(rows, schema=TABLES[name].schema)


def _rows(rows: list[dict[str, Any]], change: Change) -> list[dict[str, Any]]:
    at = change.row % len(rows)
    names = [name for name in rows[at] if name not in ("case", "arm", "thread", "reason", "due_ns")]
    what = [*names, DROPPED, TWICE][change.column % (len(names) + 2)]
    others = rows[:at] + rows[at + 1 :]
    if what == DROPPED:
        return others
    if what == TWICE:
        return [*rows, again] if _is_new(change.table, again := _again(change.table, rows, rows[at]), rows) else rows
    row = {**rows[at], what: _value(what, rows[at][what], change.value)}
    return [*others, row] if row[what] is not None or TABLES[change.table].schema.field(what).nullable else rows


def _is_new(table: TableName, row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    keys = TABLES[table].keys
    return all(any(row[key] != other[key] for key in keys) for other in rows)


def _again(table: TableName, rows: list[dict[str, Any]], row: dict[str, Any]) -> dict[str, Any]:
    """One more attempt or copy."""
    if table is TableName.STORED:
        return {**row, "queue_offset": max(each["queue_offset"] for each in rows) + 1}
    return {**row, "attempt": row["attempt"] + 1} if table is TableName.ATTEMPTS else row


def _value(name: str, old: Any, pick: int) -> Any:
    if name.endswith(("_ns", "_ms")):
        step = TIMES[pick % len(TIMES)]
        return None if old is None else old + (step // MS if name.endswith("_ms") else step)
    if name in WORDS:
        return WORDS[name][pick % len(WORDS[name])]
    if name == "body_ok":
        return not old
    return (None, 0, 1, 2, 3, (old or 0) + 1, max((old or 0) - 1, 0), 90_000)[pick % 8]


def is_sorted(trace: CaseTrace) -> bool:
    """True if every table's keys rise strictly, as in every sealed case."""
    return all(
        len({tuple(row[key] for key in TABLES[name].keys) for row in table.select(list(TABLES[name].keys)).to_pylist()})
        == table.num_rows
        for (name, _), table in trace.tables.items()
    )
