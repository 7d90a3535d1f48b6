"""What `subject check` finds in the life of a member: one defective life per row."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.cluster.operations.stored import StoredRow
from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.consuming.plan import Allocation, ListenerKind, ListenerOutcome, ListenerRule, MessageModel
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.consuming import (
    CONTENT,
    OFFSETS,
    Allocated,
    CallResult,
    Consumed,
    ConsumingRecord,
    DeliveredMessage,
    Joined,
    Left,
    OffsetEvent,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.core.records.session import Hello
from rocketdiff.protocol.consuming import MemberSetup
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.run.subject_check.finding import CheckFinding
from rocketdiff.run.subject_check.member import converse
from rocketdiff.run.subject_check.member_findings import MemberTrial, member_findings
from rocketdiff.run.subject_check.one_subject import unheard
from rocketdiff.subjects.consuming.limits import MemberLimits
from rocketdiff.subjects.consuming.talk import ConsumingTalk
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.subjects.conftest import Scripted

MS = 1_000_000
ID = "192.0.2.2@x-m0"
FED, RETRY = ("T", "broker-a", 0), ("%RETRY%G", "broker-a", 0)
QUEUES = frozenset({FED, RETRY})
MESSAGES = 4
RULES = (
    ListenerRule(0, 10, 16, ListenerOutcome.SUCCESS, offset=3, work_ms=300),
    ListenerRule(1, 10, 1, ListenerOutcome.LATER, offset=1, delay_level=1),
)
SETUP = MemberSetup(
    member=0,
    instance="x-m0",
    name_servers=("127.0.0.1:9876",),
    topic="T",
    warm_topic="W",
    group="G",
    warm_group="G-warm",
    run="R",
    listener=ListenerKind.CONCURRENT,
    model=MessageModel.CLUSTERING,
    strategy=Allocation.AVG,
    work_ms=0,
    body_bytes=(128,),
    settings={},
    properties={},
)
STORED = tuple(
    StoredRow("broker-a", 0, send, f"R/T/{send}", send, 1_000 + send, 1_000, True, 0, 0, json.dumps({}), "")
    for send in range(MESSAGES)
)

Records = Sequence[ConsumingRecord]
Change = Callable[[Records], Records]


def call(number: int, send: int, *, times: int = 0, life: int = 1) -> tuple[Received, Consumed]:
    """Each begins 400 ms after the one before it, and takes 300 ms if a rule has it work, otherwise 1 ms."""
    at_ns = (100 + 400 * number) * MS
    queue, offset = (RETRY, 0) if times else (FED, send)
    message = DeliveredMessage(offset, times, 1_000 + send, body_ok=True, send=send, key=f"K{send}")
    result = CallResult.LATER if send == 1 and not times else CallResult.SUCCESS
    ended_ns = at_ns + (300 if send == 3 else 1) * MS
    return Received(number, life, 0, at_ns, *queue, (message,)), Consumed(number, ended_ns, result)


def sound() -> list[ConsumingRecord]:
    """It joins, consumes four messages and the one that comes back, commits, leaves, joins and leaves."""
    calls = [call(0, 0), call(1, 1), call(2, 2), call(3, 3), call(4, 1, times=1)]
    updates = [
        OffsetSeen(2 + number, 1, end.at_ns + MS, OffsetEvent.UPDATE, *FED, number + 1)
        for number, (_, end) in enumerate(calls[:MESSAGES])
    ]
    return [
        Joined(1, 1, 2, ID),
        Allocated(1, 1, 3, "T", "AVG", (ID,), (FED[1:],), (FED[1:],)),
        Allocated(2, 1, 3, "%RETRY%G", "AVG", (ID,), (RETRY[1:],), (RETRY[1:],)),
        Owned(1, 1, 4, (FED, RETRY)),
        OffsetSeen(1, 1, 5, OffsetEvent.QUERY, *FED, -1),
        *(record for pair in calls for record in pair),
        *updates,
        OffsetSeen(6, 1, 3_000 * MS, OffsetEvent.COMMIT, *FED, MESSAGES),
        Owned(2, 1, 3_001 * MS, ()),
        Left(1, 3_000 * MS, 3_001 * MS),
        Joined(2, 3_100 * MS, 3_101 * MS, ID),
        Owned(3, 2, 3_102 * MS, (FED, RETRY)),
        Owned(4, 2, 3_201 * MS, ()),
        Left(2, 3_200 * MS, 3_201 * MS),
    ]


def findings(records: Records, **changes: Any) -> list[CheckFinding]:
    transcript = Transcript()
    claims = changes.pop("claims", ("concurrent", "clustering", "allocations", "owned", "offsets"))
    transcript.keep(Hello(1, "acme", "1.0", claims, 1, 0, roles=("consumer",)))
    for record in records:
        transcript.keep(record)
    trial = MemberTrial(SETUP, RULES, QUEUES, MESSAGES, transcript, STORED, {0: (MESSAGES, MESSAGES)})
    return list(member_findings("member", replace(trial, **changes)))


def changed(kind: type[ConsumingRecord], places: Sequence[int], **fields: Any) -> Change:
    """Change the records of a kind at these places of their own order."""

    def change(records: Records) -> Records:
        own = [id(record) for record in records if isinstance(record, kind)]
        wanted = {own[place] for place in places}
        return [replace(record, **fields) if id(record) in wanted else record for record in records]

    return change


def without(kind: type[ConsumingRecord], *places: int) -> Change:
    def change(records: Records) -> Records:
        own = [id(record) for record in records if isinstance(record, kind)]
        gone = {own[place] for place in places} if places else set(own)
        return [record for record in records if id(record) not in gone]

    return change


def shown(place: int, **fields: Any) -> Change:
    """Change the message of a call."""

    def change(records: Records) -> Records:
        calls = [record for record in records if isinstance(record, Received)]
        (message,) = calls[place].messages
        return changed(Received, [place], messages=(replace(message, **fields),))(records)

    return change


def together(records: Records) -> Records:
    """Messages 0 and 1 come in one call, which ends well."""
    calls = [record for record in records if isinstance(record, Received)]
    at_once = changed(Received, [0], messages=(*calls[0].messages, *calls[1].messages))(records)
    return changed(Consumed, [1], result=CallResult.SUCCESS)(at_once)


def both(*changes: Change) -> Change:
    def change(records: Records) -> Records:
        for each in changes:
            records = each(records)
        return records

    return change


def also(*records: ConsumingRecord) -> Change:
    return lambda others: [*others, *records]


ORDERLY = {"setup": replace(SETUP, listener=ListenerKind.ORDERLY)}


def test_a_sound_member_has_no_problem() -> None:
    """Every question is answered once, without a problem; so are those about an orderly and a broadcasting one."""
    assert {each.problem for each in findings(sound())} == {""}
    assert len(findings(sound())) == 10
    assert {each.problem for each in findings(sound(), **ORDERLY)} == {""}
    alone = [record for record in sound() if not isinstance(record, Allocated | OffsetSeen)]
    broadcasting = replace(SETUP, model=MessageModel.BROADCASTING)
    assert {each.problem for each in findings(alone, setup=broadcasting, committed={0: (None, 4)})} == {""}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            changed(Joined, [0], error="IllegalStateException", message="no route"),
            "life 1: the call to start threw IllegalStateException: no route",
        ),
        (changed(Joined, [0, 1], client_id=None), "joined names no client_id"),
        (changed(Left, [0], error="SIGSEGV"), "life 1: its process died of SIGSEGV when it was to leave"),
        (changed(Left, [0], error="IOException"), "life 1: its shutdown threw IOException when it was to leave"),
        (without(Allocated), "no allocation of T, though hello claims allocations"),
        (without(Allocated, 1), "no allocation of %RETRY%G, though"),
        (changed(Allocated, [0], result=()), "as the only member its share of T has 0 of 1 queue"),
        (changed(Allocated, [0], ids=("other",)), "allocation 1 is among ['other'], without the client_id of joined"),
        (changed(Owned, [0], queues=(FED,)), "life 1: it never owned all 2 queues of its topics, 1 at most"),
        (without(Owned, 2), "life 2: it never owned all 2 queues of its topics, 0 at most"),
        (without(Owned, 1), "life 1: it left, and its last owned set still has 2 queues, not none"),
        (shown(2, send=None), "call 2 shows a message without send"),
        (shown(2, body_ok=False), "message 2 is shown with body_ok false"),
        (
            both(without(Received, 2), without(Consumed, 2)),
            "1 of 4 messages never came to the listener, the first is number 2",
        ),
        (shown(2, offset=7), "call 2 shows message 2 at ('broker-a', 0, 7), and it lies at ('broker-a', 0, 2)"),
        (changed(Received, [2], broker="broker-b"), "call 2 shows message 2 at ('broker-b', 0, 2)"),
        (shown(2, store_ms=7), "message 2 is shown with store_ms 7, and was stored at 1002"),
        (together, "call 0 with messages 0, 1 was to end with later, and ended with success"),
        (
            changed(Consumed, [1], result=CallResult.SUCCESS),
            "call 1 with message 1 was to end with later, and ended with success",
        ),
        (
            changed(Consumed, [4], result=CallResult.LATER),
            "call 4 with message 1 (times 1) was to end with success, and ended with later",
        ),
        (changed(Consumed, [3], at_ns=1_301 * MS), "call 3 with message 3 was to work for 300 ms, and took 1 ms"),
        (
            both(without(Received, 4), without(Consumed, 4)),
            "message 1 failed with later and did not come back with times 1",
        ),
        (shown(4, times=0), "message 1 failed with later and did not come back with times 1"),
        (also(*call(5, 0)), "message 0 came again in call 5, though its call had ended with success"),
        (also(*call(5, 0, life=2)), "1 message came again after it had left and joined, the first is number 0"),
        (without(OffsetSeen), "no query or update or commit among its offset events, though hello claims offsets"),
        (
            changed(OffsetSeen, [4], at_ns=1_310 * MS),
            "offset event 5 (update 4) acknowledges message 3 at offset 3 before its call 3 has ended",
        ),
        (changed(OffsetSeen, [1], value=4, at_ns=1_400 * MS), "offset event 2 (update 4) acknowledges message 3"),
    ],
)
def test_each_defect_of_a_member_is_one_sentence(change: Change, problem: str) -> None:
    """A defective life has a problem that begins with this sentence; the sound one has none."""
    problems = [each.problem for each in findings(change(sound())) if each.problem]
    assert any(each.startswith(problem) for each in problems), problems


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            both(shown(0, send=2, offset=2), shown(2, send=0, offset=0)),
            "message 1 came to an orderly listener after message 2 of the same queue",
        ),
        (
            changed(Received, [1], at_ns=100 * MS),
            "calls 0 and 1 of an orderly listener are of one queue and at the same time",
        ),
    ],
)
def test_an_orderly_listener_is_called_in_order_and_one_at_a_time(change: Change, problem: str) -> None:
    """What a concurrent listener may see is a problem for an orderly one."""
    problems = [each.problem for each in findings(change(sound()), **ORDERLY) if "order" in each.problem]
    assert problems == [problem]
    assert not [each.problem for each in findings(change(sound())) if "order" in each.problem]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"committed": {0: (2, 4)}}, "queue 0 ends at 4, and 2 is committed after left: commit what was consumed"),
        ({"committed": {0: (None, 4)}}, "queue 0 ends at 4, and nothing is committed after left"),
        ({"listed": (ID,)}, f"the broker still lists {ID} after left: unregister"),
        ({"has_stopped": False}, "it was still there two seconds after stop"),
        ({"begun_ns": 5_000 * MS}, "it is 5,000 ms behind the host's monotonic clock"),
    ],
)
def test_a_finding_from_outside_is_one_sentence(changes: dict[str, Any], problem: str) -> None:
    """Offsets and ids that a broker has, the end of the process and its clock are asked of others."""
    (found,) = [each.problem for each in findings(sound(), **changes) if each.problem]
    assert found.startswith(problem)


def test_claims_that_are_lacking_are_not_asked_for() -> None:
    """A member that reports its calls only lacks nothing; with content a message has its key."""
    unseen = changed(Joined, [0, 1], client_id=None)(sound())
    quiet = [each for each in unseen if not isinstance(each, OffsetSeen | Allocated | Owned)]
    assert {each.problem for each in findings(quiet, claims=("concurrent", "clustering"))} == {""}
    keyless = shown(2, key=None)(sound())
    (found,) = [each.problem for each in findings(keyless, claims=(OFFSETS, CONTENT)) if each.problem]
    assert found == "hello claims content, and messages are shown without their key"


HELLO = {
    "type": "hello",
    "protocol": 1,
    "client": "toy",
    "version": "scripted",
    "roles": ["consumer"],
    "pid": 1,
    "clock_ns": "@now",
}
CLAIMED = {"capabilities": ["concurrent", "clustering", "allocations", "owned", "offsets"]}
READY: list[list[Any]] = [
    ["say", HELLO | CLAIMED],
    ["await", "setup"],
    ["say", {"type": "ready", "clock_ns": "@now"}],
    ["await", "join"],
]
JOINED = {"type": "joined", "incarnation": 1, "start_ns": "@now", "end_ns": "@now", "client_id": ID}
LEFT = {"type": "left", "incarnation": 1, "start_ns": "@now", "end_ns": "@now"}
RECEIVED = {
    "type": "received",
    "call": 0,
    "incarnation": 1,
    "thread": 0,
    "at_ns": "@now",
    "topic": "T",
    "broker": "broker-a",
    "queue_id": 0,
    "messages": [{"offset": 0, "send": 0, "times": 0, "store_ms": 1, "body_ok": True}],
}
THROWN = {"error": "MQClientException", "message": "no name server answers"}


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            [["say", HELLO | CLAIMED], ["await", "setup"], ["exit", 3]],
            "protocol.died: expected toy:scripted to run until it receives stop; saw it exited with status 3 in stage PREPARING",
        ),
        (
            [*READY, ["exit", 3]],
            "protocol.died: expected toy:scripted to run until it receives stop; saw it exited with status 3 in stage RUNNING, 0 calls ended, 0 open",
        ),
        (READY, "protocol.stalled: expected joined after join within 0.5 s; saw nothing for 0."),
        (
            [*READY, ["say", JOINED | {"client_id": "192.0.2.2@x-m1"}]],
            "protocol.wrong-member: expected a client id with the instance x-m0; saw 192.0.2.2@x-m1",
        ),
        (
            [*READY, ["say", JOINED], ["say", RECEIVED]],
            "protocol.stalled: expected the end of call 0 within 0.5 s; saw nothing for 0.",
        ),
        (
            [*READY, ["say", JOINED], ["await", "leave"], ["say", LEFT], ["sleep", 0.1], ["say", RECEIVED]],
            "protocol.after-left: expected no call that begins after left; saw call 0 ",
        ),
        (
            [*READY, ["say", JOINED], ["await", "leave"]],
            "protocol.stalled: expected left after leave within 0.5 s; saw nothing for 0.",
        ),
        ([*READY, ["say", JOINED | THROWN], ["await", "leave"], ["exit", 3]], "protocol.died: "),
        (
            [*READY, ["say", {"type": "failed", "stage": "join", "message": "no such call"}]],
            "protocol.failed: expected the subject to go on; saw join: no such call",
        ),
        ([*READY, ["say", {"type": "joint"}]], "protocol.unknown-record: "),
    ],
)
def test_a_broken_member_ends_its_trial_with_one_sentence(
    steps: list[Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member that dies, stalls, answers for another or calls its listener after it has left is named by the first violation."""
    monkeypatch.setattr("rocketdiff.run.subject_check.member.SHARE_S", 0.3)
    monkeypatch.setattr("rocketdiff.run.subject_check.member.BACK_S", 1.0)
    trial = MemberTrial(SETUP, RULES, QUEUES, MESSAGES)
    talk = ConsumingTalk(SETUP, RULES, MemberLimits(join_s=0.5, call_s=0.5, leave_s=0.5))
    with (
        SubjectProcess(Scripted(steps), CANDIDATE, tmp_path, on_line=unheard) as process,
        pytest.raises(SubjectBroken) as raised,
    ):
        converse(process, talk, trial, nothing, nothing)
    assert f"{raised.value.signature}: {raised.value}".startswith(message)


def test_a_start_that_throws_is_left_and_tried_again(tmp_path: Path) -> None:
    """Both lives end; the finding is the error of each start."""
    again: list[list[Any]] = [
        ["await", "join"],
        ["say", JOINED | THROWN | {"incarnation": 2}],
        ["await", "leave"],
        ["say", LEFT | {"incarnation": 2}],
    ]
    steps: list[list[Any]] = [
        *READY,
        ["say", JOINED | THROWN],
        ["await", "leave"],
        ["say", LEFT],
        *again,
        ["say", {"type": "done", "calls": 0}],
    ]
    trial = MemberTrial(SETUP, RULES, QUEUES, 0)
    with SubjectProcess(Scripted(steps), CANDIDATE, tmp_path, on_line=unheard) as process:
        converse(process, ConsumingTalk(SETUP, RULES, MemberLimits()), trial, nothing, nothing)
    problems = [each.problem for each in member_findings("member", trial) if each.problem]
    assert problems == [
        f"life {life}: the call to start threw MQClientException: no name server answers" for life in (1, 2)
    ]


def nothing() -> None:
    """Feed nothing, ask nothing."""
