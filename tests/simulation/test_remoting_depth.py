"""
The real NettyRemotingClient of each generation, at the Java host's remoting depth.

One behaviour per test, on the releases on both sides of each change (`producer-behaviour.md`, section 8).
"""

import json
from typing import Any

import pytest

from rocketdiff.simulation.java_host import JavaHost
from rocketdiff.simulation.script import parse_script

CALM: dict[str, object] = {"heartbeat_broker_interval_ms": 600_000, "vip_channel_enabled": False}
"""Only the first heartbeat (1 s) remains; none closes a connection with a pending request."""

TO_A = {"broker": "a", "queue_id": 0}


def answers(host: JavaHost, release: str, *steps: object, **fields: object) -> list[dict[str, Any]]:
    """The lines of a script at the remoting depth."""
    script = {"format": 1, "depth": "remoting", "route": {"a": 4, "b": 4}, "settings": CALM, "steps": list(steps)}
    return [json.loads(line) for line in host.run(release, "S", parse_script(script | fields, "S"))]


def first_to_a(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The callbacks of the first send whose first attempt went to broker a."""
    sends = [line for line in lines if "send" in line and line["send"]["attempts"][0]["broker"] == "a"]
    return [line["send"] for line in sends if (line["step"], line["n"]) == (sends[0]["step"], sends[0]["n"])]


def outcomes(send: dict[str, Any]) -> list[tuple[str, str]]:
    """Broker and outcome of each attempt."""
    return [(attempt["broker"], attempt["outcome"]) for attempt in send["attempts"]]


def whole(send: dict[str, Any]) -> tuple[str, int]:
    """How a send ended, and after how many ms."""
    return send.get("exception") or send["broker"], send["elapsed_ms"]


@pytest.mark.parametrize(
    ("release", "ends", "attempts"),
    [
        ("4.2.0", [("b", 4_500)], [("a", "timeout"), ("b", "ok")]),
        ("4.6.1", [("b", 4_500)], [("a", "timeout"), ("b", "ok")]),
        ("4.7.0", [("RemotingTooMuchRequestException", 4_500)], [("a", "timeout"), ("b", "too-much")]),
        ("4.9.2", [("RemotingTooMuchRequestException", 4_500)], [("a", "timeout"), ("b", "too-much")]),
        (
            "4.9.3",
            [("RemotingTooMuchRequestException", 4_500)],
            [("a", "timeout"), ("b", "too-much"), ("b", "too-much")],
        ),
        (
            "5.1.0",
            [("RemotingTooMuchRequestException", 4_500)],
            [("a", "timeout"), ("b", "too-much"), ("b", "too-much")],
        ),
        (
            "5.1.1",
            [("RemotingTooMuchRequestException", 4_900)],
            [("a", "timeout"), ("b", "too-much"), ("b", "too-much")],
        ),
        ("5.3.1", [("MQClientException", 4_900), ("MQClientException", 4_900)], [("a", "timeout"), ("b", "too-much")]),
        ("5.3.2", [("MQClientException", 4_900)], [("a", "timeout")]),
        ("5.5.0", [("MQClientException", 4_900)], [("a", "timeout")]),
    ],
)
def test_async_to_a_broker_that_falls_silent(
    java_host: JavaHost, release: str, ends: list[tuple[str, int]], attempts: list[tuple[str, str]]
) -> None:
    """
    A retry has the full time, later none, later there is no retry.

    5.3.0 and 5.3.1 call back twice; from 5.1.1 on a scan runs every 1.1 s.
    """
    lines = answers(
        java_host,
        release,
        {"do": "advance", "ms": 1_500},
        {"do": "broker", "name": "a", "answers": "timeout"},
        {"do": "send", "mode": "async", "count": 8},
        {"do": "advance", "ms": 9_000},
        seed=5,
        settings=CALM | {"send_latency_fault_enable": True},
    )
    callbacks = first_to_a(lines)
    assert [whole(send) for send in callbacks] == ends
    assert outcomes(callbacks[0]) == attempts


@pytest.mark.parametrize(
    ("release", "end"),
    [
        ("4.2.0", ("b", 3_001)),
        ("4.3.0", ("RemotingTooMuchRequestException", 3_001)),
        ("5.5.0", ("RemotingTooMuchRequestException", 3_001)),
    ],
)
def test_sync_to_a_paused_broker(java_host: JavaHost, release: str, end: tuple[str, int]) -> None:
    """From 4.3.0 on attempts share one timeout, used up by the first."""
    lines = answers(
        java_host,
        release,
        {"do": "advance", "ms": 1_500},
        {"do": "pause", "broker": "a"},
        {"do": "send", "mode": "sync"},
        start_index=7,
        expired_wait_extra_ms=1,
    )
    assert whole(lines[0]["send"]) == end


@pytest.mark.parametrize(
    ("release", "attempts"),
    [
        ("4.0.0-incubating", [("a", "refused")]),
        ("4.9.2", [("a", "refused")]),
        ("4.9.3", [("a", "refused"), ("b", "ok")]),
        ("5.3.0", [("a", "refused"), ("b", "ok")]),
    ],
)
def test_async_to_a_broker_that_refuses(java_host: JavaHost, release: str, attempts: list[tuple[str, str]]) -> None:
    """Up to 4.9.2 a refused first attempt fails the send; later it is retried."""
    refused = {"do": "broker", "name": "a", "answers": "refused"}
    lines = answers(
        java_host, release, refused, {"do": "send", "mode": "async", "count": 8}, {"do": "advance", "ms": 100}, seed=5
    )
    (send,) = first_to_a(lines)
    assert outcomes(send) == attempts


@pytest.mark.parametrize(("release", "thrown"), [("5.2.0", "MQClientException"), ("5.3.0", None)])
def test_one_way_to_a_broker_that_refuses(java_host: JavaHost, release: str, thrown: str | None) -> None:
    """From 5.3.0 on another thread connects, so a one-way send does not notice the refusal."""
    refused = {"do": "broker", "name": "a", "answers": "refused"}
    (line,) = answers(java_host, release, refused, {"do": "send", "mode": "oneway"}, start_index=7)
    assert line["send"].get("exception") == thrown


@pytest.mark.parametrize(
    ("release", "answer", "end"),
    [
        ("4.2.0", "reset", ("RemotingTimeoutException", 3_000)),
        ("4.3.0", "reset", ("RemotingSendRequestException", 0)),
        ("5.1.2", "fin", ("RemotingTimeoutException", 3_000)),
        ("5.1.3", "fin", ("RemotingSendRequestException", 0)),
    ],
)
def test_a_connection_that_ends_under_a_request(
    java_host: JavaHost, release: str, answer: str, end: tuple[str, int]
) -> None:
    """A reset is noticed from 4.3.0 on, an orderly close from 5.1.3 on."""
    broker = {"do": "broker", "name": "a", "answers": answer}
    (line,) = answers(java_host, release, broker, {"do": "send", "mode": "sync", "queue": TO_A})
    assert whole(line["send"]) == end


@pytest.mark.parametrize(
    ("release", "connections"), [("4.9.0", {"a": 1, "b": 1}), ("4.9.1", {"b": 1}), ("5.5.0", {"b": 1})]
)
def test_a_timeout_closes_the_connection(java_host: JavaHost, release: str, connections: dict[str, int]) -> None:
    """From 4.9.1 on a timeout closes the connection."""
    silent = {"do": "broker", "name": "a", "answers": "timeout"}
    send = {"do": "send", "mode": "sync", "queue": TO_A}
    lines = answers(
        java_host, release, {"do": "advance", "ms": 1_500}, silent, send, {"do": "dump", "parts": ["connections"]}
    )
    assert lines[-1]["dump"]["connections"] == connections


@pytest.mark.parametrize(("release", "after_ms"), [("5.1.4", 4_000), ("5.2.0", 3_000)])
def test_a_heartbeat_that_times_out_fails_what_is_pending(java_host: JavaHost, release: str, after_ms: int) -> None:
    """The heartbeat at 1 s closes the connection at 4 s; from 5.2.0 on each new connection begins with one."""
    silent = {"do": "broker", "name": "a", "answers": "timeout"}
    send = {"do": "send", "mode": "async", "queue": TO_A, "timeout_ms": 10_000}
    (line,) = answers(java_host, release, silent, send, {"do": "advance", "ms": 15_000})
    first = line["send"]["attempts"][0]
    assert (first["outcome"], first["elapsed_ms"]) == ("reset", after_ms)


@pytest.mark.parametrize(("release", "result"), [("4.6.1", "pending"), ("4.7.0", "exception")])
def test_the_id_of_an_async_retry_is_given_out_again(java_host: JavaHost, release: str, result: str) -> None:
    """Up to 4.6.1 the next request replaces a pending retry, whose callback never comes."""
    lines = answers(
        java_host,
        release,
        {"do": "advance", "ms": 1_500},
        {"do": "pause", "broker": "a"},
        {
            "do": "timeline",
            "entries": [
                {"at_ms": 0, "action": {"do": "send", "mode": "async", "queue": TO_A}},
                {"at_ms": 4_600, "action": {"do": "send", "mode": "sync", "queue": TO_A}},
            ],
        },
    )
    assert [line["send"]["result"] for line in lines if line["at"] == 0] == [result]


@pytest.mark.parametrize(("release", "connected"), [("5.3.3", 1), ("5.4.0", 2), ("5.5.0", 2)])
def test_a_late_close_forgets_the_next_connection(java_host: JavaHost, release: str, connected: int) -> None:
    """In 5.4.0 and 5.5.0 a late close of an old connection removes the new, open one from the table."""
    send = {"do": "send", "mode": "sync", "queue": TO_A}
    lines = answers(
        java_host,
        release,
        {"do": "advance", "ms": 1_500},
        {"do": "pause", "broker": "a"},
        {
            "do": "timeline",
            "entries": [
                {"at_ms": 0, "action": send},
                {"at_ms": 0, "action": send},
                {"at_ms": 1, "action": {**send, "thread": 1}},
                {"at_ms": 3_000, "action": {"do": "resume", "broker": "a"}},
            ],
        },
        send,
        {"do": "dump", "parts": ["connections"]},
    )
    assert lines[-1]["dump"]["connections"]["a"] == connected


@pytest.mark.parametrize(
    ("release", "thrown"),
    [("4.5.2", "MQClientException"), ("4.6.0", "IllegalStateException"), ("5.5.0", "IllegalStateException")],
)
def test_a_name_server_that_refuses(java_host: JavaHost, release: str, thrown: str) -> None:
    """From 4.6.0 on the exception is not wrapped."""
    refused = {"do": "name_server", "answer": "refused"}
    (line,) = answers(java_host, release, refused, {"do": "send", "mode": "sync"}, lookup="at-first-send")
    assert line["send"]["exception"] == thrown


@pytest.mark.parametrize(("release", "vip"), [("4.5.0", True), ("4.5.1", None)])
def test_the_vip_port(java_host: JavaHost, release: str, vip: bool | None) -> None:
    """Up to 4.5.0 the VIP port, two below the broker's, is the default."""
    (line,) = answers(java_host, release, {"do": "send", "mode": "sync"}, settings={})
    assert line["send"]["attempts"][0].get("vip") == vip


@pytest.mark.parametrize(
    ("release", "ends"),
    [
        ("4.2.0", ["a"]),
        ("4.3.0", ["RemotingTooMuchRequestException"]),
        ("5.3.3", ["MQClientException", "MQClientException"]),
        ("5.4.0", ["MQClientException"]),
    ],
)
def test_a_connect_that_takes_longer_than_the_send_may(java_host: JavaHost, release: str, ends: list[str]) -> None:
    """Up to 4.2.0 a slow connect does not matter; 5.3.0 to 5.3.3 fail the send twice, since it goes on after the failure."""
    lines = answers(
        java_host,
        release,
        {"do": "broker", "name": "a", "answers": "silent"},
        {
            "do": "timeline",
            "entries": [
                {"at_ms": 0, "action": {"do": "send", "mode": "async", "timeout_ms": 2_000, "queue": TO_A}},
                {"at_ms": 2_500, "action": {"do": "broker", "name": "a", "answers": 0}},
            ],
        },
        {"do": "advance", "ms": 5_000},
        settings=CALM | {"retry_times_when_send_async_failed": 0},
    )
    assert [whole(line["send"])[0] for line in lines] == ends


@pytest.mark.parametrize(("release", "reachable"), [("5.1.4", False), ("5.2.0", True)])
def test_the_detector_finds_a_broker_again(java_host: JavaHost, release: str, reachable: bool) -> None:
    """The detector's first round is at 3 s; in 5.1.4 the producer's setter starts it too late."""
    lines = answers(
        java_host,
        release,
        {"do": "update", "broker": "a", "latency_ms": 1, "isolation": False, "reachable": False},
        {"do": "advance", "ms": 2_999},
        {"do": "dump", "parts": ["faults"]},
        {"do": "advance", "ms": 1},
        {"do": "dump", "parts": ["faults"]},
        settings=CALM | {"send_latency_fault_enable": True, "start_detector_enable": True},
    )
    assert [line["dump"]["faults"]["a"]["reachable"] for line in lines] == [False, reachable]


def test_an_unused_connection_is_closed_after_two_minutes(java_host: JavaHost) -> None:
    """An unused connection is closed 120 s after its last traffic, the heartbeat at 1 s."""
    dump = {"do": "dump", "parts": ["connections"]}
    lines = answers(java_host, "5.5.0", {"do": "advance", "ms": 120_999}, dump, {"do": "advance", "ms": 1}, dump)
    assert [line["dump"]["connections"] for line in lines] == [{"a": 1, "b": 1}, {}]
