"""What consumers of different releases do differently, on scripted brokers."""

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from rocketmq_reference.client.consuming.memory import OffsetEvent
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import IllegalStateException
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.properties import decode_properties
from rocketmq_reference.rules.consumer import concurrent
from rocketmq_reference.rules.consumer.allocation import averagely, nearby
from rocketmq_reference.rules.consumer.concurrent import ConsumeContext, ConsumeStatus
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere
from tests.reference_impl.consuming_group import T0, Group, group_on_a_broker
from tests.reference_impl.fake_broker import Answer

PULL = RequestCode.PULL_MESSAGE


@pytest.fixture
def group() -> Iterator[Group]:
    with group_on_a_broker() as made:
        yield made


def later(_message: StoredMessage, context: ConsumeContext) -> ConsumeStatus:
    context.delay_level = 1
    return ConsumeStatus.RECONSUME_LATER


@pytest.mark.parametrize("release", ["4.5.1", "4.9.8", "5.1.4", "5.5.0"])
def test_a_member_of_any_release_consumes_and_commits(group: Group, release: str) -> None:
    """Every release takes its queues, delivers, and commits; only those from 5.0.0 limit the bytes of a pull."""
    group.broker.put("T", 0, "a", "b")
    with group.consuming(release=release):
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 2) in group.events)
    assert sorted(group.seen) == [("T", "a", 0), ("T", "b", 0)]
    group.wait_for(lambda: group.broker.committed.get(("T", 0)) == 2)
    asked = {pull.ext_fields.get("maxMsgBytes") for pull in group.broker.requests_of(PULL)}
    assert asked == ({"262144"} if release[0] == "5" else {None})


def test_up_to_4_5_0_only_pulls_and_heartbeats_go_to_the_advertised_port(group: Group) -> None:
    """Without the port two below a member learns no ids; with it, it consumes and commits."""
    group.broker.put("T", 0, "a")
    with group.consuming(release="4.4.0", rebalance_wait_interval_ms=50):
        group.wait_for(lambda: len(group.broker.requests_of(RequestCode.HEART_BEAT)) > 0)
        assert not group.broker.requests_of(RequestCode.GET_CONSUMER_LIST_BY_GROUP)
        with group.broker.listen_on(group.broker.two_below) as below:
            group.wait_for(lambda: ("T", "a", 0) in group.seen)
            group.wait_for(lambda: group.broker.committed.get(("T", 0)) == 1)
            below.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(("release", "value", "seen"), [("4.9.8", -1, ["end"]), ("5.0.0", -2, [])])
def test_an_error_instead_of_an_offset(group: Group, release: str, value: int, seen: list[str]) -> None:
    """Up to 4.9.8 any error means that there is no offset, so a group skips what it had consumed not yet."""
    group.broker.refusals[RequestCode.QUERY_CONSUMER_OFFSET] = Answer(1)
    group.broker.put("T", 0, "a", "b")
    with group.consuming(ConsumeFromWhere.LAST, release=release, rebalance_wait_interval_ms=20):
        group.wait_for(lambda: (OffsetEvent.QUERY, T0, value) in group.events)
        group.wait_for(lambda: len(group.shares) >= 4)
        group.broker.put("T", 0, "end")
        group.wait_for(lambda: len(group.seen) == len(seen))
    assert [body for _, body, _ in group.seen] == seen


def test_up_to_5_1_4_a_wrong_offset_is_repaired_late(group: Group) -> None:
    """The queue is given up at once, but the offset is committed ten seconds later, unfrozen, and no round is asked for."""
    group.broker.first["T", 0] = 7
    group.broker.put("T", 0, "seventh")
    group.broker.committed["T", 0] = 3
    consumer = group.member("5.1.4", rebalance_wait_interval_ms=300)
    assert consumer.parts.memory.rules.wrong_offset_delay_ms == 10_000
    consumer.parts.memory.rules = replace(consumer.parts.memory.rules, wrong_offset_delay_ms=50)
    consumer.start()
    group.wait_for(lambda: ("T", "seventh", 0) in group.seen)
    consumer.shutdown()
    repair = [(event, value) for event, of, value in group.events if of == T0 and event is not OffsetEvent.QUERY]
    begin = repair.index((OffsetEvent.UPDATE, 7))
    assert repair[begin : begin + 4] == [
        (OffsetEvent.UPDATE, 7),
        (OffsetEvent.COMMIT, 7),
        (OffsetEvent.COMMIT, 7),
        (OffsetEvent.FORGET, None),
    ]
    assert OffsetEvent.FREEZE not in {event for event, _, _ in group.events}


