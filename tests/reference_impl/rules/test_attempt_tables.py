"""Constants of RocketMQ: response codes, error kinds, penalties, permissions, defaults, orders of hash tables."""

from dataclasses import asdict

import pytest

from rocketmq_reference.rules.client.known_routes import KnownRoutes
from rocketmq_reference.rules.client.route import BrokerQueues, TopicRoute, publish_list, write_queue_numbers
from rocketmq_reference.rules.java import hash_order
from rocketmq_reference.rules.producer import attempt
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, ErrorFamily, Finish, family_of
from rocketmq_reference.rules.producer.direct_send import direct_send_ended
from rocketmq_reference.rules.producer.one_way import OneWaySend
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.events import Charged, Event
from rocketmq_reference.rules.queue_choice.penalties import MINUTES, SECONDS, PenaltyTable
from tests.reference_impl.rules.toys import Toy

PERM_INHERIT, PERM_WRITE, PERM_READ, PERM_PRIORITY = 1, 2, 4, 8
"""PermName of every release."""

TWELVE = [*"pabcdefghijk"]
"""
Twelve keys fill three quarters of 16 buckets: a ConcurrentHashMap then doubles, a HashMap does not.

The hash of p is 112: bucket 0 of 16, before all others, and 16 of 32, after them.
"""


def test_exceptions_have_the_codes_of_javas_client() -> None:
    """The response codes of exceptions are those of ClientErrorCode in every release (producer-behaviour 2)."""
    assert (
        attempt.CONNECT_BROKER,
        attempt.ACCESS_BROKER_TIMEOUT,
        attempt.BROKER_NOT_EXIST,
        attempt.NO_NAME_SERVER,
        attempt.NOT_FOUND_TOPIC,
    ) == (10001, 10002, 10003, 10004, 10005)


@pytest.mark.parametrize(
    ("error", "family", "code"),
    [
        ("RemotingException", ErrorFamily.REMOTING, None),
        ("RemotingConnectException", ErrorFamily.REMOTING, 10001),
        ("RemotingTimeoutException", ErrorFamily.REMOTING, 10002),
        ("RemotingSendRequestException", ErrorFamily.REMOTING, None),
        ("RemotingTooMuchRequestException", ErrorFamily.REMOTING, None),
        ("RemotingCommandException", ErrorFamily.REMOTING, None),
        ("MQClientException", ErrorFamily.CLIENT, 10003),
    ],
)
def test_errors_after_which_another_attempt_is_made(error: str, family: ErrorFamily, code: int | None) -> None:
    """
    RemotingException and its subclasses isolate the broker, MQClientException does not (producer-behaviour 3.6, Y4).

    After the last attempt the wrapping exception has the code of the last cause (10001 to 10003, or none).
    """
    assert family_of(error) is family
    events: list[Event] = []
    toy = Toy(
        "5.3.3", observer=events.append, draws=[0], send_latency_fault_enable=True, retry_times_when_send_failed=1
    )
    failed = AttemptResult.failed(error)
    end = Finish(Ending.GAVE_UP, 1, error="MQClientException", code=code, cause=error)
    assert toy.send((5, failed), (9, failed))[-1] == end
    isolated = family is ErrorFamily.REMOTING
    charged = [event for event in events if isinstance(event, Charged)]
    assert charged[0] == Charged("a", 5, 10_000 if isolated else 0, isolated, reachable=True)
    assert len(charged) == 2


@pytest.mark.parametrize(
    ("error", "family", "charged"),
    [
        ("MQBrokerException", ErrorFamily.BROKER, [Charged("a", 5, 10_000, isolated=True, reachable=False)]),
        ("InterruptedException", ErrorFamily.INTERRUPTED, [Charged("a", 5, 0, isolated=False, reachable=True)]),
        ("IllegalStateException", ErrorFamily.FOREIGN, []),
    ],
)
def test_errors_that_end_the_send(error: str, family: ErrorFamily, charged: list[Charged]) -> None:
    """
    A broker's error (here without code), an interruption and an unknown exception end the send unchanged (Y4).

    The unknown exception is not charged.
    """
    assert family_of(error) is family
    events: list[Event] = []
    toy = Toy("5.3.3", observer=events.append, send_latency_fault_enable=True)
    assert toy.send((5, AttemptResult.failed(error)))[-1] == Finish(Ending.RETHROWN, 0, error=error)
    assert [event for event in events if isinstance(event, Charged)] == charged


