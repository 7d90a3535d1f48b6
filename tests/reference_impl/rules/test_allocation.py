"""Strategies that know machine rooms or a configuration, and what all refuse; rows made by the classes of the named releases."""

import pytest

from rocketmq_reference.dialects import consumer_rules_of
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.allocation import (
    STRATEGIES,
    AllocationError,
    Strategy,
    by_configuration,
    by_machine_room,
    in_java_order,
    nearby,
)


def answer(strategy: Strategy, queues: str, ids: str, own: str) -> str:
    """Return a share as text, or what the strategy throws; queues: ``broker=number`` of queues of topic T."""
    counts = [part.split("=") for part in queues.split()]
    ordered = in_java_order(Queue(broker, number) for broker, count in counts for number in range(int(count)))
    try:
        return " ".join(f"{queue.broker}.{queue.queue_id}" for queue in strategy("T", ordered, ids.split(), own))
    except AllocationError as error:
        return f"{error.name}: {error}"


NO_ID = "IllegalArgumentException: currentCID is empty"
NO_QUEUE = "IllegalArgumentException: mqAll is null or mqAll empty"
NO_IDS = "IllegalArgumentException: cidAll is null or cidAll empty"


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize(
    ("queues", "ids", "own", "expected"),
    [
        ("a=1", "x", "", NO_ID),
        ("", "", "", NO_ID),
        ("", "", "x", NO_QUEUE),
        ("", "x", "x", NO_QUEUE),
        ("a=1", "", "x", NO_IDS),
        ("a=1", "y", "x", ""),
    ],
)
def test_checks_of_every_release(name: str, queues: str, ids: str, own: str, expected: str) -> None:
    """An own id, queues and ids are needed, in this order; a member that is not listed gets nothing."""
    assert answer(STRATEGIES[name], queues, ids, own) == expected


@pytest.mark.parametrize(
    ("release", "queues", "ids", "own", "expected"),
    [
        ("4.9.3", "r@a=5 s@b=2", "x y", "x", "r@a.0 r@a.1 r@a.4"),
        ("4.9.3", "r@a=5 s@b=2", "x y", "y", "r@a.2 r@a.3"),
        ("4.9.3", "r@a=5 s@b=2", "x x y", "x", "r@a.0 r@a.3"),
        ("4.9.3", "r@a=5 s@b=2", "x x y", "y", "r@a.2"),
        ("4.8.0", "a=2 r@b=4 x@c=1", "x y", "x", "r@b.0 r@b.1"),
        ("4.8.0", "a=2 r@b=4 x@c=1", "x y", "y", "r@b.2 r@b.3"),
        ("4.7.1", "a=2 r@b=4 x@c=1", "x y", "x", "a.0 a.1"),
        ("4.7.1", "a=2 r@b=4 x@c=1", "x y", "y", "r@b.0 r@b.1"),
        ("4.7.1", "a=2 r@b=4 x@c=1", "x x y", "x", "a.0 r@b.3"),
        ("4.9.8", "r@=2 r@r@=3 r@a@b=2", "x", "x", "r@r@.0 r@r@.1 r@r@.2"),
        ("4.9.8", "a=3", "x", "x", ""),
        ("4.9.8", "@=1 @@=1 r@a=1", "x", "x", "r@a.0"),
        ("4.9.2", "r@a=5", "", "x", ""),
        ("4.9.2", "r@a=5", "x", "", ""),
        ("4.9.2", "", "x", "x", ""),
        ("4.9.3", "r@a=5", "", "x", NO_IDS),
        ("4.9.3", "r@a=5", "x", "", NO_ID),
        ("4.9.3", "", "x", "x", NO_QUEUE),
        ("4.9.3", "r@a=5", "x", "y", ""),
    ],
)
def test_machine_rooms(release: str, queues: str, ids: str, own: str, expected: str) -> None:
    """Queues of the rooms are divided; up to 4.7.1 at places among all queues, and unchecked up to 4.9.2."""
    assert answer(by_machine_room({"r"}, consumer_rules_of(release)), queues, ids, own) == expected


def test_machine_rooms_need_rooms_only_for_brokers_with_a_room() -> None:
    """Java reads the rooms at the first broker whose name has two parts."""
    strategy = by_machine_room(None, consumer_rules_of("5.3.3"))
    assert answer(strategy, "a=1", "x", "x") == ""
    assert answer(strategy, "a=1 r@a=1", "x", "x").startswith("NullPointerException")


@pytest.mark.parametrize(("own", "share"), [("y", ""), ("z", "b842097.0")])
def test_a_ring_is_ordered_by_four_bytes_of_each_hash(own: str, share: str) -> None:
    """The queue's hash 0x3167DA54 is behind a place of y at 0x3167DA3E, so that the next one, of z, has it."""
    assert answer(STRATEGIES["CONSISTENT_HASH"], "b842097=1", "x y z", own) == share


@pytest.mark.parametrize(
    ("inner", "ids", "own", "expected"),
    [
        ("AVG", "a.x a.y b.x", "a.x", "a.1.0 B.1.0 c.1.0 c.1.1"),
        ("AVG", "a.x a.y b.x", "a.y", "B.1.1 c.1.2"),
        ("AVG", "a.x a.y b.x", "b.x", "c.1.3"),
        ("AVG", "a.x d.x", "d.x", "B.1.1 c.1.2 c.1.3"),
        ("AVG_BY_CIRCLE", "a.x d.x", "a.x", "a.1.0 B.1.0 c.1.0 c.1.2"),
        ("AVG", "a.x d.x", "b.x", ""),
        ("AVG", "a.x .y", "a.x", "IllegalArgumentException: Machine room is null for consumer id .y"),
        ("AVG", "a.x", "", NO_ID),
        ("AVG", "", "a.x", NO_IDS),
    ],
)
def test_nearby_machine_rooms(inner: str, ids: str, own: str, expected: str) -> None:
    """A room's members divide its queues; all members divide those of rooms without members, in the order of their names."""
    strategy = nearby(STRATEGIES[inner], lambda queue: queue.broker.split(".")[0], lambda one: one.split(".")[0])
    assert answer(strategy, "c.1=4 B.1=2 a.1=1", ids, own) == expected


def test_rooms_without_members_come_in_the_order_of_their_names() -> None:
    """Not in that of their brokers; names are compared as text."""
    strategy = nearby(STRATEGIES["AVG"], lambda queue: queue.broker[1:], lambda one: one)
    assert answer(strategy, "a9=1 b10=1 c1=1", "x", "x") == "c1.0 b10.0 a9.0"


def test_a_broker_without_a_room_is_refused() -> None:
    """The queue is named as Java shows it."""
    strategy = nearby(STRATEGIES["AVG"], lambda _queue: "", lambda one: one)
    text = "Machine room is null for mq MessageQueue [topic=T, brokerName=a, queueId=0]"
    assert answer(strategy, "a=1", "x", "x") == f"IllegalArgumentException: {text}"


def test_a_configured_share_is_given_whatever_there_is() -> None:
    """Nothing is checked, not even that the queues exist."""
    configured = [Queue("z", 9)]
    assert answer(by_configuration(configured), "", "", "") == "z.9"
    assert answer(by_configuration(None), "a=1", "x", "x") == ""
