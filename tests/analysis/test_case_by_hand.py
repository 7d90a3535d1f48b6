"""A case of literal tables: its streamed sends, and the facts of the pass."""

import gc
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from rocketdiff.analysis.case_trace import CaseTrace, TableKey
from rocketdiff.analysis.facts import DifferenceFact, LaneBar, Tally
from rocketdiff.analysis.sending import case_pass
from rocketdiff.analysis.sending.case_pass import PLAIN_REPLAY, all_stored, judge_case
from rocketdiff.analysis.sending.sends import attempts_by_send, sends_of
from rocketdiff.core.answers.verdict import StoredAt
from rocketdiff.core.sends.knowable import PROXY_CHOOSES
from rocketdiff.core.sends.outcome import Outcome, Reason
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.checks import CHECKS, OF_QUEUES
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.tables import TABLES
from tests.analysis.builders import MS, S
from tests.analysis.trace_builders import BASELINE, CANDIDATE, QUEUES, SLOW, SMALL, tallies_of, trace, whole_trace


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_sends_are_streamed_with_their_attempts(batch_rows: int) -> None:
    """Sends come with their attempts at every batch size, even a send that never returned."""
    attempts = [{"send": 0}, {"send": 1}, {"send": 1, "attempt": 1}, {"send": 2}]
    case = trace(sends=[{"send": 0}, {"send": 1}, {"send": 3, "thread": 1}], attempts=attempts)
    streamed = [
        (send.arm, send.thread, send.send, send.row is not None, len(send.attempts))
        for send in sends_of(case, CANDIDATE, batch_rows)
    ]
    assert streamed == [
        (CANDIDATE, 0, 0, True, 1),
        (CANDIDATE, 0, 1, True, 2),
        (CANDIDATE, 0, 2, False, 1),
        (CANDIDATE, 1, 3, True, 0),
    ]
    last = trace(sends=[{"send": 0}], attempts=[{"send": 0}, {"send": 1}])
    assert [(send.send, send.row is not None) for send in sends_of(last, BASELINE, batch_rows)] == [
        (0, True),
        (1, False),
    ]
    assert all(send.row is None or send.row.attempts == send.attempts for send in sends_of(case, CANDIDATE))
    assert list(sends_of(trace(), CANDIDATE)) == []
    assert attempts_by_send(case, CANDIDATE)[:4].tolist() == [1, 2, 1, 0]
    assert not attempts_by_send(trace(), CANDIDATE).any()


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
    (one,) = sends_of(trace(sends=[row], attempts=[attempt]), BASELINE)
    assert one.row is not None
    assert (one.row.outcome, one.row.reason, one.row.kind) == (Outcome.FAILED, Reason.TIMEOUT, SendKind.SELECTOR)
    assert (one.row.mode, one.row.error, one.row.body_bytes, one.row.status) == (SendMode.SYNC, SLOW, 64, None)
    (only,) = one.attempts
    assert (only.outcome, only.reason, only.code, only.chooser) == (Outcome.FAILED, Reason.BROKER, 2, 5)
    (one,) = sends_of(trace(sends=[row | {"mode": "async"}]), BASELINE)
    assert one.row is not None and one.row.mode is SendMode.ASYNC


@pytest.mark.parametrize(
    ("attempt", "outcome"),
    [
        ({"outcome": "ok"}, Outcome.OK),
        ({"outcome": "unknown", "status": None}, Outcome.UNKNOWN),
        ({"outcome": "unknown", "status": None, "error": SLOW}, Outcome.UNKNOWN),
        ({"outcome": "failed", "status": None, "error": "RemotingConnectException"}, Outcome.FAILED),
    ],
)
def test_the_outcome_of_a_streamed_attempt(attempt: dict[str, Any], outcome: Outcome) -> None:
    """An attempt without an error is OK, or unknown if nobody answers one-way requests."""
    (one,) = sends_of(trace(attempts=[{"send": 0} | attempt]), BASELINE)
    assert [each.outcome for each in one.attempts] == [outcome]
    assert [each.oneway for each in one.attempts] == [outcome is Outcome.UNKNOWN and "error" not in attempt]


REASON = "nothing got through: python:5.3.3 refused all 2 messages (RuntimeException)"
REFUSED: dict[str, Any] = {
    "error": "RuntimeException",
    "status": None,
    "outcome": "failed",
    "reason": "rejected",
    "queue_offset": None,
}


def unknowable(case: CaseTrace) -> dict[tuple[str, str], list[str]]:
    """By arm and reason: the checks without an answer."""
    found: dict[tuple[str, str], list[str]] = {}
    for check, arm, _, why in sorted(tallies_of(case)):
        if check.startswith("unknowable: "):
            found.setdefault((arm, why), []).append(check.removeprefix("unknowable: "))
    return found


