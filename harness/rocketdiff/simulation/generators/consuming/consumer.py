"""Random scripts at depth consumer."""

from typing import Any

from rocketdiff.simulation.generators.consuming.membership import Membership
from rocketdiff.simulation.generators.consuming.polling import Polling
from rocketdiff.simulation.generators.random_source import RandomSource


def consumer_script(rng: RandomSource) -> dict[str, Any]:
    """Generate three to seven stretches of time of a member on one or two brokers; every sixth is a lite pull consumer."""
    return (Polling(rng) if rng.chance(1 / 6) else Membership(rng)).script()
