"""How much of the client a script needs."""

from typing import Any

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.simulation.script import Depth, depth_of, least_depth, parse_script
from rocketdiff.simulation.script.depths import depths_named


def depths(*steps: dict[str, Any], **fields: object) -> tuple[str, str]:
    """The least depth, and the depth used."""
    script = parse_script({"format": 1, "route": {"a": 4}, "steps": list(steps)} | fields, "S")
    return str(least_depth(script)), str(depth_of(script))


@pytest.mark.parametrize(
    ("step", "least"),
    [
        ({"do": "select"}, "selection"),
        ({"do": "update", "broker": "a", "latency_ms": 5, "isolation": True}, "selection"),
        ({"do": "route", "route": None}, "selection"),
        ({"do": "poll_routes"}, "selection"),
        ({"do": "dump", "parts": ["index", "worst_index", "queues", "faults", "clock"]}, "selection"),
        ({"do": "send", "mode": "sync"}, "send-loop"),
        ({"do": "send", "mode": "oneway"}, "send-loop"),
        ({"do": "broker", "name": "a", "answers": ["timeout", "refused", "reset", 5, "SYSTEM_BUSY"]}, "send-loop"),
        ({"do": "name_server", "answer": "refused"}, "send-loop"),
        ({"do": "pause", "broker": "a"}, "send-loop"),
        (
            {
                "do": "timeline",
                "entries": [
                    {"at_ms": 0, "action": {"do": "send", "mode": "sync"}},
                    {"at_ms": 5, "action": {"do": "resume", "broker": "a"}},
                ],
            },
            "send-loop",
        ),
        ({"do": "send", "mode": "async"}, "remoting"),
        ({"do": "broker", "name": "a", "answers": [0, "fin"]}, "remoting"),
        ({"do": "kill", "broker": "a"}, "remoting"),
        ({"do": "restart", "broker": "a"}, "remoting"),
        ({"do": "close", "broker": "a"}, "remoting"),
        ({"do": "heartbeat"}, "remoting"),
        ({"do": "dump", "parts": ["connections"]}, "remoting"),
        (
            {
                "do": "timeline",
                "entries": [
                    {"at_ms": 0, "action": {"do": "select"}},
                    {"at_ms": 0, "action": {"do": "kill", "broker": "a"}},
                ],
            },
            "remoting",
        ),
    ],
)
def test_each_step_has_a_least_depth(step: dict[str, Any], least: str) -> None:
    """A script has the depth of its deepest step."""
    assert depths(step) == depths({"do": "select"}, step, {"do": "select"}) == (least, least)


ALLOCATE = {"do": "allocate", "strategy": "AVG", "ids": ["c1"], "own": "c1"}


def test_allocations_need_no_client() -> None:
    """Routes and time have an effect on allocations."""
    steps = ({"do": "route", "route": None}, {"do": "advance", "ms": 1}, {"do": "dump", "parts": ["clock"]})
    assert depths(ALLOCATE, *steps) == ("allocation", "allocation")


def test_rounds_need_a_member() -> None:
    """A round needs a client with an offset store, an allocation none."""
    assert depths(ALLOCATE, {"do": "rounds", "ms": 1}) == ("rebalance", "rebalance")
    assert depths(ALLOCATE, {"do": "dump", "parts": ["owned"]}) == ("rebalance", "rebalance")


def test_messages_of_a_queue_need_no_member() -> None:
    """What is put and taken needs a queue, but no client."""
    calls = ({"do": "put", "offsets": [0]}, {"do": "take"}, {"do": "dump", "parts": ["process"]})
    assert depths(ALLOCATE, *calls) == ("process-queue", "process-queue")
    assert depths(*calls, {"do": "wake"}) == ("rebalance", "rebalance")


def test_a_member_that_gets_messages_is_started() -> None:
    """Faults of brokers, and what they store, need a whole consumer."""
    started = ("consumer", "consumer")
    assert depths({"do": "consumer"}, {"do": "rounds", "ms": 1}) == started
    assert depths({"do": "wake"}, {"do": "store", "broker": "a", "queue": 0}) == started
    assert depths(ALLOCATE, {"do": "pause", "broker": "a"}) == started


@pytest.mark.parametrize("other", [{"do": "send"}, {"do": "heartbeat"}, {"do": "dump", "parts": ["index"]}])
def test_a_step_without_effect_on_allocations_is_refused(other: dict[str, Any]) -> None:
    """A script of allocations has no steps of producers and no faults."""
    with pytest.raises(UsageError, match="steps that act on consumers"):
        depths(ALLOCATE, other)


def test_a_depth_belongs_to_a_role() -> None:
    """A role has its depths, down to the one that is named."""
    assert depths_named(None, "consumer") == (Depth.ALLOCATION, Depth.PROCESS_QUEUE, Depth.REBALANCE, Depth.CONSUMER)
    assert depths_named("send-loop", "both") == (Depth.SELECTION, Depth.SEND_LOOP)
    assert depths_named(None, "both") == tuple(Depth)
    with pytest.raises(UsageError, match="--role consumer"):
        depths_named("allocation", "producer")
    with pytest.raises(UsageError, match="producer, consumer or both"):
        depths_named(None, "broker")


def test_a_script_without_steps_needs_the_least() -> None:
    """A script without steps has the least depth."""
    assert depths() == ("selection", "selection")


def test_a_script_may_ask_for_more() -> None:
    """A script may request a greater depth."""
    assert depths({"do": "select"}, depth="remoting") == ("selection", "remoting")


def test_a_working_detector_needs_something_to_probe() -> None:
    """With sends an active detector needs depth remoting, with a selection it does not."""
    detector = {"start_detector_enable": True}
    assert depths({"do": "send"}, settings=detector) == ("send-loop", "remoting")
    assert depths({"do": "select"}, settings=detector) == ("selection", "selection")
    assert depths({"do": "send"}, settings=detector, depth="send-loop") == ("send-loop", "send-loop")
