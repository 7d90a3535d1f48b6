"""A case of literal tables: its streamed sends, and the facts of the pass."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from rocketdiff.analysis.case_pass import judge_case
from rocketdiff.analysis.case_trace import CaseTrace, TableKey
from rocketdiff.analysis.facts import DifferenceFact, Tally
from rocketdiff.core.answers.verdict import StoredAt
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.outcome import Outcome, Reason
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.tables import TABLES
from tests.analysis.by_hand import ENTRY, MS, SUBJECTS, S

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
    whole = [{"case": 1, "arm": 0} | USUAL[name] | row for row in rows]
    return pa.Table.from_pylist(whole, schema=TABLES[name].schema)


def trace(entry: CaseEntry = SMALL, subjects: dict[Arm, str] | None = None, **tables: Any) -> CaseTrace:
    """Tables by name, the same in both arms unless the name ends with an arm."""
    found: dict[TableKey, pa.Table] = {}
    for key, rows in tables.items():
        word, _, arm = key.partition("_")
        name = TableName(word)
        arms: list[Arm | None] = [None] if name is TableName.FAULTS else [Arm(arm)] if arm else list(Arm)
        found |= {(name, one): table(name, *rows) for one in arms}
    return CaseTrace("r1", subjects or SUBJECTS, entry, found)


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_sends_are_streamed_with_their_attempts(batch_rows: int) -> None:
    """Sends come with their attempts at every batch size, even a send that never returned."""
    attempts = [{"send": 0}, {"send": 1}, {"send": 1, "attempt": 1}, {"send": 2}]
    case = trace(sends=[{"send": 0}, {"send": 1}, {"send": 3, "thread": 1}], attempts=attempts)
    told = [
        (one.arm, one.thread, one.send, one.row is not None, len(one.attempts))
        for one in case.sends(CANDIDATE, batch_rows)
    ]
    assert told == [
        (CANDIDATE, 0, 0, True, 1),
        (CANDIDATE, 0, 1, True, 2),
        (CANDIDATE, 0, 2, False, 1),
        (CANDIDATE, 1, 3, True, 0),
    ]
    assert all(one.row is None or one.row.attempts == one.attempts for one in case.sends(CANDIDATE))
    assert list(trace().sends(CANDIDATE)) == []


def test_words_become_members_of_their_enumerations() -> None:
    """Words become enumeration members; a send without a mode (before schema 1.2) is synchronous."""
    row = {"send": 0, "outcome": "failed", "reason": "timeout", "kind": "selector", "error": SLOW, "status": None}
    attempt = {
        "send": 0,
        "outcome": "failed",
        "reason": "broker",
        "error": "MQBrokerException",
        "code": 2,
        "chooser": 5,
    }
    (one,) = trace(sends=[row], attempts=[attempt]).sends(BASELINE)
    assert one.row is not None
    assert (one.row.outcome, one.row.reason, one.row.kind) == (Outcome.FAILED, Reason.TIMEOUT, SendKind.SELECTOR)
    assert (one.row.mode, one.row.error, one.row.body_bytes, one.row.status) == (SendMode.SYNC, SLOW, 64, None)
    (only,) = one.attempts
    assert (only.outcome, only.reason, only.code, only.chooser) == (Outcome.FAILED, Reason.BROKER, 2, 5)
    (one,) = trace(sends=[row | {"mode": "async"}]).sends(BASELINE)
    assert one.row is not None and one.row.mode is SendMode.ASYNC


def test_faults_come_by_time_and_then_by_node() -> None:
    """Faults are ordered by time, then by node, not by episode."""
    rows = [
        {"node": "b", "inject_ns": 20},
        {"episode": 2, "node": "b", "inject_ns": 10, "kind": "kill"},
        {"episode": 3, "node": "a", "inject_ns": 20, "healed_ns": None},
    ]
    case = trace(faults=rows)
    assert [(one.episode, one.kind) for one in case.faults] == [
        (2, FaultKind.KILL),
        (3, FaultKind.PAUSE),
        (1, FaultKind.PAUSE),
    ]
    assert case.faults[1].healed_ns is None
    assert trace().faults == () and trace().routes(BASELINE) == {}
    assert trace(routes_candidate=[{"route": 4}]).routes(CANDIDATE) == {
        4: (("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1))
    }


def told(case: CaseTrace) -> dict[tuple[str, str, str, str], tuple[int, float]]:
    """Every tally of the pass, by check, arm, phase and key."""
    facts = [one.fact for one in judge_case(case)]
    return {(one.check, one.arm, one.phase, one.key): (one.n, one.total) for one in facts if isinstance(one, Tally)}


def differences(case: CaseTrace) -> list[str]:
    return [one.fact.signature for one in judge_case(case) if isinstance(one.fact, DifferenceFact)]


def whole(**others: Any) -> CaseTrace:
    """Four sends per arm over four queues, all stored; others: tables to replace."""
    places = [{"broker": one["broker"], "queue_id": one["queue_id"], "send": n} for n, one in enumerate(QUEUES)]
    times = [{"start_ns": n * 10 * MS, "end_ns": n * 10 * MS + MS} for n in range(4)]
    sends = [one | at | {"due_ns": at["start_ns"]} for one, at in zip(places, times, strict=True)]
    attempts = [one | at for one, at in zip(places, times, strict=True)]
    stored = [one | {"store_timestamp_ms": n * 10} for n, one in enumerate(places)]
    usual: dict[str, Any] = {"sends": sends, "attempts": attempts, "stored": stored, "routes": [{}]}
    return trace(**usual | others)


def test_everything_that_a_quiet_case_leaves() -> None:
    """A case without differences records what was read and judged of each arm."""
    assert differences(whole()) == []
    tallies = told(whole())
    for arm in ("baseline", "candidate"):
        counted = {
            key[:1] + key[2:]: n
            for key, (n, _) in tallies.items()
            if key[1] == arm
            and key[0] in ("stored", "foreign", "sends", "attempt", "rules", "unread", "loss", "duplication")
        }
        assert counted == {
            ("stored", "", "message"): 4,
            ("foreign", "", "message"): 0,
            ("sends", "calm", "ok"): 4,
            ("attempt", "calm", "broker-a"): 2,
            ("attempt", "calm", "broker-b"): 2,
            ("rules", "", "judged"): 4,
            ("loss", "calm", "stored"): 4,
            ("loss", "calm", "stored-late"): 0,
            ("duplication", "calm", "message"): 4,
            ("duplication", "calm", "accounted"): 4,
        }
    looked_at = {key[0] for key in tallies}
    assert {"queue-choice", "outcomes", "queue-choice.starts", "outcomes.connections", "outcomes.crowded"} <= looked_at


def test_a_message_of_nobodys_is_foreign_and_told() -> None:
    """A stored message without a planned send is foreign and reported as stray."""
    rows = [{"send": 4, "queue_offset": 8}, {"send": None, "queue_offset": 9}]
    case = whole(stored_candidate=rows)
    tallies = told(case)
    assert tallies["foreign", "candidate", "", "message"] == (2, 0)
    assert tallies["foreign", "baseline", "", "message"] == (0, 0)
    assert differences(case).count("loss.stray-message") == 2
    assert differences(case).count("loss.acknowledged-not-stored") == 4


def test_queues_that_were_not_read_are_told() -> None:
    """Queues not read back are counted, and no message is reported lost."""
    case = whole()
    unread = replace(
        case, tables={key: one for key, one in case.tables.items() if key != (TableName.STORED, CANDIDATE)}
    )
    tallies = told(unread)
    assert tallies["unread", "candidate", "", "queues"] == (1, 0)
    assert ("unread", "baseline", "", "queues") not in tallies and ("stored", "candidate", "", "message") not in tallies
    assert differences(unread) == []


def test_a_difference_is_told_from_the_first_due_send_on() -> None:
    """A difference shows both arms' calls and copies, 10 and 1,010 ms after the first due send."""
    case = whole(
        stored_candidate=[
            {"send": n, "broker": one["broker"], "queue_id": one["queue_id"]} for n, one in enumerate(QUEUES) if n != 1
        ]
    )
    moved = replace(case, entry=replace(case.entry, origin_ns=-S))
    for each, start_ms in ((case, 10), (moved, 1_010)):
        (one,) = [one.fact for one in judge_case(each) if isinstance(one.fact, DifferenceFact)]
        assert (one.signature, one.send, one.at_ns, one.weight) == ("loss.acknowledged-not-stored", 1, 10 * MS, 2)
        baseline, candidate = one.sides
        assert candidate.attempts[0].start_ms == start_ms
        assert (baseline.stored, candidate.stored) == ((StoredAt("broker-a", 1, 0),), ())
        assert candidate.call is not None
        assert candidate.call.elapsed_ms == 1.0
