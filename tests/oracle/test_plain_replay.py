"""Histories without fault latency, with manually derived results."""

from dataclasses import replace

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.records.sending import UNSEEN_ROUTE
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.replay import replay_for
from tests.oracle.histories import history, routes
from tests.oracle.judging import judged, legal, signatures


def test_the_first_choice_is_free_and_the_second_is_not() -> None:
    """The index starts at random: eight queues are legal, then one."""
    judgements = judged("5.3.3", "0 b2 2 | 20 b3 2 | 40 a0 2")
    assert legal(judgements) == [[8], [1], [1]]
    assert [one.difference for one in judgements] == [None] * 3


def test_a_queue_out_of_turn_is_reported_once() -> None:
    """A queue out of turn is reported once: afterwards the index is the observed one."""
    assert signatures("5.3.3", "0 a0 2 | 20 a1 2 | 40 b0 2 | 60 b1 2") == ["queue.out-of-turn/first"]


def test_a_difference_is_said_in_sentences() -> None:
    """A difference has sentences for operators."""
    (difference,) = [one.difference for one in judged("5.3.3", "0 a0 2 | 20 b3 2") if one.difference]
    assert difference.expected == "queue 1 of a (1 of 8 queues)"
    assert difference.observed == "attempt 1 went to queue 3 of b"
    assert difference.detail["legal"] == [["a", 1]]


@pytest.mark.parametrize(("release", "next_queue"), [("4.7.1", "a3"), ("4.8.0", "b1"), ("5.3.3", "b1")])
def test_the_ticks_of_a_retry_are_seen_in_the_next_send(release: str, next_queue: str) -> None:
    """A4: a retry from a1 past a2 and a3 to b0 takes one tick in P1, three in P2."""
    for candidate in ("a3", "b1"):
        found = signatures(release, f"0 a0 2 | 20 a1 1 refused > b0 1 | 40 {candidate} 1")
        assert found == ([] if candidate == next_queue else ["queue.out-of-turn/first"])


def test_a_retry_on_the_failed_broker() -> None:
    """A3: a retry at the failed broker is a difference."""
    assert signatures("5.3.3", "0 a1 1 refused > a2 1") == ["retry.returned-to-failed-broker/retry"]


def test_a_retry_on_the_only_broker() -> None:
    """On the only broker P2 skips all four queues, to the one after the failed one; P1 takes one further."""
    assert signatures("5.3.3", "0 a1 1 refused > a2 1 | 20 a3 1", "a4") == []
    assert signatures("4.7.1", "0 a1 1 refused > a3 1 | 20 a0 1", "a4") == []


def test_a_timeout_uses_up_the_budget_from_4_3_0() -> None:
    """From 4.3.0 on no attempt follows a timeout; 4.2.0 makes one."""
    ended = "0 a1 3002 timeout ! too-much"
    went_on = "0 a1 3002 timeout > b0 2"
    assert [signatures("4.3.0", text) for text in (ended, went_on)] == [[], ["attempts.went-on/retry"]]
    assert [signatures("4.2.0", text) for text in (ended, went_on)] == [["attempts.stopped-early/retry"], []]


def test_the_last_millisecond_of_the_budget_may_go_either_way() -> None:
    """
    In the last millisecond of its time a call may end or go on.

    The attempt ends 3,000.1–3,000.2 ms after the call, read as 3,000 or 3,001. With 1 ms of room per reading a third
    attempt may follow a retry of 1 ms, but not one of 3 ms, at 3,003.1 or later.
    """
    assert signatures("5.3.3", "0 a3 3000 timeout ! too-much") == []
    assert signatures("5.3.3", "0 a3 3000 timeout > b0 0.1 timeout ! too-much") == []
    third = "0 a3 3000 timeout > b0 {} timeout > a0 1 timeout ! client/10002"
    assert [signatures("5.3.3", third.format(took_ms)) for took_ms in (1, 3)] == [[], ["attempts.went-on/retry"]]


def test_a_call_that_times_out_has_moved_the_index() -> None:
    """A retry is selected before the time is checked: past a2 and a3 to b0, so the next send goes to b1."""
    assert signatures("5.3.3", "0 a0 1 | 20 a1 3002 timeout ! too-much | 4000 b1 1") == []
    assert signatures("5.3.3", "0 a0 1 | 20 a1 3002 timeout ! too-much | 4000 a2 1") == ["queue.out-of-turn/first"]


@pytest.mark.parametrize(
    ("thrown", "signature"),
    [
        ("client/10001", []),
        ("client/10002", ["error.other-code/expected=10001/seen=10002/retry"]),
        ("too-much", ["error.other-class/expected=MQClientException/seen=RemotingTooMuchRequestException/retry"]),
    ],
)
def test_what_the_call_throws_in_the_end(thrown: str, signature: list[str]) -> None:
    """After three refused attempts the call throws MQClientException with code 10001."""
    assert signatures("5.3.3", f"0 a1 1 refused > b0 1 refused > a0 1 refused ! {thrown}") == signature


