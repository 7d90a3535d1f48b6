"""Scripts of depth "remoting", which the classes run too."""

from typing import Any

import pytest

from tests.simulation.virtual.running import answers_of, attempts_of, sends_of


def remoting(*steps: object, **rest: object) -> dict[str, Any]:
    return {"depth": "remoting", "route": {"a": 1}, "steps": list(steps), **rest}


def answers(*answers: object) -> dict[str, Any]:
    return {"do": "broker", "name": "a", "answers": list(answers)}


def dumps_of(release: str, script: dict[str, Any]) -> list[dict[str, Any]]:
    return [answer["dump"] for answer in answers_of(release, script) if "dump" in answer]


@pytest.mark.parametrize(("release", "attempt"), [("4.9.0", "5000 5000 timeout"), ("4.9.1", "5000 2999 reset")])
def test_a_timeout_costs_the_connection_and_who_waits_on_it(release: str, attempt: str) -> None:
    """From 4.9.1 on a timeout at 3,000 ms ends another request of the connection, begun at 1 ms."""
    timeline = [
        {"at_ms": 0, "action": {"do": "send"}},
        {"at_ms": 1, "action": {"do": "send", "timeout_ms": 5_000, "thread": 1}},
    ]
    sends = sends_of(release, remoting(answers("timeout"), {"do": "timeline", "entries": timeline}))
    assert [attempts_of(send)[0] for send in sends] == ["3000 3000 timeout", attempt]


@pytest.mark.parametrize(("release", "attempt"), [("5.1.1", "3000 3000 timeout"), ("5.1.3", "3000 0 reset")])
def test_an_orderly_close_fails_what_waits_from_5_1_3_on(release: str, attempt: str) -> None:
    """Before 5.1.3 the client waits although the connection was closed."""
    settings = {"retry_times_when_send_failed": 0}
    (send,) = sends_of(release, remoting(answers("fin"), {"do": "send"}, settings=settings))
    assert attempts_of(send) == [attempt]


@pytest.mark.parametrize(
    ("release", "attempts"),
    [
        ("4.6.1", ["3000 4000 timeout", "0 0 ok"]),
        ("4.7.0", ["3000 4000 timeout", "-1000 0 too-much"]),
        ("5.1.1", ["3000 4200 timeout", "-1200 0 too-much", "-1200 0 too-much"]),
    ],
)
def test_an_asynchronous_send_is_given_up_by_the_scan(release: str, attempts: list[str]) -> None:
    """The scan ends an asynchronous send at least 1 s after its timeout; from 4.7.0 on no time is left for a retry."""
    (send,) = sends_of(release, remoting(answers("timeout", 0), {"do": "send", "mode": "async"}))
    assert attempts_of(send) == attempts


def test_a_retry_that_shares_its_number_is_never_heard_of_again() -> None:
    """Up to 4.6.1 the next request replaces a retry of the same number; from 4.7.0 on both end."""
    script = remoting(answers("reset", 5), {"do": "send", "mode": "async"}, {"do": "send"})
    assert [send["result"] for send in sends_of("4.6.1", script)] == ["exception", "pending"]
    assert [send["result"] for send in sends_of("4.7.0", script)] == ["exception", "exception"]


@pytest.mark.parametrize(("release", "error"), [("4.3.0", "MQBrokerException"), ("4.3.1", "NullPointerException")])
def test_a_retry_may_receive_the_answer_of_a_route_query(release: str, error: str) -> None:
    """
    A retry may receive the answer to a route query of the same number.

    In 4.3.0 the first topic, AUTO_CREATE_TOPIC_KEY, is unknown to the name server; later a route comes, without a queue
    id.
    """
    twice = [{"do": "send", "mode": "async"}] * 2
    script = remoting(
        *(
            {"do": "send"},
            answers("reset"),
            {"do": "advance", "ms": 1_000},
            *twice,
            {"do": "send"},
            {"do": "poll_routes"},
        ),
        settings={"retry_times_when_send_failed": 0},
    )
    assert [send["exception"] for send in sends_of(release, script)[2:]] == [error, "MQClientException"]


@pytest.mark.parametrize(
    ("scan_ms", "result"), [(9_000, "ok"), (10_000, "pending"), (15_000, "ok"), (60_000, "pending")]
)
def test_a_round_for_consumers_brings_the_heartbeats_due_with_it_forward(scan_ms: int, result: str) -> None:
    """
    In 4.6.1 the consumers' round at 10,000 and 60,000 ms moves heartbeats before the scan.

    The second one has the number of the scan's retry, which stays pending.
    """
    given = {"mode": "async", "timeout_ms": 1_000, "queue": {"broker": "a", "queue_id": 0}}
    steps = ({"do": "advance", "ms": scan_ms - 2_000}, answers("timeout", 0), {"do": "send", **given})
    route, settings = {"a": 1, "b": 1}, {"heartbeat_broker_interval_ms": 1_000}
    (send,) = sends_of("4.6.1", remoting(*steps, route=route, settings=settings))
    outcome = {"ok": "0 0 ok", "pending": "0 None None"}[result]
    assert (send["result"], attempts_of(send)) == (result, ["1000 2000 timeout", outcome])


@pytest.mark.parametrize(("release", "reachable"), [("5.1.4", False), ("5.2.0", True)])
def test_the_detector_finds_a_broker_again_at_its_round(release: str, reachable: bool) -> None:
    """The detector's round at 3,000 ms finds the broker; in 5.1.4 it cannot be started."""
    settings = {"send_latency_fault_enable": True, "start_detector_enable": True}
    dump = {"do": "dump", "parts": ["faults"]}
    script = remoting(
        answers({"code": 13}), {"do": "send"}, answers(0), dump, {"do": "advance", "ms": 3_000}, dump, settings=settings
    )
    shown = [one["faults"]["a"]["reachable"] for one in dumps_of(release, script)]
    assert shown == [False, reachable]


def test_the_client_learns_a_new_route_by_itself_and_connects_for_its_heartbeat() -> None:
    """The client polls the route at 10 ms and connects for a heartbeat at 1,000 ms; a one-way send ends when written."""
    both = {"do": "dump", "parts": ["queues", "connections"]}
    steps = (
        {"do": "route", "route": {"b": 1}},
        {"do": "advance", "ms": 10},
        both,
        {"do": "advance", "ms": 990},
        both,
        {"do": "send", "mode": "oneway"},
    )
    assert dumps_of("5.3.3", remoting(*steps)) == [
        {"queues": ["b0"], "connections": {}},
        {"queues": ["b0"], "connections": {"b": 1}},
    ]
    (send,) = sends_of("5.3.3", remoting(*steps))
    assert (send["result"], attempts_of(send)) == ("ok", ["3000 0 written"])
