"""The check ``loss`` on manually built sends and counts: losses, strays and time limits."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.analysis.sending.checks.context import CalmBefore, CaseObserver
from rocketdiff.analysis.sending.checks.storage import loss
from rocketdiff.analysis.sending.checks.storage.loss import Loss, note_strays
from rocketdiff.analysis.sending.send_view import Copy, Fate
from rocketdiff.analysis.sending.steps.reconciled import Stray
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.oracle.producer.asynchronous.habits import AsyncHabits
from tests.analysis.builders import ENTRY, MS, S, context_of, ended, facts_of, fault, made, pair, signatures, tried
from tests.analysis.sending.checks.builders import (
    ASYNC,
    BASELINE,
    CANDIDATE,
    CONFUSED,
    CONNECT,
    DECISIVE,
    INDECISIVE,
    NO_CLOCK,
    NOT_APPLICABLE,
    ONEWAY,
    PAUSE,
    SLOW,
    at,
    case_of,
    examples,
    facts_alone,
    standing_of,
    tallied,
)

HERE, THERE = at(), at("broker-a")


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
def test_acknowledged_messages_are_stored_within_100_ms(sides: list[Any], wanted: list[str]) -> None:
    """A message must be stored within 100 ms after its call, if the clock is ahead by the baseline's lowest bound."""
    found = facts_alone(Loss, *sides)
    assert signatures(found) == wanted
    assert signatures(facts_alone(Loss, *sides, entry=NO_CLOCK)) == []
    if wanted:
        assert ended(loss.evaluate(found))[1] is ExitCode.DIVERGES


def test_calm_sends_bound_the_clock_too() -> None:
    """Those before a send, of the baseline, are never observed."""
    context, late = context_of(), pair(None, acknowledged(1, 101))
    observer = Loss(context)
    observer.calm_before(late, cast(CalmBefore, SimpleNamespace(clock_leads=lambda: [("broker-b", 0.0)])))
    observer.observe(late)
    assert [f"{one.signature} 1" for one in context.collector.differences()] == EARLY


def test_example_names_place_and_lateness() -> None:
    """The example names the place and the 250 ms after the call."""
    ((one,),) = facts_alone(Loss, ON_TIME, acknowledged(1, 250)).divergences.values()
    assert one.example.observed == "stored at broker-b queue 0 offset 1 250 ms after the call had ended"


def test_clock_offset_is_kept_per_broker() -> None:
    """The clock of broker-b shows nothing about broker-a's."""
    theirs = replace(acknowledged(1, 900), copies=(at("broker-a", 0, 1, 912),))
    row = theirs.row
    other = made(CANDIDATE, 1, *row.attempts, copies=theirs.copies, broker="broker-a", queue_offset=1)
    assert signatures(facts_alone(Loss, ON_TIME, other)) == []


def test_times_are_counted_from_the_anchor_of_both_clocks() -> None:
    """Clocks are converted at the anchor: 5 s are 70,000 ms."""
    entry = replace(ENTRY, clock=ClockAnchor(5 * S, 70_000))
    start_ns = 5 * S + 10 * MS
    for stored_ms, wanted in ((70_112, []), (70_113, EARLY)):
        theirs = made(BASELINE, 0, tried(start_ns, start_ns + MS), copies=[at(stored_ms=70_010)])
        ours = made(CANDIDATE, 0, tried(start_ns, start_ns + 2 * MS), copies=[at(stored_ms=stored_ms)])
        assert signatures(facts_alone(Loss, theirs, ours, entry=entry)) == wanted


@pytest.mark.parametrize(
    ("side", "wanted", "counted"),
    [
        (acknowledged(0, 0), [], {"stored": 1, "stored-late": 0}),
        (acknowledged(0, 20), [], {"stored": 1, "stored-late": 0}),
        (acknowledged(0, 21), [], {"stored": 1, "stored-late": 1}),
        (acknowledged(0, 21, delay_level=1), [], {"stored": 1, "stored-late": 0}),
        (replace(acknowledged(0, 21), row=None), [], {"stored": 1, "stored-late": 0}),
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
def test_fates_late_copies_and_damaged_bodies_are_counted(
    side: Any, wanted: list[str], counted: dict[str, int]
) -> None:
    """The check counts fates, copies over 20 ms late, and damaged bodies."""
    found = facts_alone(Loss, side)
    assert signatures(found) == wanted
    assert {key: found.n("loss", key) for key in found.keys("loss", "candidate")} == counted
    assert facts_alone(Loss, side, entry=NO_CLOCK).n("loss", "stored-late") == 0


def test_a_damaged_body_is_shown_with_its_place() -> None:
    """Of two copies the damaged one."""
    found = facts_alone(Loss, made(CANDIDATE, 0, tried(0, 1), copies=[HERE, at(whole=False)]))
    assert examples(found)["body-damaged"] == ("the body that was sent", "another body at broker-b queue 0")


def oneway(ended_ns: int, *copies: Copy, **row: Any) -> Any:
    side = made(CANDIDATE, 0, tried(0, ended_ns, status=None), copies=copies, mode=ONEWAY, **row)
    return replace(side, fate=Fate.GHOST if copies else Fate.ABSENT)


UNSTORED = ["loss.one-way-not-stored 1"]
OTHERS_PAUSE = fault(10 * S, 12 * S, node="broker-a")


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
        (oneway(11 * S), (OTHERS_PAUSE,), UNSTORED, 1),
        (oneway(11 * S), (OTHERS_PAUSE, PAUSE), [], 0),
        (oneway(11 * S), (OTHERS_PAUSE, replace(OTHERS_PAUSE, kind=FaultKind.KILL)), [], 0),
        (replace(oneway(11 * S), attempts=()), (OTHERS_PAUSE,), [], 0),
    ],
)
def test_a_one_way_message_is_missed_a_second_before_the_first_fault(
    side: Any, faults: tuple[FaultRecord, ...], wanted: list[str], judged: int
) -> None:
    """A one-way message is missed that ended over a second before the first fault, or if only other brokers were paused."""
    found = facts_alone(Loss, side, faults=faults)
    assert signatures(found) == wanted
    reported = "one-way stored" if side.copies else "one-way absent"
    assert (found.n("loss", reported), found.n("loss", "one-way judged")) == (1, judged)


