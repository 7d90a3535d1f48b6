"""What ``order``, ``content``, ``delay`` and ``loss`` note for manually built sends."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from rocketdiff.analysis.case_pass import all_stored
from rocketdiff.analysis.case_trace import CaseTrace, TableKey
from rocketdiff.analysis.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.checks.storage.content import Content
from rocketdiff.analysis.checks.storage.delay import EARLY, ELSEWHERE, NOT_DELIVERED, NOT_KEPT, OTHER_LEVEL, Delay
from rocketdiff.analysis.checks.storage.loss import UNSTORED, Loss
from rocketdiff.analysis.checks.storage.order import REORDERED, Order
from rocketdiff.analysis.fact_collector import FactCollector
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.send_view import Copy, Fate, SendView
from rocketdiff.analysis.steps.aligned import AlignedSend
from rocketdiff.analysis.steps.attempts_in_context import FaultTimes
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.message import body_digest, padded, properties_text
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.tables import TABLES

ROW = Send(
    send=0,
    thread=0,
    start_ns=0,
    end_ns=1,
    status="SEND_OK",
    broker="broker-a",
    queue_id=0,
    queue_offset=0,
    route=1,
    route_after=1,
    body_bytes=32,
)


def carried(arm: Arm, **properties: str) -> str:
    """Properties of a stored message, with the harness's id."""
    return properties_text({"rocketdiff.id": f"run/{arm}/0", "UNIQ_KEY": f"{arm}", **properties})


def copy(arm: Arm, queue_offset: int = 0, *, queue_id: int = 0, at_ms: int = 0, **properties: str) -> Copy:
    """A stored message; its body is its id, padded to 32 bytes."""
    digest = body_digest(padded(f"run/{arm}/0", 32))
    return Copy("broker-a", queue_id, queue_offset, at_ms, True, 0, carried(arm, **properties), digest)


def side(arm: Arm, row: Send, *copies: Copy, kept: tuple[Copy, ...] = ()) -> SendView:
    """One arm's part of a send, in calm, without rules."""
    return SendView(arm, 0, row.send, row, copies=copies, fate=Fate.STORED, kept=kept)


def seen(make: Any, *sends: AlignedSend) -> list[str]:
    """Signatures that an observer notes."""
    collector = FactCollector("run", 1, 0)
    entry = cast(CaseEntry, SimpleNamespace(clock=None))
    observer: CaseObserver = make(CaseContext(entry, FaultTimes(()), collector))
    for send in sends:
        observer.observe(send)
    observer.finish()
    return [fact.fact.signature for fact in collector.facts() if isinstance(fact.fact, DifferenceFact)]


def alone(candidate: SendView) -> AlignedSend:
    return AlignedSend(0, candidate.send, None, candidate)


def both(baseline: SendView, candidate: SendView) -> AlignedSend:
    return AlignedSend(0, candidate.send, baseline, candidate)


def ordered(send: int, offset: int, argument: int = 3, **changes: Any) -> AlignedSend:
    """A send by a selector, stored at an offset of queue 0."""
    row = replace(ROW, send=send, kind=SendKind.SELECTOR, argument=argument, **changes)
    return alone(side(Arm.CANDIDATE, row, copy(Arm.CANDIDATE, offset)))


def test_messages_of_one_key_rise() -> None:
    """A later message of a key at a lower offset is noted once."""
    assert seen(Order, ordered(0, 4), ordered(1, 5), ordered(2, 9)) == []
    assert seen(Order, ordered(0, 4), ordered(1, 2), ordered(2, 9)) == [REORDERED]


def test_other_keys_and_unacknowledged_sends_have_no_order() -> None:
    """Messages of other keys may overtake, and a paused broker may store an unacknowledged one late."""
    assert seen(Order, ordered(0, 4), ordered(1, 2, argument=5)) == []
    assert seen(Order, ordered(0, 4, error="RemotingTimeoutException"), ordered(1, 2)) == []


