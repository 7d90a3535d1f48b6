"""Where a member's records contradict what its relay saw."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import WireEvent, WireExchange
from rocketdiff.core.records.consuming import DeliveredMessage, Left, OffsetEvent, OffsetSeen, Received
from rocketdiff.core.records.session import Hello
from rocketdiff.core.units import NS_PER_S
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.relay.remoting.exchanges import BlindSpot
from rocketdiff.run.case.consuming.wire_witness import contradictions, handed_of

QUEUE = ("T", "broker-a", 0)
HELLO = Hello(1, "acme", "1", ("offsets",), 7, 1)


def received(offset: int, at_s: float = 3.0) -> Received:
    return Received(0, 1, 0, int(at_s * NS_PER_S), *QUEUE, (DeliveredMessage(offset, 0, 1, True, send=0),))


def commit(value: int, at_s: float = 5.0) -> OffsetSeen:
    return OffsetSeen(1, 1, int(at_s * NS_PER_S), OffsetEvent.COMMIT, *QUEUE, value)


def exchange(what: WireEvent, at_s: float, **other: Any) -> WireExchange:
    place: dict[str, Any] = {"topic": "T", "broker": "broker-a", "queue_id": 0}
    return WireExchange(Arm.BASELINE, 0, 0, 1, "broker-a", what, int(at_s * NS_PER_S), **(place | other))


PULLED = exchange(WireEvent.PULL, 1, answered_ns=2 * NS_PER_S, count=2, first_offset=4, last_offset=5, next_offset=6)
SENT = exchange(WireEvent.COMMIT, 5.5, offset=6)
LEFT = Left(1, 9 * NS_PER_S, 9 * NS_PER_S)


@pytest.mark.parametrize(
    ("records", "wire", "against"),
    [
        ([received(4), received(5), commit(6), LEFT], [PULLED, SENT], ""),
        ([received(4)], [replace(PULLED, answered_ns=4 * NS_PER_S), PULLED], ""),
        ([commit(5), LEFT], [SENT], ""),
        ([received(6)], [PULLED], "offset 6 of queue 0 of broker-a delivered: in no answer"),
        ([received(4, 1.5)], [PULLED], "offset 4 of queue 0 of broker-a delivered: before it was in an answer"),
        ([commit(7), LEFT], [SENT], "commit of 7 for queue 0 of broker-a: not on the wire"),
        ([commit(6, 40), LEFT], [SENT], "commit of 6 for queue 0 of broker-a: not on the wire"),
        ([commit(6, 20)], [], ""),
        ([commit(6, 60), commit(6, 15)], [exchange(WireEvent.COMMIT, 60, offset=6)], "commit of 6 for queue 0 of broker-a: not on the wire"),
        ([LEFT], [SENT], "commit of 6 for queue 0 of broker-a on the wire: not reported"),
    ],
    ids=["agrees", "two answers", "newer on the wire", "no answer", "too early", "higher", "never sent", "killed", "not sent before the kill", "hidden"],
)  # fmt: skip
def test_records_are_compared_with_the_wire(records: list[Any], wire: list[WireExchange], against: str) -> None:
    """Deliveries come from answers, commits leave the member, and both are reported."""
    transcript = Transcript()
    for record in (HELLO, *records):
        transcript.keep(record)
    assert next(contradictions(transcript, wire, {}), "") == against


def test_messages_in_an_answer_were_handed_to_the_group() -> None:
    """The first answer with a message counts, of each queue of the topic."""
    other = replace(PULLED, topic="%RETRY%G")
    empty = replace(PULLED, count=0, answered_ns=NS_PER_S)
    later = replace(PULLED, answered_ns=7 * NS_PER_S)
    assert handed_of([other, empty, later, PULLED], "T") == {("broker-a", 0): 2 * NS_PER_S}


def test_a_commit_for_a_lost_broker_is_on_no_wire() -> None:
    """Nothing is sent to a broker that refuses connections, or has no route; nor by a group that commits to a file."""
    transcript = Transcript()
    for record in (HELLO, commit(6), LEFT):
        transcript.keep(record)
    lost = {"broker-a-slave-1": [BlindSpot(4 * NS_PER_S, 9 * NS_PER_S)]}
    assert list(contradictions(transcript, [], lost)) == []
    assert list(contradictions(transcript, [], {}, without_route=[BlindSpot(4 * NS_PER_S, 9 * NS_PER_S)])) == []
    assert list(contradictions(transcript, [], {})) != []
    assert list(contradictions(transcript, [], {}, commits_to_brokers=False)) == []
