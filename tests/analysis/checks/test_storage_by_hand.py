"""Stored messages of manually built sends: unexplained copies, losses, strays and time limits."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.context import CaseObserver
from rocketdiff.analysis.checks.storage import loss
from rocketdiff.analysis.checks.storage.duplication import Duplication
from rocketdiff.analysis.checks.storage.loss import Loss, note_strays
from rocketdiff.analysis.send_view import Copy, Fate
from rocketdiff.analysis.steps.reconciled import Stray
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.oracle.producer.asynchronous.habits import AsyncHabits
from rocketdiff.traces.manifest import ClockAnchor
from tests.analysis.by_hand import ENTRY, MS, S, ended, facts_of, fault, made, pair, signatures, tried

BASELINE, CANDIDATE = Arm.BASELINE, Arm.CANDIDATE
SLOW, REFUSED, CONNECT = "RemotingTimeoutException", "MQBrokerException", "RemotingConnectException"
CONFUSED = AsyncHabits(loses_callbacks=False, confuses_answers=True)
PAUSE = fault(10 * S, 12 * S)
ONEWAY, ASYNC = SendMode.ONEWAY, SendMode.ASYNC
NO_CLOCK = replace(ENTRY, clock=None)


def at(broker: str = "broker-b", queue_id: int = 0, offset: int = 0, stored_ms: int = 0, *, whole: bool = True) -> Copy:
    return Copy(broker, queue_id, offset, stored_ms, whole)


def facts(make: Any, *sides: Any, **named: Any) -> CaseFacts:
    """Each side is a send that its arm made alone."""
    return facts_of([pair(one, None) if one.arm is BASELINE else pair(None, one) for one in sides], make, **named)


TOO_MANY, ELSEWHERE = ["duplication.stored-more-than-attempted 1"], ["duplication.stored-elsewhere-than-claimed 1"]
HERE, THERE = at(), at("broker-a")
FAILED_THERE = tried(0, 1, SLOW, broker="broker-a")


@pytest.mark.parametrize(
    ("copies", "attempts", "wanted"),
    [
        ([HERE], [tried(0, 1)], []),
        ([HERE, HERE], [tried(0, 1)], TOO_MANY),
        ([HERE, HERE], [tried(0, 1, SLOW), tried(1, 2, attempt=1)], []),
        ([HERE, HERE, HERE], [tried(0, 1, SLOW), tried(1, 2, attempt=1)], TOO_MANY),
        ([HERE, THERE], [FAILED_THERE, tried(1, 2, attempt=1)], []),
        ([THERE, THERE], [FAILED_THERE, tried(1, 2, attempt=1)], TOO_MANY),
        ([THERE], [tried(0, 1)], ELSEWHERE),
        ([at(queue_id=1)], [tried(0, 1)], ELSEWHERE),
        ([HERE, THERE], [tried(0, 1)], sorted([*TOO_MANY, *ELSEWHERE])),
        ([HERE], [tried(0, 1, REFUSED, code=2)], TOO_MANY),
        ([HERE], [tried(0, 1, CONNECT)], TOO_MANY),
        ([HERE], [tried(0, 1, SLOW)], []),
        ([HERE, HERE], [], []),
        ([], [tried(0, 1)], []),
    ],
)
def test_copies_are_accounted_for_by_attempts(copies: list[Copy], attempts: list[Attempt], wanted: list[str]) -> None:
    """An attempt that did not certainly fail explains one copy in its queue; without attempts nothing is judged."""
    found = facts(Duplication, made(CANDIDATE, 0, *attempts, copies=copies))
    assert signatures(found) == wanted
    counted = {key: found.n("duplication", key) for key in ("message", "stored-twice", "accounted")}
    assert counted == {
        "message": bool(copies),
        "stored-twice": len(copies) > 1,
        "accounted": bool(copies and attempts),
    }
    assert facts(Duplication, made(CANDIDATE, 0, *attempts, copies=None)).tallies == {}


def test_a_call_that_never_returned_is_accounted_for_too() -> None:
    """A call that never returned, and found no connection, explains no copy."""
    side = made(CANDIDATE, 0, tried(0, 1, CONNECT), copies=[HERE], mode=ASYNC)
    assert signatures(facts(Duplication, replace(side, row=None))) == TOO_MANY


def test_what_is_said_of_copies_too_many() -> None:
    """The example names allowed and existing copies by queue."""
    found = facts(Duplication, made(CANDIDATE, 0, tried(0, 1), copies=[HERE, HERE, at(queue_id=1)]))
    told = {one.signature: one.example for each in found.divergences.values() for one in each}
    assert told["duplication.stored-more-than-attempted"].expected.startswith("at most 1 copy in broker-b queue 0, one")
    assert told["duplication.stored-more-than-attempted"].observed == "2 copies in broker-b queue 0"
    assert told["duplication.stored-elsewhere-than-claimed"].expected == "copies only in broker-b queue 0"
    assert told["duplication.stored-elsewhere-than-claimed"].observed == "1 copy in broker-b queue 1"
    elsewhere = facts(Duplication, made(CANDIDATE, 0, tried(0, 1), copies=[HERE, at(queue_id=1)]))
    told = {one.signature: one.example for each in elsewhere.divergences.values() for one in each}
    assert told["duplication.stored-more-than-attempted"].expected.startswith("at most 1 in all")
    assert (
        told["duplication.stored-more-than-attempted"].observed
        == "1 copy in broker-b queue 0, 1 copy in broker-b queue 1"
    )


NO_CONNECTION = tried(11 * S, 11 * S + 1, CONNECT)


@pytest.mark.parametrize(
    ("mode", "attempts", "wanted"),
    [
        (ASYNC, [NO_CONNECTION], []),
        (SendMode.SYNC, [NO_CONNECTION], TOO_MANY),
        (ASYNC, [tried(11 * S, 11 * S + 1, REFUSED, code=2)], TOO_MANY),
        (ASYNC, [tried(11 * S, 11 * S + 1, "MQClientException")], []),
        (ASYNC, [replace(NO_CONNECTION, broker="broker-a")] * 2 + [NO_CONNECTION], TOO_MANY),
        (ASYNC, [replace(NO_CONNECTION, broker="broker-a"), NO_CONNECTION], []),
        (ASYNC, [NO_CONNECTION, replace(NO_CONNECTION, broker="broker-a")], TOO_MANY),
    ],
)
def test_the_last_of_an_asynchronous_sends_attempts_may_hide_a_retry(
    mode: SendMode, attempts: list[Attempt], wanted: list[str]
) -> None:
    """An asynchronous send's last attempt may hide a retry, unless it is the third or the broker answered."""
    told = [replace(one, attempt=n) for n, one in enumerate(attempts)]
    assert signatures(facts(Duplication, made(CANDIDATE, 0, *told, copies=[HERE], mode=mode))) == wanted


