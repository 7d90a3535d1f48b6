"""The least depth that can run a script, and the depth at which it runs."""

from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.documents.refusal import nearest
from rocketdiff.simulation.script.model import Script, Step, Timeline
from rocketdiff.simulation.script.roles import ROLE_DEPTHS, RoleDepths, role_of, role_with
from rocketdiff.simulation.script.vocabulary import Depth

BOTH = "both"
"""Every role, in an option --role."""


def depth_named(text: str, *besides: str) -> Depth:
    """Return the depth of an option --depth; UsageError for an unknown name. besides: other values that the option accepts."""
    if text not in list(Depth):
        raise UsageError(f"--depth {', '.join((*besides, *Depth))}", seen=text, hint=nearest(text, (*besides, *Depth)))
    return Depth(text)


def roles_named(text: str) -> tuple[ClientRole, ...]:
    """Return the roles of an option --role; UsageError for an unknown name."""
    if text == BOTH:
        return tuple(ROLE_DEPTHS)
    if text not in list(ClientRole):
        expected = f"--role {', '.join(ClientRole)} or {BOTH}"
        raise UsageError(expected, seen=text, hint=nearest(text, (*ClientRole, BOTH)))
    return (ClientRole(text),)


def depths_named(depth: str | None, role: str) -> tuple[Depth, ...]:
    """Return the depths of the roles of an option --role; of one role, down to that of an option --depth."""
    roles = roles_named(role)
    if depth is None:
        return tuple(each for one in roles for each in ROLE_DEPTHS[one].order)
    named = depth_named(depth)
    if role_with(named) not in roles:
        raise UsageError(f"a depth of a {role}", seen=depth, hint=f"--role {role_with(named)}")
    order = ROLE_DEPTHS[role_with(named)].order
    return order[: order.index(named) + 1]


def require_role(script: Script, name: str, role: str) -> None:
    """Raise UsageError unless a script is about a client in one of the roles of an option --role."""
    of_script = role_with(depth_of(script))
    if of_script not in roles_named(role):
        raise UsageError(f"a script about a {role}", seen=f"{name}, about a {of_script}", hint=f"--role {of_script}")


def least_depth(script: Script) -> Depth:
    """Return the least depth at which every step has an effect."""
    depths = ROLE_DEPTHS[role_of(script)]
    return max((_needed(step, depths) for step in script.steps), key=depths.order.index, default=depths.order[0])


def depth_of(script: Script) -> Depth:
    """Return the depth at which a script runs: its own, else the least at which its steps and its settings have an effect."""
    if script.depth is not None:
        return script.depth
    return ROLE_DEPTHS[role_of(script)].with_settings(script.settings, least_depth(script))


def require_deep_enough(script: Script, name: str) -> None:
    """Raise UsageError if the script's own depth cannot run one of its steps."""
    if script.depth is None:
        return
    depths = ROLE_DEPTHS[role_of(script)]
    for number, step in enumerate(script.steps):
        needed = _needed(step, depths)
        if depths.order.index(needed) > depths.order.index(script.depth):
            raise UsageError(
                f"depth {needed} or none at depth (script {name})",
                seen=f"{script.depth}, and steps[{number}] needs {needed}",
                hint="leave depth out: the least that can run the script is taken",
            )


def _needed(step: Step, depths: RoleDepths) -> Depth:
    if not isinstance(step, Timeline):
        return depths.needed(step)
    actions = (entry.action for entry in step.entries)
    return max(map(depths.needed, actions), key=depths.order.index, default=depths.order[0])
