"""Rules of a gRPC client's sends, one history each."""

import pytest

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_ROUTE, Attempt, Send
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.grpc_attempts import judge_calls
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference

SETTINGS = ClientSettings(retry_times_when_send_failed=2)
TIMEOUT, LOST, REFUSED = "RemotingTimeoutException", "RemotingSendRequestException", "MQBrokerException"

CALLS, RESULT = DifferenceKind.ATTEMPTS, DifferenceKind.ERROR


def _send(*ends: str | None, error: str | None = None, code: int | None = None, route: int = 0) -> Send:
    """Return a send with attempts that ended like this; None is success."""
    made = tuple(
        Attempt(0, 0, number, "proxy-1", 0, number, number, end, status=None if end else "SEND_OK")
        for number, end in enumerate(ends)
    )
    return Send(0, 0, 0, 9, error=error, code=code, route=route, attempts=made)


@pytest.mark.parametrize(
    "send",
    [
        _send(None),
        _send(TIMEOUT, LOST, None),
        _send(TIMEOUT, TIMEOUT, TIMEOUT, error="timeout"),
        _send(REFUSED, REFUSED, REFUSED, error="broker-code", code=42_900),
        _send(LOST, error="connection-lost"),  # later attempts may have had no connection
        _send(error="connection-lost"),
    ],
)
def test_calls_within_the_rules_have_no_difference(send: Send) -> None:
    """The first success or third failure ends a send; attempts without a connection leave nothing on the wire."""
    judged = judge_calls(send, SETTINGS)
    assert (judged.difference, judged.undecided) == (None, None)


@pytest.mark.parametrize(
    ("send", "kind", "signature", "attempt", "expected", "observed"),
    [
        (
            _send(None, None),
            CALLS,
            "attempts.went-on-after-success",
            1,
            "no attempt after a success",
            "attempt 1, though attempt 0 was answered with SEND_OK",
        ),
        (
            _send(TIMEOUT, None, None),
            CALLS,
            "attempts.went-on-after-success",
            2,
            "no attempt after a success",
            "attempt 2, though attempt 1 was answered with SEND_OK",
        ),
        (
            _send(TIMEOUT, TIMEOUT, TIMEOUT, TIMEOUT, error="timeout"),
            CALLS,
            "attempts.too-many",
            3,
            "at most 3 attempts",
            "4",
        ),
        (_send(TIMEOUT, error="timeout"), CALLS, "attempts.gave-up-early", 0, "3 attempts", "1"),
        (_send(TIMEOUT, TIMEOUT, error="timeout"), CALLS, "attempts.gave-up-early", 1, "3 attempts", "2"),
        (_send(error="timeout"), CALLS, "attempts.gave-up-early", None, "3 attempts", "0"),
        (_send(REFUSED, error="broker-code", code=40_006), CALLS, "attempts.gave-up-early", 0, "3 attempts", "1"),
        # the proxy's broker is dead
        (_send(REFUSED, error="broker-code", code=50_001), CALLS, "attempts.gave-up-early", 0, "3 attempts", "1"),
        (
            _send(),
            CALLS,
            "attempts.none-for-a-message-said-to-be-sent",
            None,
            "a failed send",
            "success, after no attempt",
        ),
        (
            _send(TIMEOUT, TIMEOUT, TIMEOUT),
            RESULT,
            "error.success-though-every-attempt-failed",
            None,
            "a failed send",
            "success, after 3 attempts, all failed",
        ),
        (
            _send(None, error="timeout"),
            RESULT,
            "error.failure-though-an-attempt-succeeded",
            0,
            "success",
            "timeout, though attempt 0 was answered with SEND_OK",
        ),
    ],
)
def test_each_violation_has_its_own_signature(
    send: Send, kind: DifferenceKind, signature: str, attempt: int | None, expected: str, observed: str
) -> None:
    """Each violation of the rules has its own signature, belongs to one check, and names the attempt."""
    judged = judge_calls(send, SETTINGS)
    assert judged.difference == RuleDifference(kind, signature, attempt, expected, observed)
    assert (judged.send, judged.thread, judged.decisions, judged.states, judged.undecided) == (0, 0, (), 1, None)


def test_a_send_while_its_proxy_refused_connections_is_open() -> None:
    """A send while its proxy refused connections, or without a callback, is undecided: attempts may have left nothing."""
    for send in (_send(error="timeout", route=UNSEEN_ROUTE), _send(None, None, error=NEVER_CALLED_BACK)):
        judged = judge_calls(send, SETTINGS)
        assert (judged.difference, judged.states) == (None, 0)
        assert judged.undecided
