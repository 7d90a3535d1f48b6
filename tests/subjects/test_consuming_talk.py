"""The order of a member's records: one scripted trace per row."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rocketdiff.core.consuming.plan import (
    Allocation,
    ConsumerCall,
    GroupPlan,
    ListenerKind,
    ListenerOutcome,
    ListenerRule,
    MessageModel,
)
from rocketdiff.core.demand import GroupDemand
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.consuming import (
    Allocated,
    Applied,
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
from rocketdiff.core.records.sending import Send
from rocketdiff.core.records.session import Done, Ready
from rocketdiff.core.subject import SubjectId
from rocketdiff.protocol.consuming import MemberSetup
from rocketdiff.subjects.consuming.claims import unclaimed_of_group, why_not_claimed
from rocketdiff.subjects.consuming.limits import MemberLimits
from rocketdiff.subjects.consuming.talk import ConsumingTalk
from rocketdiff.subjects.conversation import Conversation, Stage
from tests.subjects.conversing import MS, NOW, START, hello, violation

CLAIMS = ("concurrent", "clustering", "allocations", "owned", "offsets")
SECOND = 1_000 * MS
SETUP = MemberSetup(
    member=0,
    instance="b-m0",
    name_servers=("127.0.0.1:9876",),
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
    settings={},
    properties={},
)
JOINED = Joined(1, START, START + MS, "192.0.2.2@b-m0")
LEFT = Left(1, START + 40 * MS, START + 41 * MS)
OWNED = Owned(1, 1, START, (("T", "broker-a", 0),))
ALLOCATED = Allocated(1, 1, START, "T", "AVG", ("192.0.2.2@b-m0",), (("broker-a", 0),), (("broker-a", 0),))
COMMIT = OffsetSeen(1, 1, START, OffsetEvent.COMMIT, "T", "broker-a", 0, 3)
JOIN, LEAVE = "join", "leave"


def received(call: int = 0, at: int = START + 10 * MS, incarnation: int = 1) -> Received:
    message = DeliveredMessage(offset=call, times=0, store_ms=1, body_ok=True, send=call)
    return Received(call, incarnation, 0, at, "T", "broker-a", 0, (message,))


def consumed(call: int = 0, at: int = START + 11 * MS) -> Consumed:
    return Consumed(call, at, CallResult.SUCCESS)


class Member:
    """A conversation after ready, with the talk that takes orders."""

    def __init__(self, *claims: str, limits: MemberLimits | None = None) -> None:
        self.conversation = Conversation(SubjectId("toy", "x"))
        self.conversation.take(hello(capabilities=claims or CLAIMS, roles=("consumer",)), 0)
        self.talk = ConsumingTalk(SETUP, (), limits or MemberLimits())
        self.conversation.prepare(self.talk)
        self.conversation.take(Ready(1), 0)

    def order(self, what: str) -> None:
        self.conversation.order(
            lambda: self.talk.join(0, START) if what == JOIN else self.talk.leave(0, START, is_last=True)
        )

    def then(self, *steps: Record | str) -> "Member":
        for step in steps:
            if isinstance(step, str):
                self.order(step)
            else:
                self.conversation.take(step, NOW)
        return self


def test_a_member_joins_works_and_leaves() -> None:
    """A right conversation ends in done; records before joined are those of the client's own threads."""
    member = Member().then(JOIN, ALLOCATED, JOINED, OWNED, received(), consumed(), COMMIT, received(1), LEAVE, LEFT)
    assert not member.talk.is_finished
    member.then(consumed(1), Done(calls=2))
    assert member.conversation.stage is Stage.DONE
    assert member.conversation.ended == 2
    assert member.conversation.transcript.others[Received] == [received(), received(1)]


def test_a_broadcasting_member_allocates_nothing() -> None:
    """It owns every queue, so that calls without an allocation are right."""
    member = Member()
    member.talk._setup = replace(SETUP, model=MessageModel.BROADCASTING)
    member.then(JOIN, JOINED, received(), consumed(), LEAVE, LEFT, Done(calls=1))
    assert member.conversation.stage is Stage.DONE


