"""The real Java host behind the pipe."""

import json
from dataclasses import replace

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.releases.programs.java_programs import SIMULATOR_JVM_OPTIONS
from rocketdiff.simulation.java_host import JavaHost, Job
from rocketdiff.simulation.java_host.host import java_program
from rocketdiff.simulation.script import Script, parse_script
from tests.simulation.script.examples import EXAMPLE


def script(*steps: object, **fields: object) -> Script:
    return parse_script({"format": 1, "route": {"a": 4, "b": 4}, "steps": list(steps)} | fields, "S")


def test_the_example_of_the_design_is_answered(java_host: JavaHost) -> None:
    """The design's example avoids the isolated broker: queues of b in turn, from counter 11 on."""
    lines = [json.loads(line) for line in java_host.run("4.7.1", "S", parse_script(EXAMPLE, "S"))]
    assert lines[0] == {"script": "S", "step": 1, "select": {"broker": "b", "queue_id": 0}}
    assert [(line["n"], line["send"]["broker"], line["send"]["queue_id"]) for line in lines[1:4]] == [
        (0, "b", 1), (1, "b", 2), (2, "b", 3),
    ]  # fmt: skip
    assert lines[4]["dump"]["index"] == 15
    assert lines[4]["dump"]["faults"]["a"] == {"latency_ms": 5, "available_at_ms": 600_000, "reachable": True}


def test_an_unused_connection_is_closed_after_two_minutes(java_host: JavaHost) -> None:
    """An unused connection is closed 120 s after its last traffic, the heartbeat at 1 s."""
    dump = {"do": "dump", "parts": ["connections"]}
    steps = ({"do": "advance", "ms": 120_999}, dump, {"do": "advance", "ms": 1}, dump)
    lines = java_host.run(
        "5.5.0", "S", script(*steps, depth="remoting", settings={"heartbeat_broker_interval_ms": 600_000})
    )
    assert [json.loads(line)["dump"]["connections"] for line in lines] == [{"a": 1, "b": 1}, {}]


def test_a_script_without_end_is_a_usage_error(java_host: JavaHost) -> None:
    """More than a virtual century is a usage error; the host goes on."""
    endless = script(*[{"do": "advance", "ms": 100_000_000_000}] * 40)
    with pytest.raises(UsageError, match=r"comes to an end \(script endless of java:5\.3\.3\)"):
        java_host.run("5.3.3", "endless", endless)
    assert java_host.run("5.3.3", "S", script({"do": "select"}))


@pytest.mark.slow
def test_a_script_that_polls_for_ever_is_a_usage_error(java_host: JavaHost) -> None:
    """A million events without an answer are a usage error, before the silence counts as a dead host."""
    steps = ({"do": "send", "mode": "sync"}, {"do": "advance", "ms": 86_400_000})
    polling = script(*steps, depth="remoting", settings={"poll_name_server_interval_ms": 1})
    with pytest.raises(UsageError, match="1000001 of them since the last answer; try: longer intervals"):
        java_host.run("5.3.3", "polling", polling)
    assert java_host.run("5.3.3", "S", script({"do": "select"}))


def test_clients_of_scripts_that_are_over_are_forgotten() -> None:
    """A thousand consumers that nobody shuts down fit one after the other into a heap that has room for two hundred."""
    program = java_program()
    heap = {option: "-Xmx20m" for option in SIMULATOR_JVM_OPTIONS if option.startswith("-Xmx")}
    small = replace(
        program, command=lambda: tuple(heap.get(part, part) for part in program.command() if part != "-Xms128m")
    )
    joins = script({"do": "members", "ids": ["own"]}, {"do": "consumer"}, {"do": "rounds", "ms": 1})
    with JavaHost(small) as host:
        assert sum(len(lines) for _, lines in host.run_all([Job("5.3.3", "S", joins)] * 1_000)) == 2_000
