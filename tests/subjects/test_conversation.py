"""The order of the line protocol: one scripted trace per test."""

from dataclasses import replace

import pytest

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import CalledBackAgain, RouteSeen
from rocketdiff.core.records.session import Done, Ready, SubjectFailed
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.subjects.conversation import Conversation, Stage
from tests.subjects.conversing import (
    LIMIT,
    MS,
    NOW,
    START,
    attempt,
    called_back,
    hello,
    running,
    sent,
    talk_of,
    violation,
)


def test_a_right_conversation_ends_in_done() -> None:
    """Interleaved threads end in done with every record; a client that runs on may learn a route after it."""
    talk = running((0, 0), (1, 0), (0, 0))
    records: list[Record] = [
        RouteSeen(1, 1, (("broker-a", 0),)),
        attempt(0),
        attempt(1, thread=1),
        sent(1, thread=1, route=1),
    ]
    records += [attempt(0, 1), sent(0), attempt(2), sent(2), Done(3), RouteSeen(2, 1, ())]
    for record in records:
        talk.take(record, START)
    assert talk.stage is Stage.DONE
    assert [send.send for send in talk.transcript.sends] == [1, 0, 2]
    assert (len(talk.transcript.attempts), len(talk.transcript.routes)) == (4, 2)


ROUTE = RouteSeen(1, 1, ())


@pytest.mark.parametrize(
    ("records", "signature"),
    [
        pytest.param([hello(version="y")], "wrong-subject", id="another release, as of a wrong class path"),
        pytest.param([hello(protocol=2)], "version", id="a later protocol"),
        pytest.param([Ready(1)], "out-of-order", id="a record before hello"),
        pytest.param([hello(), hello()], "out-of-order", id="a second hello"),
        pytest.param([hello(), Ready(1)], "out-of-order", id="ready before setup"),
        pytest.param([hello(), ROUTE], "out-of-order", id="a route before setup"),
    ],
)
def test_hello_names_subject_and_protocol_and_comes_first(records: list[Record], signature: str) -> None:
    """Hello comes first and once, and names the subject and this protocol; ready comes after setup."""
    assert violation(Conversation(SubjectId("toy", "x")), *records) == f"protocol.{signature}"


@pytest.mark.parametrize(
    ("records", "signature"),
    [
        pytest.param([sent(0), sent(0)], "answered-twice", id="a second answer"),
        pytest.param([sent(7)], "unknown-send", id="not in the plan"),
        pytest.param([sent(0), attempt(0)], "attempt-after-send", id="an attempt after its answer"),
        pytest.param([sent(0, thread=1)], "wrong-thread", id="another thread than planned"),
        pytest.param([sent(1)], "out-of-order", id="before the thread's earlier send"),
        pytest.param([attempt(0), attempt(0, 2)], "attempt-order", id="a hidden attempt"),
        pytest.param([sent(0), Done(1)], "incomplete", id="done before every answer"),
        pytest.param([sent(0), sent(1), Done(3)], "incomplete", id="done with a wrong count"),
        pytest.param([RouteSeen(2, 1, ())], "route-order", id="a gap in route numbers"),
        pytest.param([sent(0, route=1)], "unknown-route", id="a route that was not reported"),
        pytest.param([attempt(0, took=-1)], "impossible-times", id="an end before its start"),
        pytest.param([sent(0), CalledBackAgain(0, 0, START)], "unknown-send", id="a callback of a synchronous send"),
    ],
)
def test_records_of_sends_follow_plan_and_order(records: list[Record], signature: str) -> None:
    """The last record breaks the order of the plan's sends, here two of one thread, or its own times."""
    assert violation(running((0, 0), (0, 0)), *records) == f"protocol.{signature}"


def test_a_send_is_not_early() -> None:
    """A send due at 50 ms that starts at 48 ms is early."""
    assert violation(running((0, 50)), sent(0, at=START + 48 * MS)) == "protocol.early"


def test_a_timer_may_round_down() -> None:
    """A send 1 ms early is accepted as timer rounding."""
    talk = running((0, 50))
    talk.take(sent(0, at=START + 49 * MS), NOW)
    assert [send.send for send in talk.transcript.sends] == [0]


def test_a_subject_may_report_its_failure() -> None:
    """A subject's own failure message is kept."""
    conversation = Conversation(SubjectId("toy", "x"))
    with pytest.raises(SubjectBroken, match="warm-up: no route") as raised:
        conversation.take(SubjectFailed("warm-up", "no route"), 0)
    assert raised.value.signature == "protocol.failed"


