"""What happened in a case about consumers, as lines of text, from its sealed tables."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import median
from typing import Any

from rocketdiff.core.arm import Arm
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.reader import has_table, read_table, require_whole
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName

Row = dict[str, Any]


def story_of(run: RunDirectory) -> Iterator[str]:
    """Yield the story of the first case of a run."""
    entry = run.entry(1)
    yield f"{entry.name}: {entry.status}{f', {entry.reason}' if entry.reason else ''}"
    yield f"run {run.path}"
    for name, breach in entry.breaches.items():
        yield f"{name} broke the protocol: {breach.signature}, expected {breach.expected}, saw {breach.seen}"
    if entry.status is not CaseStatus.COMPLETE:
        return
    require_whole(run)
    yield from (f"guard {guard.name}: {'held' if guard.held else 'BROKEN'}, {guard.seen}" for guard in entry.guards)
    yield "measured: " + ", ".join(f"{name} {value}" for name, value in entry.measured.items())
    origin_ns = entry.origin_ns or 0
    faults = _rows(run, TableName.FAULTS)
    for fault in faults:
        span = f"{_s(fault['injected_ns'], origin_ns)} to {_s(fault['heal_ns'], origin_ns)} s"
        yield f"{fault['kind']} of {fault['node']}: {span}"
    fed, held = _rows(run, TableName.FED), _rows(run, TableName.HELD)
    yield f"fed {len(fed)}: {_counted(row['outcome'] for row in fed)}; held {len(held)}"
    for arm in Arm:
        yield from _arm(run, arm, held, origin_ns, faults)


def _arm(run: RunDirectory, arm: Arm, held: list[Row], origin_ns: int, faults: list[Row]) -> Iterator[str]:
    calls, deliveries = _rows(run, TableName.CALLS, arm), _rows(run, TableName.DELIVERIES, arm)
    yield f"{arm}:"
    for member in _rows(run, TableName.MEMBERS, arm):
        joined = f"{_s(member['join_start_ns'], origin_ns)} to {_s(member['join_end_ns'], origin_ns)} s"
        left = f"{_s(member['leave_start_ns'], origin_ns)} to {_s(member['leave_end_ns'], origin_ns)} s"
        yield f"  member {member['member']} {member['client_id']}: joined {joined}, {member['ended']} {left}"
    yield f"  {len(calls)} calls, {len(deliveries)} deliveries: {_counted(row['result'] for row in calls)}"
    times = Counter(row["send"] for row in deliveries if row["times"] == 0)
    sends = {row["send"] for row in held}
    yield (
        f"  first deliveries: {len(sends & set(times))} of {len(sends)} held messages,"
        f" {sum(count > 1 for count in times.values())} more than once, {len(set(times) - sends)} not held"
    )
    damaged = sum(not row["body_ok"] for row in deliveries)
    yield f"  damaged bodies: {damaged}; retries: {sum(row['times'] > 0 for row in deliveries)}"
    yield from _resumed(calls, faults, origin_ns)
    yield from _lateness(calls, deliveries, run)
    returned = _rows(run, TableName.RETURNED, arm)
    yield f"  returned copies: {_counted(row['place'] for row in returned) or 'none'}"
    owned = _rows(run, TableName.OWNED, arm)
    for row in owned:
        queues = ", ".join(f"{queue['kind']} {queue['broker']}/{queue['queue_id']}" for queue in row["queues"])
        yield f"  owned at {_s(row['at_ns'], origin_ns)} s: {queues or 'nothing'}"
    yield f"  offset events: {_counted(row['what'] for row in _rows(run, TableName.OFFSETS, arm))}"
    last: dict[tuple[str, str, int], Row] = {}
    for row in _rows(run, TableName.COMMITTED, arm):
        last[row["kind"], row["broker"], row["queue_id"]] = row
    yield "  committed at the end: " + ", ".join(
        f"{kind} {broker}/{queue} {row['value']} of {row['end']}" for (kind, broker, queue), row in sorted(last.items())
    )
    most = max((len(row["ids"]) for row in _rows(run, TableName.LISTED, arm)), default=0)
    yield f"  most ids that a broker listed at once: {most}"


def _resumed(calls: list[Row], faults: list[Row], origin_ns: int) -> Iterator[str]:
    for fault in faults:
        healed = fault["heal_ns"]
        own = [row["start_ns"] for row in calls if row["broker"] == fault["node"] and row["kind"] == "fed"]
        during = [at_ns for at_ns in own if fault["proven_ns"] < at_ns < healed]
        after = min((at_ns for at_ns in own if at_ns >= healed), default=None)
        took = "never" if after is None else f"{(after - healed) / 1e6:.0f} ms after the resume"
        yield f"  {fault['node']}: {len(during)} calls during the {fault['kind']}, the next {took}"
        others = sorted(row["start_ns"] for row in calls if row["broker"] != fault["node"])
        gaps = [
            (later - earlier) / 1e6
            for earlier, later in pairwise(others)
            if fault["injected_ns"] < later and earlier < healed
        ]
        yield f"  other brokers: longest gap {max(gaps, default=0):.0f} ms during the {fault['kind']}"


def _lateness(calls: list[Row], deliveries: list[Row], run: RunDirectory) -> Iterator[str]:
    answered = {row["send"]: row["end_ns"] for row in _rows(run, TableName.FED)}
    began = {(row["member"], row["call"]): row["start_ns"] for row in calls}
    took = [
        (began[row["member"], row["call"]] - answered[row["send"]]) / 1e6
        for row in deliveries
        if row["times"] == 0 and row["send"] in answered
    ]
    if took:
        yield f"  delivered after its send was answered: median {median(took):.1f} ms, longest {max(took):.0f} ms"


def _rows(run: RunDirectory, table: TableName, arm: Arm | None = None) -> list[Row]:
    if not has_table(run, table, 1, arm):
        return []
    rows: list[Row] = read_table(run, table, 1, arm).to_pylist()
    return rows


def _counted(words: Iterable[str | None]) -> str:
    return ", ".join(f"{count} {word}" for word, count in Counter(words).most_common())


def _s(at_ns: int | None, origin_ns: int) -> str:
    return "?" if at_ns is None else f"{(at_ns - origin_ns) / 1e9:.2f}"
