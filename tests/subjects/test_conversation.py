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
    """Interleaved threads end in done with every record."""
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
    """Hello with another release, as of a wrong class path, is wrong-subject."""
    assert violation(Conversation(SubjectId("toy", "x")), hello(version="y")) == "protocol.wrong-subject"


def test_hello_must_speak_this_protocol() -> None:
    """Hello of a later protocol is refused."""
    assert violation(Conversation(SubjectId("toy", "x")), hello(protocol=2)) == "protocol.version"


def test_hello_comes_first() -> None:
    """A record before hello is out of order."""
    assert violation(Conversation(SubjectId("toy", "x")), Ready(1)) == "protocol.out-of-order"


def test_hello_comes_once() -> None:
    """A second hello is out of order."""
    assert violation(Conversation(SubjectId("toy", "x")), hello(), hello()) == "protocol.out-of-order"


def test_ready_before_setup_is_out_of_order() -> None:
    """Ready before setup is out of order."""
    assert violation(Conversation(SubjectId("toy", "x")), hello(), Ready(1)) == "protocol.out-of-order"


def test_a_send_is_answered_once() -> None:
    """A second answer of a send is a violation."""
    assert violation(running((0, 0), (0, 0)), sent(0), sent(0)) == "protocol.answered-twice"


def test_a_send_must_be_in_the_plan() -> None:
    """A send outside the plan is refused."""
    assert violation(running((0, 0)), sent(7)) == "protocol.unknown-send"


def test_an_attempt_comes_before_its_answer() -> None:
    """An attempt after its send's answer is a violation."""
    assert violation(running((0, 0), (0, 0)), sent(0), attempt(0)) == "protocol.attempt-after-send"


def test_a_send_stays_on_its_thread() -> None:
    """A send on another thread than planned is a violation."""
    assert violation(running((0, 0), (1, 0)), sent(0, thread=1)) == "protocol.wrong-thread"


def test_a_thread_keeps_the_order_of_the_plan() -> None:
    """An answer before that of the thread's earlier send is out of order."""
    assert violation(running((0, 0), (0, 0)), sent(1)) == "protocol.out-of-order"


def test_attempts_are_counted_from_zero() -> None:
    """A gap in attempt numbers is a violation: an attempt would be hidden."""
    assert violation(running((0, 0)), attempt(0), attempt(0, 2)) == "protocol.attempt-order"


def test_done_comes_after_every_answer() -> None:
    """Done before every send is answered is incomplete."""
    assert violation(running((0, 0), (0, 0)), sent(0), Done(1)) == "protocol.incomplete"


def test_done_counts_what_was_answered() -> None:
    """Done with a wrong count is incomplete."""
    assert violation(running((0, 0)), sent(0), Done(2)) == "protocol.incomplete"


def test_nothing_comes_after_done() -> None:
    """A route after done is out of order."""
    assert violation(running((0, 0)), attempt(0), sent(0), Done(1), RouteSeen(1, 1, ())) == "protocol.out-of-order"


def test_routes_count_from_one() -> None:
    """Routes are numbered from 1 without gaps."""
    assert violation(running((0, 0)), RouteSeen(2, 1, ())) == "protocol.route-order"


def test_a_send_names_a_reported_route() -> None:
    """A send's route must be reported before it."""
    assert violation(running((0, 0)), sent(0, route=1)) == "protocol.unknown-route"


def test_a_send_is_not_early() -> None:
    """A send due at 50 ms that starts at 48 ms is early."""
    assert violation(running((0, 50)), sent(0, at=START + 48 * MS)) == "protocol.early"


def test_a_timer_may_round_down() -> None:
    """A send 1 ms early is accepted as timer rounding."""
    talk = running((0, 50))
    talk.take(sent(0, at=START + 49 * MS), NOW)
    assert [send.send for send in talk.transcript.sends] == [0]


def test_time_does_not_run_backwards() -> None:
    """An end before its start is impossible."""
    assert violation(running((0, 0)), attempt(0, took=-1)) == "protocol.impossible-times"


def test_a_subject_may_report_its_failure() -> None:
    """A subject's own failure message is kept."""
    conversation = Conversation(SubjectId("toy", "x"))
    with pytest.raises(SubjectBroken, match="warm-up: no route") as raised:
        conversation.take(SubjectFailed("warm-up", "no route"), 0)
    assert raised.value.signature == "protocol.failed"


def test_attempts_do_not_put_off_the_limit_of_a_send() -> None:
    """The limit of a send covers all its attempts."""
    talk = running((0, 0))
    for number in range(5):
        talk.take(attempt(0, number), START + LIMIT)
    late = talk.overdue(START + LIMIT + 1)
    assert late is not None and late.signature == "protocol.stalled"


def test_silence_is_measured_from_the_last_answer_of_the_thread() -> None:
    """The limit of a send counts from its thread's last answer."""
    talk = running((0, 0), (0, 0))
    talk.take(sent(0), START + LIMIT)
    assert talk.overdue(START + 2 * LIMIT) is None
    late = talk.overdue(START + 2 * LIMIT + 1)
    assert late is not None and late.signature == "protocol.stalled"


def test_a_send_that_is_not_due_is_not_late() -> None:
    """The limit of a send counts from its due time."""
    talk = running((0, 10_000))
    assert talk.overdue(START + 10_000 * MS + LIMIT) is None
    assert talk.overdue(START + 10_000 * MS + LIMIT + 1) is not None


def test_one_silent_thread_is_noticed_beside_a_talking_one() -> None:
    """A silent thread is detected although another has finished."""
    talk = running((0, 0), (1, 0))
    talk.take(sent(0), START + LIMIT)
    late = talk.overdue(START + LIMIT + 1)
    assert late is not None and "thread 1" in str(late)


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


def test_a_callback_is_called_again_only_after_the_first() -> None:
    """CalledBackAgain before the first answer is out of order."""
    again = CalledBackAgain(0, 0, START)
    assert violation(running_asynchronously(1), again) == "protocol.out-of-order"


def test_only_asynchronous_sends_have_callbacks() -> None:
    """CalledBackAgain of a synchronous send is refused."""
    again = CalledBackAgain(0, 0, START)
    assert violation(running((0, 0)), sent(0), again) == "protocol.unknown-send"


def test_an_asynchronous_send_is_answered_once() -> None:
    """A second answer of an asynchronous send is a violation."""
    assert violation(running_asynchronously(1), called_back(0), called_back(0)) == "protocol.answered-twice"


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