def test_what_the_plan_wants_must_be_there() -> None:
    """Missing and changed properties and another body size are noted."""
    row = replace(ROW, properties=properties_text({"KEYS": "k", "colour": "blue"}))
    right = copy(Arm.CANDIDATE, KEYS="k", colour="blue")
    assert seen(Content, alone(side(Arm.CANDIDATE, row, right))) == []
    wrong = copy(Arm.CANDIDATE, colour="red")
    assert seen(Content, alone(side(Arm.CANDIDATE, row, wrong))) == [
        "content.property-missing/KEYS",
        "content.property-changed/colour",
    ]
    assert seen(Content, alone(side(Arm.CANDIDATE, replace(row, body_bytes=33), right))) == ["content.body-changed"]


def test_every_copy_is_held_against_the_plan_by_itself() -> None:
    """Each copy is compared with the plan; what several lack is noted once."""
    row = replace(ROW, properties=properties_text({"KEYS": "k", "colour": "blue"}))
    keyless, colourless = copy(Arm.CANDIDATE, 0, colour="blue"), copy(Arm.CANDIDATE, 1, KEYS="k")
    lacking = ["content.property-missing/KEYS", "content.property-missing/colour"]
    assert seen(Content, alone(side(Arm.CANDIDATE, row, keyless, colourless))) == lacking
    assert seen(Content, alone(side(Arm.CANDIDATE, row, colourless, keyless, keyless))) == lacking[::-1]


def test_what_clients_add_must_be_alike() -> None:
    """Properties and flags that clients add must be equal, except ids."""
    ours = side(Arm.BASELINE, ROW, copy(Arm.BASELINE, WAIT="true", CLUSTER="c"))
    theirs = copy(Arm.CANDIDATE, WAIT="false", EXTRA="1")
    assert seen(Content, both(ours, side(Arm.CANDIDATE, ROW, replace(theirs, flag=1)))) == [
        "content.property-missing/CLUSTER",
        "content.property-added/EXTRA",
        "content.property-differs/WAIT",
        "content.flag-differs",
    ]
    same = copy(Arm.CANDIDATE, WAIT="true", CLUSTER="c")
    assert seen(Content, both(ours, side(Arm.CANDIDATE, ROW, same))) == []


DELAYED = replace(ROW, delay_level=1)


def kept_back(level: int = 1, told: str = "1") -> Copy:
    """A copy kept back from 1,000 ms on, for queue 0."""
    return copy(Arm.CANDIDATE, queue_id=level - 1, at_ms=1_000, DELAY=told, REAL_QID="0")


@pytest.mark.parametrize(
    ("delivered_ms", "noted"), [(1_990, [EARLY]), (1_996, []), (2_000, []), (9_000, []), (None, [NOT_DELIVERED])]
)
def test_a_delay_of_a_second(delivered_ms: int | None, noted: list[str]) -> None:
    """A delivery before 1 s, beyond clock slip, or none at all is noted; a late one is not."""
    copies = () if delivered_ms is None else (copy(Arm.CANDIDATE, at_ms=delivered_ms),)
    assert seen(Delay, alone(side(Arm.CANDIDATE, DELAYED, *copies, kept=(kept_back(),)))) == noted


def test_a_delayed_message_is_kept_back_under_its_level() -> None:
    """A message must be kept back under its level; a long delay need not be over."""
    at_once = copy(Arm.CANDIDATE, at_ms=1_000)
    assert seen(Delay, alone(side(Arm.CANDIDATE, DELAYED, at_once))) == [NOT_KEPT]
    late = copy(Arm.CANDIDATE, at_ms=9_000)
    assert seen(Delay, alone(side(Arm.CANDIDATE, DELAYED, late, kept=(kept_back(2, "2"),)))) == [OTHER_LEVEL]
    long = replace(ROW, delay_level=18)
    assert seen(Delay, alone(side(Arm.CANDIDATE, long, kept=(kept_back(18, "18"),)))) == []


