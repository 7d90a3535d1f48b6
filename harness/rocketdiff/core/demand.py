"""What a scenario asks of a client, by role; a client that does not offer it leaves the scenario out."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.roles import ClientRole


class Demand(Protocol):
    """Something that clients of one role may have or lack; ``Kind.offers`` has a function for each role."""

    @property
    def role(self) -> ClientRole: ...


@dataclass(frozen=True, slots=True)
class SendDemand:
    """A kind of send in a mode. queue_counts: of the topic, because a selector may not support all of them."""

    kind: SendKind
    mode: SendMode = SendMode.SYNC
    queue_counts: tuple[int, ...] = ()
    role: ClassVar[ClientRole] = ClientRole.PRODUCER


@dataclass(frozen=True, slots=True)
class GroupDemand:
    """What a member of a group must be able to do, as capabilities of a hello."""

    capabilities: tuple[str, ...]
    role: ClassVar[ClientRole] = ClientRole.CONSUMER
