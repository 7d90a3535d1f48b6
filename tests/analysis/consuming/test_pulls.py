"""Pulls as rows of the relay have them."""

from typing import Any

import pytest

from rocketdiff.analysis.consuming.pulls import WirePull, by_queue, pulls_of
from rocketdiff.analysis.consuming.story import QueueOf
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from tests.analysis.consuming.group_story import Row, Story, ns


def pulls(*rows: Row) -> tuple[WirePull, ...] | None:
    made = Story()
    made.candidate.wire.extend(rows)
    return pulls_of(made.trace(), Arm.CANDIDATE)


def pull(number: int = 3, **changed: Any) -> Row:
    row = {
        "member": 1,
        "number": number,
        "connection": 7,
        "node": "broker-a-slave-1",
        "what": "pull",
        "in_ns": ns(2_000),
        "kind": "fed",
        "broker": "broker-a",
        "queue_id": 4,
        "offset": 0,
        "commit_offset": 5,
        "answered_ns": ns(3_000),
        "code": 19,
        "next_offset": 6,
        "count": 8,
        "suggested": 9,
    }
    return row | changed


def end(at_ms: float, **changed: Any) -> Row:
    row = {"member": 1, "number": 99, "connection": 7, "node": "broker-a-slave-1", "what": "end", "in_ns": ns(at_ms)}
    return row | {"broker": "broker-a"} | changed


QUEUE = QueueOf(TopicKind.FED, "broker-a", 4)


def test_a_pull_has_what_its_relay_saw() -> None:
    """Column by column; a group without a relay has none."""
    at = "broker-a-slave-1"
    assert pulls(pull()) == (WirePull(1, 3, at, QUEUE, ns(2_000), 0, 5, ns(3_000), 19, 6, 8, 9, None),)
    assert pulls_of(Story().trace(), Arm.CANDIDATE) is None


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(pull(kind=None), id="no topic"),
        pytest.param(pull(broker=None), id="no broker"),
        pytest.param(pull(queue_id=None), id="no queue"),
        pytest.param(pull(offset=None), id="no offset"),
        pytest.param(pull(kind="other"), id="another topic"),
        pytest.param(pull(what="heartbeat"), id="another request"),
    ],
)
def test_other_requests_are_left_out(row: Row) -> None:
    """They ask for nothing that is judged."""
    assert pulls(row) == ()


@pytest.mark.parametrize(
    ("ends", "lost_ms"),
    [
        pytest.param([end(2_500)], 2_500, id="its connection"),
        pytest.param([end(2_000)], 2_000, id="at once"),
        pytest.param([end(1_999)], None, id="before it"),
        pytest.param([end(2_900), end(2_600)], 2_600, id="the first end"),
        pytest.param([end(2_500, connection=8)], None, id="another connection"),
        pytest.param([end(2_500, member=0)], None, id="of another member"),
        pytest.param([end(2_500, what="pull", kind="other", queue_id=0, offset=0)], None, id="no end"),
    ],
)
def test_a_connection_ends_after_a_pull(ends: list[Row], lost_ms: float | None) -> None:
    """The first end of its own one since then."""
    found = pulls(pull(), *ends)
    assert found is not None
    assert [each.lost_ns for each in found] == [None if lost_ms is None else ns(lost_ms)]


@pytest.mark.parametrize(
    ("row", "over_ms", "is_at_a_slave"),
    [
        pytest.param(pull(), 3_000, True, id="answered by a slave"),
        pytest.param(pull(answered_ns=None, node="broker-a"), 3_500, False, id="lost"),
    ],
)
def test_a_pull_is_over(row: Row, over_ms: float, is_at_a_slave: bool) -> None:
    """With its answer, else with its connection."""
    (found,) = pulls(row, end(3_500)) or ()
    assert (found.over_ns, found.is_at_a_slave) == (ns(over_ms), is_at_a_slave)


def test_pulls_are_in_the_order_of_each_relay() -> None:
    """By member and number, whatever the table's order; and by member and queue."""
    rows = [pull(9), pull(4, kind="retry"), pull(7, member=0), pull(6)]
    found = pulls(*rows) or ()
    assert [(each.member, each.number) for each in found] == [(0, 7), (1, 4), (1, 6), (1, 9)]
    grouped = {key: [each.number for each in own] for key, own in by_queue(found).items()}
    retry = QueueOf(TopicKind.RETRY, "broker-a", 4)
    assert grouped == {(0, QUEUE): [7], (1, retry): [4], (1, QUEUE): [6, 9]}
