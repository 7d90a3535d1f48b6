"""Commands from the runner to a member of a group, one JSON line each: rule, setup, join, leave, apply."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any

import msgspec

from rocketdiff.core.consuming.plan import Allocation, Commits, ConsumerCall, ListenerKind, ListenerRule, MessageModel
from rocketdiff.core.records.field_types import Queue
from rocketdiff.core.records.session import PROTOCOL
from rocketdiff.core.tables.roles import ClientRole


@dataclass(frozen=True, slots=True)
class MemberSetup:
    """
    Addresses, names and settings for one member.

    member: its number in the group. instance: of the client; those of a group have equal length. warm_topic, warm_group: for the
    warm-up only; the topic holds eight messages. run: first part of every message id ``<run>/<topic>/<send>``. body_bytes: planned
    size of message n, used in turn. settings: only those that the scenario names. properties: set before the client's classes are
    loaded. brokers: the name of each broker by its address as messages show it (their store host), for a client whose messages
    name no broker. expression: of tags. commits: of a lite pull consumer; None for automatic ones. assign: broker and id of the queues
    that its application assigns to it; None: it subscribes. security: as for producers.
    """

    member: int
    instance: str
    name_servers: tuple[str, ...]
    topic: str
    warm_topic: str
    group: str
    warm_group: str
    run: str
    listener: ListenerKind
    model: MessageModel
    strategy: Allocation
    work_ms: int
    body_bytes: tuple[int, ...]
    settings: Mapping[str, int | str]
    properties: Mapping[str, int]
    brokers: Mapping[str, str] = field(default_factory=dict)
    expression: str | None = None
    commits: Commits | None = None
    assign: tuple[Queue, ...] | None = None
    security: dict[str, dict[str, str]] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Join:
    """Make and start the consumer, not before ``at_ns`` of the monotonic clock (0: at once)."""

    at_ns: int


@dataclass(frozen=True, slots=True)
class Leave:
    """Shut the consumer down, not before ``at_ns``. last: no join follows, so done does."""

    at_ns: int
    last: bool = False


@dataclass(frozen=True, slots=True)
class Apply:
    """Have the thread that polls call this method about one queue, between two polls, not before ``at_ns``. offset: of a seek."""

    at_ns: int
    what: ConsumerCall
    broker: str
    queue_id: int
    offset: int | None = None


Order = Join | Leave | Apply

MemberCommand = ListenerRule | MemberSetup | Order

_ORDERS: dict[str, type[Order]] = {"join": Join, "leave": Leave, "apply": Apply}

CONSUMER_COMMANDS = {"rule": ListenerRule, "setup-consumer": MemberSetup, **_ORDERS}
"""By name in the published schema; the type of both setups is ``setup``."""


def encode_rules(rules: Sequence[ListenerRule]) -> Iterator[bytes]:
    """Return one ``rule`` line per rule, before setup."""
    for rule in rules:
        yield command_line({"type": "rule", **_without_defaults(rule)})


def encode_member_setup(setup: MemberSetup) -> bytes:
    """Return the ``setup`` line of a consumer."""
    members = {name: value for name, value in asdict(setup).items() if value is not None}
    return command_line({"type": "setup", "protocol": PROTOCOL, "role": ClientRole.CONSUMER, **members})


def encode_order(order: Order) -> bytes:
    """Return the line of an order."""
    kind = next(name for name, kind in _ORDERS.items() if isinstance(order, kind))
    return command_line({"type": kind, **_without_defaults(order)})


def decode_member_command(kind: str, members: dict[str, Any]) -> MemberCommand:
    """Decode the members of a line whose type is taken off; unknown fields are ignored."""
    types: dict[str, type[MemberCommand]] = {"rule": ListenerRule, "setup": MemberSetup, **_ORDERS}
    return msgspec.convert(members, types[kind])


def command_line(members: Mapping[str, object]) -> bytes:
    """Return a command as one line."""
    return msgspec.json.encode(members) + b"\n"


def _without_defaults(command: ListenerRule | Order) -> dict[str, object]:
    return {
        each.name: value
        for each in fields(command)
        if (value := getattr(command, each.name)) != each.default or each.default is MISSING
    }