@pytest.mark.parametrize(
    ("copies", "habits", "start_s", "wanted", "refused"),
    [
        ([HERE], CONFUSED, 11, [], 1),
        ([HERE], AsyncHabits(False), 11, TOO_MANY, 0),
        ([HERE], CONFUSED, 1, TOO_MANY, 0),
        ([HERE, HERE], CONFUSED, 11, TOO_MANY, 1),
        ([THERE], CONFUSED, 11, ELSEWHERE, 0),
    ],
)
def test_a_refusal_may_be_anothers_where_answers_are_confused(
    copies: list[Copy], habits: AsyncHabits, start_s: int, wanted: list[str], refused: int
) -> None:
    """Where answers are confused near a fault, a refused attempt may have left one copy."""
    attempt = tried(start_s * S, start_s * S + 1, REFUSED, code=2)
    side = made(CANDIDATE, 0, attempt, copies=copies, mode=ASYNC, faults=(PAUSE,))
    found = facts(Duplication, side, faults=(PAUSE,), habits=habits)
    assert signatures(found) == wanted
    assert found.n("duplication.refused", "stored") == refused


def acknowledged(send: int, late_ms: int, arm: Arm = CANDIDATE, **row: Any) -> Any:
    """A send of 2 ms, stored ``late_ms`` after its end."""
    start_ns = send * 10 * MS
    copy = at(offset=send, stored_ms=send * 10 + 2 + late_ms)
    return made(arm, send, tried(start_ns, start_ns + 2 * MS), copies=[copy], **row)


