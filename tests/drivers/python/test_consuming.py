"""The reference as a member of a group: its script, and its records on scripted brokers."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.consuming.plan import (
    Allocation,
    ConsumerCall,
    ListenerKind,
    ListenerOutcome,
    ListenerRule,
    MessageModel,
)
from rocketdiff.core.records.consuming import (
    ASSIGN,
    CONSUMING_CLAIMS,
    PAUSES_QUEUES,
    SEEKS,
    Allocated,
    Applied,
    CallResult,
    DeliveredMessage,
    Joined,
    Left,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.session import Done, Hello, Ready
from rocketdiff.core.sends.message import ID_PROPERTY, padded
from rocketdiff.core.subject import SubjectId
from rocketdiff.drivers.python.consuming import reference
from rocketdiff.drivers.python.consuming.reference import as_consumer, member_capabilities
from rocketdiff.drivers.python.consuming.script import CallEnd, end_of
from rocketdiff.drivers.python.session import Session, obey
from rocketdiff.protocol.consuming import (
    Apply,
    Join,
    Leave,
    MemberSetup,
    encode_member_setup,
    encode_order,
    encode_rules,
)
from rocketdiff.subjects.claims import unknown_claims
from rocketdiff.subjects.consuming.limits import MemberLimits
from rocketdiff.subjects.consuming.talk import ConsumingTalk
from rocketdiff.subjects.conversation import Conversation, Stage
from rocketdiff.subjects.kinds import python
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.frames import Command, respond_to
from tests.drivers.python.test_session import Heard
from tests.reference_impl.consuming_broker import ConsumerBroker
from tests.reference_impl.fake_broker import FakeCluster, Reply

LATER, THROW, ACK, OK = (
    ListenerOutcome.LATER,
    ListenerOutcome.THROW,
    ListenerOutcome.ACK_INDEX,
    ListenerOutcome.SUCCESS,
)


def message(send: int | None, times: int = 0) -> DeliveredMessage:
    return DeliveredMessage(0, times, 1, True, send=send)


RULES = (
    ListenerRule(0, every=10, tries=2, outcome=LATER, offset=1, delay_level=1),
    ListenerRule(1, every=10, tries=1, outcome=THROW, offset=2, work_ms=7),
    ListenerRule(2, every=5, tries=9, outcome=ACK, offset=3),
    ListenerRule(3, every=1, tries=1, outcome=OK, work_ms=5),
)


@pytest.mark.parametrize(
    ("messages", "end"),
    [
        pytest.param([message(1)], CallEnd(LATER, 2, delay_level=1), id="the first rule that applies"),
        pytest.param([message(1, times=2)], CallEnd(OK, 2), id="no rule for a later delivery"),
        pytest.param([message(None)], CallEnd(OK, 2), id="a message that was not fed"),
        pytest.param([message(0), message(1), message(2)], CallEnd(THROW, 14), id="the heaviest outcome, all the work"),
        pytest.param(
            [message(0), message(3), message(8)], CallEnd(ACK, 9, ack_index=0), id="up to the first that fails"
        ),
    ],
)
def test_the_script_decides_how_a_call_ends(messages: list[DeliveredMessage], end: CallEnd) -> None:
    """Number and reconsume times decide; without a rule the listener works 2 ms."""
    assert end_of(messages, RULES, work_ms=2) == end


def test_an_acknowledgement_in_part_is_a_success() -> None:
    """The application returns success with an index."""
    assert CallEnd(ACK, 0, ack_index=0).result is CallResult.SUCCESS


@pytest.mark.parametrize(("release", "expected"), [("4.1.0-incubating", False), ("4.2.0", True), ("5.5.0", True)])
def test_the_kind_knows_what_the_driver_claims(release: str, expected: bool) -> None:
    """Consumers of 4.2.0 and later are imitated; the kind states the same before hello."""
    assert bool(as_consumer(release)) is python.consumes(release) is expected
    claims = member_capabilities(release)
    assert not unknown_claims(claims)
    lacking = {ListenerKind.LITE_PULL, ASSIGN, SEEKS, PAUSES_QUEUES} if release == "4.2.0" else set()
    assert set(claims) == (CONSUMING_CLAIMS - lacking if expected else set())


class GroupBroker(ConsumerBroker):
    """Lists for each group the ids that sent a heartbeat for it."""

    def __init__(self, name: str) -> None:
        self.members: dict[str, list[str]] = {}
        super().__init__(name)

    def serve(self, request: Command) -> Command | Reply:
        if request.code == RequestCode.HEART_BEAT:
            sent = json.loads(request.body)
            for group in sent["consumerDataSet"]:
                self.members.setdefault(group["groupName"], [sent["clientID"]])
        if request.code == RequestCode.GET_CONSUMER_LIST_BY_GROUP:
            ids = self.members.get(request.ext_fields["consumerGroup"], [])
            return respond_to(request, 0, body=json.dumps({"consumerIdList": ids}).encode())
        return super().serve(request)


@pytest.fixture
def broker() -> Iterator[tuple[GroupBroker, FakeCluster]]:
    """A broker with topics of one queue and eight warm messages."""
    made = GroupBroker("broker-a")
    with FakeCluster({"broker-a": made}) as cluster:
        for topic in ("T", "W", "%RETRY%G", "%RETRY%G-warm"):
            cluster.set_route(topic, {"broker-a": 1})
        made.put("W", 0, *"abcdefgh")
        yield made, cluster


def setup_of(cluster: FakeCluster) -> MemberSetup:
    return MemberSetup(
        member=0,
        instance="b-m0",
        name_servers=(cluster.name_server.address,),
        topic="T",
        warm_topic="W",
        group="G",
        warm_group="G-warm",
        run="R",
        listener=ListenerKind.CONCURRENT,
        model=MessageModel.CLUSTERING,
        strategy=Allocation.AVG,
        work_ms=0,
        body_bytes=(64,),
        settings={"consume_from_where": "first", "persist_consumer_offset_interval_ms": 100},
        properties={"rebalance_min_interval_ms": 20},
    )


def kinds(records: Sequence[Record], kind: type[Record]) -> list[Record]:
    return [record for record in records if isinstance(record, kind)]


def test_a_member_reports_its_life(broker: tuple[GroupBroker, FakeCluster]) -> None:
    """Its records make a right conversation: it joins, gets both messages, one of them damaged, commits, leaves, joins again."""
    made, cluster = broker
    for send, body in ((0, padded("R/T/0", 64).decode()), (1, "damaged")):
        fed: dict[str, Any] = {ID_PROPERTY: f"R/T/{send}"}
        made.put("T", 0, body, **fed)
    setup, heard = setup_of(cluster), Heard()
    session = Session(as_consumer("5.3.3"), heard.speak)
    obey([*encode_rules([RULES[3]]), encode_member_setup(setup)], session)
    heard.await_kind(Ready)
    obey([encode_order(Join(0))], session)
    joined = heard.await_kind(Joined)
    await_records(heard, Received, 2)
    await_value(made, 2)
    obey([encode_order(Leave(0)), encode_order(Join(0)), encode_order(Leave(0, last=True))], session)
    assert heard.await_kind(Done) == Done(calls=2)
    delivered = [each.messages[0] for each in kinds(heard.records, Received) if isinstance(each, Received)]
    assert sorted((each.send, each.body_ok) for each in delivered) == [(0, True), (1, False)]
    assert (joined.client_id or "").endswith("@b-m0")
    assert len(kinds(heard.records, Left)) == 2
    assert kinds(heard.records, OffsetSeen)
    owned = [each.queues for each in kinds(heard.records, Owned) if isinstance(each, Owned)]
    assert {("T", "broker-a", 0), ("%RETRY%G", "broker-a", 0)} in [set(queues) for queues in owned]
    assert conversed(setup, heard.records) is Stage.DONE


def test_an_application_that_polls_is_asked_between_two_polls(broker: tuple[GroupBroker, FakeCluster]) -> None:
    """It goes back in a queue that was assigned to it, and one that is not its own makes the call fail."""
    made, cluster = broker
    fed: dict[str, Any] = {ID_PROPERTY: "R/T/0"}
    made.put("T", 0, padded("R/T/0", 64).decode(), **fed)
    settings: dict[str, int | str] = {"consume_from_where": "first", "poll_timeout_ms": 50}
    setup = replace(setup_of(cluster), listener=ListenerKind.LITE_PULL, assign=(("broker-a", 0),), settings=settings)
    heard = Heard()
    session = Session(as_consumer("5.3.3"), heard.speak)
    obey([encode_member_setup(setup)], session)
    heard.await_kind(Ready)
    obey([encode_order(Join(0))], session)
    await_records(heard, Received, 1)
    calls = [Apply(0, ConsumerCall.SEEK_TO_BEGIN, "broker-a", 0), Apply(0, ConsumerCall.SEEK, "broker-a", 1, 0)]
    calls += [Apply(0, what, "broker-a", 0) for what in (ConsumerCall.PAUSE, ConsumerCall.RESUME)]
    obey(map(encode_order, calls), session)
    await_records(heard, Received, 2)
    await_records(heard, Applied, 4)
    obey([encode_order(Leave(0, last=True))], session)
    assert heard.await_kind(Done) == Done(calls=2)
    applied = [each for each in heard.records if isinstance(each, Applied)]
    assert [(each.number, each.what, each.offset, each.error) for each in applied] == [
        (1, ConsumerCall.SEEK_TO_BEGIN, None, None),
        (2, ConsumerCall.SEEK, 0, "MQClientException"),
        (3, ConsumerCall.PAUSE, None, None),
        (4, ConsumerCall.RESUME, None, None),
    ]
    assert not kinds(heard.records, Allocated)


def test_a_warm_up_that_gets_nothing_uses_another_group(
    broker: tuple[GroupBroker, FakeCluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stale entry in a broker's list takes a share of the first group."""
    monkeypatch.setattr(reference, "_WARM_S", (0.3, 20.0))
    made, cluster = broker
    made.members["G-warm"] = ["stale"]
    heard = Heard()
    session = Session(as_consumer("4.9.8"), heard.speak)
    obey([encode_member_setup(setup_of(cluster))], session)
    heard.await_kind(Ready)
    assert "G-warm-again" in made.members


