"""What a hello claims, as an answer to a demand of any role."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from rocketdiff.core.demand import Demand
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.subjects.sending.claims import is_send_claimed

CLAIMED: Mapping[ClientRole, Callable[[Collection[str], Any], bool]] = {ClientRole.PRODUCER: is_send_claimed}


def is_claimed(capabilities: Collection[str], demand: Demand) -> bool:
    """Return True if these capabilities include what is demanded."""
    return CLAIMED[demand.role](capabilities, demand)
