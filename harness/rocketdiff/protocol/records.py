"""
The records of a subject, one a line of JSON: the one codec of the subjects, of the runner, of the relay's witness and of the journal.

A line is a record only if every value of it can be true and can be stored: what is taken live can always be sealed, and
a line that cannot be sealed is a violation as soon as it is read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import msgspec

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.plain_text import UNPRINTABLE, plain_line
from rocketdiff.core.records import (
    Attempt,
    CalledBackAgain,
    Done,
    Hello,
    Ready,
    ReceivedLine,
    Record,
    RouteSeen,
    Send,
    SubjectFailed,
)

BAD_LINE = "protocol.bad-line"
UNKNOWN_RECORD = "protocol.unknown-record"
IMPOSSIBLE_VALUE = "protocol.impossible-value"

NAME_CHARACTERS = 1_000
"""The longest name of a broker is 255 characters, of a class some hundred; a longer one is no name."""

SHOWN_CHARACTERS = 200
"""How much of a bad line is quoted: enough to recognise it."""

_INT32, _INT64 = 2**31, 2**63

_SMALL = frozenset({"thread", "attempt", "queue_id", "code", "route", "route_after", "chooser"})
"""Fields whose column is int32."""

_LARGE = frozenset(
    {"send", "start_ns", "end_ns", "returned_ns", "at_ns", "queue_offset", "sends", "pid", "protocol", "clock_ns"}
)
"""Fields whose column is int64."""

_NATURAL = frozenset({"queue_id", "queue_offset", "attempt", "chooser"})
"""Numbers that are never negative."""

_NAMES = frozenset({"client", "version", "broker", "error", "cause", "status"})

_OBJECT = msgspec.json.Decoder(dict[str, Any])
_NOTHING: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one type of record is written, and which of its fields have which limit."""

    name: str
    record: type[Record]
    fields: tuple[str, ...]
    known: frozenset[str]
    integers: tuple[tuple[str, int], ...]
    natural: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, name: str, record: type[Record]) -> "_Kind":
        written = tuple(each.name for each in fields(record) if not each.metadata)
        limits = {name: _INT32 if name in _SMALL else _INT64 for name in written if name in _SMALL | _LARGE}
        return cls(
            name=name,
            record=record,
            fields=written,
            known=frozenset(written),
            integers=tuple(limits.items()),
            natural=tuple(name for name in written if name in _NATURAL),
            names=tuple(name for name in written if name in _NAMES),
        )


_KINDS = {
    name: _Kind.of(name, record)
    for name, record in {
        "hello": Hello,
        "ready": Ready,
        "route": RouteSeen,
        "attempt": Attempt,
        "send": Send,
        "callback": CalledBackAgain,
        "done": Done,
        "failed": SubjectFailed,
    }.items()
}
_KIND_OF = {kind.record: kind for kind in _KINDS.values()}

for _record in _KIND_OF:
    # msgspec 0.22 stores what it knows about an enum in the enum's class at the first conversion, and dies of SIGSEGV if two threads
    # do their first one at the same time, as the readers of both arms would. So the first one is made here, by one thread.
    msgspec.json.Decoder(_record)


def encode_record(record: Record) -> bytes:
    """One line with its end; fields that are None are left out."""
    kind = _KIND_OF[type(record)]
    members: dict[str, object] = {"type": kind.name}
    for name in kind.fields:
        value = getattr(record, name)
        if value is not None:
            members[name] = value
    return msgspec.json.encode(members) + b"\n"


def decode_record(line: bytes) -> ReceivedLine:
    """
    The record of one line, given without its end; fields this version does not know are kept.

    Raises SubjectBroken (``protocol.bad-line``, ``protocol.unknown-record``, ``protocol.impossible-value``) for anything
    that is no record, whatever its bytes.
    """
    try:
        members = _OBJECT.decode(line)
        name = members.pop("type", None)
        kind = _KINDS.get(name) if isinstance(name, str) else None
        if kind is None:
            raise _refused(UNKNOWN_RECORD, f"unknown type {_type_shown(name)}", line)
        extra = _NOTHING
        if not members.keys() <= kind.known:
            extra = {name: value for name, value in members.items() if name not in kind.known}
            members = {name: value for name, value in members.items() if name in kind.known}
        record = msgspec.convert(members, kind.record)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # not UTF-8 is a ValueError
        raise _refused(BAD_LINE, str(error), line) from None
    for signature, sentence in _flaws(kind, record):
        raise _refused(signature, sentence, line)
    return ReceivedLine(record, extra)


_EXPECTED = {
    BAD_LINE: "one JSON record a line",
    UNKNOWN_RECORD: "one of the records " + ", ".join(_KINDS),
    IMPOSSIBLE_VALUE: "values that can be",
}


def _refused(signature: str, sentence: str, line: bytes) -> SubjectBroken:
    shown = plain_line(line[:SHOWN_CHARACTERS].decode(errors="replace"))
    return SubjectBroken(signature, expected=_EXPECTED[signature], seen=f"{sentence}: {shown}")


def _type_shown(name: object) -> str:
    """The type of an unknown record in words; it can be any JSON, of any depth."""
    return repr(name[:60]) if isinstance(name, str) else "None" if name is None else f"no word ({type(name).__name__})"


def _flaws(kind: _Kind, record: Record) -> Iterator[tuple[str, str]]:
    """What cannot be true of a record that has the right fields of the right types: signature and sentence."""
    for name, limit in kind.integers:
        value = getattr(record, name)
        if value is not None and not -limit <= value < limit:
            yield BAD_LINE, f"{name} is too large for its column"
    for name in kind.natural:
        if (getattr(record, name) or 0) < 0:
            yield IMPOSSIBLE_VALUE, f"{name} is {getattr(record, name)}"
    for name in kind.names:
        yield from _flaws_of_name(name, getattr(record, name))
    if isinstance(record, Hello):
        for capability in record.capabilities:
            yield from _flaws_of_name("a capability", capability)
    if isinstance(record, RouteSeen):
        yield from _flaws_of_queues(record)


def _flaws_of_queues(route: RouteSeen) -> Iterator[tuple[str, str]]:
    for broker, queue_id in route.queues:
        yield from _flaws_of_name("broker", broker)
        if not 0 <= queue_id < _INT32:
            shown = str(queue_id) if -_INT64 <= queue_id < _INT64 else "beyond 64 bits"
            yield IMPOSSIBLE_VALUE, f"queue_id is {shown}"


def _flaws_of_name(what: str, name: str | None) -> Iterator[tuple[str, str]]:
    if name is None:
        return
    if what == "broker" and not name:
        yield IMPOSSIBLE_VALUE, "broker is empty"
    if len(name) > NAME_CHARACTERS:
        yield BAD_LINE, f"{what} has {len(name):,} characters"
    if UNPRINTABLE.search(name) or "\n" in name or "\t" in name:
        yield BAD_LINE, f"{what} has a control character"
