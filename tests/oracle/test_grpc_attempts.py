"""Rules of a gRPC client's sends, one history each."""

import pytest

from rocketdiff.core.records.sending import UNSEEN_ROUTE, Attempt, Send
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.grpc_attempts import judge_calls

SETTINGS = ClientSettings(retry_times_when_send_failed=2)
TIMEOUT, LOST, REFUSED = "RemotingTimeoutException", "RemotingSendRequestException", "MQBrokerException"


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
    ("send", "signature"),
    [
        (_send(None, None), "attempts.went-on-after-success"),
        (_send(TIMEOUT, TIMEOUT, TIMEOUT, TIMEOUT, error="timeout"), "attempts.too-many"),
        (_send(TIMEOUT, error="timeout"), "attempts.gave-up-early"),
        (_send(REFUSED, error="broker-code", code=40_006), "attempts.gave-up-early"),
        (_send(REFUSED, error="broker-code", code=50_001), "attempts.gave-up-early"),  # the proxy's broker is dead
        (_send(), "attempts.none-for-a-message-said-to-be-sent"),
        (_send(TIMEOUT, TIMEOUT, TIMEOUT), "error.success-though-every-attempt-failed"),
        (_send(None, error="timeout"), "error.failure-though-an-attempt-succeeded"),
    ],
)
def test_each_violation_has_its_own_signature(send: Send, signature: str) -> None:
    """Each violation of the rules has its own signature."""
    difference = judge_calls(send, SETTINGS).difference
    assert difference is not None
    assert difference.signature == signature


def test_a_send_while_its_proxy_refused_connections_is_open() -> None:
    """A send while its proxy refused connections is undecided: attempts may have left nothing."""
    judged = judge_calls(_send(error="timeout", route=UNSEEN_ROUTE), SETTINGS)
    assert judged.difference is None
    assert judged.undecided