def test_a_send_to_a_given_queue_has_its_first_attempt_for_a_result() -> None:
    """A given queue has one attempt, number 0; an error keeps its code."""
    assert direct_send_ended(AttemptResult.ok()) == Finish(Ending.RESULT, 0, status="SEND_OK")
    ended = direct_send_ended(AttemptResult.failed("MQBrokerException", 14))
    assert ended == Finish(Ending.RETHROWN, 0, error="MQBrokerException", code=14)


def test_a_one_way_send_is_over_as_soon_as_it_is_settled() -> None:
    """A one-way send ends after one attempt, because it has no status."""
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    send = OneWaySend(toy.dialect, toy.settings, toy.selector)
    send.begin(0, 0)
    assert send.settle(0, AttemptResult()) == Finish(Ending.RESULT, 0)


@pytest.mark.parametrize(
    ("table", "latency_max", "not_available_duration"),
    [
        (MINUTES, (50, 100, 550, 1000, 2000, 3000, 15000), (0, 0, 30000, 60000, 120000, 180000, 600000)),
        (SECONDS, (50, 100, 550, 1800, 3000, 5000, 15000), (0, 0, 2000, 5000, 6000, 10000, 30000)),
    ],
)
def test_penalties_are_those_of_the_strategy(
    table: PenaltyTable, latency_max: tuple[int, ...], not_available_duration: tuple[int, ...]
) -> None:
    """Penalties are MQFaultStrategy's latencyMax and notAvailableDuration, to 5.1.3 and from 5.1.4 (producer-behaviour 2)."""
    assert (table.slower_than_ms, table.avoid_for_ms) == (latency_max, not_available_duration)


def test_a_table_without_thresholds_avoids_no_broker() -> None:
    """An empty penalty table gives no avoidance."""
    assert PenaltyTable((), ()).avoidance_ms(600_000) == 0


@pytest.mark.parametrize(
    "others", [0, PERM_INHERIT, PERM_READ, PERM_PRIORITY, PERM_READ | PERM_INHERIT | PERM_PRIORITY]
)
def test_only_one_bit_of_a_permission_allows_writing(others: int) -> None:
    """Only the write bit makes a queue writable (PermName.isWriteable)."""
    for permission, queues in ((others, []), (others | PERM_WRITE, [("a", 0)])):
        route = TopicRoute((BrokerQueues("a", 1, 1, permission),), {"a": {0: "a:1"}})
        assert publish_list(route) == queues
        assert write_queue_numbers(route, writable_only=True) == dict.fromkeys([broker for broker, _ in queues], 1)


def test_defaults_are_javas_in_every_release() -> None:
    """The defaults are those of DefaultMQProducer and ClientConfig in every release (producer-behaviour 2)."""
    assert asdict(SendSettings()) == {
        "send_latency_fault_enable": False,
        "send_msg_timeout_ms": 3_000,
        "retry_times_when_send_failed": 2,
        "retry_another_broker_when_not_store_ok": False,
        "send_msg_max_timeout_per_request_ms": -1,
        "start_detector_enable": False,
        "added_retry_response_codes": frozenset(),
        "retry_times_when_send_async_failed": 2,
        "vip_channel_enabled": None,
    }


def test_twelve_topics_are_polled_as_a_hash_set_lists_them() -> None:
    """Topics are polled in HashSet order; any_topic uses the order of a ConcurrentHashMap, which doubles at twelve."""
    routes = KnownRoutes("TBW102", key_ignored=True)
    for topic in TWELVE:
        routes.want(topic)
    assert routes.polled_topics() == TWELVE == hash_order(TWELVE, buckets=16, concurrent=False)
    assert routes.any_topic() == "a"


def test_twelve_masters_are_in_the_order_of_a_concurrent_hash_map() -> None:
    """Masters have the order of a ConcurrentHashMap (brokerAddrTable), which doubles at twelve."""
    routes = KnownRoutes("TBW102", key_ignored=True)
    routes.take("T", TopicRoute((), {broker: {0: f"{broker}:1"} for broker in TWELVE}), can_select=False)
    assert list(routes.masters()) == [f"{broker}:1" for broker in (*TWELVE[1:], "p")]


def test_whether_a_route_was_taken_is_a_plain_yes_or_no() -> None:
    """A new route returns True, the same route again False."""
    routes = KnownRoutes("TBW102", key_ignored=True)
    route = TopicRoute((), {"a": {0: "a:1"}})
    assert [routes.take("T", route, can_select=True) for _ in range(2)] == [True, False]
