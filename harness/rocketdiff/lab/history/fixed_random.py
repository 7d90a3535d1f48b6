"""A fixed set of random scripts, which finds changes that no standard script shows."""

from collections.abc import Mapping
from functools import cache

from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.script import Depth, NamedScript, parse_script

COUNTS: Mapping[Depth, int] = {Depth.SELECTION: 60, Depth.SEND_LOOP: 30, Depth.REMOTING: 15}
"""Scripts per depth: enough that several distinguish each pair of neighbours that differ at all; few enough for a minute over all releases."""


@cache
def fixed_random(depth: Depth) -> tuple[NamedScript, ...]:
    """The random scripts of one depth."""
    names = (f"random-{depth}-{seed}" for seed in range(COUNTS[depth]))
    return tuple(NamedScript(name, parse_script(generate(str(depth), seed), name)) for seed, name in enumerate(names))


def fixed_random_up_to(depth: Depth) -> tuple[NamedScript, ...]:
    """Those of a depth and of all below it."""
    order = list(Depth)
    return tuple(script for each in order[: order.index(depth) + 1] for script in fixed_random(each))