def test_a_code_of_minus_one_is_no_code() -> None:
    """Java's −1 is no code; a lost connection has none."""
    text = "0 a1 1 lost > b0 1 lost > a0 1 lost ! client/-1"
    assert signatures("5.3.3", text) == []


def test_success_after_an_error_that_is_not_retried() -> None:
    """Busy is retried from 5.3.0 on only."""
    assert signatures("5.3.0", "0 a1 1 busy > b0 1") == []
    assert signatures("5.2.0", "0 a1 1 busy > b0 1") == ["attempts.went-on/retry"]
    assert signatures("5.2.0", "0 a1 1 busy") == []
    assert signatures("5.3.0", "0 a1 1 busy") == ["attempts.stopped-early/retry"]


def test_more_and_fewer_attempts_than_set() -> None:
    """C2: more or fewer retries than set are a difference."""
    refused = "0 a1 1 refused > b0 1 refused"
    assert signatures("5.3.3", refused + " ! client/10001", retries=1) == []
    assert signatures("5.3.3", refused + " ! client/10001", retries=2) == ["attempts.stopped-early/retry"]
    assert signatures("5.3.3", refused + " > a0 1 refused ! client/10001", retries=1) == ["attempts.went-on/retry"]


def test_a_status_other_than_ok() -> None:
    """A status other than SEND_OK is returned, or retried if set so."""
    assert signatures("5.3.3", "0 a1 1 SLAVE_NOT_AVAILABLE") == []
    assert signatures("5.3.3", "0 a1 1 SLAVE_NOT_AVAILABLE", not_store_ok=True) == ["attempts.stopped-early/retry"]
    assert signatures("5.3.3", "0 a1 1 SLAVE_NOT_AVAILABLE > b0 1", not_store_ok=True) == []


def test_an_explicit_queue_costs_no_tick() -> None:
    """An explicit queue, such as 5 (b1 in publish order), does not move the rotation."""
    assert signatures("5.3.3", "0 a0 1 | 20 =q5 b1 1 | 40 =q13 b1 1 | 60 a1 1") == []
    assert signatures("5.3.3", "0 =q5 b2 1") == ["queue.out-of-turn/first"]


def test_an_explicit_queue_is_not_retried_and_its_error_not_wrapped() -> None:
    """A send to an explicit queue has no retry and no wrapped exception (section 3.7)."""
    assert signatures("5.3.3", "0 =q5 b1 1 refused") == []
    assert signatures("5.3.3", "0 =q5 b1 1 refused ! client/10001") == [
        "error.other-class/expected=RemotingConnectException/seen=MQClientException/first"
    ]
    assert signatures("5.3.3", "0 =q5 b1 1 refused > b1 1") == ["attempts.went-on/retry"]


def test_a_selector_takes_its_queue_of_the_list() -> None:
    """A5: a selector takes the queue at its argument modulo their number."""
    assert signatures("5.3.3", "0 =s10 a2 1 | 20 =s7 b3 1") == []


def test_a_new_route_means_a_new_start() -> None:
    """With a new list all its queues are legal."""
    judgements = judged("5.3.3", "0 a0 1 | 20 r2 c1 1 | 40 r2 a0 1", "a4 b4", "a2 c2")
    assert legal(judgements) == [[8], [4], [1]]
    assert [one.difference for one in judgements] == [None] * 3


def test_a_route_that_changes_during_a_call_leaves_both_lists_possible() -> None:
    """If the route changes during a call, a1 of the old list and all of the new list are legal."""
    lists = ("a4 b4", "a2 c2")
    for queue in ("a1", "c0"):
        assert signatures("5.3.3", f"0 a0 1 | 20 r1-2 {queue} 1", *lists) == []
    assert signatures("5.3.3", "0 a0 1 | 20 r1-2 b3 1", *lists) == ["queue.out-of-turn/first"]


def test_an_attempt_without_an_address_cannot_be_seen() -> None:
    """An attempt at a broker without an address is invisible; code 10003 reports it."""
    assert signatures("5.3.3", "0 ! client/10003") == []
    assert signatures("5.3.3", "0 a3 1 refused ! client/10003", retries=1) == []


def test_an_unseen_attempt_is_not_assumed_without_need() -> None:
    """An invisible attempt needs evidence, or every skipped broker would be excused."""
    assert signatures("5.3.3", "0 a2 1 | 20 a3 1 | 40 c0 1", "a4 b1 c1") == ["queue.out-of-turn/first"]


