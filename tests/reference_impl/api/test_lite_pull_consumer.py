"""The live lite pull consumer on a scripted broker."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from rocketmq_reference.api.lite_pull_consumer import BATCH_SIZE, LitePullConsumer
from rocketmq_reference.api.settings import ConsumerSettings
from rocketmq_reference.client.consuming.memory import OffsetEvent
from rocketmq_reference.dialects import has_lite_pull, lite_pull_rules_of
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import IllegalStateException
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.offsets import TopicQueue
from tests.reference_impl.consuming_group import FIRST, T0, Group, group_on_a_broker

T1 = TopicQueue("T", Queue("broker-a", 1))
LITE_PULL, PULL = RequestCode.LITE_PULL_MESSAGE, RequestCode.PULL_MESSAGE


@pytest.fixture
def group() -> Iterator[Group]:
    with group_on_a_broker() as made:
        yield made


@contextmanager
def polling(
    group: Group, release: str = "5.3.3", assigned: Sequence[TopicQueue] = (), **settings: Any
) -> Iterator[LitePullConsumer]:
    chosen: dict[str, Any] = {
        "instance_name": "m0",
        "consume_from_where": FIRST,
        "rebalance_wait_interval_ms": 20,
        "rebalance_min_interval_ms": 20,
        "persist_consumer_offset_interval_ms": 100,
        "pull_batch_size": BATCH_SIZE,
        "poll_timeout_ms": 20,
        **settings,
    }
    name_servers = [group.cluster.name_server.address]
    consumer = LitePullConsumer(name_servers, "G", release, ConsumerSettings(**chosen), group)
    group.broker.ids = [consumer.client_id]
    if assigned:
        consumer.assign(assigned)
    else:
        consumer.subscribe("T")
    try:
        consumer.start()
        group.wait_for(lambda: set(group.owned) == set(assigned or (T0, T1)))
        yield consumer
    finally:
        consumer.shutdown()


def bodies(group: Group, consumer: LitePullConsumer, of: TopicQueue) -> str:
    """Poll until messages of a queue come; all must be of it."""
    found: list[str] = []

    def came() -> bool:
        if (polled := consumer.poll()) is not None:
            assert polled[0] == of
            found.extend(message.body.decode() for message in polled[1])
        return bool(found)

    group.wait_for(came)
    return "".join(found)


def updates(group: Group) -> list[tuple[TopicQueue, int | None]]:
    return [(of, value) for what, of, value in group.events if what is OffsetEvent.UPDATE]


def test_a_later_poll_commits(group: Group) -> None:
    """The first one commits nothing, since none came before it; the next one that is due commits, and memory goes to the broker."""
    with polling(group, auto_commit_interval_ms=200) as consumer:
        group.broker.put("T", 0, "a", "b")
        assert bodies(group, consumer, T0) == "ab"
        assert updates(group) == []
        group.wait_for(lambda: consumer.poll() is None and (T0, 2) in updates(group))
    group.wait_for(lambda: group.broker.committed.get(("T", 0)) == 2)


def test_the_last_polls_are_not_committed(group: Group) -> None:
    """A shutdown sends what polls have committed, and no more."""
    with polling(group, auto_commit_interval_ms=60_000) as consumer:
        group.broker.put("T", 0, "a")
        assert bodies(group, consumer, T0) == "a"
        assert consumer.poll() is None
    assert updates(group) == []
    assert ("T", 0) not in group.broker.committed


def test_the_application_commits_if_polls_do_not(group: Group) -> None:
    """Without automatic commits a poll commits nothing."""
    with polling(group, auto_commit=False, auto_commit_interval_ms=0) as consumer:
        group.broker.put("T", 0, "a")
        assert bodies(group, consumer, T0) == "a"
        assert consumer.poll() is None
        assert updates(group) == []
        consumer.commit_sync()
        assert updates(group) == [(T0, 1)]
    group.wait_for(lambda: group.broker.committed.get(("T", 0)) == 1)


def test_a_waiting_batch_is_dropped_with_its_queue(group: Group) -> None:
    """Another member gets the queue's messages."""
    with polling(group, "4.9.8") as consumer:
        group.broker.put("T", 1, "a")
        group.wait_for(lambda: len(consumer.parts.pulling.batches) == 1)
        group.broker.ids = [consumer.client_id, "z"]
        group.wait_for(lambda: group.owned == [T0])
        assert consumer.poll() is None
        group.broker.put("T", 0, "b")
        assert bodies(group, consumer, T0) == "b"


