"""The line protocol as bytes: commands out, records in; the only place that knows field names on the wire."""

from collections.abc import Iterator
from dataclasses import asdict, fields

import msgspec

from harness.core.errors import SubjectBroken
from harness.core.plan import Plan, PlannedSend
from harness.core.records import (
    PROTOCOL,
    AttemptEnded,
    Done,
    Hello,
    Ready,
    ReceivedLine,
    Record,
    RouteSeen,
    SendEnded,
    SubjectFailed,
)
from harness.subjects.setup import SubjectSetup

_RECORDS: dict[str, type[Record]] = {
    "hello": Hello,
    "ready": Ready,
    "route": RouteSeen,
    "attempt": AttemptEnded,
    "send": SendEnded,
    "done": Done,
    "failed": SubjectFailed,
}

_TYPE_OF = {record_class: name for name, record_class in _RECORDS.items()}

_KNOWN_FIELDS = {
    record_class: frozenset(each.name for each in fields(record_class)) for record_class in _RECORDS.values()
}

_SHOWN_CHARACTERS = 200
"""How much of a bad line is quoted: enough to recognise it."""


def decode_record(line: bytes) -> ReceivedLine:
    """
    The record of one line without its end; fields this version does not know are kept.

    Raises SubjectBroken (``protocol.bad-line``, ``protocol.unknown-record``) for anything that is no record.
    """
    try:
        members = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _bad_line(line, str(error)) from None
    if not isinstance(members, dict) or "type" not in members:
        raise _bad_line(line, "no object with a type")
    kind = members.pop("type")
    record_class = _RECORDS.get(kind) if isinstance(kind, str) else None
    if record_class is None:
        raise SubjectBroken(
            "protocol.unknown-record",
            expected="one of the records " + ", ".join(_RECORDS),
            seen=f"a record of type {kind!r}: {_shown(line)}",
        )
    try:
        record = msgspec.convert(members, record_class)
    except msgspec.ValidationError as error:
        raise _bad_line(line, str(error)) from None
    unknown = members.keys() - _KNOWN_FIELDS[record_class]
    return ReceivedLine(record, {name: members[name] for name in unknown})


def encode_record(record: Record) -> bytes:
    """One line, with its end, for subjects written in Python; fields that are None are left out."""
    said = {"type": _TYPE_OF[type(record)]}
    for name in _ORDERED_FIELDS[type(record)]:
        value = getattr(record, name)
        if value is not None:
            said[name] = value
    return msgspec.json.encode(said) + b"\n"


_ORDERED_FIELDS = {record_class: tuple(each.name for each in fields(record_class)) for record_class in _TYPE_OF}


def encode_plan(plan: Plan) -> Iterator[bytes]:
    """One ``plan`` line a send, in the plan's order."""
    for send in plan.sends:
        yield _line({"type": "plan", **asdict(send)})


def encode_setup(setup: SubjectSetup, threads: int) -> bytes:
    """The ``setup`` line."""
    return _line({"type": "setup", "protocol": PROTOCOL, **asdict(setup), "threads": threads})


def encode_go(start_ns: int) -> bytes:
    """The ``go`` line; offset 0 of the plan is due at ``start_ns`` of the monotonic clock."""
    return _line({"type": "go", "start_ns": start_ns})


STOP = b'{"type":"stop"}\n'


def decode_command(line: bytes) -> "Command":
    """A runner's line, for subjects written in Python; ValueError for anything else."""
    return _COMMANDS.decode(line)


class Go(msgspec.Struct, frozen=True, tag="go"):
    """Offset 0 of the plan is due at ``start_ns`` of the monotonic clock."""

    start_ns: int


class Stop(msgspec.Struct, frozen=True, tag="stop"):
    """Shut down and exit."""


class PlanLine(msgspec.Struct, frozen=True, tag="plan"):
    """One send of the plan."""

    send: int
    thread: int
    due_ns: int
    kind: str
    argument: int
    body_bytes: int


class SetupLine(msgspec.Struct, frozen=True, tag="setup"):
    """Set up with these names and settings; the plan is complete."""

    protocol: int
    name_servers: tuple[str, ...]
    topic: str
    warm_topic: str
    group: str
    run: str
    threads: int
    settings: dict[str, int | bool]


Command = PlanLine | SetupLine | Go | Stop
_COMMANDS = msgspec.json.Decoder(Command)


def _line(members: dict[str, object]) -> bytes:
    return msgspec.json.encode(members) + b"\n"


def _bad_line(line: bytes, why: str) -> SubjectBroken:
    return SubjectBroken("protocol.bad-line", expected="one JSON record a line", seen=f"{why}: {_shown(line)}")


def _shown(line: bytes) -> str:
    return line[:_SHOWN_CHARACTERS].decode(errors="replace")
