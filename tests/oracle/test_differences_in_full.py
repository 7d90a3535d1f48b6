"""Full differences of synchronous sends."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.difference import ends_alike, result_difference
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.replay import replay_for
from rocketmq_reference.rules.producer.attempt import Ending, Finish
from tests.oracle.histories import history, routes, send_of
from tests.oracle.judging import judged

REFUSED_THRICE = "0 a1 1 refused > b0 1 refused > a0 1 refused"
"""Two retries, the default, each at the next queue of the other broker."""

GIVES_UP = "the call gives up with MQClientException with code 10001 because of a RemotingConnectException"
FAILED_B = "0 a3 1 | 20 b0 502 timeout ! too-much"
"""With fault latency and a timeout of 500 ms, b is avoided for 10 s from 522.1–522.2 ms on."""


def difference_of(release: str, text: str, **settings: Any) -> RuleDifference:
    """Return the difference of the last send, the only one."""
    *before, last = judged(release, text, **settings)
    assert [one.difference or one.undecided for one in before] == [None] * len(before)
    assert last.undecided is None
    assert last.difference is not None
    return last.difference


def changed_difference(change: dict[str, Any], text: str = "0 a0 1") -> RuleDifference | None:
    """Return the difference of one changed send by the rules of 5.3.3."""
    (send,) = history(text)
    (judgement,) = replay_for("5.3.3", ClientSettings(), routes("a4 b4")).judge_all([replace(send, **change)])
    assert judgement.undecided is None
    return judgement.difference


def test_a_queue_that_was_not_next_in_turn() -> None:
    """A first attempt after a0 goes to a1."""
    assert difference_of("5.3.3", "0 a0 2 | 20 b3 2") == RuleDifference(
        DifferenceKind.QUEUE,
        "queue.out-of-turn/first",
        0,
        "queue 1 of a (1 of 8 queues)",
        "attempt 1 went to queue 3 of b",
        {"legal": [["a", 1]], "observed": ["b", 3], "remaining_ms": {}, "states": 1},
    )


def test_a_retry_at_the_broker_that_failed() -> None:
    """A retry skips the failed broker's a2 and a3 and goes to b0."""
    assert difference_of("5.3.3", "0 a0 1 | 20 a1 1 refused > a2 1") == RuleDifference(
        DifferenceKind.QUEUE,
        "retry.returned-to-failed-broker/retry",
        1,
        "queue 0 of b (1 of 8 queues); a failed the previous attempt",
        "attempt 2 went to queue 2 of a",
        {"legal": [["b", 0]], "observed": ["a", 2], "remaining_ms": {}, "states": 1},
    )