def conversed(setup: MemberSetup, records: Sequence[Record]) -> Stage:
    """The stage of the runner's conversation after these records, with the orders of the test."""
    now_ns = time.monotonic_ns()
    conversation = Conversation(SubjectId("python", "5.3.3"))
    claims = member_capabilities("5.3.3")
    conversation.take(Hello(1, "python", "5.3.3", claims, 1, 0, roles=("producer", "consumer")), 0)
    talk = ConsumingTalk(setup, (), MemberLimits())
    conversation.prepare(talk)
    for record in records:
        if isinstance(record, Left) and record.incarnation == 1:
            conversation.order(lambda: talk.leave(0, 0, is_last=False))
        if isinstance(record, Left) and record.incarnation == 2:
            conversation.order(lambda: talk.leave(0, 0, is_last=True))
        conversation.take(record, now_ns)
        if isinstance(record, Ready) or (isinstance(record, Left) and record.incarnation == 1):
            conversation.order(lambda: talk.join(0, 0))
    return conversation.stage


def await_records(heard: Heard, kind: type[Record], count: int) -> None:
    with heard.changed:
        assert heard.changed.wait_for(lambda: len(kinds(heard.records, kind)) >= count, 20)


def await_value(made: GroupBroker, value: int) -> None:
    deadline, waiting = time.monotonic() + 20, threading.Event()
    while made.committed.get(("T", 0)) != value:
        assert time.monotonic() < deadline
        waiting.wait(0.002)


@pytest.mark.parametrize(
    ("line", "expected"),
    [(encode_order(Join(0)), "after ready"), (b'{"type":"go","start_ns":1}\n', "one go, after ready")],
)
def test_a_command_before_its_time_is_refused(line: bytes, expected: str) -> None:
    """Members join after ready."""
    with pytest.raises(ValueError, match=expected):
        obey([line], Session(as_consumer("5.3.3"), Heard().speak))
