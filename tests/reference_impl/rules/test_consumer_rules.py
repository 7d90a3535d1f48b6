"""Rules of consumers: allocation, queues, rounds, limits and results; vectors made by the classes of all releases."""

from dataclasses import asdict, dataclass

import pytest

from rocketmq_reference.dialects import consumer_rules_of
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer import concurrent, orderly, pull_loop
from rocketmq_reference.rules.consumer.allocation import STRATEGIES, ids_in_java_order, in_java_order
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus, acknowledged
from rocketmq_reference.rules.consumer.offsets import (
    PROCESS_BUCKETS,
    Offsets,
    Remembered,
    TopicQueue,
    begins_at_zero,
    in_hash_order,
)
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue, ProcessQueueError
from rocketmq_reference.rules.consumer.pull_broker import Asked, asked_for_commit, asked_for_query, member_of
from rocketmq_reference.rules.consumer.pull_loop import delay_after_failure_ms, is_held_back
from rocketmq_reference.rules.consumer.rebalance import Rounds
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere, ConsumeSettings, MessageModel

MIB = 1024 * 1024
RULES = consumer_rules_of("5.3.3")


@dataclass(frozen=True)
class Stored:
    """A pulled message."""

    queue_offset: int
    body: bytes = b"x"


def shares(strategy: str, queues: int, ids: str) -> str:
    """Return the shares of all ids, each once, as numbers of queues."""
    topic_queues = [Queue("a", number) for number in range(queues)]
    members = ids_in_java_order(ids)
    found = {one: STRATEGIES[strategy]("T", topic_queues, members, one) for one in members}
    return " ".join("".join(str(queue.queue_id) for queue in share) or "-" for share in found.values())


@pytest.mark.parametrize(
    ("strategy", "queues", "ids", "expected"),
    [
        ("AVG", 5, "xy", "012 34"),
        ("AVG", 3, "vwxyz", "0 1 2 - -"),
        ("AVG", 8, "xyz", "012 345 67"),
        ("AVG", 7, "xyz", "012 34 56"),
        ("AVG", 4, "xxy", "01 3"),  # an id listed twice: queue 2 has no owner
        ("AVG", 4, "xxxx", "0"),
        ("AVG_BY_CIRCLE", 5, "xy", "024 13"),
        ("AVG_BY_CIRCLE", 7, "xyz", "036 14 25"),
        ("AVG_BY_CIRCLE", 4, "xxy", "03 2"),
        ("CONSISTENT_HASH", 8, "xyz", "1346 25 07"),
        ("CONSISTENT_HASH", 8, "xxyz", "1346 25 07"),  # a repeated id only gets more places
    ],
)
def test_allocation(strategy: str, queues: int, ids: str, expected: str) -> None:
    """Members share queues as the executed classes do, also when an id is listed twice."""
    assert shares(strategy, queues, ids) == expected


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_member_that_is_not_listed_gets_nothing(strategy: str) -> None:
    """An id that no broker lists has no share, whatever the strategy."""
    assert STRATEGIES[strategy]("T", [Queue("a", 0)], ["x"], "y") == ()


def test_queues_are_sorted_by_name_as_text_and_id_as_number() -> None:
    """Queues are sorted by broker name as text and by queue id as number."""
    names = ["broker-1", "broker-10", "broker-2", "Broker-3"]
    ordered = in_java_order(Queue(name, number) for name in names for number in (10, 9))
    expected = ["Broker-3", "broker-1", "broker-10", "broker-2"]
    assert ordered == [Queue(name, number) for name in expected for number in (9, 10)]
    assert ids_in_java_order(["\ud800", "\uffff", "a"]) == ["a", "\ud800", "\uffff"]


@pytest.mark.parametrize(
    ("removals", "commits"),
    [
        ([[2]], [0]),
        ([[0, 1]], [2]),
        ([[0, 1, 2, 3, 4]], [5]),
        ([[9]], [0]),
        ([[0, 1, 2, 3, 4], [9]], [5, None]),
        ([[1], [0]], [0, 2]),
    ],
)
def test_offset_after_removal(removals: list[list[int]], commits: list[int | None]) -> None:
    """The offset is the least one left, else one past the greatest ever put; none once nothing was left."""
    queue: ProcessQueue[Stored] = ProcessQueue(0, RULES)
    queue.put([Stored(offset) for offset in range(5)])
    assert [queue.remove([Stored(offset) for offset in offsets]) for offsets in removals] == commits


