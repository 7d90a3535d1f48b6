"""Random scripts; depth and seed determine a script on every release, machine and Python version."""

from collections.abc import Callable
from typing import Any

from rocketdiff.core.errors import UsageError
from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.generators.remoting import remoting_script
from rocketdiff.simulation.generators.selection import selection_script
from rocketdiff.simulation.generators.send_loop import send_loop_script

__all__ = ["DEPTHS", "generate"]

_GENERATORS: dict[str, Callable[[RandomSource], dict[str, Any]]] = {
    "selection": selection_script,
    "send-loop": send_loop_script,
    "remoting": remoting_script,
}

DEPTHS: tuple[str, ...] = tuple(_GENERATORS)


def generate(depth: str, seed: int) -> dict[str, Any]:
    """Return script number ``seed`` of a depth, as parsed JSON."""
    if depth not in _GENERATORS:
        raise UsageError("a depth of the simulation", seen=depth, hint=f"one of {', '.join(DEPTHS)}")
    rng = RandomSource(f"{depth}:{seed}")
    return {"format": 1, "depth": depth, **_GENERATORS[depth](rng)}
