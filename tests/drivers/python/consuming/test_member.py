"""The reference as a member: rules of the listener, messages, and a whole conversation on a scripted broker."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pytest

from rocketdiff.core.consuming.plan import Allocation, ListenerKind, ListenerOutcome, ListenerRule, MessageModel
from rocketdiff.core.records.consuming import (
    Allocated,
    CallResult,
    Consumed,
    DeliveredMessage,
    Joined,
    Left,
    OffsetEvent,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.session import Done, Ready, SubjectFailed
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.drivers.python.consuming.messages import MessageReader
from rocketdiff.drivers.python.consuming.reference import ReferenceMember, settings_of
from rocketdiff.drivers.python.consuming.runner import MemberRunner
from rocketdiff.drivers.python.consuming.script import CallEnd, ListenerScript
from rocketdiff.drivers.python.session import Session, Speak, obey
from rocketdiff.protocol.consuming import Join, Leave, MemberSetup, encode_member_setup, encode_order, encode_rules
from rocketdiff.subjects.consuming.reference_claims import FIRST_RELEASE, is_consumer
from rocketmq_reference.api import push_consumer
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.messages import decode_stored
from tests.drivers.python.test_session import Heard
from tests.reference_impl.consuming_broker import ConsumerBroker, stored
from tests.reference_impl.fake_broker import FakeCluster, Reply

OUT = ListenerOutcome
SETUP = MemberSetup(
    member=0,
    instance="b-m0",
    name_servers=("127.0.0.1:1",),
    topic="T",
    warm_topic="W",
    group="G",
    warm_group="G-warm",
    run="R",
    listener=ListenerKind.CONCURRENT,
    model=MessageModel.CLUSTERING,
    strategy=Allocation.AVG,
    work_ms=7,
    body_bytes=(8, 5),
    settings={"consume_from_where": "first", "consume_thread_min": 2, "consume_thread_max": 4},
    properties={"rebalance_min_interval_ms": 20},
)
FIRST_FAILS = ListenerRule(0, every=4, tries=1, outcome=OUT.LATER, delay_level=1)


def message(send: int | None, times: int = 0) -> DeliveredMessage:
    return DeliveredMessage(0, times, 0, True, send)


RULES = (
    FIRST_FAILS,
    ListenerRule(1, every=6, offset=1, tries=1, outcome=OUT.THROW),
    ListenerRule(2, every=6, offset=2, tries=9, outcome=OUT.ACK_INDEX, work_ms=50),
    ListenerRule(3, every=6, offset=3, tries=9, outcome=OUT.NULL),
)


@pytest.mark.parametrize(
    ("sends", "end"),
    [
        ([5], CallEnd(OUT.SUCCESS, None, None, 7)),
        ([None], CallEnd(OUT.SUCCESS, None, None, 7)),
        ([4], CallEnd(OUT.LATER, 1, None, 7)),
        ([7], CallEnd(OUT.THROW, None, None, 7)),
        ([3], CallEnd(OUT.NULL, None, None, 7)),
        ([5, 2, 11], CallEnd(OUT.ACK_INDEX, None, 0, 7 + 50 + 7)),
        ([2, 4], CallEnd(OUT.LATER, 1, None, 50 + 7)),
        ([4, 3, 7], CallEnd(OUT.THROW, None, None, 21)),
    ],
)
def test_a_call_ends_as_its_heaviest_rule(sends: list[int | None], end: CallEnd) -> None:
    """A call works as long as all its messages, and ends with the heaviest outcome."""
    assert ListenerScript(RULES, 7).end_of([message(send) for send in sends]) == end


def test_a_rule_applies_to_the_first_tries_only() -> None:
    ends = [ListenerScript([FIRST_FAILS], 0).end_of([message(4, times)]) for times in (0, 1)]
    assert [end.result for end in ends] == [CallResult.LATER, CallResult.SUCCESS]


def fed(send: int, body: str, **properties: str) -> bytes:
    """Return a fed message as its broker stores it."""
    shown = {"rocketdiff.id": f"R/T/{send}", **properties}
    return stored("T", 0, send, body.encode(), 0, shown)


@pytest.mark.parametrize(
    ("data", "send", "body_ok"),
    [
        (fed(0, "R/T/0..."), 0, True),
        (fed(1, "R/T/1"), 1, True),
        (fed(1, "R/T/1..."), 1, False),
        (fed(2, "R/T/1..."), 2, False),
        (stored("T", 0, 0, b"x", 0, {}), None, False),
        (stored("T", 0, 0, b"x", 0, {"rocketdiff.id": "R/U/1"}), None, False),
        (stored("T", 0, 0, b"x", 0, {"rocketdiff.id": "R/T/-1"}), None, False),
    ],
)
def test_fed_messages_are_recognised(data: bytes, send: int | None, body_ok: bool) -> None:
    (seen,) = MessageReader(SETUP).read(decode_stored(data), "T")
    assert (seen.send, seen.body_ok) == (send, body_ok)


def test_changed_properties_are_shown() -> None:
    """All properties, from the second delivery on, if they differ from the first; those of a delivery do not count."""
    reader = MessageReader(SETUP)
    shown = [
        reader.read(decode_stored(fed(1, "R/T/1", **properties)), "%RETRY%G")[0].properties
        for properties in ({"A": "1", "MIN_OFFSET": "0"}, {"A": "1", "MIN_OFFSET": "4"}, {"A": "2"})
    ]
    assert shown == [None, None, '{"A":"2","rocketdiff.id":"R/T/1"}']


def test_settings_that_the_reference_lacks_are_refused() -> None:
    assert settings_of(SETUP).consume_thread_nums == 2
    with pytest.raises(ValueError, match="a setting that the reference has, saw consume_timeout_min"):
        settings_of(replace(SETUP, settings={"consume_timeout_min": 1}))


def test_the_releases_that_the_reference_consumes_as() -> None:
    assert push_consumer.FIRST_RELEASE == FIRST_RELEASE
    assert [is_consumer(release) for release in ("5.1.4", "5.2.0", "5.5.0+abc", "6.0.0")] == [False, True, True, False]


class Listed(ConsumerBroker):
    """Lists the member of either group."""

    def serve(self, request: Command) -> Command | Reply:
        is_warm = request.ext_fields.get("consumerGroup") == "G-warm"
        self.ids = [f"127.0.0.1@b-m0{'-warm' * is_warm}"]
        return super().serve(request)


@pytest.fixture
def broker() -> Iterator[FakeCluster]:
    """A broker with eight warm messages and three fed ones, the first of which fails once."""
    only = Listed("broker-a")
    with FakeCluster({"broker-a": only}) as cluster:
        for topic in ("T", "W", "%RETRY%G", "%RETRY%G-warm"):
            cluster.set_route(topic, {"broker-a": 1})
        only.put("W", 0, *("warm" for _ in range(8)))
        for send, body in enumerate(("R/T/0...", "R/T/1", "R/T/2...")):
            only.queues["T", 0].append(fed(send, body))
        yield cluster


def test_a_member_joins_consumes_and_leaves(broker: FakeCluster) -> None:
    """From the rules to done: records in the order of their numbers, each call with its end."""
    heard = Heard()
    made: list[ReferenceMember] = []

    def member(setup: MemberSetup, rules: Sequence[ListenerRule], speak: Speak) -> ReferenceMember:
        made.append(ReferenceMember("5.3.3", setup, rules, speak))
        return made[0]

    session = Session({ClientRole.CONSUMER: partial(MemberRunner, member)}, heard.speak)
    setup = replace(SETUP, name_servers=(broker.name_server.address,), work_ms=0)
    obey([*encode_rules([FIRST_FAILS]), encode_member_setup(setup)], session)
    heard.await_kind(Ready)
    obey([encode_order(Join(0))], session)
    assert heard.await_kind(Joined).client_id == "127.0.0.1@b-m0"
    with heard.changed:
        assert heard.changed.wait_for(lambda: any(map(_is_all_finished, heard.records)), 60)
    obey([encode_order(Leave(0, last=True))], session)
    assert heard.await_kind(Done) == Done(calls=3)
    calls = [record for record in heard.records if isinstance(record, Received)]
    assert [(call.call, call.topic, call.messages[0].send, call.messages[0].body_ok) for call in calls] == [
        (number, "T", number, True) for number in range(3)
    ]
    ends = [record for record in heard.records if isinstance(record, Consumed)]
    assert sorted((end.call, end.result, end.delay_level) for end in ends) == [
        (0, CallResult.LATER, 1),
        (1, CallResult.SUCCESS, None),
        (2, CallResult.SUCCESS, None),
    ]
    for kind in (Allocated, Owned, OffsetSeen):
        numbered = [record.number for record in heard.records if isinstance(record, kind)]
        assert numbered == list(range(1, len(numbered) + 1))
    seen = [record for record in heard.records if isinstance(record, OffsetSeen) and record.topic == "T"]
    assert [event.what for event in seen[:2]] == [OffsetEvent.FORGET, OffsetEvent.QUERY]
    assert (OffsetEvent.COMMIT, 3) in [(event.what, event.value) for event in seen]
    assert heard.await_kind(Left).error is None


def _is_all_finished(record: Record) -> bool:
    return isinstance(record, OffsetSeen) and (record.what, record.value) == (OffsetEvent.UPDATE, 3)


@pytest.mark.parametrize("order", [Join(0), Leave(0)])
def test_an_order_before_ready_is_refused(order: Join | Leave) -> None:
    session = Session({ClientRole.CONSUMER: partial(MemberRunner, partial(ReferenceMember, "5.3.3"))}, Heard().speak)
    with pytest.raises(ValueError, match="join and leave after ready"):
        obey([encode_order(order)], session)


def test_an_order_that_contradicts_the_membership_fails(broker: FakeCluster) -> None:
    heard = Heard()
    session = Session({ClientRole.CONSUMER: partial(MemberRunner, partial(ReferenceMember, "5.3.3"))}, heard.speak)
    obey([encode_member_setup(replace(SETUP, name_servers=(broker.name_server.address,)))], session)
    heard.await_kind(Ready)
    obey([encode_order(Leave(0))], session)
    failed = heard.await_kind(SubjectFailed)
    assert (failed.stage, failed.message) == ("membership", "ValueError: expected a leave of a member that has joined")
