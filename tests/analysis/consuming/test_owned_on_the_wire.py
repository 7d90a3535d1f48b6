"""Which queues members work on who do not report it, and which offsets they ask for and commit, by rows of their relays."""

from typing import Any

import pytest

from rocketdiff.analysis.consuming.wire_offsets import offsets_on_the_wire
from rocketdiff.analysis.consuming.wire_owned import ids_on_the_wire, owned_on_the_wire, pulling_members

Row = dict[str, Any]

LIVES = ({"member": 0, "incarnation": 1, "join_start_ns": 0},)
TWO_LIVES = ({"member": 0, "incarnation": 2, "join_start_ns": 100}, *LIVES)


def row(what: str, in_ns: int, answered_ns: int | None = None, /, **changed: Any) -> Row:
    """An exchange about the first broker's queue."""
    place = {"member": 0, "connection": 1, "kind": "fed", "broker": "a", "queue_id": 0}
    values = {"offset": 7, "next_offset": 8, "code": None if answered_ns is None else 0, "ids": None}
    return {"what": what, "in_ns": in_ns, "answered_ns": answered_ns} | place | values | changed


def pull(in_ns: int, answered_ns: int | None = None, **changed: Any) -> Row:
    return row("pull", in_ns, answered_ns, **changed)


def query(answered_ns: int | None, **changed: Any) -> Row:
    return row("query", 0 if answered_ns is None else answered_ns - 1, answered_ns, **changed)


def commit(in_ns: int, **changed: Any) -> Row:
    return row("commit", in_ns, in_ns + 1, **changed)


def end(in_ns: int, **changed: Any) -> Row:
    return row("end", in_ns, **changed)


def call(start_ns: int, end_ns: int | None, **changed: Any) -> Row:
    place = {"member": 0, "incarnation": 1, "kind": "fed", "broker": "a", "queue_id": 0}
    return place | {"start_ns": start_ns, "end_ns": end_ns} | changed


@pytest.mark.parametrize(
    ("wire", "calls", "expected"),
    [
        pytest.param([pull(10, 15)], [], [(10, "a"), (15, "")], id="from a pull to its answer"),
        pytest.param([query(5), pull(10, 15)], [], [(5, "a"), (15, "")], id="from an answered question"),
        pytest.param([query(5, code=22), pull(10, 15)], [], [(5, "a"), (15, "")], id="answered that there is none"),
        pytest.param([query(5, code=1), pull(10, 15)], [], [(10, "a"), (15, "")], id="not from a refused question"),
        pytest.param([query(None), pull(10, 15)], [], [(10, "a"), (15, "")], id="not from one without an answer"),
        pytest.param([pull(3, 4), query(5), pull(10, 15)], [], [(3, "a"), (4, ""), (5, "a"), (15, "")], id="a pull before"),
        pytest.param([pull(3, 9), query(5), pull(10, 15)], [], [(3, "a"), (5, "a"), (15, "")], id="asked again meanwhile"),
        pytest.param([query(5), pull(10, 15), query(20)], [], [(5, "a"), (15, "")], id="a last answer is followed by nothing"),
        pytest.param([query(5), query(8), pull(10, 15)], [], [(8, "a"), (15, "")], id="asked twice before the first pull"),
        pytest.param([query(10), pull(10, 15)], [], [(10, "a"), (15, "")], id="both at once"),
        pytest.param([query(5), pull(10, 12), query(20), pull(20, 25)], [], [(5, "a"), (12, ""), (20, "a"), (25, "")], id="asked again as it pulls"),
        pytest.param([pull(10)], [], [(10, "a")], id="a pull without an answer"),
        pytest.param([pull(10), end(30), end(20), end(5)], [], [(10, "a"), (20, "")], id="until its connection ends"),
        pytest.param([pull(10), end(10)], [], [(10, "") ], id="a connection that ends at once"),
        pytest.param([pull(10), end(20, connection=2), end(21, member=1)], [], [(10, "a")], id="other connections end"),
        pytest.param([pull(10, 15), commit(18)], [], [(10, "a"), (18, "")], id="until a commit"),
        pytest.param([pull(10, 15), row("heartbeat", 18, 19)], [], [(10, "a"), (15, "")], id="not until a heartbeat"),
        pytest.param([pull(10, 15)], [call(12, 18)], [(10, "a"), (18, "")], id="until a call ends"),
        pytest.param([pull(10, 15)], [call(18, None)], [(10, "a"), (18, "")], id="until a call begins that does not end"),
        pytest.param([pull(10, 15)], [call(12, 18, member=1)], [(10, "a"), (15, "")], id="a call of another member"),
        pytest.param([pull(10, 15), pull(12, 20)], [], [(10, "a"), (20, "")], id="two pulls"),
        pytest.param([pull(10, 15), pull(12, 20, broker="b")], [], [(10, "a"), (12, "ab"), (15, "b"), (20, "")], id="two queues"),
        pytest.param([pull(10, 15), pull(12, 20, broker="b")], [call(13, 18)], [(10, "a"), (12, "ab"), (18, "b"), (20, "")], id="a call of one of two queues"),
        pytest.param([pull(10, 15, kind="other")], [], [], id="another topic"),
        pytest.param([pull(10, 15, kind="retry")], [], [(10, "a"), (15, "")], id="the retry topic"),
        pytest.param([pull(10, 15, broker=None)], [], [], id="without a broker"),
        pytest.param([pull(10, 15, queue_id=None)], [], [], id="without a queue"),
        pytest.param([query(5), commit(18)], [], [], id="a member that never pulls is not silent"),
        pytest.param([pull(-10, 15)], [], [], id="before its first life"),
        pytest.param([pull(0, 15)], [], [(0, "a"), (15, "")], id="as it joins"),
    ],
)  # fmt: skip
def test_a_queue_is_worked_on(wire: list[Row], calls: list[Row], expected: list[tuple[int, str]]) -> None:
    """At each instant at which a queue comes or goes: the brokers of those that the member works on."""
    rows = list(owned_on_the_wire(wire, calls, LIVES, ()))
    assert [(one["at_ns"], "".join(queue["broker"] for queue in one["queues"])) for one in rows] == expected
    assert [one["number"] for one in rows] == list(range(1, len(rows) + 1))
    assert all((one["member"], one["incarnation"]) == (0, 1) for one in rows)


