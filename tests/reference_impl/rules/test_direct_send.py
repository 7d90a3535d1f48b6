"""Sends to a queue that the application chooses, and sends without a route."""

import pytest

from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Ending, Finish, Try
from rocketmq_reference.rules.producer.direct_send import no_route, send_by_selector

QUEUE = Queue("a", 1)
TOO_MUCH = Finish(Ending.CALL_TIMEOUT, error="RemotingTooMuchRequestException")


def test_a_selector_without_a_timeout_of_its_own() -> None:
    """From 5.1.4 a selector without a timeout argument gets the whole timeout, unless the time is overspent."""
    assert send_by_selector(dialect_of("5.1.3"), QUEUE, 2_000, 5, timeout_given=False) == Try(QUEUE, 1_995)
    assert send_by_selector(dialect_of("5.1.4"), QUEUE, 2_000, 5, timeout_given=False) == Try(QUEUE, 2_000)
    assert send_by_selector(dialect_of("5.1.4"), QUEUE, 2_000, 5) == Try(QUEUE, 1_995)
    assert send_by_selector(dialect_of("5.1.4"), QUEUE, 2_000, 2_001, timeout_given=False) == TOO_MUCH


def test_a_selector_without_an_answer() -> None:
    """A selector that returned null or threw is MQClientException."""
    assert send_by_selector(dialect_of("5.3.3"), None, 2_000, 0) == Finish(Ending.GAVE_UP, error="MQClientException")


@pytest.mark.parametrize(
    ("release", "reached", "by_selector", "error", "code"),
    [
        ("4.5.2", False, False, "MQClientException", 10005),
        ("4.6.0", False, False, "IllegalStateException", None),
        ("4.6.0", True, False, "MQClientException", 10005),
        ("5.3.3", True, True, "MQClientException", None),
    ],
)
def test_no_route(release: str, reached: bool, by_selector: bool, error: str, code: int | None) -> None:
    """A missing route is MQClientException; from 4.6.0 an unreachable name server is IllegalStateException."""
    finish = no_route(dialect_of(release), name_servers_set=True, name_server_reached=reached, by_selector=by_selector)
    assert (finish.ending, finish.error, finish.code) == (Ending.NO_ROUTE, error, code)


def test_no_name_server_set() -> None:
    """Without name servers a send fails with code 10004, a send by selector only from 4.6.0."""
    codes = [
        no_route(dialect_of(release), name_servers_set=False, name_server_reached=False, by_selector=by_selector).code
        for release, by_selector in (("4.5.2", False), ("4.5.2", True), ("4.6.0", True))
    ]
    assert codes == [10004, None, 10004]
