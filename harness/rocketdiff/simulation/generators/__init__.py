"""Random scripts; depth and seed determine a script on every release, machine and Python version."""

from collections.abc import Callable, Mapping
from typing import Any

from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.simulation.generators.consuming.allocation import allocation_script
from rocketdiff.simulation.generators.consuming.consumer import consumer_script
from rocketdiff.simulation.generators.consuming.process_queue import process_queue_script
from rocketdiff.simulation.generators.consuming.rebalance import rebalance_script
from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.generators.sending.remoting import remoting_script
from rocketdiff.simulation.generators.sending.selection import selection_script
from rocketdiff.simulation.generators.sending.send_loop import send_loop_script
from rocketdiff.simulation.script.vocabulary import Depth

__all__ = ["ROLE_GENERATORS", "generate"]

ROLE_GENERATORS: Mapping[ClientRole, Mapping[str, Callable[[RandomSource], dict[str, Any]]]] = {
    ClientRole.PRODUCER: {
        Depth.SELECTION: selection_script,
        Depth.SEND_LOOP: send_loop_script,
        Depth.REMOTING: remoting_script,
    },
    ClientRole.CONSUMER: {
        Depth.ALLOCATION: allocation_script,
        Depth.PROCESS_QUEUE: process_queue_script,
        Depth.REBALANCE: rebalance_script,
        Depth.CONSUMER: consumer_script,
    },
}


def generate(depth: str, seed: int) -> dict[str, Any]:
    """Return script number ``seed`` of a depth, as parsed JSON; UsageError if there is no such depth."""
    generators = {str(each): make for of_role in ROLE_GENERATORS.values() for each, make in of_role.items()}
    if depth not in generators:
        raise UsageError("a depth of the simulation", seen=depth, hint=f"one of {', '.join(generators)}")
    rng = RandomSource(f"{depth}:{seed}")
    return {"format": 1, "depth": str(depth), **generators[depth](rng)}