def test_messages_pulled_twice_count_once() -> None:
    """A message that is pulled again is in the queue once."""
    queue: ProcessQueue[Stored] = ProcessQueue(0, RULES)
    queue.put([Stored(3, b"xy"), Stored(3, b"xy"), Stored(7)])
    assert (queue.count, queue.bytes, queue.span, queue.last_put) == (2, 3, 4, 7)
    queue.remove([Stored(3), Stored(7)])
    assert (queue.bytes, queue.span) == (0, 0)


@pytest.mark.parametrize(
    ("release", "pulled", "put", "removed"),
    [
        ("4.1.0-incubating", b"xyz", 0, 0),
        ("4.9.7", b"xyz", 3, 2),
        ("4.9.8", b"xyz", 3, 0),
        ("5.0.0", b"xyz", 3, 2),
        ("5.3.3", b"", 0, 0),
    ],
)
def test_bytes_of_a_queue_by_release(release: str, pulled: bytes, put: int, removed: int) -> None:
    """A message that is pulled again with one byte counts with the body that came first; only some releases then end at 0."""
    queue: ProcessQueue[Stored] = ProcessQueue(0, consumer_rules_of(release))
    queue.put([Stored(3, pulled), Stored(3)])
    assert queue.bytes == put
    queue.remove([Stored(3)])
    assert queue.bytes == removed


def test_a_message_without_a_body_is_put_but_not_counted() -> None:
    """Up to 5.3.1; when it is finished the offset behind it is committed, whatever is left."""
    queue: ProcessQueue[Stored] = ProcessQueue(0, consumer_rules_of("5.3.1"))
    queue.put([Stored(0)])
    with pytest.raises(ProcessQueueError) as raised:
        queue.put([Stored(4, b"")])
    assert (raised.value.name, str(raised.value)) == ("NullPointerException", "a message without a body")
    assert (queue.remove([Stored(4, b"")]), queue.waiting, queue.count) == (5, [0], 1)


def test_a_new_queue_is_empty_and_not_locked() -> None:
    """Nothing was put into it, and the broker has not locked it; one that is cleared is as empty."""
    queue: ProcessQueue[Stored] = ProcessQueue(7, RULES)
    nothing: tuple[object, ...] = ([], [], {}, 0, 0, 0)
    assert (_held(queue), queue.is_dropped, queue.is_locked) == (nothing, False, False)
    queue.put([Stored(3, b"xy"), Stored(4)])
    queue.take(1)
    queue.begun_ms[4] = 9
    assert _held(queue) == ([4], [3], {4: 9}, 2, 3, 4)
    queue.clear()
    assert _held(queue) == nothing


def _held(queue: ProcessQueue[Stored]) -> tuple[object, ...]:
    return queue.waiting, queue.taken, queue.begun_ms, queue.count, queue.bytes, queue.last_put


