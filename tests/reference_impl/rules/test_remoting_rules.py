"""Timeouts of requests, and when they close a connection."""

import pytest

from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.remoting_rules import LateClose


@pytest.mark.parametrize(
    ("release", "timeout", "left", "closes"),
    [
        ("4.9.0", 3_000, 3_000, False),
        ("4.9.1", 3_000, 1, True),
        ("5.1.4", 3_000, 101, True),
        ("5.1.4", 3_000, 100, False),
        ("5.1.4", 80, 21, True),
        ("5.1.4", 80, 20, False),
    ],
)
def test_whether_a_timeout_closes_the_connection(release: str, timeout: int, left: int, closes: bool) -> None:
    """From 4.9.1 a timeout closes the connection, from 5.1.4 only if more than 100 ms or a quarter of the timeout were left."""
    assert dialect_of(release).client.remoting.closes_connection(timeout, left) is closes


@pytest.mark.parametrize(
    ("release", "spent", "left"),
    [("4.2.0", 3_001, 3_000), ("4.3.0", 200, 2_800), ("5.5.0", 3_000, 0), ("5.5.0", 3_001, None)],
)
def test_time_left_of_an_asynchronous_request(release: str, spent: int, left: int | None) -> None:
    """From 4.3.0 the connect counts; exactly no time left is time enough to write."""
    assert dialect_of(release).client.remoting.async_time_left_ms(3_000, spent) == left


@pytest.mark.parametrize(
    ("error", "leaves_open"),
    [
        (None, (False, False, False)),
        ("MQBrokerException", (False, False, False)),
        ("RemotingSendRequestException", (False, False, True)),
        ("RemotingTimeoutException", (False, False, True)),
        ("RemotingTooMuchRequestException", (False, False, True)),
        ("RemotingConnectException", (False, True, True)),
        ("MQClientException", (False, True, True)),
    ],
)
def test_which_end_may_cost_a_connection_that_stays_open(error: str | None, leaves_open: tuple[bool, ...]) -> None:
    """A failed request may evict a connection: from 5.3.1 after a failed connect or an unknown cause, from 5.4.0 always."""
    assert tuple(rule.may_leave_open(error) for rule in LateClose) == leaves_open
