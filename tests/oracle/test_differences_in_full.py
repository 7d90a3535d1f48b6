"""Full differences of synchronous sends."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.replay import replay_for
from tests.oracle.histories import history, routes
from tests.oracle.judging import judged

REFUSED_THRICE = "0 a1 1 refused > b0 1 refused > a0 1 refused"
"""Two retries, the default, each at the next queue of the other broker."""

GIVES_UP = "the call gives up with MQClientException with code 10001 because of a RemotingConnectException"
FAILED_B = "0 a3 1 | 20 b0 502 timeout ! too-much"
"""With fault latency and a timeout of 500 ms, b is avoided for 10 s from 522.1–522.2 ms on."""


def told(release: str, text: str, **settings: Any) -> RuleDifference:
    """Return the difference of the last send, the only one."""
    *before, last = judged(release, text, **settings)
    assert [one.difference or one.undecided for one in before] == [None] * len(before)
    assert last.undecided is None
    assert last.difference is not None
    return last.difference


def told_of(change: dict[str, Any], text: str = "0 a0 1") -> RuleDifference | None:
    """Return the difference of one changed send by the rules of 5.3.3."""
    (send,) = history(text)
    (judgement,) = replay_for("5.3.3", ClientSettings(), routes("a4 b4")).judge_all([replace(send, **change)])
    assert judgement.undecided is None
    return judgement.difference


def test_a_queue_that_was_not_next_in_turn() -> None:
    """A first attempt after a0 goes to a1."""
    assert told("5.3.3", "0 a0 2 | 20 b3 2") == RuleDifference(
        DifferenceKind.QUEUE,
        "queue.out-of-turn/first",
        0,
        "queue 1 of a (1 of 8 queues)",
        "attempt 1 went to queue 3 of b",
        {"legal": [["a", 1]], "observed": ["b", 3], "remaining_ms": {}, "states": 1},
    )


def test_a_retry_at_the_broker_that_failed() -> None:
    """A retry skips the failed broker's a2 and a3 and goes to b0."""
    assert told("5.3.3", "0 a0 1 | 20 a1 1 refused > a2 1") == RuleDifference(
        DifferenceKind.QUEUE,
        "retry.returned-to-failed-broker/retry",
        1,
        "queue 0 of b (1 of 8 queues); a failed the previous attempt",
        "attempt 2 went to queue 2 of a",
        {"legal": [["b", 0]], "observed": ["a", 2], "remaining_ms": {}, "states": 1},
    )


def test_an_attempt_where_the_call_should_have_ended() -> None:
    """No attempt follows after the 3 s for all attempts."""
    assert told("4.3.0", "0 a1 3002 timeout > b0 2") == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.went-on/retry",
        1,
        "no attempt 2: the call throws RemotingTooMuchRequestException, because the time for all attempts is spent",
        "attempt 2 went to queue 0 of b",
        {"expected": "call-timeout", "observed": ["b", 0]},
    )


def test_a_call_that_ended_where_another_attempt_was_due() -> None:
    """
    A call must not end before a due attempt, here at a0 after b0.

    Of 3,000 ms 1–3 are spent, because each clock is read to a millisecond.
    """
    assert told("5.3.3", "0 a0 1 | 20 a1 1 refused > b0 1 refused ! client/10001") == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.stopped-early/retry",
        2,
        "another attempt, on queue 0 of a, with 2,997–2,999 ms to wait",
        "the call threw MQClientException with code 10001 after 2 attempts",
        {"expected": ["a", 0], "attempts": 2, "error": "MQClientException"},
    )


@pytest.mark.parametrize(
    ("thrown", "signature", "observed", "seen"),
    [
        (
            "client/10002",
            "error.other-code/expected=10001/seen=10002/retry",
            "the call threw MQClientException with code 10002 after 3 attempts",
            ["MQClientException", 10002, None, "RemotingConnectException"],
        ),
        (
            "client/-1",
            "error.other-code/expected=10001/seen=None/retry",
            "the call threw MQClientException with code -1 after 3 attempts",
            ["MQClientException", -1, None, "RemotingConnectException"],
        ),
        (
            "too-much",
            "error.other-class/expected=MQClientException/seen=RemotingTooMuchRequestException/retry",
            "the call threw RemotingTooMuchRequestException after 3 attempts",
            ["RemotingTooMuchRequestException", None, None, None],
        ),
    ],
)
def test_another_exception_than_the_rules_throw(thrown: str, signature: str, observed: str, seen: list[object]) -> None:
    """A wrong exception class or code is a difference; −1 means no code."""
    expected: list[object] = ["MQClientException", 10001, None, "RemotingConnectException"]
    assert told("5.3.3", f"{REFUSED_THRICE} ! {thrown}") == RuleDifference(
        DifferenceKind.ERROR, signature, None, GIVES_UP, observed, {"expected": expected, "observed": seen}
    )


