"""A member's requests about its group with their answers, from records by hand."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.consuming.watched import WireEvent, WireExchange
from rocketdiff.relay.remoting.consuming import GroupFrame
from rocketdiff.relay.remoting.group_exchanges import GroupReader, group_exchanges_of
from rocketdiff.relay.remoting.record import Closed, Passed, WireRecord, WireTail, encode_wire

MEMBER = Member(Arm.CANDIDATE, 1)
GROUP = GroupFrame(("g",))
PULL = GroupFrame(("g",), offset=4, commit_offset=3, flags=3)
ANSWER = GroupFrame(next_offset=6, min_offset=0, max_offset=6, suggested=1, count=2, first_offset=4, last_offset=5)
QUEUES = (("T", "broker-a", 0), ("T", "broker-a", 1))


def asked(code: int, at_ns: int, group: GroupFrame = GROUP, *, opaque: int = 7, **other: Any) -> Passed:
    return Passed(1, "broker-a", "server", opaque, code, 9, at_ns, at_ns + 1, group=group, **other)


def answered(at_ns: int, group: GroupFrame | None = None, *, code: int = 0, opaque: int = 7, **other: Any) -> Passed:
    return Passed(1, "broker-a", "client", opaque, code, 9, at_ns, at_ns + 1, response=True, group=group, **other)


def exchanges(*records: WireRecord) -> list[WireExchange]:
    return group_exchanges_of(records, MEMBER, "g", frozenset(("T", "%RETRY%g")))


def words(found: Iterable[WireExchange], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(each, name) for name in names) for each in found]


def test_a_pull_has_its_answer() -> None:
    """What was asked for and what came, at the times at which the relay passed them on."""
    pull = asked(11, 10, PULL, topic="T", queue_id=2)
    assert exchanges(pull, answered(20, ANSWER)) == [
        WireExchange(
            Arm.CANDIDATE, 1, 0, 1, "broker-a", WireEvent.PULL, 10, 11, 20, 0, "T", "broker-a", 2, 4, 3, 6, 4, 5, 2, 1
        )
    ]


@pytest.mark.parametrize(
    ("records", "seen"),
    [
        ([asked(38, 1), answered(5, GroupFrame(ids=("1@m0",)))], (WireEvent.IDS, 5, 0, ("1@m0",), None)),
        ([asked(14, 1, topic="T"), answered(5, GroupFrame(offset=9))], (WireEvent.QUERY, 5, 0, None, 9)),
        ([asked(14, 1, topic="T"), answered(5, code=22)], (WireEvent.QUERY, 5, 22, None, None)),
        ([asked(15, 1, GroupFrame(("g",), offset=9), topic="T")], (WireEvent.COMMIT, None, None, None, 9)),
        ([asked(30, 1, GroupFrame(), topic="T"), answered(5, GroupFrame(offset=8))], (WireEvent.LIMIT, 5, 0, None, 8)),
        ([asked(34, 1, GroupFrame(("w", "g"), ids=("1@m0",)))], (WireEvent.HEARTBEAT, None, None, ("1@m0",), None)),
        ([asked(14, 1, topic="T"), answered(5, action="swallow")], (WireEvent.QUERY, None, None, None, None)),
        ([asked(14, 1, topic="T"), answered(5, code=22, action="delay", released_ns=8)], (WireEvent.QUERY, 8, 22, None, None)),
        ([Passed(1, "broker-a", "client", 9, 40, 9, 3, group=GROUP), answered(5, opaque=9)], (WireEvent.NOTIFY, None, None, None, None)),
    ],
)  # fmt: skip
def test_a_request_has_what_answered_it(records: list[WireRecord], seen: tuple[Any, ...]) -> None:
    """A request has its answer's time, code, ids and offset; one that never came leaves nothing."""
    assert words(exchanges(*records), "what", "answered_ns", "code", "ids", "offset") == [seen]


def test_a_lock_is_one_of_each_queue() -> None:
    """A queue that the broker did not lock has the count 0."""
    found = exchanges(asked(41, 1, GroupFrame(("g",), queues=QUEUES)), answered(2, GroupFrame(queues=QUEUES[1:])))
    assert words(found, "number", "broker", "queue_id", "count", "code") == [
        (0, "broker-a", 0, 0, 0),
        (1, "broker-a", 1, 1, 0),
    ]


def test_other_groups_are_left_out() -> None:
    """Requests of the warm-up's group, and for other topics without a group, are not of this group."""
    warm = GroupFrame(("w",))
    assert exchanges(asked(11, 1, warm, topic="T"), asked(34, 2, warm), asked(30, 3, GroupFrame(), topic="W")) == []


def test_a_connection_that_ended_answers_no_more() -> None:
    """Its end is an exchange of its own; a number that is used again is another request."""
    found = exchanges(
        asked(14, 1, topic="T"), Closed(1, "broker-a-slave-1", 4, "server"), answered(5, GroupFrame(offset=9))
    )
    assert words(found, "what", "node", "broker", "answered_ns", "in_ns") == [
        (WireEvent.QUERY, "broker-a", "broker-a", None, 1),
        (WireEvent.END, "broker-a-slave-1", "broker-a", None, 4),
    ]


def test_requests_without_an_answer_are_under_way() -> None:
    """Until their answer comes or their connection ends; records are taken as they come."""
    reader = GroupReader(MEMBER, "g", frozenset(("T",)))
    seen = []
    for record in (asked(11, 1, PULL, topic="T"), asked(11, 2, PULL, opaque=8, topic="T"), answered(3, ANSWER), Closed(1, "broker-a", 4, "client")):  # fmt: skip
        reader.take(record)
        seen.append(reader.under_way)
    assert seen == [{0}, {0, 1}, {1}, set()]


def test_a_journal_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Each look has the lines that were completed since the last one."""
    file = tmp_path / "wire.ndjson"
    tail, (first, second) = WireTail(file), map(encode_wire, (asked(11, 1, PULL), answered(3, ANSWER)))
    assert tail.read() == []
    file.write_bytes(first + second[:20])
    assert tail.read() == [asked(11, 1, PULL)]
    assert tail.read() == []
    file.write_bytes(first + second)
    assert tail.read() == [answered(3, ANSWER)]