def test_answers_that_are_confused_acknowledge_nothing_early() -> None:
    """A confused result may name another message's place, so nothing is early; a lost message stays lost."""
    late = acknowledged(1_101, 900, mode=ASYNC)
    for habits, wanted in ((CONFUSED, []), (AsyncHabits(False), EARLY)):
        assert signatures(facts_alone(Loss, ON_TIME, late, faults=(PAUSE,), habits=habits)) == wanted
    gone = made(CANDIDATE, 0, tried(11 * S, 11 * S + 1), mode=ASYNC)
    assert signatures(facts_alone(Loss, gone, faults=(PAUSE,), habits=CONFUSED)) == ["loss.acknowledged-not-stored 1"]


class Strays(CaseObserver):
    """Notes strays when the case is over."""

    def observe(self, send: object) -> None:
        """Ignore the send."""

    def finish(self) -> None:
        """Note two strays."""
        note_strays(CANDIDATE, [Stray("broker-a", 1, 2, 70_005), Stray("broker-b", 3, 4, 70_009)], self._context)


def test_strays_are_counted_with_the_first_ones_place() -> None:
    """Strays are counted, with the first one's place."""
    found = facts_of([], Strays, entry=replace(ENTRY, clock=ClockAnchor(S, 70_000)))
    ((one,),) = found.divergences.values()
    assert (one.signature, one.count, one.subject) == ("loss.stray-message", 2, "python:5.3.3")
    assert (one.example.where.number, one.example.phase) == (-1, "calm")
    assert one.example.observed == "a message with another id, or none, at broker-a queue 1 offset 2"
    (first,) = facts_of([], Strays, entry=NO_CLOCK).divergences.values()
    assert first[0].count == 2
    context = context_of(replace(ENTRY, clock=ClockAnchor(S, 70_000)))
    note_strays(CANDIDATE, [Stray("broker-a", 1, 2, 70_005)], context)
    assert [each.at_ns for each in context.collector.differences()] == [S + 5 * MS]


ONEWAY_REASON = "one-way messages to a broker at fault have no guarantee, and none was sent well before a fault"


@pytest.mark.parametrize(
    ("one_way", "judged", "kinds", "wanted"),
    [
        ((5, 5), (5, 5), (), (DECISIVE, "", 10)),
        ((5, 5), (3, 2), (FaultKind.PAUSE,), (DECISIVE, "", 5)),
        ((5, 5), (3, 0), (FaultKind.PAUSE,), (NOT_APPLICABLE, ONEWAY_REASON, 3)),
        ((5, 5), (0, 3), (FaultKind.PAUSE,), (NOT_APPLICABLE, ONEWAY_REASON, 3)),
        ((5, 0), (0, 0), (FaultKind.PAUSE,), (NOT_APPLICABLE, ONEWAY_REASON, 0)),
        ((5, 5), (0, 0), (), (DECISIVE, "", 0)),
        ((5, 0), (5, 0), (), (INDECISIVE, "no send of python:5.3.3 was acknowledged", 5)),
    ],
)
@pytest.mark.parametrize("key", ["one-way stored", "one-way absent"])
def test_one_way_messages_are_judged_without_a_fault_or_well_before_it(
    one_way: tuple[int, int],
    judged: tuple[int, int],
    kinds: tuple[FaultKind, ...],
    wanted: tuple[Standing, str, int],
    key: str,
) -> None:
    """One-way messages are judged without a fault, or if each arm sent one well before it."""
    reported = tallied(*one_way, "loss", key), tallied(*judged, "loss", "one-way judged")
    assert standing_of(loss.evaluate(case_of(*reported, kinds=kinds))) == wanted


def test_without_one_way_messages_a_fault_leaves_the_check_decisive() -> None:
    """A fault matters to one-way messages alone."""
    for fate in ("stored", "lost"):
        evidence = loss.evaluate(case_of(tallied(5, 5, "loss", fate), kinds=(FaultKind.PAUSE,)))
        assert standing_of(evidence) == (DECISIVE, "", 10)
