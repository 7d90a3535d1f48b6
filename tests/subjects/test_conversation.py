"""The order of the line protocol: a micro-history a test, and the signature of what is wrong with it."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.sends.records import (
    Attempt,
    CalledBackAgain,
    Done,
    Hello,
    Ready,
    Record,
    RouteSeen,
    Send,
    SubjectFailed,
)
from rocketdiff.core.subject import SubjectId
from rocketdiff.subjects.conversation import Conversation, Stage

START = 1_000_000_000
LIMIT = 5_000_000_000
MS = 1_000_000
NOW = START + 60 * MS


def hello(**changes: Any) -> Hello:
    claims = ("plain", "async", "oneway", "attempts", "routes")
    told: dict[str, Any] = {"protocol": 1, "client": "toy", "version": "x", "pid": 1, "clock_ns": 0}
    told["capabilities"] = claims
    return Hello(**{**told, **changes})


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


def running(*sends: tuple[int, int]) -> Conversation:
    """A conversation that has just been told to go."""
    conversation = Conversation(SubjectId("toy", "x"))
    conversation.take(hello(), 0)
    conversation.prepared(plan_of(*sends))
    conversation.take(Ready(1), 0)
    conversation.started(START, LIMIT)
    return conversation


def violation(conversation: Conversation, *records: Record) -> str:
    """Signature of the last record's violation; all before it must be right."""
    *right, wrong = records
    for record in right:
        conversation.take(record, NOW)
    with pytest.raises(SubjectBroken) as raised:
        conversation.take(wrong, NOW)
    return raised.value.signature


def test_a_right_conversation_ends_in_done() -> None:
    """Two threads may interleave; every record is kept."""
    talk = running((0, 0), (1, 0), (0, 0))
    records: list[Record] = [
        RouteSeen(1, 1, (("broker-a", 0),)),
        attempt(0),
        attempt(1, thread=1),
        sent(1, thread=1, route=1),
    ]
    records += [attempt(0, 1), sent(0), attempt(2), sent(2), Done(3)]
    for record in records:
        talk.take(record, START)
    assert talk.stage is Stage.DONE
    assert [send.send for send in talk.transcript.sends] == [1, 0, 2]
    assert len(talk.transcript.attempts) == 4


def test_hello_must_name_the_subject() -> None:
    """A class path with another release on it is noticed at the first line."""
    assert violation(Conversation(SubjectId("toy", "x")), hello(version="y")) == "protocol.wrong-subject"


def test_hello_must_speak_this_protocol() -> None:
    """A subject for a later protocol is refused."""
    assert violation(Conversation(SubjectId("toy", "x")), hello(protocol=2)) == "protocol.version"


def test_hello_comes_first() -> None:
    """Nothing may be said before it."""
    assert violation(Conversation(SubjectId("toy", "x")), Ready(1)) == "protocol.out-of-order"


def test_hello_comes_once() -> None:
    """A second one is out of order."""
    assert violation(Conversation(SubjectId("toy", "x")), hello(), hello()) == "protocol.out-of-order"


def test_ready_before_setup_is_out_of_order() -> None:
    """Ready answers setup."""
    assert violation(Conversation(SubjectId("toy", "x")), hello(), Ready(1)) == "protocol.out-of-order"


def test_a_send_is_answered_once() -> None:
    """A second answer is a violation, not a correction."""
    assert violation(running((0, 0), (0, 0)), sent(0), sent(0)) == "protocol.answered-twice"


def test_a_send_must_be_in_the_plan() -> None:
    """Made-up sends are refused."""
    assert violation(running((0, 0)), sent(7)) == "protocol.unknown-send"


def test_an_attempt_comes_before_its_answer() -> None:
    """After the answer nothing more may happen to a send."""
    assert violation(running((0, 0), (0, 0)), sent(0), attempt(0)) == "protocol.attempt-after-send"


def test_a_send_stays_on_its_thread() -> None:
    """The plan says which thread sends what."""
    assert violation(running((0, 0), (1, 0)), sent(0, thread=1)) == "protocol.wrong-thread"


def test_a_thread_keeps_the_order_of_the_plan() -> None:
    """The loop is closed: the second send cannot be answered before the first."""
    assert violation(running((0, 0), (0, 0)), sent(1)) == "protocol.out-of-order"


def test_attempts_are_counted_from_zero() -> None:
    """A missing attempt would hide what happened in between."""
    assert violation(running((0, 0)), attempt(0), attempt(0, 2)) == "protocol.attempt-order"


def test_done_comes_after_every_answer() -> None:
    """A send without an answer is missing evidence."""
    assert violation(running((0, 0), (0, 0)), sent(0), Done(1)) == "protocol.incomplete"


def test_done_counts_what_was_answered() -> None:
    """A wrong count means that the subject lost track."""
    assert violation(running((0, 0)), sent(0), Done(2)) == "protocol.incomplete"


def test_nothing_comes_after_done() -> None:
    """Not even a route."""
    assert violation(running((0, 0)), attempt(0), sent(0), Done(1), RouteSeen(1, 1, ())) == "protocol.out-of-order"


def test_routes_count_from_one() -> None:
    """A gap would leave sends without a list to judge them by."""
    assert violation(running((0, 0)), RouteSeen(2, 1, ())) == "protocol.route-order"


def test_a_send_names_a_reported_route() -> None:
    """The route comes first, then its number."""
    assert violation(running((0, 0)), sent(0, route=1)) == "protocol.unknown-route"


