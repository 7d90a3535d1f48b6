"""Capabilities of a consumer: what a group's plan needs."""

from collections.abc import Collection

from rocketdiff.core.consuming.plan import GroupPlan
from rocketdiff.core.demand import GroupDemand
from rocketdiff.core.records.session import Hello
from rocketdiff.core.tables.roles import ClientRole


def is_group_claimed(capabilities: Collection[str], demand: GroupDemand) -> bool:
    """True if the capabilities include everything that a member needs."""
    return set(demand.capabilities) <= set(capabilities)


def why_not_claimed(plan: GroupPlan, hello: Hello) -> str:
    """Return what hello does not claim, as a sentence for a report; empty if all is claimed."""
    name = f"{hello.client}:{hello.version}"
    if ClientRole.CONSUMER not in (hello.roles or ()):
        return f"{name} cannot be a consumer: its hello has the roles {', '.join(hello.roles or ('producer',))}"
    missing = [word for word in GroupDemand.of(plan).capabilities if word not in hello.capabilities]
    if not missing:
        return ""
    claimed = ", ".join(hello.capabilities) or "nothing"
    return f"{name} cannot be a member with {', '.join(missing)}: its hello claims {claimed}"
