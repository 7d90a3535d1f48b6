"""What a subject says to the runner: one record a line; both ends of the wire."""

from dataclasses import fields
from typing import Any

import msgspec

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.plain_text import plain_line
from rocketdiff.core.record_limits import BAD_LINE, flaw_of, kind_shown
from rocketdiff.core.records import (
    AttemptEnded,
    CalledBackAgain,
    Done,
    Hello,
    Ready,
    ReceivedLine,
    Record,
    RouteSeen,
    SendEnded,
    SubjectFailed,
)

_RECORDS: dict[str, type[Record]] = {
    "hello": Hello,
    "ready": Ready,
    "route": RouteSeen,
    "attempt": AttemptEnded,
    "send": SendEnded,
    "callback": CalledBackAgain,
    "done": Done,
    "failed": SubjectFailed,
}
_NAMES: dict[type[Record], str] = {record_class: name for name, record_class in _RECORDS.items()}
_FIELDS = {record_class: tuple(each.name for each in fields(record_class)) for record_class in _NAMES}
_KNOWN = {record_class: frozenset(names) for record_class, names in _FIELDS.items()}
_OBJECT = msgspec.json.Decoder(dict[str, Any])
_NOTHING: dict[str, object] = {}

_SHOWN_CHARACTERS = 200
"""How much of a bad line is quoted: enough to recognise it."""


def decode_record(line: bytes) -> ReceivedLine:
    """
    The record of one line, given without its end; fields this version does not know are kept.

    Raises SubjectBroken (``protocol.bad-line``, ``protocol.unknown-record``, ``protocol.impossible-value``) for anything
    that is no record, whatever its bytes.
    """
    try:
        members = _OBJECT.decode(line)
        kind = members.pop("type", None)
        record_class = _RECORDS.get(kind) if isinstance(kind, str) else None
        if record_class is None:
            raise _unknown_record(kind, line)
        record = msgspec.convert(members, record_class)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # not UTF-8 is a ValueError
        raise SubjectBroken(BAD_LINE, expected="one JSON record a line", seen=f"{error}: {_shown(line)}") from None
    if flaw := flaw_of(record):
        expected = "one JSON record a line" if flaw.signature == BAD_LINE else "values that can be"
        raise SubjectBroken(flaw.signature, expected=expected, seen=f"{flaw.sentence}: {_shown(line)}")
    if members.keys() <= _KNOWN[record_class]:
        return ReceivedLine(record, _NOTHING)
    return ReceivedLine(record, {name: value for name, value in members.items() if name not in _KNOWN[record_class]})


def encode_record(record: Record) -> bytes:
    """One line with its end, for subjects written in Python; fields that are None are left out."""
    members: dict[str, object] = {"type": _NAMES[type(record)]}
    for name in _FIELDS[type(record)]:
        value = getattr(record, name)
        if value is not None:
            members[name] = value
    return msgspec.json.encode(members) + b"\n"


def _unknown_record(kind: object, line: bytes) -> SubjectBroken:
    return SubjectBroken(
        "protocol.unknown-record",
        expected="one of the records " + ", ".join(_RECORDS),
        seen=f"a record of type {kind_shown(kind)}: {_shown(line)}",
    )


def _shown(line: bytes) -> str:
    return plain_line(line[:_SHOWN_CHARACTERS].decode(errors="replace"))