EARLY = ["loss.stored-after-its-acknowledgement 1"]
ON_TIME = acknowledged(0, -2, BASELINE)
"""Stored as it began: the broker's clock is not ahead."""


@pytest.mark.parametrize(
    ("sides", "wanted"),
    [
        ([ON_TIME, acknowledged(1, 100)], []),
        ([ON_TIME, acknowledged(1, 101)], EARLY),
        ([acknowledged(0, 48, BASELINE), acknowledged(1, 150)], []),
        ([acknowledged(0, 48, BASELINE), acknowledged(1, 151)], EARLY),
        ([acknowledged(0, 48, BASELINE), ON_TIME, acknowledged(1, 101)], EARLY),
        ([ON_TIME, acknowledged(0, 48, BASELINE), acknowledged(1, 101)], EARLY),
        ([acknowledged(1, 900)], []),
        ([ON_TIME, acknowledged(1, 900, error=SLOW)], []),
        ([ON_TIME, acknowledged(1, 900, delay_level=1)], []),
        ([ON_TIME, acknowledged(1, 900, queue_offset=77)], []),
        ([ON_TIME, acknowledged(1, 900, queue_id=3)], []),
        ([ON_TIME, acknowledged(1, 900, broker="broker-a")], []),
        ([ON_TIME, acknowledged(1, 101, BASELINE)], EARLY),
    ],
)
def test_what_is_acknowledged_is_stored(sides: list[Any], wanted: list[str]) -> None:
    """A message must be stored within 100 ms after its call, if the clock is ahead by the baseline's lowest bound."""
    found = facts(Loss, *sides)
    assert signatures(found) == wanted
    assert signatures(facts(Loss, *sides, entry=NO_CLOCK)) == []
    if wanted:
        assert ended(loss.evaluate(found))[1] is ExitCode.DIVERGES


def test_how_late_it_was_is_said_by_place() -> None:
    """The example names the place and the 250 ms after the call."""
    ((one,),) = facts(Loss, ON_TIME, acknowledged(1, 250)).divergences.values()
    assert one.example.observed == "stored at broker-b queue 0 offset 1 250 ms after the call had ended"


def test_a_clock_is_one_brokers() -> None:
    """The clock of broker-b shows nothing about broker-a's."""
    theirs = replace(acknowledged(1, 900), copies=(at("broker-a", 0, 1, 912),))
    row = theirs.row
    other = made(CANDIDATE, 1, *row.attempts, copies=theirs.copies, broker="broker-a", queue_offset=1)
    assert signatures(facts(Loss, ON_TIME, other)) == []


def test_times_are_counted_from_the_anchor_of_both_clocks() -> None:
    """Clocks are converted at the anchor: 5 s are 70,000 ms."""
    entry = replace(ENTRY, clock=ClockAnchor(5 * S, 70_000))
    start_ns = 5 * S + 10 * MS
    for stored_ms, wanted in ((70_112, []), (70_113, EARLY)):
        theirs = made(BASELINE, 0, tried(start_ns, start_ns + MS), copies=[at(stored_ms=70_010)])
        ours = made(CANDIDATE, 0, tried(start_ns, start_ns + 2 * MS), copies=[at(stored_ms=stored_ms)])
        assert signatures(facts(Loss, theirs, ours, entry=entry)) == wanted


