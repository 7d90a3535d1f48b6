"""Capabilities of a consumer: what a group's plan needs."""

from collections.abc import Collection

from rocketdiff.core.consuming.plan import GroupPlan
from rocketdiff.core.demand import GroupDemand
from rocketdiff.core.records.session import Hello
from rocketdiff.core.tables.roles import ClientRole


def unclaimed_of_group(capabilities: Collection[str], demand: GroupDemand) -> tuple[str, ...]:
    """Return what a member needs and the capabilities lack, in order."""
    return tuple(word for word in demand.capabilities if word not in capabilities)


def why_not_claimed(plan: GroupPlan, hello: Hello) -> str:
    """Return what hello does not claim, as a sentence for a report; empty if all is claimed."""
    name = f"{hello.client}:{hello.version}"
    if ClientRole.CONSUMER not in (hello.roles or ()):
        return f"{name} cannot be a consumer: its hello has the roles {', '.join(hello.roles or ('producer',))}"
    missing = unclaimed_of_group(hello.capabilities, GroupDemand.of(plan))
    if not missing:
        return ""
    claimed = ", ".join(hello.capabilities) or "nothing"
    return f"{name} cannot be a member with {', '.join(missing)}: its hello claims {claimed}"
