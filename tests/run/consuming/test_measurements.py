"""The guards of a case about consumers, and rows of returned copies."""

import json
from dataclasses import replace

import pytest

from rocketdiff.cluster.operations.stored import StoredRow
from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.consuming.plan import MemberChange, MemberEvent
from rocketdiff.core.consuming.watched import OrderedMember
from rocketdiff.run.case.consuming.guards import (
    GroupMeasurements,
    apart_ns,
    consuming_guards_of,
    first_unserved,
    why_unproven,
)
from rocketdiff.run.case.consuming.read_back import RETRY, WAITING, ReturnedRow

HELD = GroupMeasurements(
    case_name="c",
    planned=10,
    answered=10,
    late_ns=2_000_000,
    apart_ns=3_000_000,
    settled_s={Arm.BASELINE: 3.0, Arm.CANDIDATE: 3.5},
    caught_up_s={Arm.BASELINE: 1.25, Arm.CANDIDATE: None},
)


@pytest.mark.parametrize(
    ("facts", "broken"),
    [
        pytest.param(HELD, None, id="all held"),
        pytest.param(replace(HELD, answered=9), "fed", id="a message without an answer"),
        pytest.param(replace(HELD, late_ns=250_000_001), "fed-on-schedule", id="a late feeder"),
        pytest.param(replace(HELD, apart_ns=250_000_001), "together", id="arms that join apart"),
        pytest.param(
            replace(HELD, settled_s={Arm.BASELINE: 3.0, Arm.CANDIDATE: None}), "settled-candidate", id="not settled"
        ),
        pytest.param(replace(HELD, interrupted={Member(Arm.BASELINE, 1): ""}), None, id="a proven pause"),
        pytest.param(
            replace(HELD, interrupted={Member(Arm.CANDIDATE, 1): "no effect of: pause 1"}),
            "member-1-candidate",
            id="an unproven pause",
        ),
        pytest.param(replace(HELD, unserved={Arm.BASELINE: "nothing"}), "served-baseline", id="a queue not served"),
    ],
)
def test_a_guard_breaks_for_one_reason(facts: GroupMeasurements, broken: str | None) -> None:
    """Each limit breaks one guard."""
    assert [guard.name for guard in consuming_guards_of(facts) if not guard.held] == ([broken] if broken else [])


MS = 1_000_000
KILL, PAUSE = MemberEvent(4, 1, MemberChange.KILL), MemberEvent(4, 1, MemberChange.PAUSE, 2)


def order(what: str, at_ms: int, sent_ms: int, proven_ms: int | None) -> OrderedMember:
    proven_ns = None if proven_ms is None else proven_ms * MS
    return OrderedMember(Arm.BASELINE, 1, 1, what, at_ms * MS, sent_ms * MS, proven_ns)


@pytest.mark.parametrize(
    ("event", "orders", "flaw"),
    [
        pytest.param(KILL, [order("kill", 4_000, 4_001, 4_050)], "", id="a death"),
        pytest.param(KILL, [order("kill", 4_000, 4_001, None)], "no effect of: kill 1 at 4 s", id="no death"),
        pytest.param(KILL, [order("kill", 5_000, 5_001, 5_050)], "no kill 1 at 4 s", id="another death"),
        pytest.param(KILL, [order("kill", 4_000, 5_100, 5_150)], "1.1 s late", id="a late death"),
        pytest.param(PAUSE, [order("pause", 4_000, 4_001, 4_050), order("resume", 6_000, 6_001, 6_002)], "", id="a pause"),
        pytest.param(PAUSE, [order("pause", 4_000, 4_001, 4_050)], "did not go on", id="no end"),
        pytest.param(
            PAUSE, [order("pause", 4_000, 4_001, 4_050), order("resume", 6_000, 6_001, None)], "was not stopped until then",
            id="an unproven end",
        ),
        pytest.param(
            PAUSE, [order("pause", 4_000, 4_900, 5_050), order("resume", 6_000, 6_001, 6_002)], "lasted 0.95 s only",
            id="a short pause",
        ),
    ],
)  # fmt: skip
def test_an_interruption_must_be_proven_and_as_planned(
    event: MemberEvent, orders: list[OrderedMember], flaw: str
) -> None:
    """One second late, or half as long, is another scenario; so is a pause in which something else continued the process."""
    seen = why_unproven(event, orders, 0)
    assert flaw in seen and bool(flaw) == bool(seen)


def test_arms_are_apart_by_the_same_event() -> None:
    """An event of one arm alone, whose member broke the protocol, is not compared."""
    first, second = {(1, "kill", 4): 10, (1, "join", 2): 5}, {(1, "kill", 4): 13, (0, "join", 2): 900}
    assert (apart_ns([first, second]), apart_ns([first, {}])) == (3, 0)


def test_an_arm_that_broke_the_protocol_has_no_guard_of_settling() -> None:
    """What a lost member left undone is up to the protocol check."""
    lost = replace(HELD, settled_s={Arm.BASELINE: 3.0})
    assert "settled-candidate" not in [guard.name for guard in consuming_guards_of(lost)]


A0, B1 = ("broker-a", 0), ("broker-b", 1)
S = 1_000_000_000


@pytest.mark.parametrize(
    ("called", "until_s", "work_ms", "expected"),
    [
        pytest.param({A0: 1, B1: 3.4}, 12, 0, "", id="in time"),
        pytest.param({A0: 1, B1: 58}, 12, 0, "the first after 57.0 s of queue 1 of broker-b", id="after a heartbeat"),
        pytest.param({A0: 1}, 12, 0, "nothing of queue 1 of broker-b", id="never"),
        pytest.param({A0: 1}, 3, 0, "", id="not due before the first fault"),
        pytest.param({A0: 1, B1: 6}, 12, 1_500, "", id="behind the work of another queue"),
    ],
)
def test_a_queue_is_served_once_its_broker_knows_the_member(
    called: dict[tuple[str, int], float], until_s: int, work_ms: int, expected: str
) -> None:
    """The first message of each queue was stored after 1 s and is due 2.5 s later."""
    called_ns = {queue: round(at_s * S) for queue, at_s in called.items()}
    seen = first_unserved({A0: S, B1: S}, called_ns, until_s * S, work_ms)
    assert seen.startswith(expected) and bool(seen) == bool(expected)


def test_numbers_have_their_unit() -> None:
    """A group that has not caught up has no number."""
    assert HELD.measured() == {
        "feeder_late_ns": 2_000_000, "events_apart_ns": 3_000_000,
        "settled_s_baseline": 3.0, "settled_s_candidate": 3.5, "caught_up_s_baseline": 1.25,
    }  # fmt: skip


@pytest.mark.parametrize(("place", "level"), [(RETRY, 1), (WAITING, 3)])
def test_a_returned_copy_is_a_row(place: str, level: int) -> None:
    """The delay level is the property's, or the queue's in the brokers' own topic."""
    named = {"DELAY": "1", "UNIQ_KEY": "7F", "ORIGIN_MESSAGE_ID": "0A"}
    stored = StoredRow("broker-a", 2, 5, "R/T/3", 3, 10, 9, True, 0, 0, json.dumps(named), "d", "h:1", 4)
    row = ReturnedRow.of(place, stored)
    assert (row.delay_level, row.unique_key, row.origin_id, row.times, row.born_host) == (level, "7F", "0A", 4, "h:1")