@pytest.mark.parametrize(("release", "joins_later"), [("5.3.1", True), ("5.3.2", False)])
def test_a_consumer_whose_start_failed(group: Group, release: str, joins_later: bool) -> None:
    """Up to 5.3.1 it lives on and consumes when a name server answers; from 5.3.2 it has shut down."""
    group.broker.put("T", 0, "a")
    group.cluster.name_server.refuse()
    settings: dict[str, Any] = {
        "poll_name_server_interval_ms": 50,
        "rebalance_wait_interval_ms": 50,
        "heartbeat_broker_interval_ms": 50,
    }
    consumer = group.member(release, consume_from_where=ConsumeFromWhere.FIRST, **settings)
    with pytest.raises(IllegalStateException):
        consumer.start()
    group.cluster.name_server.come_back()
    if joins_later:
        group.wait_for(lambda: bool(group.seen))
    consumer.shutdown()
    assert bool(group.seen) is joins_later


def test_before_4_6_0_a_start_without_name_server_succeeds(group: Group) -> None:
    """The failed look-up is logged."""
    group.cluster.name_server.refuse()
    consumer = group.member("4.5.2")
    assert consumer.start() is consumer
    consumer.shutdown()


@pytest.mark.parametrize(
    ("release", "kept", "expected"),
    [("5.3.3", None, None), ("5.3.3", "first", "first"), ("5.4.0", None, "KEY"), ("5.4.0", "first", "first")],
)
def test_id_of_a_message_that_is_sent_again(group: Group, release: str, kept: str | None, expected: str | None) -> None:
    """Up to 5.3.3 the first send-back by the client's own send loses the id; its times are in the header."""
    group.answer = later
    group.broker.refusals[RequestCode.CONSUMER_SEND_MSG_BACK] = Answer(1)
    ids = {} if kept is None else {"ORIGIN_MESSAGE_ID": kept}
    group.broker.put("T", 0, "a", reconsume_times=2, UNIQ_KEY="KEY", **ids)
    with group.consuming(release=release):
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 1) in group.events)
    (sent,) = group.broker.stored
    properties = decode_properties(sent.fields["properties"])
    assert properties.get("ORIGIN_MESSAGE_ID") == expected
    assert (properties["DELAY"], properties["RECONSUME_TIME"], properties["RETRY_TOPIC"]) == ("5", "3", "T")
    assert (sent.fields["reconsumeTimes"], sent.fields["maxReconsumeTimes"]) == ("3", "16")


