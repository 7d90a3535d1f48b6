"""The claims of a hello decide a client's sends and records."""

from dataclasses import replace

import pytest

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import UNSEEN_END, RouteSeen, Send
from rocketdiff.core.records.session import Done, Ready
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.drivers.python.sending.reference import capabilities_of
from rocketdiff.subjects.claims import unknown_claims
from rocketdiff.subjects.conversation import Conversation
from rocketdiff.subjects.sending.claims import unclaimed, why_not_claimed
from tests.subjects.conversing import START, attempt, called_back, hello, sent, talk_of, violation

PLAIN, BATCH = SendKind.PLAIN, SendKind.BATCH
SYNC, ASYNC, ONEWAY = SendMode.SYNC, SendMode.ASYNC, SendMode.ONEWAY


def plan_of(*calls: tuple[SendKind, SendMode]) -> Plan:
    return Plan(1, 1, tuple(PlannedSend(n, 0, 0, kind, 0, 1, mode) for n, (kind, mode) in enumerate(calls)))


def running(mode: SendMode, *claims: str) -> Conversation:
    """One plain send of a client with these claims, after go."""
    conversation = Conversation(SubjectId("toy", "x"))
    conversation.take(hello(capabilities=claims), 0)
    conversation.prepare(talk_of(plan_of((PLAIN, mode))))
    conversation.take(Ready(1), 0)
    conversation.go(START)
    return conversation


def test_claims_that_the_protocol_does_not_know_are_named() -> None:
    """Unknown claims are named in order; settings of any name are known."""
    assert unknown_claims(["plain", "one-way", "setting:send_msg_timeout_ms", "attempt"]) == ("one-way", "attempt")
    assert unknown_claims(capabilities_of("5.3.3")) == ()


def test_kinds_and_modes_that_hello_does_not_claim_are_named_once() -> None:
    """Unclaimed kinds and modes are named once in plan order; synchronous needs no claim."""
    plan = plan_of((PLAIN, SYNC), (BATCH, SYNC), (PLAIN, ASYNC), (BATCH, ASYNC))
    assert unclaimed(plan, hello(capabilities=("plain",))) == ("batch", "async")
    assert unclaimed(plan, hello(capabilities=("async", "batch", "plain"))) == ()


def test_the_reason_names_client_call_and_claims() -> None:
    """The reason names client, call and claims."""
    reason = why_not_claimed(plan_of((PLAIN, ONEWAY)), hello(capabilities=("plain", "attempts")))
    assert reason.startswith("toy:x cannot be asked for oneway sends: its hello claims plain, attempts;")
    assert why_not_claimed(plan_of((PLAIN, SYNC)), hello()) == ""


def oneway(**result: str) -> Send:
    return Send(0, 0, START, START + 1, **result)  # type: ignore[arg-type]  # members of a result only


@pytest.mark.parametrize(
    ("mode", "answer", "signature"),
    [
        pytest.param(ASYNC, sent(0), "protocol.other-mode", id="asynchronous, told without its return"),
        pytest.param(SYNC, called_back(0), "protocol.other-mode", id="synchronous, told with a return beside its end"),
        pytest.param(ONEWAY, oneway(status="SEND_OK"), "protocol.other-mode", id="one-way, told with a result"),
    ],
)
def test_an_answer_of_another_mode_breaks_the_subject(mode: SendMode, answer: Send, signature: str) -> None:
    """A result of another mode breaks the subject, because asynchronous clients must not send synchronously."""
    assert violation(running(mode, "plain", mode.value), answer) == signature


def test_a_one_way_call_that_threw_is_accepted() -> None:
    """A oneway call may report an exception, which is no result."""
    running(ONEWAY, "plain", "oneway").take(oneway(error="MQClientException"), START + 2)


@pytest.mark.parametrize("record", [attempt(0), RouteSeen(1, START, ())], ids=["attempts", "routes"])
def test_unclaimed_records_are_refused(record: Record) -> None:
    """Unclaimed attempts and routes break the subject, because the relay reports them."""
    assert violation(running(SYNC, "plain"), record) == "protocol.not-claimed"


def test_a_claim_of_attempts_needs_attempts() -> None:
    """A send with a status needs an attempt if attempts are claimed."""
    assert violation(running(SYNC, "plain", "attempts"), sent(0), Done(1)) == "protocol.unkept-claim"
    silent = running(SYNC, "plain")
    for record in (sent(0), Done(1)):
        silent.take(record, START + 2)


def test_a_send_that_failed_before_any_attempt_is_accepted_without_one() -> None:
    """A failed send may have no attempt: without a route nothing is sent."""
    talk = running(SYNC, "plain", "attempts")
    for record in (Send(0, 0, START, START + 1, error="MQClientException"), Done(1)):
        talk.take(record, START + 2)


def test_a_client_that_claims_beginnings_reports_no_ends() -> None:
    """A client that claims only attempt-starts must not report ends."""
    begun = replace(attempt(0, took=0), error=UNSEEN_END, status=None)
    talk = running(SYNC, "plain", "attempt-starts")
    talk.take(begun, START + 2)
    assert talk.transcript.attempts == [begun]
    assert violation(running(SYNC, "plain", "attempt-starts"), attempt(0)) == "protocol.not-claimed"
    running(SYNC, "plain", "attempt-starts", "attempts").take(attempt(0), START + 2)


def test_a_client_that_claims_attempts_reports_their_ends() -> None:
    """A client that claims attempts must report their ends, else they look instant; async ones may lack them."""
    begun = replace(attempt(0, took=0), error=UNSEEN_END, status=None)
    assert violation(running(SYNC, "plain", "attempts"), begun) == "protocol.not-claimed"
    talk = running(ASYNC, "plain", "async", "attempts")
    talk.take(begun, START + 2)
    assert talk.transcript.attempts == [begun]


def test_claimed_beginnings_must_be_reported() -> None:
    """A client that claims attempt-starts must report some."""
    assert violation(running(SYNC, "plain", "attempt-starts"), sent(0), Done(1)) == "protocol.unkept-claim"