@pytest.mark.parametrize(
    ("cause", "seen", "observed"),
    [(None, "none", "without a cause"), ("IOException", "IOException", "because of a IOException")],
)
def test_another_cause_than_the_rules_name(cause: str | None, seen: str, observed: str) -> None:
    """A wrong or missing cause is a difference, although class and code are right."""
    assert told_of({"cause": cause}, f"{REFUSED_THRICE} ! client/10001") == RuleDifference(
        DifferenceKind.ERROR,
        f"error.other-cause/expected=RemotingConnectException/seen={seen}/retry",
        None,
        GIVES_UP,
        f"the call threw MQClientException with code 10001 after 3 attempts, {observed}",
        {
            "expected": ["MQClientException", 10001, None, "RemotingConnectException"],
            "observed": ["MQClientException", 10001, None, cause],
        },
    )


@pytest.mark.parametrize(
    ("history", "word", "code"),
    [
        (f"{REFUSED_THRICE} ! client/10001", "refused", None),
        ("0 a0 3001 timeout ! too-much", "timeout", None),
        ("0 a1 1 busy > b0 1 busy > a0 1 busy ! client/2", "broker-code", 2),
    ],
)
def test_an_error_word_is_held_against_the_kind_of_failure(history: str, word: str, code: int | None) -> None:
    """An error word needs neither Java's class, nor its client-side code, nor a cause."""
    assert told_of({"error": word, "code": code, "cause": None}, history) is None


def test_an_error_word_for_another_failure_is_a_difference() -> None:
    """The word timeout for refused connections is a difference."""
    found = told_of({"error": "timeout", "code": None, "cause": None}, f"{REFUSED_THRICE} ! client/10001")
    assert found is not None
    assert found.signature == "error.other-class/expected=refused/seen=timeout/retry"
    assert found.observed == "the call threw timeout after 3 attempts"


def test_a_broker_code_is_compared_whatever_the_word() -> None:
    """A broker's code is compared even with an error word: it is not Java's own."""
    found = told_of(
        {"error": "broker-code", "code": 14, "cause": None}, "0 a1 1 busy > b0 1 busy > a0 1 busy ! client/2"
    )
    assert found is not None
    assert found.signature == "error.other-code/expected=2/seen=14/retry"


def test_a_client_that_tells_no_causes_is_not_asked_for_them() -> None:
    """A client that cannot report causes, as in some languages, needs none."""
    for causes_told, is_found in ((True, True), (False, False)):
        replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"), causes_told=causes_told)
        (send,) = history(f"{REFUSED_THRICE} ! client/10001")
        assert (replay.judge(replace(send, cause=None)).difference is not None) is is_found


def test_a_cause_where_the_rules_have_none() -> None:
    """The call's own timeout has no cause, so a reported one is a difference."""
    found = told_of({"cause": "IOException"}, "0 a1 3002 timeout ! too-much")
    assert found is not None
    assert found.signature == "error.other-cause/expected=none/seen=IOException/first"


def test_another_status_than_the_attempt_had() -> None:
    """A status other than the attempt's is a false report: the broker had stored the message."""
    assert told_of({"status": "FLUSH_DISK_TIMEOUT"}) == RuleDifference(
        DifferenceKind.ERROR,
        "error.other-status/expected=SEND_OK/seen=FLUSH_DISK_TIMEOUT/first",
        None,
        "the call returns SEND_OK",
        "the call returned FLUSH_DISK_TIMEOUT after 1 attempt",
        {"expected": [None, None, "SEND_OK", None], "observed": [None, None, "FLUSH_DISK_TIMEOUT", None]},
    )


def test_a_status_is_told_although_a_result_has_a_code() -> None:
    """A result's code is not compared, because no rule gives it one; its status is."""
    found = told_of({"status": "FLUSH_DISK_TIMEOUT", "code": 5})
    assert found is not None
    assert found.signature == "error.other-status/expected=SEND_OK/seen=FLUSH_DISK_TIMEOUT/first"


def test_the_cause_of_an_exception_that_is_thrown_as_it_came_is_nobodys_rule() -> None:
    """A send to a given queue is not wrapped, so its cause is the network library's and not judged."""
    assert told_of({"cause": "IOException"}, "0 =q5 b1 1 refused") is None


