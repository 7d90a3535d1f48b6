"""
Benchmark of judging: attempts, or deliveries, per second of stored cases, beside the cost of reading them.

Users have real runs (``--run``). The generated cases are larger, and judged in columns and send by send: two conforming
clients of one release, two brokers, two threads with 500 sends per second each, realistic message properties. Time is CPU time
of one process, the best of a few rounds, so that other load hardly counts; and once wall time with one process per core.
"""

import hashlib
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from rocketdiff.analysis.case_trace import read_case
from rocketdiff.analysis.memory import KEEPS_MEMORY
from rocketdiff.analysis.registry import judge_case
from rocketdiff.analysis.sending import case_pass as sending
from rocketdiff.analysis.sending.columns.case_columns import CaseColumns, case_columns
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.run_info import Machine
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.layout import table_file
from rocketdiff.traces.manifest import ArmSummary, CaseEntry, CaseStatus, RunManifest
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import ARM_CODES, TableName
from rocketdiff.traces.sealed_file import write_sealed
from rocketdiff.traces.tables import TABLES

RELEASE = "5.3.3"
QUEUES = tuple((broker, queue) for broker in ("broker-a", "broker-b") for queue in range(4))
TIMEOUT_MS = 300
THREADS = 2
EVERY_NS = 2_000_000
KILLS = 10
NEAR_FAULTS = 0.05
"""Share of the time (and so of the sends) of a mixed case in which one of two brokers is dead."""

ROUNDS = 3
TIMES = 10
"""How often all cores together judge a case: ten million attempts with half a million sends per arm."""

PLAIN_SENDS = 10_000
"""Sends of the case that is judged send by send: about two seconds per round."""

_ORIGIN_NS = 1_000_000_000_000
_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Throughput:
    """
    Attempts, or deliveries of consumers, per second of CPU time.

    ratio: to the time of reading all columns. objects: share of sends made objects.
    """

    what: str
    attempts: int
    per_s: float
    ratio: float
    objects: float | None = None


@dataclass(frozen=True, slots=True)
class Together:
    """A case judged TIMES by one process per core, after a warm-up. peak_mib: of all processes."""

    attempts: int
    took_s: float
    per_s: float
    peak_mib: float


@dataclass(slots=True)
class _Arm:
    sends: list[tuple[int, ...]] = field(default_factory=list)
    attempts: list[tuple[int, ...]] = field(default_factory=list)


