"""The claims of a hello decide a client's sends and records."""

from dataclasses import replace

import pytest

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import UNSEEN_END, Attempt, RouteSeen, Send
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


BEGUN = replace(attempt(0, took=0), error=UNSEEN_END, status=None)


@pytest.mark.parametrize(
    ("mode", "claims", "records", "signature"),
    [
        pytest.param(ASYNC, "plain async", [sent(0)], "other-mode", id="asynchronous without its return"),
        pytest.param(SYNC, "plain", [called_back(0)], "other-mode", id="synchronous with a return beside its end"),
        pytest.param(ONEWAY, "plain oneway", [oneway(status="SEND_OK")], "other-mode", id="one-way with a result"),
        pytest.param(SYNC, "plain", [attempt(0)], "not-claimed", id="attempts"),
        pytest.param(SYNC, "plain", [RouteSeen(1, START, ())], "not-claimed", id="routes"),
        pytest.param(SYNC, "plain attempt-starts", [attempt(0)], "not-claimed", id="ends beside starts"),
        pytest.param(SYNC, "plain attempts", [BEGUN], "not-claimed", id="starts without ends, which look instant"),
        pytest.param(SYNC, "plain attempts", [sent(0), Done(1)], "unkept-claim", id="no attempt"),
        pytest.param(SYNC, "plain attempt-starts", [sent(0), Done(1)], "unkept-claim", id="no start"),
    ],
)
def test_records_against_hello_break_the_subject(
    mode: SendMode, claims: str, records: list[Record], signature: str
) -> None:
    """A result of another mode, an unclaimed record and a claim that is not kept break the subject."""
    assert violation(running(mode, *claims.split()), *records) == f"protocol.{signature}"


@pytest.mark.parametrize(
    ("mode", "claims", "records"),
    [
        pytest.param(SYNC, "plain", [sent(0), Done(1)], id="no attempts without their claim"),
        pytest.param(
            SYNC, "plain attempts", [replace(sent(0), status=None, error="MQClientException"), Done(1)], id="no route"
        ),
        pytest.param(SYNC, "plain attempt-starts", [BEGUN], id="starts"),
        pytest.param(SYNC, "plain attempt-starts attempts", [attempt(0)], id="starts and ends"),
        pytest.param(ASYNC, "plain async attempts", [BEGUN], id="an asynchronous attempt without its end"),
        pytest.param(
            ONEWAY, "plain oneway", [oneway(error="MQClientException")], id="an exception, which is no result"
        ),
    ],
)
def test_records_that_hello_allows_are_accepted(mode: SendMode, claims: str, records: list[Record]) -> None:
    """Records within the claims are accepted; a send that failed before any attempt needs none."""
    talk = running(mode, *claims.split())
    for record in records:
        talk.take(record, START + 2)
    assert talk.transcript.attempts == [record for record in records if isinstance(record, Attempt)]
