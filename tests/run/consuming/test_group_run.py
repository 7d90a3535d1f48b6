"""What a group's members have said, counted from scripted transcripts."""

from typing import Any, cast

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import OrderedMember
from rocketdiff.core.records.consuming import CallResult, Consumed, DeliveredMessage, Joined, Left, Received
from rocketdiff.core.records.received import Record
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.run.case.consuming.group_run import GroupRun


class Subject:
    """A member process with a transcript."""

    broken = None

    def __init__(self, *records: Record) -> None:
        self.transcript = Transcript()
        for record in records:
            self.transcript.keep(record)


def group_of(*records: Record) -> GroupRun:
    return GroupRun(Arm.BASELINE, cast(Any, {0: Subject(*records)}), {}, cast(Any, None))


def call(number: int, *times: int) -> Received:
    messages = tuple(DeliveredMessage(place, each, 1, True, send=place) for place, each in enumerate(times))
    return Received(number, 1, 0, 10 * number, "T", "broker-a", 0, messages)


def end(number: int, result: CallResult, **context: int) -> Consumed:
    return Consumed(number, 10 * number + 5, result, **context)


LATER, SUCCESS, THROW = CallResult.LATER, CallResult.SUCCESS, CallResult.THROW

AGAIN = (call(1, 1), end(1, LATER))


@pytest.mark.parametrize(
    ("records", "waiting"),
    [
        pytest.param([call(0, 0)], 0, id="an open call"),
        pytest.param([call(0, 0), end(0, SUCCESS)], 0, id="a success"),
        pytest.param([call(0, 0, 0), end(0, LATER)], 2, id="a call with two messages fails"),
        pytest.param([call(0, 0), end(0, THROW), call(1, 1), end(1, SUCCESS)], 0, id="it comes back"),
        pytest.param([call(0, 0), end(0, LATER), call(1, 1), end(1, LATER)], 1, id="it fails again"),
        pytest.param([call(0, 0), end(0, LATER), call(1, 0)], 0, id="its queue is handed over"),
        pytest.param([call(0, 0), end(0, LATER), *AGAIN, call(2, 2), end(2, LATER)], 0, id="it becomes a dead letter"),
        pytest.param([call(0, 0), end(0, LATER, delay_level=-1)], 0, id="dead at once"),
        pytest.param([call(0, 0, 0, 0), end(0, SUCCESS, ack_index=0)], 2, id="acknowledged up to the first"),
    ],
)
def test_failed_messages_are_awaited_until_they_come_back(records: list[Record], waiting: int) -> None:
    """With two retries: each failed message is awaited, each retry ends one wait; dead letters are not awaited."""
    assert group_of(*records).open_retries(2) == waiting


@pytest.mark.parametrize(
    ("records", "ends", "has"),
    [
        pytest.param([call(0, 0, 0), end(0, SUCCESS)], 2, True, id="to the end"),
        pytest.param([call(0, 0), end(0, SUCCESS)], 2, False, id="not yet"),
        pytest.param([call(0, 0, 0)], 2, False, id="an open call"),
        pytest.param([], 0, True, id="an empty queue"),
    ],
)
def test_a_broadcasting_member_has_worked_to_the_end_of_each_queue(records: list[Record], ends: int, has: bool) -> None:
    """No broker knows its offsets."""
    group = group_of(*records)
    assert group.has_each_worked_to({("broker-a", 0): ends}, [0]) is has
    assert not group.has_each_worked_to(None, [0])


def test_events_of_the_script_are_compared_by_when_they_began() -> None:
    """A join began when the client was started, a signal when it was sent; what came before the script, or after it, is left out."""
    group = group_of(Joined(1, 5, 6, "1@m0"), Joined(2, 71, 72, "1@m0"), Left(1, 40, 41), Left(2, 205, 206))
    events = [("join", 1, 4), ("leave", 1, 30), ("join", 2, 70), ("kill", 2, 90), ("leave", 2, 200), ("leave", 3, 99)]
    group.orders = [OrderedMember(Arm.BASELINE, 0, life, what, at_ns, at_ns + 1) for what, life, at_ns in events]
    assert group.carried_out_ns(10, 100) == {(0, "leave", 30): 40, (0, "join", 70): 71, (0, "kill", 90): 91}
