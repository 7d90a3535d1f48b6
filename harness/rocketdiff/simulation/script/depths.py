"""The least depth that can run a script, and the depth at which it runs."""

from rocketdiff.core.errors import UsageError
from rocketdiff.documents.refusal import nearest
from rocketdiff.simulation.script.model import Script, Step, Timeline
from rocketdiff.simulation.script.roles import ROLE_DEPTHS, RoleDepths, role_of
from rocketdiff.simulation.script.vocabulary import Depth


def depth_named(text: str, *besides: str) -> Depth:
    """Return the depth of an option --depth; UsageError for an unknown name. besides: other values that the option accepts."""
    if text not in list(Depth):
        raise UsageError(f"--depth {', '.join((*besides, *Depth))}", seen=text, hint=nearest(text, (*besides, *Depth)))
    return Depth(text)


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