def test_limits_of_a_case_are_noted() -> None:
    """Behind a proxy no queue is known; if a client refuses every message, only checks of its calls have an answer."""
    proxied = replace(SMALL, topology="two-masters-proxy")
    assert unknowable(whole_trace(entry=proxied)) == {("candidate", PROXY_CHOOSES): sorted(OF_QUEUES)}
    refused = [{"send": n, **REFUSED} for n in range(2)]
    answered = {"outcomes", "callbacks", "resources", "protocol", "validity"}
    assert unknowable(whole_trace(sends_candidate=refused, attempts_candidate=[])) == {
        ("candidate", REASON): sorted(CHECKS.keys() - answered)
    }
    cases: tuple[dict[str, Any], ...] = (
        {"sends_candidate": refused},
        {"sends_candidate": [*refused, {"send": 2}], "attempts_candidate": []},
        {"sends_candidate": [], "attempts_candidate": []},
        {"sends_candidate": [{**refused[0], "error": SLOW}], "attempts_candidate": []},
    )
    for others in cases:
        assert unknowable(whole_trace(**others)) == {}


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


def differences(case: CaseTrace, *, plainly: bool = False) -> list[str]:
    found = [item.fact for item in judge_case(case, plainly=plainly)]
    return [fact.signature for fact in found if isinstance(fact, DifferenceFact)]


def test_everything_that_a_quiet_case_leaves() -> None:
    """A case without differences records what was read and judged of each arm."""
    assert differences(whole_trace()) == []
    tallies = tallies_of(whole_trace())
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


def test_messages_without_our_id_are_counted_as_foreign() -> None:
    """A stored message without a planned send is foreign and reported as stray."""
    rows = [{"send": 4, "queue_offset": 8}, {"send": None, "queue_offset": 9}]
    case = whole_trace(stored_candidate=rows)
    tallies = tallies_of(case)
    assert tallies["foreign", "candidate", "", "message"] == (2, 0)
    assert tallies["foreign", "baseline", "", "message"] == (0, 0)
    for plainly in (False, True):
        assert differences(case, plainly=plainly).count("loss.stray-message") == 2
    assert differences(case).count("loss.acknowledged-not-stored") == 4


def test_queues_that_were_not_read_are_counted() -> None:
    """Queues not read back are counted, and no message is reported lost."""
    case = whole_trace()
    unread = replace(
        case, tables={key: one for key, one in case.tables.items() if key != (TableName.STORED, CANDIDATE)}
    )
    tallies = tallies_of(unread)
    assert tallies["unread", "candidate", "", "queues"] == (1, 0)
    assert ("unread", "baseline", "", "queues") not in tallies and ("stored", "candidate", "", "message") not in tallies
    assert differences(unread) == []


@pytest.mark.parametrize("plainly", [False, True], ids=["columns", "plain"])
def test_a_call_that_never_returned_has_no_result_to_judge(plainly: bool) -> None:
    """Its attempts are known, and whether its message is stored; that it has no end is asked by ``protocol``."""
    threads = [{"send": n, "thread": int(n == 3), **place} for n, place in enumerate(QUEUES)]
    latency = replace(SMALL, settings=ClientSettings(send_latency_fault_enable=True))
    unreturned = whole_trace(entry=latency, sends=threads[:3], attempts=threads)
    facts = [item.fact for item in judge_case(unreturned, plainly=plainly)]
    assert [fact for fact in facts if isinstance(fact, DifferenceFact)] == []
    ends = {
        (fact.arm, fact.phase, fact.key): fact.n for fact in facts if isinstance(fact, Tally) and fact.check == "sends"
    }
    assert ends == {(arm, "calm", "ok"): 3 for arm in ("baseline", "candidate")}


def test_a_difference_is_timed_from_the_first_due_send() -> None:
    """A difference shows both arms' calls and copies, 10 and 1,010 ms after the first due send."""
    case = whole_trace(
        stored_candidate=[
            {"send": n, "broker": one["broker"], "queue_id": one["queue_id"]} for n, one in enumerate(QUEUES) if n != 1
        ]
    )
    moved, unbegun = (replace(case, entry=replace(case.entry, origin_ns=origin_ns)) for origin_ns in (-S, None))
    for each, start_ms in ((case, 10), (moved, 1_010), (unbegun, 10)):
        (one,) = [item.fact for item in judge_case(each) if isinstance(item.fact, DifferenceFact)]
        assert (one.signature, one.send, one.at_ns, one.weight) == ("loss.acknowledged-not-stored", 1, 10 * MS, 2)
        baseline, candidate = one.sides
        assert (baseline.arm, candidate.arm) == ("baseline", "candidate")
        assert candidate.attempts[0].start_ms == start_ms
        assert (baseline.stored, candidate.stored) == ((StoredAt("broker-a", 1, 0),), ())
        assert candidate.call is not None
        assert candidate.call.elapsed_ms == 1.0