def test_no_route() -> None:
    """A call without a route ends by an unknown topic or, from 4.6.0 on, by an unreachable name server."""
    assert signatures("4.5.2", "0 r0 ! client/10005") == signatures("5.3.3", "0 r0 ! client/10005") == []
    assert signatures("5.3.3", "0 r0 ! state") == []
    assert signatures("4.5.2", "0 r0 ! state") == [
        "error.other-class/expected=MQClientException/seen=IllegalStateException/first"
    ]


def test_a_list_emptied_as_the_call_began() -> None:
    """A poll may have emptied the list as the call began; without a poll there were queues to try."""
    assert signatures("5.3.3", "0 r1-2 ! client/10005", "a4 b4", "") == []
    assert signatures("5.3.3", "0 ! client/10005") == ["attempts.stopped-early/first"]
    assert signatures("4.5.2", "0 r1-2 ! state", "a4 b4", "") == ["attempts.stopped-early/first"]


def test_an_unknown_list_leaves_a_send_undecided() -> None:
    """A send with attempts but an unknown list is undecided."""
    assert signatures("5.3.3", "0 r7 a0 1") == ["undecided"]


@pytest.mark.parametrize("seen", ["b3 1", ""])
def test_a_send_whose_witness_cannot_have_seen_all_is_undecided(seen: str) -> None:
    """A send whose witness cannot have seen all is undecided; the next may take any queue."""
    sends = history(f"0 a0 2 | 20 {seen} | 40 b2 1 | 60 b3 1 | 80 a1 1")
    sends[1] = replace(sends[1], route=UNSEEN_ROUTE, route_after=UNSEEN_ROUTE)
    told = list(replay_for("5.3.3", ClientSettings(), routes("a4 b4")).judge_all(sends))
    assert [one.undecided is not None for one in told] == [False, True, False, False, False]
    assert [one.difference is not None for one in told] == [False, False, False, False, True]


def test_after_an_undecided_send_the_index_is_open() -> None:
    """After an undecided send the index is unknown, unless the application named the queue."""
    assert signatures("5.3.3", "0 a0 1 | 20 r0 a1 1 | 40 a2 1 | 60 a3 1") == ["undecided"]
    assert signatures("5.3.3", "0 a0 1 | 20 r0 a1 1 | 40 a2 1 | 60 b0 1") == ["undecided", "queue.out-of-turn/first"]
    assert signatures("5.3.3", "0 a0 1 | 20 r0 =q5 b1 1 | 40 a2 1") == ["undecided", "queue.out-of-turn/first"]


def test_after_an_undecided_send_nothing_is_certain_about_avoidance() -> None:
    """An undecided send may have failed at any broker, so no avoidance is certain afterwards."""
    text = "0 a3 1 | 20 r0 b0 1 refused > a1 1 | 40 a2 1 | 60 a3 1 | 80 a0 1 | 100 a1 1"
    assert signatures("5.3.3", text, on=True) == ["undecided", "undecided"]


def test_a_send_without_attempts() -> None:
    """A send without attempts is a difference only with a witness."""
    assert signatures("5.3.3", "0") == ["attempts.stopped-early/first"]
    replay = replay_for("5.3.3", ClientSettings(), routes("a4"), witnessed=False)
    (judgement,) = replay.judge_all(history("0"))
    assert (judgement.difference, judgement.decisions) == (None, ())


def test_a_result_that_names_another_queue() -> None:
    """A result that names another queue than its attempt's is a difference."""
    (send,) = history("0 a0 1")
    lied = type(send)(**{name: getattr(send, name) for name in send.__slots__} | {"queue_id": 3})
    (judgement,) = replay_for("5.3.3", ClientSettings(), routes("a4")).judge_all([lied])
    assert judgement.difference is not None
    assert judgement.difference.signature == "queue.result-names-other-queue/first"


def test_a_result_without_a_status() -> None:
    """A subject that shows its attempts must report a status; others need not."""
    (send,) = history("0 a0 1")
    for witnessed in (True, False):
        bare = replace(send, status=None, broker=None, queue_id=None)
        (judgement,) = replay_for("5.3.3", ClientSettings(), routes("a4"), witnessed=witnessed).judge_all([bare])
        found = None if judgement.difference is None else judgement.difference.signature
        assert found == ("error.result-incomplete" if witnessed else None)


def test_an_unknown_release_is_the_users_mistake() -> None:
    """An unknown release is a UsageError that lists the known ones."""
    with pytest.raises(UsageError, match=r"5\.5\.0"):
        replay_for("6.0.0", ClientSettings(), routes("a4"))


def test_threads_without_fault_latency_have_nothing_in_common() -> None:
    """Without fault latency each thread starts anywhere."""
    judgements = judged("5.3.3", "t0 0 a0 1 | t1 0.5 b2 1 | t0 20 a1 1 | t1 20.5 b3 1")
    assert legal(judgements) == [[8], [8], [1], [1]]
    assert [one.difference for one in judgements] == [None] * 4
