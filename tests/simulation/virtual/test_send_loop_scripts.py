"""Scripts of depth "send-loop", which the classes run too."""

from tests.simulation.virtual.running import attempts_of, sends_of

PAUSED = {"route": {"a": 1}, "steps": [{"do": "broker", "name": "a", "answers": "timeout"}, {"do": "send"}]}


def test_attempts_share_one_timeout_from_4_3_0_on() -> None:
    """Before 4.3.0 each attempt had the whole timeout: 9 s in all instead of 3 s."""
    assert attempts_of(sends_of("4.2.0", PAUSED)[0]) == ["3000 3000 timeout"] * 3
    assert attempts_of(sends_of("4.3.0", PAUSED)[0]) == ["3000 3000 timeout", "0 0 timeout", "0 0 timeout"]


def test_a_wait_that_ends_late_leaves_less_than_nothing() -> None:
    """A wait 1 ms too long prevents a second attempt and changes the exception."""
    (send,) = sends_of("5.3.3", {**PAUSED, "expired_wait_extra_ms": 1})
    assert attempts_of(send) == ["3000 3001 timeout"]
    assert send["exception"] == "RemotingTooMuchRequestException"


def test_a_busy_broker_is_worth_another_attempt_from_5_3_0_on() -> None:
    """From 5.3.0 on a busy broker is retried; each answer takes 1 ms, and the exception has its code."""
    script = {
        "route": {"a": 1},
        "steps": [{"do": "broker", "name": "a", "answers": {"latency_ms": 1, "code": 2}}, {"do": "send"}],
    }
    (old,), (new,) = sends_of("5.2.0", script), sends_of("5.3.0", script)
    assert (old["exception"], attempts_of(old)) == ("MQBrokerException", ["3000 1 code"])
    assert (new["exception"], new["code"], new["cause"]) == ("MQClientException", 2, "MQBrokerException")
    assert attempts_of(new) == ["3000 1 code", "2999 1 code", "2998 1 code"]


def test_answers_are_taken_in_turn_and_a_refused_connect_takes_one() -> None:
    """A refused connect uses up one of broker a's answers, so the second send gets the next (5 ms)."""
    script = {
        "route": {"a": 1, "b": 1},
        "start_index": 1,
        "steps": [{"do": "broker", "name": "a", "answers": ["refused", 5]}, {"do": "send"}, {"do": "send"}],
    }
    first, second = sends_of("4.9.3", script)
    assert (first["broker"], attempts_of(first)) == ("b", ["3000 0 refused", "3000 0 ok"])
    assert (second["broker"], attempts_of(second)) == ("a", ["3000 5 ok"])


def test_an_unreachable_name_server_is_another_failure_than_no_route_from_4_6_0_on() -> None:
    """From 4.6.0 on an unreachable name server is another exception; no route is MQClientException 10005 in every release."""
    steps = [{"do": "send"}, {"do": "name_server", "answer": "refused"}, {"do": "send"}]
    script = {"route": None, "steps": steps}
    assert [(send["exception"], send["code"]) for send in sends_of("4.5.2", script)] == [
        ("MQClientException", 10005)
    ] * 2
    none, unreachable = sends_of("4.6.0", script)
    assert (none["exception"], none["code"]) == ("MQClientException", 10005)
    assert (unreachable["exception"], unreachable["cause"]) == ("IllegalStateException", "RemotingConnectException")
