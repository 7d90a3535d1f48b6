"""Steps by role."""

from typing import get_args

from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.simulation.script import Depth, parse_script
from rocketdiff.simulation.script.model import Step, Timeline
from rocketdiff.simulation.script.roles import ROLE_DEPTHS, ROLE_STEPS, role_of
from rocketdiff.simulation.script.steps.environment import EnvironmentStep
from rocketdiff.simulation.virtual.run import ROLE_DIALECTS, ROLE_SESSIONS


def test_each_step_is_of_the_environment_or_of_one_role() -> None:
    """The steps of a script are those of the environment, those of the roles, and the timeline; no step has two owners."""
    of_roles = [kind for steps in ROLE_STEPS.values() for kind in steps.kinds]
    owned = [Timeline, *get_args(EnvironmentStep), *of_roles]
    assert len(owned) == len(set(owned))
    assert set(owned) == set(get_args(Step))


def test_each_role_has_steps_depths_and_a_session() -> None:
    """Every role can be scripted and has a dialect for each release; every depth belongs to one role."""
    assert set(ROLE_STEPS) == set(ROLE_DEPTHS) == set(ROLE_SESSIONS) == set(ROLE_DIALECTS) == set(ClientRole)
    assert sorted(depth for depths in ROLE_DEPTHS.values() for depth in depths.order) == sorted(Depth)


def test_a_script_without_steps_of_a_role_is_a_producers() -> None:
    """Time and servers alone decide no role."""
    script = parse_script({"format": 1, "route": {"a": 1}, "steps": [{"do": "advance", "ms": 1}]}, "S")
    assert role_of(script) is ClientRole.PRODUCER
