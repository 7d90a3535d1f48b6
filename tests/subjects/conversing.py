"""Records of a scripted conversation."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.records.session import Hello, Ready
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.subjects.conversation import Conversation
from rocketdiff.subjects.sending.limits import SendBounds
from rocketdiff.subjects.sending.talk import SendingTalk

START = 1_000_000_000


LIMIT = 5_000_000_000


MS = 1_000_000


NOW = START + 60 * MS


def hello(**changes: Any) -> Hello:
    claims = ("plain", "async", "oneway", "attempts", "routes")
    fields: dict[str, Any] = {"protocol": 1, "client": "toy", "version": "x", "pid": 1, "clock_ns": 0}
    fields["capabilities"] = claims
    return Hello(**{**fields, **changes})


def attempt(send: int, number: int = 0, thread: int = 0, at: int = START, took: int = 1) -> Attempt:
    return Attempt(send, thread, number, "broker-a", 0, at, at + took, status="SEND_OK")


def sent(send: int, thread: int = 0, at: int = START, took: int = 1, route: int = 0) -> Send:
    return Send(send, thread, at, at + took, status="SEND_OK", route=route, route_after=route)


def called_back(send: int, at: int = START, took: int = 1) -> Send:
    return replace(sent(send, at=at, took=took), returned_ns=at)


def plan_of(*sends: tuple[int, int]) -> Plan:
    """(thread, due in ms) of each send."""
    planned = (PlannedSend(send, thread, due * MS, SendKind.PLAIN, 0, 1) for send, (thread, due) in enumerate(sends))
    return Plan(1, 2, tuple(planned))


def talk_of(plan: Plan, bounds: SendBounds | None = None) -> SendingTalk:
    """The sends of a plan, each with five seconds."""
    setup = SubjectSetup(("127.0.0.1:9876",), "topic", "warm", "group", "run", ClientSettings())
    return SendingTalk(plan, setup, bounds=bounds, limit_ns=LIMIT)


def running(*sends: tuple[int, int]) -> Conversation:
    """A conversation just after go."""
    conversation = Conversation(SubjectId("toy", "x"))
    conversation.take(hello(), 0)
    conversation.prepare(talk_of(plan_of(*sends)))
    conversation.take(Ready(1), 0)
    conversation.go(START)
    return conversation


def violation(conversation: Conversation, *records: Record) -> str:
    """Signature of the last record's violation; earlier records must be valid."""
    *right, wrong = records
    for record in right:
        conversation.take(record, NOW)
    with pytest.raises(SubjectBroken) as raised:
        conversation.take(wrong, NOW)
    return raised.value.signature