def test_members_that_report_their_queues_are_left_out() -> None:
    """Those that pull and do not report are silent; each life has its own rows, whatever the order of the lives."""
    wire = [pull(10, 15), pull(100, 115), pull(10, 15, member=1)]
    rows = list(owned_on_the_wire(wire, [], (*TWO_LIVES, LIVES[0] | {"member": 1}), [1]))
    assert [(one["member"], one["incarnation"], one["at_ns"]) for one in rows] == [
        (0, 1, 10),
        (0, 1, 15),
        (0, 2, 100),
        (0, 2, 115),
    ]
    assert pulling_members([*wire, query(5, member=2)]) == {0, 1}
    assert list(owned_on_the_wire(wire, [], ({**LIVES[0], "join_start_ns": None},), [1])) == []


def test_heartbeats_name_their_member() -> None:
    """Each with the ids that it had, in order; other exchanges do not."""
    beats = [row("heartbeat", 9, ids=["y"]), row("heartbeat", 5, ids=["x"]), row("heartbeat", 7), pull(3, ids=["z"])]
    assert ids_on_the_wire(beats) == {0: [(5, "x"), (9, "y")]}


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        pytest.param(commit(18), ("commit", 18, 7), id="a commit, at its request"),
        pytest.param(commit(18, offset=None), None, id="a commit without an offset"),
        pytest.param(query(18), ("query", 18, 7), id="a question, at its answer"),
        pytest.param(query(18, offset=None), None, id="an answer without an offset"),
        pytest.param(query(18, code=22), ("query", 18, -1), id="there is none"),
        pytest.param(query(18, code=1), None, id="a refused question"),
        pytest.param(query(None, code=0), None, id="a question without an answer"),
        pytest.param(query(None, code=22), None, id="none without an answer"),
        pytest.param(pull(10, 18, code=21), ("freeze", 18, 8), id="an offset that was moved"),
        pytest.param(pull(10, 18, code=21, next_offset=None), ("freeze", 18, 0), id="moved to an unknown one"),
        pytest.param(pull(10, 18), None, id="a pull"),
        pytest.param(pull(10, code=21), None, id="a pull without an answer"),
        pytest.param(row("heartbeat", 10, 18), None, id="a heartbeat"),
        pytest.param(commit(18, kind="retry"), ("commit", 18, 7), id="of the retry topic"),
        pytest.param(commit(18, kind="other"), None, id="of another topic"),
        pytest.param(commit(18, broker=None), None, id="without a broker"),
        pytest.param(commit(18, queue_id=None), None, id="without a queue"),
        pytest.param(commit(18, member=1), None, id="of a member that reports"),
        pytest.param(commit(18, member=2), None, id="of a member without a life"),
        pytest.param(commit(-1), None, id="before its first life"),
        pytest.param(commit(0), ("commit", 0, 7), id="as it joins"),
        pytest.param(commit(99), ("commit", 99, 7), id="before its second life"),
        pytest.param(commit(100), ("commit", 100, 7), id="as it joins again"),
    ],
)
def test_an_exchange_is_an_offset_event(exchange: Row, expected: tuple[str, int, int] | None) -> None:
    """What, when and which offset; of the life in which it was."""
    lives = (*TWO_LIVES, {"member": 3, "incarnation": 1, "join_start_ns": None})
    rows = list(offsets_on_the_wire([exchange], lives, [1]))
    life = 2 if exchange["in_ns"] >= 100 else 1
    assert [(one["what"], one["at_ns"], one["value"]) for one in rows] == [expected] * (expected is not None)
    assert all(
        (one["member"], one["kind"], one["broker"], one["queue_id"], one["incarnation"])
        == (0, exchange["kind"], "a", 0, life)
        for one in rows
    )
