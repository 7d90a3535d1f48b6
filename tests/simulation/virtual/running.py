"""Runs a script on the reference and returns parts of its answers."""

import json
from typing import Any

from rocketdiff.simulation.script import parse_script
from rocketdiff.simulation.virtual import run_reference
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketmq_reference.client.effects import Signal
from rocketmq_reference.dialects import dialect_of

Data = dict[str, Any]


def lines_of(release: str, script: Data, *, trace: bool = False) -> list[str]:
    return run_reference(dialect_of(release), "S", parse_script({"format": 1, **script}, "S"), trace=trace)


def answers_of(release: str, script: Data) -> list[Data]:
    return [json.loads(line) for line in lines_of(release, script)]


def run_out(kernel: Kernel) -> None:
    """Let time pass until no event is left."""
    kernel.run_until(Signal())


def queues_of(release: str, script: Data) -> list[str]:
    """The queue of each select, as broker and number."""
    chosen = [answer["select"] for answer in answers_of(release, script) if "select" in answer]
    return [f"{queue['broker']}{queue['queue_id']}" for queue in chosen]


def sends_of(release: str, script: Data) -> list[Data]:
    return [answer["send"] for answer in answers_of(release, script) if "send" in answer]


def state_of(release: str, script: Data) -> Data:
    """The dump of the script's last line."""
    dump: Data = answers_of(release, script)[-1]["dump"]
    return dump


def attempts_of(send: Data) -> list[str]:
    """Timeout, duration and outcome of each attempt."""
    return [f"{one['timeout_ms']} {one['elapsed_ms']} {one['outcome']}" for one in send["attempts"]]
