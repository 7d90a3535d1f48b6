"""A manually built trace of one case, as the pass over its tables reads it."""

from dataclasses import replace
from typing import Any

import pyarrow as pa

from rocketdiff.analysis.case_trace import CaseTrace, TableKey
from rocketdiff.analysis.facts import Tally
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.core.arm import Arm
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.tables import TABLES
from tests.analysis.builders import ENTRY, MS, SUBJECTS, S

BASELINE, CANDIDATE = Arm.BASELINE, Arm.CANDIDATE

SLOW = "RemotingTimeoutException"

QUEUES = [{"broker": f"broker-{name}", "queue_id": queue} for name in "ab" for queue in range(2)]

SMALL = replace(ENTRY, queues_per_broker=2, sends_planned=4, origin_ns=0)

OF_SENDS: dict[str, Any] = {
    "thread": 0, "due_ns": 0, "start_ns": 0, "end_ns": MS, "outcome": "ok", "reason": "none", "status": "SEND_OK",
    "broker": "broker-a", "queue_id": 0, "queue_offset": 0, "route": 1, "route_after": 1, "kind": "plain", "argument": 0,
    "body_bytes": 64,
}  # fmt: skip

OF_ATTEMPTS: dict[str, Any] = {
    "thread": 0, "attempt": 0, "broker": "broker-a", "queue_id": 0, "start_ns": 0, "end_ns": MS, "outcome": "ok",
    "reason": "none", "status": "SEND_OK",
}  # fmt: skip

OF_STORED: dict[str, Any] = {
    "broker": "broker-a", "queue_id": 0, "queue_offset": 0, "store_timestamp_ms": 0, "born_timestamp_ms": 0, "body_ok": True,
}  # fmt: skip

OF_FAULTS: dict[str, Any] = {
    "episode": 1, "kind": "pause", "node": "broker-b", "inject_ns": 10 * S, "injected_ns": 10 * S, "proven_ns": 10 * S,
    "heal_ns": 12 * S, "healed_ns": 12 * S, "heal_proven_ns": 12 * S,
}  # fmt: skip

USUAL = {
    TableName.SENDS: OF_SENDS,
    TableName.ATTEMPTS: OF_ATTEMPTS,
    TableName.STORED: OF_STORED,
    TableName.SCHEDULED: OF_STORED,
    TableName.FAULTS: OF_FAULTS,
    TableName.ROUTES: {"route": 1, "at_ns": 0, "queues": QUEUES},
}


def table(name: TableName, *rows: dict[str, Any]) -> pa.Table:
    """Rows of one arm; missing fields have usual values."""
    whole_trace = [{"case": 1, "arm": 0} | USUAL[name] | row for row in rows]
    return pa.Table.from_pylist(whole_trace, schema=TABLES[name].schema)


def ended_attempts(*rows: tuple[int, str, int, int, str | None]) -> pa.Table:
    """Attempts as thread, broker, start and end in ns, error."""
    names = ("thread", "broker", "start_ns", "end_ns", "error")
    return table(TableName.ATTEMPTS, *(dict(zip(names, row, strict=True)) for row in rows))


def trace(entry: CaseEntry = SMALL, subjects: dict[Arm, str] | None = None, **tables: Any) -> CaseTrace:
    """Tables by name, the same in both arms unless the name ends with an arm."""
    found: dict[TableKey, pa.Table] = {}
    for key, rows in tables.items():
        word, _, arm = key.partition("_")
        name = TableName(word)
        arms: list[Arm | None] = [None] if name is TableName.FAULTS else [Arm(arm)] if arm else list(Arm)
        found |= {(name, one): table(name, *rows) for one in arms}
    return CaseTrace("r1", subjects or SUBJECTS, entry, found)


def tallies_of(case: CaseTrace) -> dict[tuple[str, str, str, str], tuple[int, float]]:
    """Every tally of the pass, by check, arm, phase and key."""
    facts = [item.fact for item in judge_case(case)]
    return {
        (fact.check, fact.arm, fact.phase, fact.key): (fact.n, fact.total) for fact in facts if isinstance(fact, Tally)
    }


def whole_trace(**others: Any) -> CaseTrace:
    """Four sends per arm over four queues, all stored; others: tables to replace."""
    places = [{"broker": one["broker"], "queue_id": one["queue_id"], "send": n} for n, one in enumerate(QUEUES)]
    times = [{"start_ns": n * 10 * MS, "end_ns": n * 10 * MS + MS} for n in range(4)]
    sends = [one | at | {"due_ns": at["start_ns"]} for one, at in zip(places, times, strict=True)]
    attempts = [one | at for one, at in zip(places, times, strict=True)]
    stored = [one | {"store_timestamp_ms": n * 10} for n, one in enumerate(places)]
    usual: dict[str, Any] = {"sends": sends, "attempts": attempts, "stored": stored, "routes": [{}]}
    return trace(**usual | others)
