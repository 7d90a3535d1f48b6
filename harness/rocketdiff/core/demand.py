"""What a scenario asks of a client, by role; a client that does not offer it leaves the scenario out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

from rocketdiff.core.consuming.plan import GroupPlan, ListenerOutcome
from rocketdiff.core.records.consuming import ASSIGN, LISTENER, PAUSES_QUEUES, SEEKS, TAGS
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.roles import ClientRole

_WITHOUT_CLAIM = frozenset({ListenerOutcome.SUCCESS, ListenerOutcome.ROLLBACK})
"""Every listener can succeed; an orderly one that can commit can also roll back."""


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
    """What a member of a group must be able to do, as capabilities of a hello. settings: that the scenario names."""

    capabilities: tuple[str, ...]
    settings: tuple[str, ...] = ()
    role: ClassVar[ClientRole] = ClientRole.CONSUMER

    @classmethod
    def of(cls, plan: GroupPlan) -> Self:
        """Kind and model, outcomes of the listener, fields of its context, and the subscription."""
        outcomes = dict.fromkeys(rule.outcome for rule in plan.rules if rule.outcome not in _WITHOUT_CLAIM)
        listener = [LISTENER + outcome for outcome in outcomes]
        listener += [LISTENER + "level"] * any(rule.delay_level is not None for rule in plan.rules)
        listener += [LISTENER + "suspend"] * any(rule.suspend_ms is not None for rule in plan.rules)
        listener += [TAGS] * bool(plan.tags) + [ASSIGN] * bool(plan.assign)
        listener += [SEEKS] * any(event.call.is_seek for event in plan.application)
        listener += [PAUSES_QUEUES] * any(not event.call.is_seek for event in plan.application)
        return cls((plan.listener.value, plan.model.value, *listener), (*plan.settings, *plan.properties))

    def parts(self) -> Iterator[tuple[str, Self]]:
        """Yield each capability and each setting alone, with its name: what of it a client lacks."""
        yield from ((each, type(self)((each,))) for each in self.capabilities)
        yield from ((each, type(self)((), (each,))) for each in self.settings)