def bench_judging(sends: int, runs: Sequence[Path], *, as_json: bool) -> dict[str, Any]:
    """Measure and print the figures, or (as_json) only return them. runs: stored ones, judged instead of generated cases."""
    together: dict[str, Together] = {}
    if runs:
        rates = judged_cases([RunDirectory.open(run) for run in runs])
    else:
        with tempfile.TemporaryDirectory() as folder:
            rates, together = _measured(Path(folder), sends)
    if as_json:
        return {
            "judging": [asdict(rate) for rate in rates],
            "judging_on_all_cores": {what: asdict(each) for what, each in together.items()},
        }
    table = Table(
        title="judging stored cases: attempts, or deliveries, a second and core, and time as a multiple of reading all columns"
    )
    for column in ("what", "operations", "a second and core", "× reading", "objects"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for rate in rates:
        table.add_row(
            rate.what, f"{rate.attempts:,}", f"{rate.per_s:,.0f}", f"{rate.ratio:,.1f}", _percent(rate.objects)
        )
    Console().print(table)
    for what, each in together.items():
        Console().print(
            f"{what}, a process on each of {os.cpu_count()} cores: {each.attempts:,} attempts in {each.took_s:,.1f} s,"
            f" {each.per_s:,.0f} a second; {each.peak_mib:,.0f} MiB"
        )
    return {}


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _measured(folder: Path, sends: int) -> tuple[list[Throughput], dict[str, Together]]:
    calm, mixed = (made_run(folder, name, sends, share) for name, share in (("calm", 0.0), ("mixed", NEAR_FAULTS)))
    few = made_run(folder, "few", PLAIN_SENDS, NEAR_FAULTS)
    bare = made_run(folder, "bare", sends, 0.0, carrying=False)
    work: list[tuple[str, RunDirectory, Callable[[], object]]] = [
        ("read all columns", calm, lambda: _read(calm)),
        ("read, sort by thread and send", calm, lambda: _sorted(calm)),
        ("read and verified as whole groups", calm, lambda: read_case(calm, 1)),
        ("calm", calm, lambda: _judge(calm)),
        ("calm, messages without properties", bare, lambda: _judge(bare)),
        (f"mixed, {NEAR_FAULTS:.0%} of sends while a broker is dead", mixed, lambda: _judge(mixed)),
        ("the same, send by send", few, lambda: _judge(few, plainly=True)),
    ]
    rates: list[Throughput] = []
    for what, run, do in work:
        attempts = _attempts(run)
        seconds = min(_timed(do) for _ in range(ROUNDS if run is not few else 1))
        floor = attempts / rates[0].per_s if rates else seconds
        objects = _share_of_objects(run) if what.startswith(("calm", "mixed")) else None
        rates.append(Throughput(what, attempts, attempts / seconds, seconds / floor, objects))
    large = {"calm": calm, "mixed": mixed}
    return rates, {what: _together(run) for what, run in large.items()}


def judged_cases(runs: Sequence[RunDirectory]) -> list[Throughput]:
    """Judge the cases of stored runs, each, and all of a role, the best of ROUNDS; ratio: to the time of reading them."""
    by_role: dict[ClientRole, list[Throughput]] = {role: [] for role in ClientRole}
    for run in runs:
        for entry in run.manifest.cases:
            if entry.status is not CaseStatus.PLANNED:
                by_role[entry.role].append(_judged_case(run, entry))
    return [each for role, rates in by_role.items() if rates for each in (*rates, _in_all(role, rates))]


def _judged_case(run: RunDirectory, entry: CaseEntry) -> Throughput:
    operations = _attempts(run, entry.number)
    seconds = min(_timed(lambda: _judge(run, entry.number)) for _ in range(ROUNDS))
    reading = min(_timed(lambda: read_case(run, entry.number)) for _ in range(ROUNDS))
    objects = _share_of_objects(run, entry.number) if entry.role is ClientRole.PRODUCER else None
    return Throughput(entry.scenario, operations, operations / seconds, seconds / reading, objects)


def _in_all(role: ClientRole, rates: Sequence[Throughput]) -> Throughput:
    """Return the figures of cases judged one after another; objects: by attempts."""
    attempts = sum(rate.attempts for rate in rates)
    seconds = sum(rate.attempts / rate.per_s for rate in rates)
    reading = sum(rate.attempts / rate.per_s / rate.ratio for rate in rates)
    made = [rate.objects * rate.attempts for rate in rates if rate.objects is not None]
    objects = sum(made) / attempts if made else None
    return Throughput(f"all {len(rates)} cases of {role}s", attempts, attempts / seconds, seconds / reading, objects)


def _share_of_objects(run: RunDirectory, number: int = 1) -> float:
    """Return the share of sends that were objects in the end: the replay adds its own to those of the columns."""
    made: list[CaseColumns | None] = []

    def keep(*asked: Any) -> CaseColumns | None:
        made.append(case_columns(*asked))
        return made[0]

    with patch("rocketdiff.analysis.sending.case_pass.case_columns", keep):
        _judge(run, number)
    return 1.0 if not made or made[0] is None else float(made[0].slow.mean())


def _attempts(run: RunDirectory, number: int = 1) -> int:
    """Attempts of producers, or deliveries to consumers."""
    return sum(summary.attempts + summary.deliveries for summary in run.entry(number).arms.values())


def _timed(do: Callable[[], object]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began


def _together(run: RunDirectory) -> Together:
    cores = os.cpu_count() or 1
    os.environ.update(KEEPS_MEMORY)  # as Spark's workers have it
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        # Warm-up: imports, and first use of memory, which a virtual machine may have to fetch.
        list(pool.map(_judge_path, [run.path] * cores))
        began = time.monotonic()
        peaks_mib = dict(pool.map(_judge_path, [run.path] * TIMES))
        took_s = time.monotonic() - began
    attempts = TIMES * _attempts(run)
    return Together(attempts, took_s, attempts / took_s, sum(peaks_mib.values()))


def _judge_path(path: Path) -> tuple[int, float]:
    """The judging process's id, and its peak memory so far in MiB."""
    _judge(RunDirectory.open(path))
    return os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _judge(run: RunDirectory, number: int = 1, *, plainly: bool = False) -> int:
    judge = partial(sending.judge_case, plainly=True) if plainly else judge_case
    return sum(1 for _ in judge(read_case(run, number)))


def _tables(run: RunDirectory) -> Iterator[pa.Table]:
    names = (TableName.SENDS, TableName.ATTEMPTS, TableName.STORED)
    return (pq.read_table(run.path / table_file(name, 1, arm)) for name in names for arm in Arm)


def _read(run: RunDirectory) -> int:
    return sum(table.num_rows for table in _tables(run))


def _sorted(run: RunDirectory) -> int:
    """By thread and send; stored messages by send."""
    return sum(table.take(_order(table)).num_rows for table in _tables(run))


def _order(table: pa.Table) -> "np.ndarray[Any, Any]":
    keys = [table.column(name).to_numpy() for name in ("send", "thread") if name in table.column_names]
    return np.lexsort(keys)


def made_run(folder: Path, name: str, sends: int, near_faults: float, *, carrying: bool = True) -> RunDirectory:
    """A sealed run of one case in which each arm makes ``sends`` sends."""
    kills = _kills(sends // THREADS * EVERY_NS, near_faults)
    entry = _entry(sends)
    subjects = {Arm.BASELINE: f"java:{RELEASE}", Arm.CANDIDATE: f"python:{RELEASE}"}
    machine = Machine(system="", processor="", cores=1, memory_mib=1, python="", java="")
    manifest = RunManifest(
        run=name,
        rocketdiff="",
        created_wall_ms=0,
        seed=0,
        subjects=subjects,
        server_release=RELEASE,
        backend="processes",
        suite="bench",
        machine=machine,
        cases=(entry,),
    )
    run = RunDirectory.create(folder, manifest)
    files: dict[str, str] = {}
    rows: dict[tuple[TableName, Arm | None], int] = {}
    for (table, arm), content in _case(name, sends, kills, carrying=carrying).items():
        file, rows[table, arm] = table_file(table, 1, arm), content.num_rows
        subject = None if arm is None else subjects[arm]
        _, files[str(file)] = write_sealed(
            run.path / file, content, run=name, name=table, case=1, arm=arm, subject=subject
        )
    arms = {
        arm: ArmSummary(rows[TableName.SENDS, arm], rows[TableName.ATTEMPTS, arm], unanswered=0, done=True)
        for arm in Arm
    }
    run.change(1, lambda entry: replace(entry, status=CaseStatus.COMPLETE, files=files, arms=arms))
    return run


def _entry(sends: int) -> CaseEntry:
    return CaseEntry(
        number=1,
        name="bench",
        scenario="bench",
        scenario_text="",
        topology="two-masters",
        queues_per_broker=4,
        settings=ClientSettings(send_msg_timeout_ms=TIMEOUT_MS),
        threads=THREADS,
        sends_planned=sends,
        duration_s=sends * EVERY_NS / THREADS / 1e9,
        plan_digest="",
        checks=(),
        brokers=("broker-a", "broker-b"),
        clock=ClockAnchor(_ORIGIN_NS, 1_700_000_000_000),
        origin_ns=_ORIGIN_NS,
    )


def _kills(duration_ns: int, share: float) -> list[tuple[int, int]]:
    """Begin and end of each time in which the second broker is dead."""
    if not share:
        return []
    length = duration_ns // KILLS
    return [
        (_ORIGIN_NS + number * length + length // 2, _ORIGIN_NS + number * length + length // 2 + int(share * length))
        for number in range(KILLS)
    ]


def _case(
    run: str, sends: int, kills: Sequence[tuple[int, int]], *, carrying: bool
) -> dict[tuple[TableName, Arm | None], pa.Table]:
    tables: dict[tuple[TableName, Arm | None], pa.Table] = {(TableName.FAULTS, None): _faults(kills)}
    for seed, arm in enumerate(Arm):
        rows = _Arm()
        for thread in range(THREADS):
            _play(rows, thread, sends, kills, np.random.default_rng(10 * seed + thread))
        tables |= {(name, arm): table for name, table in _arm_tables(run, arm, rows, carrying=carrying).items()}
    return tables


def _play(log: _Arm, thread: int, sends: int, kills: Sequence[tuple[int, int]], random: np.random.Generator) -> None:
    """A client without fault latency. Brokers answer in about a millisecond; a dead one refuses at once."""
    took_ns = (random.lognormal(0, 0.3, sends) * _MS).astype(np.int64).tolist()
    index, now_ns, waiting = int(random.integers(len(QUEUES))), 0, list(kills)
    for number, send in enumerate(range(thread, sends, THREADS)):
        start_ns = max(now_ns + 100_000, _ORIGIN_NS + number * EVERY_NS)
        index = (index + 1) % len(QUEUES)
        tried_ns = start_ns + 20_000
        while waiting and waiting[0][1] <= tried_ns:
            waiting.pop(0)
        attempt = 0
        if waiting and QUEUES[index][0] == "broker-b" and tried_ns >= waiting[0][0]:
            end_ns = tried_ns + _MS // 2
            log.attempts.append((thread, send, 0, index, tried_ns, end_ns, 0))
            # The retry goes to the next queue of another broker.
            attempt, index, tried_ns = 1, 0, end_ns + 20_000
        answered_ns = tried_ns + took_ns[send]
        log.attempts.append((thread, send, attempt, index, tried_ns, answered_ns, 1))
        now_ns = answered_ns + 30_000
        log.sends.append((thread, send, start_ns, now_ns, index))


def _faults(kills: Sequence[tuple[int, int]]) -> pa.Table:
    rows = [
        {
            "case": 1,
            "episode": number,
            "kind": FaultKind.KILL.value,
            "node": "broker-b",
            "inject_ns": begin - 100_000,
            "injected_ns": begin,
            "proven_ns": begin + _MS,
            "heal_ns": end,
            "healed_ns": end + 100_000,
            "heal_proven_ns": end + _MS,
        }
        for number, (begin, end) in enumerate(kills, start=1)
    ]
    return pa.Table.from_pylist(rows, schema=TABLES[TableName.FAULTS].schema)


def _arm_tables(run: str, arm: Arm, log: _Arm, *, carrying: bool) -> dict[TableName, pa.Table]:
    order = sorted(range(len(log.attempts)), key=log.attempts.__getitem__)
    tried = {
        name: np.array([log.attempts[row][place] for row in order], dtype=np.int64)
        for place, name in enumerate(("thread", "send", "attempt", "index", "start_ns", "end_ns", "ok"))
    }
    made = {
        name: np.array(values, dtype=np.int64)
        for name, values in zip(
            ("thread", "send", "start_ns", "end_ns", "index"), zip(*sorted(log.sends), strict=True), strict=True
        )
    }
    # Queue offsets are in the order in which messages reach the queue.
    last = tried["ok"] == 1
    reached = np.lexsort((tried["start_ns"], tried["index"]))
    reached = reached[last[reached]]
    offsets = np.empty(last.size, dtype=np.int64)
    begins = np.searchsorted(tried["index"][reached], np.arange(len(QUEUES)))
    offsets[reached] = np.arange(reached.size) - begins[tried["index"][reached]]
    group: dict[str, Any] = {"case": 1, "arm": ARM_CODES[arm]}
    sends = group | made | _ending(np.ones(made["send"].size, dtype=np.bool_)) | _at(made["index"], offsets[last])
    sends |= {"due_ns": made["start_ns"], "returned_ns": None, "callbacks": None, "delay_level": 0, "cause": None}
    sends |= {"route": 1, "route_after": 1, "kind": "plain", "argument": 0, "body_bytes": 128, "mode": "sync"}
    attempts = group | tried | _ending(last) | _at(tried["index"], offsets) | {"chooser": None}
    stored = group | _at(tried["index"][reached], offsets[reached]) | {"send": tried["send"][reached]}
    stamps = (tried["start_ns"][reached] - _ORIGIN_NS) // _MS + 1_700_000_000_000
    stored |= {"store_timestamp_ms": stamps, "born_timestamp_ms": stamps, "body_ok": True, "flag": 0, "sys_flag": 0}
    stored |= _carried(f"{run}/{run}-{arm}", stored["send"]) if carrying else {"properties": None, "body_digest": None}
    queues = [{"broker": broker, "queue_id": queue} for broker, queue in QUEUES]
    route = group | {"route": np.ones(1, dtype=np.int64), "at_ns": _ORIGIN_NS - _MS, "queues": [queues]}
    rows = {
        TableName.SENDS: (sends | {"properties": None, "message": None}, made["send"].size),
        TableName.ATTEMPTS: (attempts, last.size),
        TableName.STORED: (stored, reached.size),
        TableName.ROUTES: (route, 1),
    }
    return {name: _table(name, columns, size) for name, (columns, size) in rows.items()}


def _table(name: TableName, columns: Mapping[str, Any], rows: int) -> pa.Table:
    schema = TABLES[name].schema
    arrays = [_array(columns[each.name], each.type, rows) for each in schema]
    return pa.table(arrays, schema=schema)


def _array(values: Any, kind: pa.DataType, rows: int) -> "pa.Array[Any]":
    """A column. A single value is repeated for every row."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        return values.cast(kind)
    if isinstance(values, np.ndarray | list):
        return pa.array(values, type=kind)
    if pa.types.is_dictionary(kind):
        return pa.array([values] * rows, type=pa.string()).cast(kind)
    return pa.array([values] * rows, type=kind)


def _word(codes: "np.ndarray[Any, Any]", words: Sequence[str | None]) -> "pa.Array[Any]":
    return pa.array(words, type=pa.string()).take(pa.array(codes)).dictionary_encode()


def _at(index: "np.ndarray[Any, Any]", offsets: "np.ndarray[Any, Any]") -> dict[str, Any]:
    return {"broker": _word(index // 4, ["broker-a", "broker-b"]), "queue_id": index % 4, "queue_offset": offsets}


def _ending(well: "np.ndarray[Any, Any]") -> dict[str, Any]:
    code = well.astype(np.int64)
    return {
        "outcome": _word(code, ["failed", "ok"]),
        "reason": _word(code, ["connect", "none"]),
        "error": _word(code, ["RemotingConnectException", None]),
        "code": None,
        "status": _word(code, [None, "SEND_OK"]),
    }


def _carried(topic: str, sends: "np.ndarray[Any, Any]") -> dict[str, Any]:
    """Properties that clients and brokers add in real runs, and the digest of the body."""
    numbers = [str(send) for send in sends.tolist()]
    head = '{"CLUSTER":"DefaultCluster","MSG_REGION":"DefaultRegion","TRACE_ON":"true","UNIQ_KEY":"'
    texts = [
        f'{head}{int(number) * 7919:032X}","WAIT":"true","rocketdiff.id":"{topic}/{number}"}}' for number in numbers
    ]
    digests = [hashlib.sha256(f"{topic}/{number}".encode().ljust(128, b".")).hexdigest()[:16] for number in numbers]
    return {"properties": texts, "body_digest": digests}