SEEK = Applied(1, 1, ConsumerCall.SEEK, "broker-a", 0, START + 2 * MS, START + 3 * MS, 7)


def seeking() -> Member:
    """A member whose application is to seek."""
    member = Member().then(JOIN, ALLOCATED, JOINED)
    member.conversation.order(lambda: member.talk.apply(0, START, ConsumerCall.SEEK, ("broker-a", 0), 7))
    return member


def test_an_application_calls_between_two_polls() -> None:
    """Done comes after all its calls, one that threw too."""
    member = seeking().then(received(), consumed(), replace(SEEK, error="E"), LEAVE, LEFT, Done(calls=1))
    assert member.conversation.stage is Stage.DONE


@pytest.mark.parametrize(
    ("steps", "signature"),
    [
        pytest.param([SEEK, replace(SEEK, number=2)], "number-order", id="a call too many"),
        pytest.param([replace(SEEK, number=2)], "number-order", id="another number"),
        pytest.param([replace(SEEK, offset=8)], "call-order", id="another offset"),
        pytest.param([replace(SEEK, what=ConsumerCall.PAUSE)], "call-order", id="another call"),
        pytest.param([received(), SEEK], "call-order", id="beside its work"),
        pytest.param([replace(SEEK, start_ns=START - 2 * MS)], "early", id="before it was ordered"),
        pytest.param([LEAVE, LEFT, Done(calls=0)], "incomplete", id="none"),
    ],
)
def test_calls_of_an_application_that_are_wrong(steps: Sequence[Record | str], signature: str) -> None:
    """They come in order, as they were ordered, and never while messages are worked on."""
    with pytest.raises(SubjectBroken) as raised:
        seeking().then(*steps)
    assert raised.value.signature == f"protocol.{signature}"


def test_a_member_that_left_can_join_again() -> None:
    """The next join begins the second incarnation; numbers of calls go on."""
    member = Member()
    member.order(JOIN)
    member.then(JOINED, received(), consumed())
    member.conversation.order(lambda: member.talk.leave(0, START, is_last=False))
    member.then(LEFT, JOIN, replace(JOINED, incarnation=2), received(1, incarnation=2), consumed(1))
    assert member.talk.joined == replace(JOINED, incarnation=2)
    assert not member.talk.has_left


def test_calls_under_way_end_with_the_process_of_a_client_that_dies_in_its_shutdown() -> None:
    """They never end; the member has left all the same."""
    member = Member().then(JOIN, ALLOCATED, JOINED, received(), LEAVE, replace(LEFT, error="SIGSEGV"), Done(calls=1))
    assert member.conversation.stage is Stage.DONE


def test_a_leave_may_take_longer_than_the_next_join_waits() -> None:
    """Orders are obeyed one after the other: ``left`` may come after the order to join again, and that join waits for it."""
    member = Member().then(JOIN, JOINED)
    member.conversation.order(lambda: member.talk.leave(0, START, is_last=False))
    member.then(JOIN)
    late = member.conversation.overdue(START + 6 * SECOND)
    assert late is not None and "left after leave" in late.expected
    slow = replace(LEFT, end_ns=START + 4 * SECOND)
    member.conversation.take(slow, START + 4 * SECOND)
    assert member.conversation.overdue(START + 63 * SECOND) is None
    assert member.conversation.overdue(START + 65 * SECOND) is not None
    member.conversation.take(replace(JOINED, incarnation=2, end_ns=START + 5 * SECOND), START + 5 * SECOND)
    assert member.talk.joined is not None and not member.talk.has_left