def test_an_attempt_where_the_call_should_have_ended() -> None:
    """No attempt follows after the 3 s for all attempts."""
    assert difference_of("4.3.0", "0 a1 3002 timeout > b0 2") == RuleDifference(
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
    assert difference_of("5.3.3", "0 a0 1 | 20 a1 1 refused > b0 1 refused ! client/10001") == RuleDifference(
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
    assert difference_of("5.3.3", f"{REFUSED_THRICE} ! {thrown}") == RuleDifference(
        DifferenceKind.ERROR, signature, None, GIVES_UP, observed, {"expected": expected, "observed": seen}
    )


@pytest.mark.parametrize(
    ("cause", "seen", "observed"),
    [(None, "none", "without a cause"), ("IOException", "IOException", "because of a IOException")],
)
def test_another_cause_than_the_rules_name(cause: str | None, seen: str, observed: str) -> None:
    """A wrong or missing cause is a difference, although class and code are right."""
    assert changed_difference({"cause": cause}, f"{REFUSED_THRICE} ! client/10001") == RuleDifference(
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


def test_a_client_without_causes_needs_none() -> None:
    """A client that cannot report causes, as in some languages, needs none."""
    for causes_reported, is_found in ((True, True), (False, False)):
        replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"), causes_reported=causes_reported)
        (send,) = history(f"{REFUSED_THRICE} ! client/10001")
        assert (replay.judge(replace(send, cause=None)).difference is not None) is is_found


def test_another_status_than_the_attempt_had() -> None:
    """A status other than the attempt's is a false report: the broker had stored the message."""
    assert changed_difference({"status": "FLUSH_DISK_TIMEOUT"}) == RuleDifference(
        DifferenceKind.ERROR,
        "error.other-status/expected=SEND_OK/seen=FLUSH_DISK_TIMEOUT/first",
        None,
        "the call returns SEND_OK",
        "the call returned FLUSH_DISK_TIMEOUT after 1 attempt",
        {"expected": [None, None, "SEND_OK", None], "observed": [None, None, "FLUSH_DISK_TIMEOUT", None]},
    )


def test_a_call_without_a_route_that_ended_otherwise() -> None:
    """A call without a route throws IllegalStateException from 4.6.0 on only."""
    assert difference_of("4.5.2", "0 r0 ! state") == RuleDifference(
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


def test_a_broker_that_was_used_while_avoided() -> None:
    """
    A send to an avoided broker is reported with the remaining time of the avoidance.

    It ends at 10,522–10,524 by the client's clock, 9,921–9,923 ms after 600–601. The retry without time left took any
    of a's four queues.
    """
    assert difference_of("5.3.3", f"{FAILED_B} | 600 b2 1", on=True, timeout=500) == RuleDifference(
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


BUSY_THRICE = "0 a1 1 busy > b0 1 busy > a0 1 busy ! client/2"
GAVE_UP = f"{REFUSED_THRICE} ! client/10001"
AS_WORD: dict[str, Any] = {"code": None, "cause": None}


@pytest.mark.parametrize(
    ("change", "text", "signature"),
    [
        # an error word needs neither Java's class, nor its client-side code, nor a cause
        ({"error": "refused", **AS_WORD}, GAVE_UP, None),
        ({"error": "timeout", **AS_WORD}, "0 a0 3001 timeout ! too-much", None),
        ({"error": "broker-code", "code": 2, "cause": None}, BUSY_THRICE, None),
        ({"error": "timeout", **AS_WORD}, GAVE_UP, "error.other-class/expected=refused/seen=timeout/retry"),
        ({"error": "broker-code", "code": 14, "cause": None}, BUSY_THRICE, "error.other-code/expected=2/seen=14/retry"),
        # the call's own timeout has no cause, and that of an unwrapped exception is the network library's
        (
            {"cause": "IOException"},
            "0 a1 3002 timeout ! too-much",
            "error.other-cause/expected=none/seen=IOException/first",
        ),
        ({"cause": "IOException"}, "0 =q5 b1 1 refused", None),
        # a result's code is not compared, its status is
        (
            {"status": "FLUSH_DISK_TIMEOUT", "code": 5},
            "0 a0 1",
            "error.other-status/expected=SEND_OK/seen=FLUSH_DISK_TIMEOUT/first",
        ),
        (
            {"error": "MQClientException", "code": 10001, "status": None, "broker": None, "queue_id": None},
            "0 a0 1",
            "error.other-class/expected=none/seen=MQClientException/first",
        ),
        (
            {"error": None, "status": "SEND_OK"},
            "0 =q5 b1 1 refused",
            "error.other-class/expected=RemotingConnectException/seen=none/first",
        ),
        # some clients report no broker
        ({"broker": None, "queue_id": None}, "0 a0 1", None),
        # without a route, an unknown topic is expected, not a name server out of reach
        (
            {},
            "0 r0 ! too-much",
            "error.other-class/expected=MQClientException/seen=RemotingTooMuchRequestException/first",
        ),
    ],
)
def test_signatures_of_changed_sends(change: dict[str, Any], text: str, signature: str | None) -> None:
    """Class, code, cause and status of a call are each compared where the rules name them."""
    found = changed_difference(change, text)
    assert (None if found is None else found.signature) == signature


@pytest.mark.parametrize(
    ("text", "place", "attempt", "last"),
    [("0 a0 1", "first", 0, ["a", 0]), ("0 a0 1 refused > b0 1", "retry", 1, ["b", 0])],
)
def test_a_result_that_names_another_queue(text: str, place: str, attempt: int, last: list[object]) -> None:
    """A result must name the queue of the last answered attempt."""
    for broker, queue in (("a", 3), ("b", 3), ("c", 0)):
        assert changed_difference({"broker": broker, "queue_id": queue}, text) == RuleDifference(
            DifferenceKind.QUEUE,
            f"queue.result-names-other-queue/{place}",
            attempt,
            f"a result from queue {last[1]} of {last[0]}, where the last answered attempt went",
            f"a result that names queue {queue} of {broker}",
            {"attempted": last, "returned": [broker, queue]},
        )


def test_the_result_is_that_of_the_last_attempt_that_was_answered() -> None:
    """The result is that of the last answered attempt, here b0, though a refused one at a0 follows."""
    (send,) = history("0 a0 1 SLAVE_NOT_AVAILABLE > b0 1 SLAVE_NOT_AVAILABLE > a0 1 refused")
    kept = replace(send, error=None, cause=None, code=None, status="SLAVE_NOT_AVAILABLE", broker="b", queue_id=0)
    assert result_difference(kept) is None
    found = result_difference(replace(kept, broker="a"))
    assert found is not None
    assert (found.attempt, found.detail["attempted"]) == (1, ["b", 0])


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("0 a0 1 refused", {"error": None}),
        ("0 a0 1", {"error": "MQClientException"}),
        ("0", {}),
    ],
)
def test_a_result_that_came_from_no_attempt_names_none(text: str, change: dict[str, Any]) -> None:
    """Without an answer, or after an exception, no queue is compared: that is another difference."""
    (send,) = history(text)
    assert result_difference(replace(send, broker="a", queue_id=3, **change)) is None


def test_a_result_without_a_status() -> None:
    """A client that reports attempts must report a status."""
    assert changed_difference({"status": None}) == RuleDifference(
        DifferenceKind.ERROR,
        "error.result-incomplete",
        None,
        "a result with a status",
        "the call returned a result without a status",
        {"broker": "a", "queue": 0},
    )


CALL = send_of(0, 0, SendKind.PLAIN, 0, 0, 1, status="SEND_OK")
OK, SILENT = Finish(Ending.RESULT, status="SEND_OK"), Finish(Ending.RESULT)


@pytest.mark.parametrize(
    ("finish", "send", "alike"),
    [
        (OK, CALL, True),
        (OK, replace(CALL, status="FLUSH_DISK_TIMEOUT"), False),
        (OK, replace(CALL, status=None), True),
        (SILENT, CALL, True),
        (OK, replace(CALL, error="MQClientException", status=None), False),
        (SILENT, replace(CALL, mode=SendMode.ONEWAY, status=None), True),
        (SILENT, replace(CALL, mode=SendMode.ONEWAY), False),
        (Finish(Ending.GAVE_UP, error="E", code=-1), replace(CALL, error="E", status=None), True),
        (Finish(Ending.GAVE_UP, error="E", code=2), replace(CALL, error="E", status=None), False),
        (Finish(Ending.GAVE_UP, error="E"), replace(CALL, error="F", status=None), False),
    ],
)
def test_when_two_ends_are_alike(finish: Finish, send: Send, alike: bool) -> None:
    """A missing status is no difference, but a one-way call must have none; −1 is no code."""
    assert ends_alike(finish, send) is alike