@pytest.mark.parametrize(
    ("offsets", "size", "held"),
    [
        (range(1000), 0, False),
        (range(1001), 0, True),
        ([0, 2000], 0, False),
        ([0, 2001], 0, True),
        (range(5), 21_181_235, False),  # a byte less than 101 MiB
        (range(4), 25 * MIB + MIB // 4, True),
    ],
)
def test_pulling_is_held_back_above_each_limit(offsets: list[int], size: int, held: bool) -> None:
    """Count, span and whole MiB each hold pulling back only above their limit."""
    queue: ProcessQueue[Stored] = ProcessQueue(0, RULES)
    body = bytes(size)
    queue.put([Stored(offset, body) for offset in offsets])
    assert is_held_back(queue, ConsumeSettings()) is held


@pytest.mark.parametrize("release", ["4.1.0-incubating", "5.3.3"])
def test_the_first_message_alone_can_expire(release: str) -> None:
    """Its call has taken longer than the timeout; pulled again or removed, a message has no call."""
    queue: ProcessQueue[Stored] = ProcessQueue(0, consumer_rules_of(release))
    queue.put([Stored(3), Stored(5)])
    queue.begun_ms |= {3: 0, 5: 9}
    assert [queue.expired(now_ms, 10) for now_ms in (10, 11)] == [None, Stored(3)]
    queue.remove_expired(Stored(5))
    assert queue.waiting == [3, 5]
    queue.remove_expired(Stored(3))
    assert queue.waiting == [5]
    queue.put([Stored(5)])
    assert 5 not in queue.begun_ms
    queue.begun_ms[5] = 20
    queue.remove([Stored(5)])
    assert 5 not in queue.begun_ms


def test_a_queue_without_pulls_expires_after_two_minutes() -> None:
    """A queue expires 120 s after the last attempt to pull."""
    queue: ProcessQueue[Stored] = ProcessQueue(5, RULES)
    assert [queue.is_pull_expired(now_ms) for now_ms in (120_005, 120_006)] == [False, True]


@pytest.mark.parametrize(
    ("release", "code", "own_ms", "delay_ms"),
    [
        ("4.5.2", None, None, 3000),
        ("4.6.0", 25, None, 1000),
        ("4.9.4", 215, None, 1000),
        ("4.9.5", 215, None, 20),
        ("4.9.8", 1, None, 1000),
        ("5.0.0", 215, None, 1000),
        ("5.1.0", 215, None, 20),
        ("5.5.0", None, None, 1000),
        ("5.5.0", None, 70, 70),
        ("5.5.0", 215, 70, 20),
    ],
)
def test_delay_after_a_failed_pull(release: str, code: int | None, own_ms: int | None, delay_ms: int) -> None:
    """A failed pull is repeated after the release's delay or the set one, after flow control of the broker sooner in some."""
    settings = ConsumeSettings(pull_time_delay_when_exception_ms=own_ms)
    assert delay_after_failure_ms(code, consumer_rules_of(release), settings) == delay_ms


@pytest.mark.parametrize(
    ("release", "own_ms", "expected", "unbalanced_ms"),
    [
        ("5.1.4", None, [300, 550, 1550], 20_000),
        ("5.1.4", 700, [300, 550, 1550], 20_000),  # a property that it does not read
        ("5.2.0", None, [1000, 2000, 3000], 1000),
        ("5.2.0", 700, [700, 1400, 2100], 700),
    ],
)
def test_when_rounds_begin(release: str, own_ms: int | None, expected: list[int], unbalanced_ms: int) -> None:
    """Up to 5.1.4 each wake-up is a round; then those within the least time of the last round, or the start, are one at its end."""
    rounds = Rounds(consumer_rules_of(release), ConsumeSettings(rebalance_min_interval_ms=own_ms), 0)
    due, now_ms = [], 0
    for woken_ms in (300, 550, 1550):
        now_ms = max(now_ms, woken_ms)
        while not rounds.is_due(now_ms):
            now_ms += rounds.wait_ms
        due.append(now_ms)
        rounds.ended(now_ms, balanced=True)
    assert due == expected
    assert rounds.wait_ms == 20_000
    rounds.ended(now_ms, balanced=False)
    assert rounds.wait_ms == unbalanced_ms


@pytest.mark.parametrize(("woken_ms", "is_due", "wait_ms"), [(998, False, 2), (999, False, 1), (1_000, True, 20_000)])
def test_a_round_waits_for_the_last_millisecond_of_the_least_interval(
    woken_ms: int, is_due: bool, wait_ms: int
) -> None:
    """What is left of the interval is waited for, and nothing else changes at its end."""
    rounds = Rounds(consumer_rules_of("5.2.0"), ConsumeSettings(), 0)
    assert (rounds.is_due(woken_ms), rounds.wait_ms) == (is_due, wait_ms)


def test_defaults_of_the_java_consumers() -> None:
    """As DefaultMQPushConsumer and DefaultLitePullConsumer of 5.3.3 are made; times in ms."""
    assert asdict(ConsumeSettings()) == {
        "message_model": "CLUSTERING",
        "consume_from_where": "CONSUME_FROM_LAST_OFFSET",
        "consume_thread_nums": 20,
        "consume_message_batch_max_size": 1,
        "pull_batch_size": 32,
        "pull_interval_ms": 0,
        "pull_threshold_for_queue": 1_000,
        "pull_threshold_size_for_queue_mib": 100,
        "consume_concurrently_max_span": 2_000,
        "consume_timeout_minutes": 15,
        "max_reconsume_times": -1,
        "suspend_current_queue_time_ms": 1_000,
        "pull_time_delay_when_exception_ms": None,
        "persist_consumer_offset_interval_ms": 5_000,
        "rebalance_wait_interval_ms": 20_000,
        "rebalance_min_interval_ms": None,
        "lock_interval_ms": 20_000,
        "lock_max_live_time_ms": 30_000,
        "auto_commit": True,
        "auto_commit_interval_ms": 5_000,
        "poll_timeout_ms": 5_000,
        "pull_threshold_for_all": 10_000,
        "pull_thread_nums": 20,
    }
    assert ConsumeContext() == ConsumeContext(ack_index=2_147_483_647, delay_level=0)
    assert ConsumeFromWhere.FIRST == "CONSUME_FROM_FIRST_OFFSET"


@pytest.mark.parametrize(("own", "most"), [(-1, 16), (-2, -2), (0, 0), (1, 1), (17, 17)])
def test_a_message_is_handed_back_16_times_unless_set(own: int, most: int) -> None:
    """Only −1 stands for the default."""
    assert ConsumeSettings(max_reconsume_times=own).most_reconsume_times == most


@pytest.mark.parametrize(
    ("members", "broker_id", "is_only", "tries_next", "expected"),
    [
        ({0: "m", 1: "s"}, 0, False, True, (0, "m")),
        ({0: "m", 1: "s"}, 1, False, True, (1, "s")),
        ({1: "s", 2: "t"}, 0, False, True, (1, "s")),
        ({1: "s", 2: "t"}, 0, True, True, None),
        ({0: "m", 2: "t"}, 1, False, True, (2, "t")),
        ({0: "m", 2: "t"}, 1, True, True, (2, "t")),
        ({0: "m", 2: "t"}, 1, False, False, (0, "m")),
        ({0: "m", 2: "t"}, 1, True, False, None),
        ({0: "m", 1: "s"}, 3, False, True, (0, "m")),
        ({}, 0, False, True, None),
    ],
)
def test_the_member_of_a_broker_that_is_asked(
    members: dict[int, str], broker_id: int, is_only: bool, tries_next: bool, expected: tuple[int, str] | None
) -> None:
    """The wanted one; for a missing slave from 4.8.0 the next id; then the least, if any will do."""
    assert member_of(members, broker_id, is_only=is_only, tries_next_slave=tries_next) == expected


@pytest.mark.parametrize(
    ("release", "query", "commit"),
    [
        ("4.9.2", Asked.ANY, Asked.ANY),
        ("4.9.3", Asked.FIRST_LOOK, Asked.FIRST_LOOK),
        ("5.0.0", Asked.FIRST_LOOK, Asked.ANY),
        ("5.0.0-PREVIEW", Asked.ANY, Asked.ANY),
    ],
)
def test_who_is_asked_for_offsets(release: str, query: Asked, commit: Asked) -> None:
    """Some releases look the route up before they ask a slave."""
    rules = consumer_rules_of(release)
    assert (asked_for_query(rules), asked_for_commit(rules)) == (query, commit)
    assert [each.is_only(was_looked_up=again) for each in Asked for again in (False, True)] == [
        False,
        False,
        True,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("status", "ack_index", "count"),
    [
        (ConsumeStatus.CONSUME_SUCCESS, 2**31 - 1, 3),
        (ConsumeStatus.CONSUME_SUCCESS, 0, 1),
        (ConsumeStatus.CONSUME_SUCCESS, -1, 0),
        (ConsumeStatus.RECONSUME_LATER, 2, 0),
        (None, 2, 0),
    ],
)
def test_acknowledged_messages_of_a_call(status: ConsumeStatus | None, ack_index: int, count: int) -> None:
    """A success acknowledges up to the ack index, anything else nothing."""
    assert acknowledged(status, ConsumeContext(ack_index), 3) == count


def test_offsets_rise_freeze_and_are_forgotten() -> None:
    """Offsets only rise, frozen ones stay, and forgotten ones begin anew."""
    offsets, one, other = Offsets(), TopicQueue("T", Queue("a", 0)), TopicQueue("T", Queue("a", 1))
    offsets.update(one, 5, increase_only=True)
    offsets.update(one, 3, increase_only=True)
    assert offsets.get(one) == 5
    offsets.freeze(one, 2)
    offsets.update(one, 9, increase_only=True)
    offsets.update(other, 1, increase_only=False)
    assert (offsets.get(one), offsets.get(other)) == (2, 1)
    offsets.forget(one)
    offsets.update(one, 9, increase_only=True)
    assert offsets.get(one) == 9


def test_a_walk_through_offsets_meets_what_is_added_ahead_of_it() -> None:
    """
    A walk goes on in the order of hashes, from a queue that is gone too, and meets what was added after its place.

    What it has in hand keeps its last offset, though it is forgotten.
    """
    offsets, queues = Offsets(), [TopicQueue("topic", Queue(broker, 0)) for broker in "~ABCD"]
    walk = in_hash_order(queues)
    for of in walk[1::2]:
        offsets.update(of, 1, increase_only=True)
    first = offsets.following(None)
    offsets.update(walk[1], 5, increase_only=True)
    offsets.forget(walk[1])
    for of in walk[::2]:
        offsets.update(of, 1, increase_only=True)
    assert _walk(offsets, first) == [(walk[1], 5), (walk[2], 1), (walk[3], 1), (walk[4], 1)]


def test_a_walk_goes_on_from_a_forgotten_offset_in_its_bucket() -> None:
    """One that is added anew comes last in its bucket, so a walk meets it again; forgotten ones still lead on from one to the next."""
    offsets, queues = (
        Offsets(),
        [TopicQueue("topic", Queue(*each)) for each in (("broker-2", 1), ("e", 0), ("broker-2", 0))],
    )
    for of in queues:
        offsets.update(of, 1, increase_only=True)
    first = offsets.following(None)
    for of in queues[:2]:
        offsets.forget(of)
    offsets.update(queues[0], 2, increase_only=True)
    assert _walk(offsets, first) == [(of, 1) for of in queues]


def _walk(offsets: Offsets, at: Remembered | None) -> list[tuple[TopicQueue, int]]:
    return [] if at is None else [(at.of, at.offset), *_walk(offsets, offsets.following(at))]


def test_a_table_of_offsets_doubles_with_twelve_queues() -> None:
    """It is a ConcurrentHashMap of 16 buckets; a HashMap of 16 would double with thirteen."""
    queues = [TopicQueue("topic", Queue(f"x{7 * number}", 0)) for number in range(12)]
    assert in_hash_order(queues) == in_hash_order(queues, buckets=32)
    assert in_hash_order(queues) != in_hash_order(queues, concurrent=False)


def test_constants_of_the_push_consumer() -> None:
    """As in DefaultMQPushConsumerImpl, RebalanceImpl and ConsumeMessageOrderlyService of 4.2.0 to 5.5.0; times in ms."""
    assert (pull_loop.BROKER_SUSPEND_MS, pull_loop.CLIENT_TIMEOUT_MS, pull_loop.FLOW_CONTROL_MS) == (15_000, 30_000, 50)
    assert (orderly.LOCK_TIMEOUT_MS, orderly.CONTINUOUSLY_MS) == (1_000, 60_000)
    assert (concurrent.FIRST_RETRY_LEVEL, concurrent.MOST_EXPIRED, PROCESS_BUCKETS) == (3, 16, 128)
    assert [*ConsumeStatus] == ["CONSUME_SUCCESS", "RECONSUME_LATER"]
    assert [*orderly.OrderlyStatus] == ["SUCCESS", "ROLLBACK", "COMMIT", "SUSPEND_CURRENT_QUEUE_A_MOMENT"]
    assert [*MessageModel] == ["CLUSTERING", "BROADCASTING"]


def test_failed_messages_are_never_skipped() -> None:
    """A retry topic begins at 0 wherever the group shall begin."""
    where = ConsumeFromWhere
    found = [begins_at_zero(topic, at) for topic in ("T", "%RETRY%G") for at in (where.LAST, where.FIRST)]
    assert found == [False, True, True, True]
