"""What each role adds to scripts: its steps, and its depths. A new role is a module of ``steps`` and a row here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.documents.refusal import Place
from rocketdiff.documents.yaml_source import Location
from rocketdiff.simulation.script.model import Script, actions_of
from rocketdiff.simulation.script.steps import consuming, environment, sending
from rocketdiff.simulation.script.vocabulary import Depth, ScriptSettings


@dataclass(frozen=True, slots=True)
class RoleSteps:
    """The steps of a role, the broker that one names, and the check of its fields; the callables get only these steps."""

    kinds: tuple[type, ...]
    broker_of: Callable[[Any], str | None]
    require_consistent: Callable[[Any, Location, Place], None]


@dataclass(frozen=True, slots=True)
class RoleDepths:
    """How much of a client in this role is real."""

    order: tuple[Depth, ...]
    """From least to most."""

    needed: Callable[[Any], Depth]
    """The least depth at which a step of the role or of the environment has an effect."""

    with_settings: Callable[[ScriptSettings, Depth], Depth]
    """The depth of a script with these settings, from the least that its steps need."""


ROLE_STEPS: Mapping[ClientRole, RoleSteps] = {
    ClientRole.PRODUCER: RoleSteps(sending.SENDING_STEPS, sending.broker_of, sending.require_consistent),
    ClientRole.CONSUMER: RoleSteps(consuming.CONSUMING_STEPS, consuming.broker_of, consuming.require_consistent),
}

ROLE_DEPTHS: Mapping[ClientRole, RoleDepths] = {
    ClientRole.PRODUCER: RoleDepths(sending.SENDING_DEPTHS, sending.needed_depth, sending.depth_with),
    ClientRole.CONSUMER: RoleDepths(consuming.CONSUMING_DEPTHS, consuming.needed_depth, consuming.depth_with),
}

_ROLE_OF = {kind: role for role, steps in ROLE_STEPS.items() for kind in steps.kinds}


def role_of(script: Script) -> ClientRole:
    """Return the role whose steps a script has; a script without any is a producer's."""
    return next((_ROLE_OF[type(step)] for _, step in actions_of(script) if type(step) in _ROLE_OF), ClientRole.PRODUCER)


def role_with(depth: Depth) -> ClientRole:
    """Return the role that has a depth."""
    return next(role for role, depths in ROLE_DEPTHS.items() if depth in depths.order)


def broker_of(step: object) -> str | None:
    """Return the broker that a step names, or None."""
    role = _ROLE_OF.get(type(step))
    return environment.broker_of(step) if role is None else ROLE_STEPS[role].broker_of(step)


require_alike = consuming.require_alike
"""Raises UsageError unless the steps that start a client start one of the same kind; producers have no such steps."""


def require_consistent(step: object, location: Location, place: Place) -> None:
    """Raise UsageError for contradictory fields of a role's step."""
    role = _ROLE_OF.get(type(step))
    if role is not None:
        ROLE_STEPS[role].require_consistent(step, location, place)