@pytest.mark.parametrize(
    ("steps", "signature"),
    [
        pytest.param([JOINED], "out-of-order", id="a record before any order"),
        pytest.param([JOIN, JOINED, JOINED], "out-of-order", id="joined twice"),
        pytest.param([JOIN, replace(JOINED, incarnation=2)], "before-join", id="an incarnation that does not exist"),
        pytest.param([JOIN, replace(ALLOCATED, incarnation=2)], "before-join", id="an allocation before its join"),
        pytest.param([JOIN, replace(JOINED, client_id="192.0.2.2@b-m1")], "wrong-member", id="an answer for another"),
        pytest.param([JOIN, replace(JOINED, start_ns=START - 2 * MS)], "early", id="started before it was ordered"),
        pytest.param([JOIN, JOINED, LEFT], "out-of-order", id="left without an order"),
        pytest.param([JOIN, JOINED, LEAVE, LEFT, LEFT], "out-of-order", id="left twice"),
        pytest.param([JOIN, received(1)], "call-order", id="a gap in the calls"),
        pytest.param([JOIN, received(), received()], "call-order", id="a call that begins twice"),
        pytest.param([JOIN, consumed()], "call-order", id="a call that ends before it begins"),
        pytest.param([JOIN, received(), consumed(), consumed()], "call-order", id="a call that ends twice"),
        pytest.param([JOIN, received(), consumed(at=START)], "impossible-times", id="an end before its beginning"),
        pytest.param([JOIN, received(at=NOW + 2 * MS)], "impossible-times", id="a call in the future"),
        pytest.param([JOIN, replace(received(), messages=())], "impossible-value", id="a call without a message"),
        pytest.param([JOIN, JOINED, LEAVE, LEFT, received(at=START + 43 * MS)], "after-left", id="a call after left"),
        pytest.param([JOIN, replace(OWNED, number=2)], "number-order", id="a gap in the owned sets"),
        pytest.param([JOIN, COMMIT, COMMIT], "number-order", id="an offset event again"),
        pytest.param([JOIN, JOINED, Done(calls=0)], "incomplete", id="done before it left"),
        pytest.param([JOIN, JOINED, received(), LEAVE, LEFT, Done(calls=1)], "incomplete", id="done with an open call"),
        pytest.param([JOIN, JOINED, LEAVE, LEFT, Done(calls=1)], "incomplete", id="done with a wrong count"),
        pytest.param([JOIN, JOINED, LEAVE, LEFT, Done(0)], "incomplete", id="done that counts sends"),
        pytest.param(
            [JOIN, JOINED, received(), consumed(), LEAVE, LEFT, Done(calls=1)], "unkept-claim", id="no allocation"
        ),
        pytest.param([JOIN, JOINED, LEAVE, LEFT, Done(calls=0), COMMIT], "out-of-order", id="a record after done"),
        pytest.param([JOIN, Send(0, 0, START, START)], "out-of-order", id="a record of a producer"),
    ],
)
def test_a_record_out_of_order_breaks_the_member(steps: list[Record | str], signature: str) -> None:
    """The last record of each trace is a violation, and no earlier one is."""
    *right, wrong = steps
    member = Member().then(*right)
    assert not isinstance(wrong, str)
    assert violation(member.conversation, wrong) == f"protocol.{signature}"


@pytest.mark.parametrize(("claim", "record"), [("allocations", ALLOCATED), ("owned", OWNED), ("offsets", COMMIT)])
def test_a_record_that_hello_does_not_claim_breaks_the_member(claim: str, record: Record) -> None:
    """Allocations, owned queues and offset events need their claims."""
    member = Member(*(each for each in CLAIMS if each != claim)).then(JOIN)
    assert violation(member.conversation, record) == "protocol.not-claimed"