def test_the_second_attempt_is_a_retry() -> None:
    """A wrong end after the second attempt has the signature of a retry."""
    found = told("5.3.3", "0 a1 1 refused > b0 1 refused ! too-much", retries=1)
    assert found.signature.endswith("/retry")


def test_an_exception_where_there_was_an_answer() -> None:
    """An exception after an answer is a difference, and a result without one."""
    found = told_of({"error": "MQClientException", "code": 10001, "status": None, "broker": None, "queue_id": None})
    assert found is not None
    assert found.signature == "error.other-class/expected=none/seen=MQClientException/first"
    found = told_of({"error": None, "status": "SEND_OK"}, "0 =q5 b1 1 refused")
    assert found is not None
    assert found.signature == "error.other-class/expected=RemotingConnectException/seen=none/first"


def test_a_call_without_a_route_that_ended_otherwise() -> None:
    """A call without a route throws IllegalStateException from 4.6.0 on only."""
    assert told("4.5.2", "0 r0 ! state") == RuleDifference(
        DifferenceKind.ERROR,
        "error.other-class/expected=MQClientException/seen=IllegalStateException/first",
        None,
        "the call throws MQClientException with code 10005, because its topic has no route",
        "the call threw IllegalStateException after 0 attempts",
        {
            "expected": ["MQClientException", 10005, None, None],
            "observed": ["IllegalStateException", None, None, None],
        },
    )


def test_a_call_without_a_route_is_held_against_an_unknown_topic_first() -> None:
    """From 4.6.0 on a wrong end without a route is compared with an unknown topic, not a name server out of reach."""
    found = told("5.3.3", "0 r0 ! too-much")
    assert found.signature == "error.other-class/expected=MQClientException/seen=RemotingTooMuchRequestException/first"


def test_a_broker_that_was_used_while_avoided() -> None:
    """
    A send to an avoided broker is reported with the remaining time of the avoidance.

    It ends at 10,522–10,524 by the client's clock, 9,921–9,923 ms after 600–601. The retry without time left took any
    of a's four queues.
    """
    assert told("5.3.3", f"{FAILED_B} | 600 b2 1", on=True, timeout=500) == RuleDifference(
        DifferenceKind.AVOIDANCE,
        "avoidance.used-avoided-broker/first",
        0,
        "queue 0 of a, queue 1 of a, queue 2 of a, queue 3 of a (4 of 8 queues);"
        " b is avoided for another 9,921–9,923 ms",
        "attempt 1 went to queue 2 of b",
        {
            "legal": [["a", 0], ["a", 1], ["a", 2], ["a", 3]],
            "observed": ["b", 2],
            "remaining_ms": {"b": [9_921, 9_923]},
            "states": 4,
        },
    )


def test_a_broker_that_was_left_alone_after_its_avoidance() -> None:
    """Broker b is avoided until 10,524 at the latest: at 11,000 a client must not skip b0."""
    found = told("5.3.3", f"{FAILED_B} | 10400 a3 1 | 11000 a0 1", on=True, timeout=500)
    assert (found.kind, found.signature) == (
        DifferenceKind.AVOIDANCE,
        "avoidance.stayed-away-from-available-broker/first",
    )
    assert (found.expected, found.detail["remaining_ms"]) == ("queue 0 of b (1 of 8 queues)", {})


def test_a_skipped_queue_of_a_broker_that_was_never_slow_is_out_of_turn() -> None:
    """Skipping a broker that was never slow is out of turn: nothing caused an avoidance."""
    found = told("5.3.3", "0 b3 1 | 20 a0 1 | 40 a1 1 | 60 a2 1 | 80 a3 1 | 100 a0 1", on=True)
    assert (found.kind, found.signature) == (DifferenceKind.QUEUE, "queue.out-of-turn/first")


def test_a_list_that_a_release_rewrites_and_the_client_did_not() -> None:
    """4.7.1 writes a0 over b1, so b1 in its turn is a difference."""
    start = "0 a0 1 | 20 a1 1 refused > a0 1 | 40 a1 1 | 60 b0 1"
    judgement = judged("4.7.1", f"{start} | 80 b1 1", "a2 b2", on=True)[-1]
    found = judgement.difference
    assert found is not None
    assert (found.kind, found.signature) == (DifferenceKind.QUEUE, "queue.mutated-list/first")
    assert (found.expected, found.detail["legal"]) == ("queue 0 of a (1 of 4 queues)", [["a", 0]])
