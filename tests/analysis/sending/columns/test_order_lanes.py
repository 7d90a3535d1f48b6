"""Lanes of messages, on literal rows: which lie after all earlier ones of their thread, key and queue."""

from typing import Any

import pytest

from rocketdiff.analysis.sending.columns.arm_columns import WordDictionary, arm_columns
from rocketdiff.analysis.sending.columns.order_lanes import OrderLanes, order_lanes
from rocketdiff.analysis.sending.columns.stored_columns import stored_columns
from rocketdiff.core.arm import Arm
from rocketdiff.traces.schema import TableName
from tests.analysis.builders import MS, S
from tests.analysis.trace_builders import SMALL, trace

BROKERS = WordDictionary()


def lanes(*messages: str) -> OrderLanes | None:
    """Lanes of messages in order, each with key, queue and offset ("k1 q0 7"), "t1" for another thread, "away" for a copy elsewhere."""
    rows: dict[str, Any] = {"sends": [], "attempts": [], "stored": []}
    for number, message in enumerate(messages):
        words = message.split()
        thread = int(words.pop(0)[1:]) if words[0][0] == "t" else 0
        key, queue_id, offset = int(words[0][1:]), int(words[1][1:]), int(words[2])
        place = {"send": number, "thread": thread, "queue_id": queue_id, "start_ns": number * S}
        rows["sends"].append(place | {"argument": key, "queue_offset": offset, "end_ns": number * S + 10 * MS})
        rows["attempts"].append(place | {"end_ns": number * S + 10 * MS})
        away = 50 if "away" in words else 0
        rows["stored"].append({"send": number, "queue_id": queue_id, "queue_offset": offset + away})
    case = trace(SMALL, **rows)
    columns = arm_columns(case, Arm.CANDIDATE, BROKERS)
    assert columns is not None
    stored = stored_columns(case.tables[TableName.STORED, Arm.CANDIDATE], columns, BROKERS, len(messages))
    assert stored is not None
    return order_lanes(columns, stored)


@pytest.mark.parametrize(
    ("messages", "rises", "follows"),
    [
        ("k0 q0 5 | k0 q0 7 | k0 q0 6 | k0 q0 8", [True, True, False, True], [False, True, True, True]),
        ("k0 q0 5 | k0 q1 3 | k1 q0 2 | k0 q0 6", [True] * 4, [False, False, False, True]),
        ("k0 q0 5 | k1 q0 9 | k0 q0 4 | k1 q0 8", [True, True, False, False], [False, False, True, True]),
        ("k0 q0 5 | t1 k0 q0 4 | t1 k0 q0 6", [True] * 3, [False, False, True]),
        ("k0 q0 5 | k0 q0 7 away | k0 q0 9", [True, False, False], [False, False, True]),
        ("k0 q0 5 away | k0 q0 60", [False, False], [False, False]),
        ("k0 q0 5 away | k0 q0 60 | k0 q0 61", [False, False, True], [False, False, True]),
    ],
)
def test_messages_that_lie_after_all_earlier_ones_of_their_lane(
    messages: str, rises: list[bool], follows: list[bool]
) -> None:
    """Only a message at home rises, and only after another at home or at the beginning; a copy elsewhere counts as earlier."""
    found = lanes(*messages.split(" | "))
    assert found is not None
    assert (found.rises.tolist(), found.follows.tolist()) == (rises, follows)


@pytest.mark.parametrize(
    ("view", "queue_id", "last"),
    [(0, 0, None), (1, 0, (0, 5)), (2, 0, (1, 7)), (4, 0, (1, 7)), (3, 1, None), (4, 1, (3, 2)), (4, 2, None)],
)
def test_the_last_message_before_a_view_in_a_queue(view: int, queue_id: int, last: tuple[int, int] | None) -> None:
    """Of the view's thread and key, whatever queue the view itself went to; views 2 and 3 are of other keys or elsewhere."""
    found = lanes("k0 q0 5", "k0 q0 7", "k0 q0 9 away", "k0 q1 2", "k0 q0 11", "k1 q0 12")
    assert found is not None
    assert found.before(view, BROKERS.code("broker-a"), queue_id) == last
    assert found.before(5, BROKERS.code("broker-a"), queue_id) is None


@pytest.mark.parametrize(
    ("offset", "has_lanes"), [(1 << 58, True), ((1 << 60) - 2, True), ((1 << 60) - 1, False), (1 << 61, False)]
)
def test_offsets_too_far_apart_have_no_lanes(offset: int, has_lanes: bool) -> None:
    """Ranges of three lanes must fit in one number."""
    found = lanes("k0 q0 0", f"k0 q0 {offset}", "k1 q0 3")
    assert (found is not None) is has_lanes


@pytest.mark.parametrize(("thread", "keys", "has_lanes"), [((1 << 22) - 1, 256, True), (5_237_764, 205, False)])
def test_keys_of_a_late_thread_may_be_too_many_for_lanes(thread: int, keys: int, has_lanes: bool) -> None:
    """The last lane has the number 2³⁰ - 1, or 2³⁰: it has 32 bits for its place, and 30 for thread and key."""
    found = lanes(*(f"t{thread} k{number} q0 {number}" for number in range(keys)))
    assert (found is not None) is has_lanes