@pytest.mark.parametrize(("release", "shows"), [("5.3.3", True), ("5.4.0", False)])
def test_a_message_that_neither_way_takes_back(
    group: Group, release: str, shows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is consumed again by the same member, up to 5.3.3 with the properties of the send; an attempt took the times out."""
    monkeypatch.setattr(concurrent, "LOCAL_RETRY_MS", 20)
    properties: list[dict[str, str]] = []

    def remember(message: StoredMessage, _context: ConsumeContext) -> ConsumeStatus:
        properties.append(dict(message.properties))
        return ConsumeStatus.RECONSUME_LATER if len(properties) < 2 else ConsumeStatus.CONSUME_SUCCESS

    group.answer = remember
    for code in (RequestCode.CONSUMER_SEND_MSG_BACK, RequestCode.SEND_MESSAGE_V2):
        group.broker.refusals[code] = Answer(1)
    group.broker.put("T", 0, "a", UNIQ_KEY="KEY")
    with group.consuming(release=release):
        group.wait_for(lambda: (OffsetEvent.UPDATE, T0, 1) in group.events)
    assert [times for _, _, times in group.seen] == [0, 1]
    added = {"RETRY_TOPIC": "T", "DELAY": "3"} if shows else {}
    assert {name: value for name, value in properties[1].items() if name not in properties[0]} == added


@pytest.mark.parametrize(("release", "beats"), [("5.1.4", False), ("5.2.0", True)])
def test_a_new_connection_begins_with_a_heartbeat(group: Group, release: str, beats: bool) -> None:
    """From 5.2.0 on; before, a broker that was restarted knows the member again with the next periodic heartbeat."""
    with group.consuming(release=release, first_heartbeat_ms=60_000):
        group.wait_for(lambda: len(group.owned) == 3 and bool(group.broker.requests_of(PULL)))
        before = len(group.broker.requests_of(RequestCode.HEART_BEAT))
        pulls = len(group.broker.requests_of(PULL))
        group.broker.hang_up()
        group.wait_for(lambda: len(group.broker.requests_of(PULL)) >= pulls + 9)
        if beats:
            group.wait_for(lambda: len(group.broker.requests_of(RequestCode.HEART_BEAT)) > before)
        assert (len(group.broker.requests_of(RequestCode.HEART_BEAT)) > before) is beats


def test_a_strategy_that_fails_is_reported_and_tried_again(group: Group) -> None:
    """The topic stays as it is, and the round counts as unbalanced."""
    strategy = nearby(averagely, lambda _queue: "", lambda _one: "a")
    with group.consuming(strategy=strategy):
        group.wait_for(lambda: len(group.errors) >= 4)
    assert {str(error)[:23] for error in group.errors} == {"Machine room is null fo"}
    assert not group.owned


@pytest.mark.parametrize(
    ("release", "asks", "error"), [("5.4.0", True, "mqAll is null or mqAll empty"), ("5.5.0", False, None)]
)
def test_a_topic_without_queues(group: Group, release: str, asks: bool, error: str | None) -> None:
    """From 5.5.0 it is no failure, and no ids are asked for; before, the strategy fails each second."""
    group.cluster.name_server.routes.pop("%RETRY%G")
    group.cluster.set_route("T", {"broker-a": 2}, perm=2)
    with group.consuming(release=release):
        group.wait_for(lambda: len(group.broker.requests_of(RequestCode.HEART_BEAT)) >= (1 if asks else 2))
        group.wait_for(lambda: len(group.errors) >= 2 or not asks)
    assert bool(group.broker.requests_of(RequestCode.GET_CONSUMER_LIST_BY_GROUP)) is asks
    assert {str(one) for one in group.errors} == ({error} if asks else set())


def test_a_group_without_ids_keeps_what_it_has_from_5_5_0(group: Group) -> None:
    """An empty list counts as none."""
    consumer = group.member("5.5.0", consume_from_where=ConsumeFromWhere.FIRST, rebalance_wait_interval_ms=20)
    consumer.start()
    group.wait_for(lambda: len(group.owned) == 3)
    group.broker.ids = []
    asked = len(group.broker.requests_of(RequestCode.GET_CONSUMER_LIST_BY_GROUP))
    group.wait_for(lambda: len(group.broker.requests_of(RequestCode.GET_CONSUMER_LIST_BY_GROUP)) >= asked + 6)
    assert len(group.owned) == 3
    assert set(group.errors) == {None}
    consumer.shutdown()


@pytest.mark.parametrize(("release", "asks"), [("5.1.4", True), ("5.2.0", False)])
def test_a_start_without_a_known_broker(group: Group, release: str, asks: bool) -> None:
    """From 5.2.0 on it asks for no round, as no broker got a heartbeat."""
    group.cluster.name_server.routes.clear()
    consumer, rounds = group.member(release), list[str]()
    consumer.parts.rebalancing.wake = lambda: rounds.append("asked")  # type: ignore[method-assign]  # counts
    consumer.start()
    assert bool(rounds) is asks
    consumer.shutdown()


def test_the_first_pull_waits_as_long_as_the_release_does(group: Group) -> None:
    """A queue is owned before it is pulled from; later pulls do not wait."""
    consumer = group.member("5.1.4", rebalance_wait_interval_ms=20)
    assert consumer.parts.memory.rules.first_pull_delay_ms == 500
    consumer.parts.memory.rules = replace(consumer.parts.memory.rules, first_pull_delay_ms=60_000)
    consumer.start()
    group.wait_for(lambda: len(group.owned) == 3 and len(group.shares) >= 6)
    assert not group.broker.requests_of(PULL)
    consumer.shutdown()


@pytest.mark.parametrize(("release", "renews"), [("4.9.8", False), ("5.0.0", True)])
def test_rounds_of_a_topic_that_no_name_server_knows(group: Group, release: str, renews: bool) -> None:
    """From 5.0.0 on each is announced like a change: a new version of the subscription, and heartbeats."""
    del group.cluster.name_server.routes["T"]
    with group.consuming(release=release, rebalance_wait_interval_ms=20, heartbeat_broker_interval_ms=20):
        group.wait_for(lambda: len(group.shares) >= 6 and len(group.broker.requests_of(RequestCode.HEART_BEAT)) >= 6)
    versions = {
        one["subVersion"]
        for beat in group.broker.requests_of(RequestCode.HEART_BEAT)
        for one in json.loads(beat.body)["consumerDataSet"][0]["subscriptionDataSet"]
        if one["topic"] == "T"
    }
    assert (len(versions) > 1) is renews