@pytest.mark.parametrize(("level", "is_known"), [(None, True), (0, True), (1, False)])
def test_kept_back_copies_of_delayed_messages_must_have_been_read(level: int | None, is_known: bool) -> None:
    """Kept-back messages must be read, or one that still waits would look lost."""
    stored, sends = (
        TABLES[TableName.STORED].schema.empty_table(),
        pa.table({"delay_level": pa.array([level], pa.int32())}),
    )
    tables: dict[TableKey, pa.Table] = {(TableName.STORED, BASELINE): stored, (TableName.SENDS, BASELINE): sends}
    case = CaseTrace("run", {}, SMALL, tables)
    assert (all_stored(case, BASELINE) is not None) is is_known
    read = replace(case, tables=tables | {(TableName.SCHEDULED, BASELINE): stored})
    assert all_stored(read, BASELINE) is stored


PROXIED = replace(SMALL, topology="two-masters-proxy")


@pytest.mark.parametrize(
    ("entry", "wanted", "steps"),
    [
        (SMALL, None, {"replayed"}),
        (SMALL, ["attempts"], {"replayed"}),
        (SMALL, ["loss", "attempts"], {"replayed"}),
        (SMALL, ["loss"], set()),
        (SMALL, ["loss", "validity"], set()),
        (PROXIED, None, {"called"}),
        (PROXIED, ["attempts"], {"called"}),
        (PROXIED, ["loss"], set()),
    ],
)
def test_sends_are_replayed_for_checks_by_the_rules(
    entry: CaseEntry, wanted: list[str] | None, steps: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls of clients of a proxy are judged without a replay; a check alone has its facts and no bars."""
    taken = set()

    def noting(step: str) -> Any:
        original = getattr(case_pass, step)

        def note(*arguments: Any) -> Any:
            taken.add(step)
            return original(*arguments)

        return note

    for step in ("replayed", "called"):
        monkeypatch.setattr(case_pass, step, noting(step))
    failed = {"send": 1, "error": SLOW, "status": None, "outcome": "unknown", "reason": "timeout"}
    case = whole_trace(entry=entry, attempts=[{"send": 0}, failed, {"send": 2}, {"send": 3}], faults=[{}])
    facts = [one.fact for one in judge_case(case, wanted=wanted, plainly=True)]
    assert taken == steps
    assert any(isinstance(fact, LaneBar) for fact in facts) is (wanted is None)
    assert {"loss"} & set(wanted or ["loss"]) == {fact.check for fact in facts if isinstance(fact, Tally)} & {"loss"}
    read = {
        (fact.arm, fact.n)
        for fact in facts
        if isinstance(fact, Tally) and (fact.check, fact.key) == ("stored", "message")
    }
    assert read == {("baseline", 4), ("candidate", 4)}


def test_an_attempt_without_an_answer_or_an_error_is_of_a_one_way_call() -> None:
    """A timeout is none."""
    unanswered = {"outcome": "unknown", "status": None}
    attempts = [{"send": 0} | unanswered, {"send": 1, "error": SLOW, "reason": "timeout"} | unanswered, {"send": 2}]
    case = trace(sends=[{"send": number} for number in range(3)], attempts=attempts)
    assert [one.attempts[0].oneway for one in sends_of(case, BASELINE)] == [True, False, False]


def test_queues_that_were_not_read_back_are_counted() -> None:
    """Once for each arm."""
    tallies = tallies_of(trace(sends=[{"send": 0}], attempts=[{"send": 0}], routes=[{}]))
    assert {key: n for key, (n, _) in tallies.items() if key[0] == "unread"} == {
        ("unread", arm, "", "queues"): 1 for arm in ("baseline", "candidate")
    }


def test_checks_of_what_the_run_states_have_no_facts() -> None:
    """Nothing is read for them."""
    assert list(judge_case(whole_trace(), wanted=["validity", "protocol"])) == []


@pytest.mark.parametrize(
    ("plainly", "value", "is_plain"),
    [
        (True, "", True),
        (False, "1", False),
        (None, None, False),
        (None, "", False),
        (None, "0", False),
        (None, "1", True),
    ],
)
def test_the_environment_may_ask_for_the_plain_replay(
    plainly: bool | None, value: str | None, is_plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the caller decides. A pass over columns does not scan earlier objects again and again."""
    asked: list[int] = []
    monkeypatch.setattr(case_pass, "add_calm_sends", lambda *_, **__: asked.append(gc.get_freeze_count()))
    frozen = gc.get_freeze_count()
    if value is None:
        monkeypatch.delenv(PLAIN_REPLAY, raising=False)
    else:
        monkeypatch.setenv(PLAIN_REPLAY, value)
    list(judge_case(whole_trace(), plainly=plainly))
    assert [count > frozen for count in asked] == ([] if is_plain else [True])
    assert gc.get_freeze_count() == 0