@pytest.mark.parametrize(
    ("plan", "records", "until_ns", "thread"),
    [
        pytest.param([(0, 0)], [attempt(0, number) for number in range(5)], LIMIT, 0, id="all attempts of a send"),
        pytest.param([(0, 0), (0, 0)], [sent(0)], 2 * LIMIT, 0, id="from the last answer of the thread"),
        pytest.param([(0, 10_000)], [], 10_000 * MS + LIMIT, 0, id="from the due time"),
        pytest.param([(0, 0), (1, 0)], [sent(0)], LIMIT, 1, id="a silent thread beside one that is done"),
    ],
)
def test_a_send_has_a_limit(plan: list[tuple[int, int]], records: list[Record], until_ns: int, thread: int) -> None:
    """The limit of a send covers all its attempts, from its due time or its thread's last answer on."""
    talk = running(*plan)
    for record in records:
        talk.take(record, START + LIMIT)
    assert talk.overdue(START + until_ns) is None
    late = talk.overdue(START + until_ns + 1)
    assert late is not None and late.signature == "protocol.stalled"
    assert f"thread {thread}" in str(late)


def running_asynchronously(sends: int) -> Conversation:
    """A conversation after go with asynchronous sends of one thread."""
    conversation = Conversation(SubjectId("toy", "x"))
    conversation.take(hello(), 0)
    planned = (PlannedSend(send, 0, 0, SendKind.PLAIN, 0, 1, SendMode.ASYNC) for send in range(sends))
    conversation.prepare(talk_of(Plan(1, 1, tuple(planned))))
    conversation.take(Ready(1), 0)
    conversation.go(START)
    return conversation


def test_asynchronous_sends_are_answered_in_any_order() -> None:
    """Asynchronous sends may interleave; attempts and another callback may follow an answer."""
    talk = running_asynchronously(3)
    again = CalledBackAgain(2, 0, START + 5, error="MQClientException")
    for record in (
        attempt(0),
        attempt(2),
        called_back(2),
        attempt(2, 1),
        again,
        called_back(0),
        attempt(1),
        called_back(1),
        Done(3),
    ):
        talk.take(record, START)
    assert talk.stage is Stage.DONE
    assert [send.send for send in talk.transcript.sends] == [2, 0, 1]
    assert talk.transcript.again == [again]


def test_a_client_may_go_on_after_done() -> None:
    """After done only asynchronous sends may have attempts and another callback."""
    talk = running_asynchronously(1)
    for record in (attempt(0), called_back(0), Done(1), attempt(0, 1), CalledBackAgain(0, 0, START)):
        talk.take(record, START)
    assert [one.attempt for one in talk.transcript.attempts] == [0, 1]
    assert len(talk.transcript.again) == 1
    assert violation(running((0, 0)), attempt(0), sent(0), Done(1), attempt(0, 1)) == "protocol.out-of-order"


@pytest.mark.parametrize(
    ("records", "signature"),
    [
        pytest.param([CalledBackAgain(0, 0, START)], "out-of-order", id="another callback before the first"),
        pytest.param([called_back(0), called_back(0)], "answered-twice", id="a second answer"),
    ],
)
def test_an_asynchronous_send_is_answered_once_and_first(records: list[Record], signature: str) -> None:
    """An asynchronous send has one answer, before any further callback."""
    assert violation(running_asynchronously(1), *records) == f"protocol.{signature}"


def test_the_oldest_open_asynchronous_send_is_the_one_waited_for() -> None:
    """The limit counts for the oldest open asynchronous send."""
    talk = running_asynchronously(2)
    talk.take(called_back(1), START)
    assert talk.overdue(START + LIMIT) is None
    overdue = talk.overdue(START + LIMIT + 1)
    assert overdue is not None
    assert overdue.signature == "protocol.stalled"


def test_a_transcript_has_failed_sends_and_their_errors() -> None:
    """A transcript's repr, for failed assertions, counts sends and names the failed ones."""
    conversation = running((0, 0), (0, 10))
    assert repr(conversation.transcript) == "<0 sends, 0 failed>"
    conversation.take(attempt(0), NOW)
    conversation.take(sent(0), NOW)
    failed = replace(sent(1, at=START + 10 * MS, took=3 * MS), status=None, error="RemotingTimeoutException")
    conversation.transcript.sends.append(failed)
    assert conversation.transcript.failed == (failed,)
    assert repr(conversation.transcript) == "<2 sends, 1 failed: send 1 with RemotingTimeoutException after 3 ms>"
