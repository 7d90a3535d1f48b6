"""Commands from the runner to a subject, one JSON line each: plan, setup, go, stop."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from rocketdiff.core.records.session import PROTOCOL
from rocketdiff.core.sends.plan import Plan, PlannedSend, plan_line
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.consuming import MemberCommand, command_line, decode_member_command


@dataclass(frozen=True, slots=True)
class SubjectSetup:
    """
    Addresses, names and settings for the subject.

    warm_topic: same queue layout, for warm-up only.
    group: of the measured producer; the warm one uses ``<group>-warm``.
    run: first part of every message id ``<run>/<topic>/<send>``.
    callback_limit_ms: how long to wait for the callback after an asynchronous call.
    security: see core.security; contains secrets; left out if there is none.
    endpoints: ``host:port`` of each proxy for a gRPC client; left out if empty.
    """

    name_servers: tuple[str, ...]
    topic: str
    warm_topic: str
    group: str
    run: str
    settings: ClientSettings
    callback_limit_ms: int = 60_000
    security: dict[str, dict[str, str]] | None = field(default=None, repr=False)
    endpoints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepare:
    """The plan is complete: set up, warm up, report ready. A setup without a role is a producer's."""

    setup: SubjectSetup
    threads: int
    role: ClientRole = ClientRole.PRODUCER


@dataclass(frozen=True, slots=True)
class Go:
    """Offset 0 of the plan is due at ``start_ns`` of the monotonic clock."""

    start_ns: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Shut down and exit; limit_ms: if given, leave as an application does, and be killed only then."""

    limit_ms: int | None = None


Command = PlannedSend | Prepare | Go | Stop | MemberCommand

STOP = b'{"type":"stop"}\n'


def encode_plan(plan: Plan) -> Iterator[bytes]:
    """Return one ``plan`` line per send, for the subject and the journal."""
    for send in plan.sends:
        yield command_line(plan_line(send))


def encode_setup(setup: SubjectSetup, threads: int) -> bytes:
    """Return the ``setup`` line, which ends the plan."""
    members = asdict(setup)
    if setup.security is None:
        del members["security"]
    if not setup.endpoints:
        del members["endpoints"]
    return command_line({"type": "setup", "protocol": PROTOCOL, **members, "threads": threads})


def encode_go(start_ns: int) -> bytes:
    """Return the ``go`` line."""
    return command_line({"type": "go", "start_ns": start_ns})


def encode_stop(limit_ms: int) -> bytes:
    """Return a ``stop`` line that lets the client end as applications do."""
    return command_line({"type": "stop", "limit_ms": limit_ms})


def decode_command(line: bytes) -> Command:
    """
    Decode a runner's line, for subjects in Python; unknown fields are ignored.

    Raises ValueError for anything else, including another protocol version.
    """
    members: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    match members.pop("type", None):
        case "plan":
            return msgspec.convert(members, PlannedSend)
        case "setup":
            if members.get("protocol") != PROTOCOL:
                raise ValueError(f"protocol {members.get('protocol')!r} is asked for, this subject speaks {PROTOCOL}")
            role = members.get("role", ClientRole.PRODUCER)
            if role not in list(ClientRole):
                raise ValueError(f"role {role!r} is asked for, this subject knows {', '.join(ClientRole)}")
            if role == ClientRole.CONSUMER:
                return decode_member_command("setup", members)
            setup = msgspec.convert(members, SubjectSetup)
            return Prepare(setup, msgspec.convert(members.get("threads"), int), ClientRole(role))
        case "go":
            return msgspec.convert(members, Go)
        case "stop":
            return msgspec.convert(members, Stop)
        case "rule" | "join" | "leave" | "apply" as kind:
            return decode_member_command(kind, members)
        case kind:
            raise ValueError(f"unknown command {kind!r}")