@pytest.mark.parametrize(
    ("side", "wanted", "counted"),
    [
        (acknowledged(0, 0), [], {"stored": 1, "stored-late": 0}),
        (acknowledged(0, 20), [], {"stored": 1, "stored-late": 0}),
        (acknowledged(0, 21), [], {"stored": 1, "stored-late": 1}),
        (acknowledged(0, 21, delay_level=1), [], {"stored": 1, "stored-late": 0}),
        (made(CANDIDATE, 0, tried(0, 1)), ["loss.acknowledged-not-stored 1"], {"lost": 1, "stored-late": 0}),
        (made(CANDIDATE, 0, tried(0, 1, SLOW)), [], {"absent": 1, "stored-late": 0}),
        (made(CANDIDATE, 0, tried(0, 1, SLOW), copies=[HERE]), [], {"ghost": 1, "stored-late": 0}),
        (
            made(CANDIDATE, 0, tried(0, 1), copies=[HERE, at(whole=False)]),
            ["loss.body-damaged 1"],
            {"stored": 1, "stored-late": 0},
        ),
        (made(CANDIDATE, 0, tried(0, 1), copies=None), [], {}),
    ],
)
def test_what_became_of_a_message(side: Any, wanted: list[str], counted: dict[str, int]) -> None:
    """The check counts fates, copies over 20 ms late, and damaged bodies."""
    found = facts(Loss, side)
    assert signatures(found) == wanted
    assert {key: found.n("loss", key) for key in found.keys("loss", "candidate")} == counted
    assert facts(Loss, side, entry=NO_CLOCK).n("loss", "stored-late") == 0


def oneway(ended_ns: int, *copies: Copy, **row: Any) -> Any:
    side = made(CANDIDATE, 0, tried(0, ended_ns, status=None), copies=copies, mode=ONEWAY, **row)
    return replace(side, fate=Fate.GHOST if copies else Fate.ABSENT)


UNSTORED = ["loss.one-way-not-stored 1"]


@pytest.mark.parametrize(
    ("side", "faults", "wanted", "judged"),
    [
        (oneway(9 * S - 1), (PAUSE,), UNSTORED, 1),
        (oneway(9 * S), (PAUSE,), [], 0),
        (oneway(9 * S - 1), (fault(50 * S, 51 * S), PAUSE), UNSTORED, 1),
        (oneway(9 * S), (fault(50 * S, 51 * S), PAUSE), [], 0),
        (oneway(99 * S), (), UNSTORED, 1),
        (oneway(9 * S - 1, HERE), (PAUSE,), [], 1),
        (oneway(9 * S - 1, error=CONNECT), (PAUSE,), [], 0),
    ],
)
def test_a_one_way_message_is_missed_a_second_before_the_first_fault(
    side: Any, faults: tuple[FaultRecord, ...], wanted: list[str], judged: int
) -> None:
    """A one-way message is missed if its call ended over a second before the first fault, to the nanosecond."""
    found = facts(Loss, side, faults=faults)
    assert signatures(found) == wanted
    told = "one-way stored" if side.copies else "one-way absent"
    assert (found.n("loss", told), found.n("loss", "one-way judged")) == (1, judged)


def test_answers_that_are_confused_acknowledge_nothing_early() -> None:
    """A confused result may name another message's place, so nothing is early; a lost message stays lost."""
    late = acknowledged(1_101, 900, mode=ASYNC)
    for habits, wanted in ((CONFUSED, []), (AsyncHabits(False), EARLY)):
        assert signatures(facts(Loss, ON_TIME, late, faults=(PAUSE,), habits=habits)) == wanted
    gone = made(CANDIDATE, 0, tried(11 * S, 11 * S + 1), mode=ASYNC)
    assert signatures(facts(Loss, gone, faults=(PAUSE,), habits=CONFUSED)) == ["loss.acknowledged-not-stored 1"]


class Strays(CaseObserver):
    """Notes strays when the case is over."""

    def observe(self, send: object) -> None:
        """Ignore the send."""

    def finish(self) -> None:
        """Note two strays."""
        note_strays(CANDIDATE, [Stray("broker-a", 1, 2, 70_005), Stray("broker-b", 3, 4, 70_009)], self._context)


def test_strays_are_told_one_by_one() -> None:
    """Strays are counted, with the first one's place."""
    found = facts_of([], Strays, entry=replace(ENTRY, clock=ClockAnchor(S, 70_000)))
    ((one,),) = found.divergences.values()
    assert (one.signature, one.count, one.subject) == ("loss.stray-message", 2, "python:5.3.3")
    assert (one.example.send, one.example.phase) == (-1, "calm")
    assert one.example.observed == "a message with another id, or none, at broker-a queue 1 offset 2"
    (first,) = facts_of([], Strays, entry=NO_CLOCK).divergences.values()
    assert first[0].count == 2