def test_pulls_are_held_back_when_enough_waits(group: Group) -> None:
    """Each batch counts as a whole one: with one that waits, a limit below its size stops the pulls of every queue."""
    with polling(group, pull_threshold_for_all=BATCH_SIZE - 1) as consumer:
        group.broker.put("T", 0, "a")
        group.wait_for(lambda: len(consumer.parts.pulling.batches) == 1)
        group.broker.put("T", 0, "b")
        assert bodies(group, consumer, T0) == "a"
        assert bodies(group, consumer, T0) == "b"


def test_a_wrong_offset_is_not_repaired(group: Group) -> None:
    """There is no repair as of a push consumer."""
    group.broker.first["T", 0], group.broker.committed["T", 0] = 5, 2
    group.broker.put("T", 0, "f")
    with polling(group) as consumer:
        assert bodies(group, consumer, T0) == "f"


@pytest.mark.parametrize(
    ("release", "code", "suffix"), [("4.9.3", PULL, "@m0"), ("4.9.8", PULL, "@STREAM"), ("5.3.3", LITE_PULL, "@STREAM")]
)
def test_pulls_of_a_release(group: Group, release: str, code: RequestCode, suffix: str) -> None:
    """A pull names its expression and that it is a lite one, and commits nothing; from 5.0.0 on it has a code of its own."""
    with polling(group, release) as consumer:
        assert consumer.client_id.endswith(suffix)
        group.wait_for(lambda: bool(group.broker.requests_of(code)))
        asked = group.broker.requests_of(code)[0].ext_fields
    assert {name: asked[name] for name in ("sysFlag", "subscription", "subVersion", "maxMsgNums")} == {
        "sysFlag": "22",
        "subscription": "*",
        "subVersion": "0",
        "maxMsgNums": "10",
    }


@pytest.mark.parametrize(
    ("release", "rules"),
    [
        ("4.6.0", None),
        ("4.6.1", (False, False, 1_000, False)),
        ("4.9.1", (False, False, 3_000, False)),
        ("4.9.2", (False, False, 3_000, True)),
        ("4.9.4", (True, False, 3_000, True)),
        ("4.9.8", (True, False, 3_000, True)),
        ("5.0.0", (True, True, 3_000, True)),
        ("5.5.0", (True, True, 3_000, True)),
    ],
)
def test_the_dialect_of_a_release(release: str, rules: tuple[bool, bool, int, bool] | None) -> None:
    """Written down by hand: the id's end, the code of pulls, the delay without a queue's end, and whether a seek interrupts."""
    assert has_lite_pull(release) is (rules is not None)
    if rules is not None:
        own = lite_pull_rules_of(release)
        assert (own.names_stream, own.has_own_code, own.failed_end_delay_ms, own.seek_interrupts) == rules


def test_an_application_chooses_its_queues(group: Group) -> None:
    """It works on what it chose last, without a share of the group, and goes on after what it has consumed."""
    with polling(group, assigned=(T0,), auto_commit=False) as consumer:
        group.broker.ids = ["another"]
        group.broker.committed["T", 1] = 0
        group.broker.put("T", 0, "a")
        assert bodies(group, consumer, T0) == "a"
        consumer.commit_sync()
        consumer.assign([T1])
        group.broker.put("T", 1, "b")
        assert bodies(group, consumer, T1) == "b"
        consumer.assign([T0, T1])
        group.broker.put("T", 0, "c")
        assert bodies(group, consumer, T0) == "c"


@pytest.mark.parametrize("release", ["4.6.1", "5.3.3"])
def test_an_application_goes_to_the_ends_of_a_queue(group: Group, release: str) -> None:
    """To the least offset that its broker has, and behind its last message; what waits for a poll is dropped."""
    group.broker.first["T", 0] = 5
    with polling(group, release, assigned=(T0,)) as consumer:
        group.broker.put("T", 0, "a", "b")
        assert bodies(group, consumer, T0) == "ab"
        consumer.seek_to_begin(T0)
        group.broker.put("T", 0, "c")
        assert bodies(group, consumer, T0) == "abc"
        group.broker.put("T", 0, "d")
        group.wait_for(lambda: len(consumer.parts.pulling.batches) == 1)
        consumer.seek_to_end(T0)
        group.broker.put("T", 0, "e")
        assert bodies(group, consumer, T0) == "e"


def test_subscribing_and_choosing_exclude_each_other(group: Group) -> None:
    """A choice needs queues, and a consumer without a subscription."""
    with polling(group) as consumer, pytest.raises(IllegalStateException, match="exclusive"):
        consumer.assign([T0])
    with polling(group, assigned=(T0,)) as consumer, pytest.raises(ValueError, match="empty"):
        consumer.assign([])