def test_a_message_kept_back_twice_is_delivered_twice() -> None:
    """A repeated send is kept back twice; each delivery is compared with its own kept-back copy."""
    again = (replace(kept_back(), properties=carried(Arm.CANDIDATE, DELAY="1", REAL_QID="3")), kept_back())
    copies = (copy(Arm.CANDIDATE, queue_id=0, at_ms=2_001), copy(Arm.CANDIDATE, queue_id=3, at_ms=2_000))
    assert seen(Delay, alone(side(Arm.CANDIDATE, DELAYED, *copies, kept=again))) == []
    twice = (*copies, copy(Arm.CANDIDATE, 1, queue_id=3, at_ms=2_000))
    assert seen(Delay, alone(side(Arm.CANDIDATE, DELAYED, *twice, kept=again))) == []
    stray = (copies[0], copy(Arm.CANDIDATE, queue_id=2, at_ms=2_000))
    assert seen(Delay, alone(side(Arm.CANDIDATE, DELAYED, *stray, kept=again))) == [ELSEWHERE]


def test_delayed_messages_are_compared_like_with_like() -> None:
    """If one arm's message is undelivered, kept-back copies are compared: delivery removes properties."""
    ours = copy(Arm.BASELINE, queue_id=0, DELAY="1", REAL_QID="0")
    delivered = side(Arm.BASELINE, DELAYED, copy(Arm.BASELINE), kept=(ours,))
    assert seen(Content, both(delivered, side(Arm.CANDIDATE, DELAYED, kept=(kept_back(),)))) == []
    other = replace(kept_back(), properties=carried(Arm.CANDIDATE, DELAY="1", REAL_QID="0", EXTRA="1"))
    late = side(Arm.CANDIDATE, DELAYED, kept=(other,))
    assert seen(Content, both(delivered, late)) == ["content.property-added/EXTRA"]


@pytest.mark.parametrize(("level", "is_known"), [(None, True), (0, True), (1, False)])
def test_what_is_kept_back_of_delayed_messages_must_have_been_read(level: int | None, is_known: bool) -> None:
    """Kept-back messages must be read, or one that still waits would look lost."""
    stored, sends = (
        TABLES[TableName.STORED].schema.empty_table(),
        pa.table({"delay_level": pa.array([level], pa.int32())}),
    )
    tables: dict[TableKey, pa.Table] = {
        (TableName.STORED, Arm.BASELINE): stored,
        (TableName.SENDS, Arm.BASELINE): sends,
    }
    trace = CaseTrace("run", {}, cast(CaseEntry, None), tables)
    assert (all_stored(trace, Arm.BASELINE) is not None) is is_known
    read = replace(trace, tables=tables | {(TableName.SCHEDULED, Arm.BASELINE): stored})
    assert all_stored(read, Arm.BASELINE) is stored


@pytest.mark.parametrize(
    ("ended_s", "error", "noted"),
    [(3.9, None, [UNSTORED]), (4.5, None, []), (6, None, []), (3.9, "RemotingConnectException", [])],
)
def test_a_one_way_message_is_missed_until_something_happens(
    ended_s: float, error: str | None, noted: list[str]
) -> None:
    """A one-way message written well before the pause at 5 s must be stored; a later or failed one need not be."""
    paused = FaultRecord(1, FaultKind.PAUSE, "broker-b", *[round(5e9)] * 3, *[round(7e9)] * 3)
    row = replace(ROW, mode=SendMode.ONEWAY, end_ns=round(ended_s * 1e9), error=error)
    absent = replace(side(Arm.CANDIDATE, row), fate=Fate.ABSENT)
    collector = FactCollector("run", 1, 0)
    entry = cast(CaseEntry, SimpleNamespace(clock=None))
    Loss(CaseContext(entry, FaultTimes([paused]), collector)).observe(alone(absent))
    assert [fact.fact.signature for fact in collector.facts() if isinstance(fact.fact, DifferenceFact)] == noted