def test_a_send_is_not_early() -> None:
    """Due in 50 ms, begun after 48 ms: more than a timer's rounding."""
    assert violation(running((0, 50)), sent(0, at=START + 48 * MS)) == "protocol.early"


def test_a_timer_may_round_down() -> None:
    """A millisecond early is on time: taken without an objection, which would be raised."""
    talk = running((0, 50))
    talk.take(sent(0, at=START + 49 * MS), NOW)
    assert [send.send for send in talk.transcript.sends] == [0]


def test_time_does_not_run_backwards() -> None:
    """An end before its beginning is impossible."""
    assert violation(running((0, 0)), attempt(0, took=-1)) == "protocol.impossible-times"


def test_a_subject_may_say_that_it_failed() -> None:
    """Its own words are kept."""
    conversation = Conversation(SubjectId("toy", "x"))
    with pytest.raises(SubjectBroken, match="warm-up: no route") as raised:
        conversation.take(SubjectFailed("warm-up", "no route"), 0)
    assert raised.value.signature == "protocol.failed"


def test_attempts_do_not_put_off_the_limit_of_a_send() -> None:
    """The limit covers all attempts of a send: a client that tries for ever is late, however often it says so."""
    talk = running((0, 0))
    for number in range(5):
        talk.take(attempt(0, number), START + LIMIT)
    late = talk.overdue(START + LIMIT + 1)
    assert late is not None and late.signature == "protocol.stalled"


def test_silence_is_measured_from_the_last_answer_of_the_thread() -> None:
    """A loop that is closed makes the next send late; its limit counts from there."""
    talk = running((0, 0), (0, 0))
    talk.take(sent(0), START + LIMIT)
    assert talk.overdue(START + 2 * LIMIT) is None
    late = talk.overdue(START + 2 * LIMIT + 1)
    assert late is not None and late.signature == "protocol.stalled"


def test_a_send_that_is_not_due_is_not_late() -> None:
    """The limit counts from when the send could begin."""
    talk = running((0, 10_000))
    assert talk.overdue(START + 10_000 * MS + LIMIT) is None
    assert talk.overdue(START + 10_000 * MS + LIMIT + 1) is not None


def test_one_silent_thread_is_noticed_beside_a_talking_one() -> None:
    """Thread 1 says nothing while thread 0 has finished."""
    talk = running((0, 0), (1, 0))
    talk.take(sent(0), START + LIMIT)
    late = talk.overdue(START + LIMIT + 1)
    assert late is not None and "thread 1" in str(late)


def running_asynchronously(sends: int) -> Conversation:
    """A conversation about asynchronous sends of one thread, all due at once, that has just been told to go."""
    conversation = Conversation(SubjectId("toy", "x"))
    conversation.take(hello(), 0)
    planned = (PlannedSend(send, 0, 0, SendKind.PLAIN, 0, 1, SendMode.ASYNC) for send in range(sends))
    conversation.prepared(Plan(1, 1, tuple(planned)))
    conversation.take(Ready(1), 0)
    conversation.started(START, LIMIT)
    return conversation


def test_asynchronous_sends_are_answered_in_any_order() -> None:
    """Attempts of several sends interleave, a retry may follow the answer, and so may another callback."""
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
    """A retry and a second callback of asynchronous sends are told even then; of a synchronous one nothing is."""
    talk = running_asynchronously(1)
    for record in (attempt(0), called_back(0), Done(1), attempt(0, 1), CalledBackAgain(0, 0, START)):
        talk.take(record, START)
    assert [one.attempt for one in talk.transcript.attempts] == [0, 1]
    assert len(talk.transcript.again) == 1
    assert violation(running((0, 0)), attempt(0), sent(0), Done(1), attempt(0, 1)) == "protocol.out-of-order"


def test_a_callback_is_called_again_only_after_the_first() -> None:
    """A second callback before the answer is no second one."""
    again = CalledBackAgain(0, 0, START)
    assert violation(running_asynchronously(1), again) == "protocol.out-of-order"


def test_only_asynchronous_sends_have_callbacks() -> None:
    """The plan says which sends are called back."""
    again = CalledBackAgain(0, 0, START)
    assert violation(running((0, 0)), sent(0), again) == "protocol.unknown-send"


def test_an_asynchronous_send_is_answered_once() -> None:
    """A second callback has a record of its own."""
    assert violation(running_asynchronously(1), called_back(0), called_back(0)) == "protocol.answered-twice"


def test_the_oldest_open_asynchronous_send_is_the_one_waited_for() -> None:
    """A later answer does not make the silence about an earlier send any shorter than the limit."""
    talk = running_asynchronously(2)
    talk.take(called_back(1), START)
    assert talk.overdue(START + LIMIT) is None
    overdue = talk.overdue(START + LIMIT + 1)
    assert overdue is not None
    assert overdue.signature == "protocol.stalled"


def test_a_transcript_says_which_sends_failed_how() -> None:
    """In a failed assertion of somebody's own test; the sends themselves are at hand."""
    conversation = running((0, 0), (0, 10))
    assert repr(conversation.transcript) == "<0 sends, 0 failed>"
    conversation.take(attempt(0), NOW)
    conversation.take(sent(0), NOW)
    failed = replace(sent(1, at=START + 10 * MS, took=3 * MS), status=None, error="RemotingTimeoutException")
    conversation.transcript.sends.append(failed)
    assert conversation.transcript.failed == (failed,)
    assert repr(conversation.transcript) == "<2 sends, 1 failed: send 1 with RemotingTimeoutException after 3 ms>"