@pytest.mark.parametrize(
    ("steps", "within_s"),
    [
        pytest.param([JOIN], 60, id="joined"),
        pytest.param([JOIN, JOINED, LEAVE], 5, id="left"),
        pytest.param([JOIN, JOINED, received()], 20, id="the end of a call"),
        pytest.param([JOIN, JOINED, LEAVE, LEFT], None, id="nothing"),
    ],
)
def test_a_member_that_is_silent_for_too_long_has_stalled(steps: list[Record | str], within_s: int | None) -> None:
    """What is due after an order, and the end of a call, have deadlines; a member at rest has none."""
    member = Member().then(*steps)
    assert member.conversation.overdue(START + (within_s or 1) * SECOND - SECOND) is None
    late = member.conversation.overdue(START + (within_s or 600) * SECOND + SECOND)
    assert (late and late.signature) == (within_s and "protocol.stalled")


@pytest.mark.parametrize(
    ("from_s", "until_s", "late_s"),
    [
        pytest.param(2, 62, 80, id="in the call"),
        pytest.param(-9, 3, 23, id="begun before it"),
        pytest.param(2, None, None, id="still paused"),
        pytest.param(-9, -8, 20, id="over before it"),
    ],
)
def test_a_paused_member_is_not_late(from_s: int, until_s: int | None, late_s: int | None) -> None:
    """A call that began at 0 has 20 s in which its process runs."""
    member = Member().then(JOIN, JOINED, received(at=START))
    member.talk.pause(START + from_s * SECOND)
    if until_s is not None:
        member.talk.resume(START + until_s * SECOND)
    assert member.conversation.overdue(START + (late_s or 600) * SECOND) is None
    assert (member.conversation.overdue(START + (late_s or 600) * SECOND + 1) is None) is (late_s is None)


@pytest.mark.parametrize(
    ("limits", "record"),
    [
        pytest.param(MemberLimits(calls=1), received(1), id="calls"),
        pytest.param(
            MemberLimits(other_records=1, others_a_second=0, others_a_call=0),
            replace(COMMIT, number=2),
            id="offset events",
        ),
    ],
)
def test_more_than_any_member_reports_breaks_it(limits: MemberLimits, record: Record) -> None:
    """Endless loops of calls or records are ended."""
    member = Member(limits=limits).then(JOIN, COMMIT, received())
    assert violation(member.conversation, record) == "protocol.too-much"


def test_limits_grow_with_the_plan() -> None:
    """A listener that works is given its time, a group on more brokers longer to leave, a failing one more calls."""
    rule = ListenerRule(0, every=7, tries=1, outcome=ListenerOutcome.LATER, work_ms=1_500)
    plan = GroupPlan(1, ListenerKind.CONCURRENT, rules=(rule,), settings={"max_reconsume_times": 2})
    limits = MemberLimits.of(plan, messages=100, brokers=2)
    assert (limits.call_s, limits.leave_s, limits.calls) == (21.5, 13.0, 2_200)
    assert MemberLimits.of(GroupPlan(1, ListenerKind.CONCURRENT), 100, 1).calls == 1_400


def test_a_plan_needs_claims_of_its_listener() -> None:
    """Kind, model, outcomes and fields of the context are claimed; what is missing is named."""
    later = ListenerRule(0, every=7, tries=1, outcome=ListenerOutcome.LATER, delay_level=1)
    plan = GroupPlan(1, ListenerKind.CONCURRENT, rules=(later,))
    assert GroupDemand.of(plan).capabilities == ("concurrent", "clustering", "listener:later", "listener:level")
    full = hello(capabilities=(*CLAIMS, "listener:later", "listener:level"), roles=("consumer",))
    assert why_not_claimed(plan, full) == ""
    assert unclaimed_of_group(full.capabilities, GroupDemand.of(plan)) == ()
    assert "with listener:level: its hello claims" in why_not_claimed(
        plan, hello(capabilities=(*CLAIMS, "listener:later"), roles=("consumer",))
    )
    unseen = hello(capabilities=tuple({*full.capabilities} - {"allocations", "owned", "offsets"}), roles=("consumer",))
    assert why_not_claimed(plan, unseen) == ""  # its relay shows them
    assert why_not_claimed(plan, hello()).endswith("its hello has the roles producer")
