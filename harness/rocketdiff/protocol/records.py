"""
The codec of a subject's records (one JSON line each), used by subjects, the runner, the relay's witness and the journal.

A line is accepted only if its values are possible and fit their columns. A record accepted live can therefore always
be sealed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import msgspec

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.sends.outcome import ErrorWord, class_of, is_unknown_word
from rocketdiff.core.sends.records import (
    UNSEEN_END,
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
from rocketdiff.core.text.plain_text import UNPRINTABLE, plain_line

BAD_LINE = "protocol.bad-line"
UNKNOWN_RECORD = "protocol.unknown-record"
IMPOSSIBLE_VALUE = "protocol.impossible-value"

NAME_CHARACTERS = 1_000
"""Broker names have at most 255 characters, class names some hundred."""

LONGEST_ATTEMPT_MS = 60_000
"""A pause lasts twice as long as an attempt, and a quick case has one or two pauses. No client waits longer for a response."""

SHOWN_CHARACTERS = 200
"""Quoted length of a bad line, enough to recognise it."""

INT32, INT64 = 2**31, 2**63

SMALL = frozenset({"thread", "attempt", "queue_id", "code", "route", "route_after", "chooser", "attempt_timeout_ms"})
"""Fields with an int32 column."""

LARGE = frozenset(
    {"send", "start_ns", "end_ns", "returned_ns", "at_ns", "queue_offset", "sends", "pid", "protocol", "clock_ns"}
)
"""Fields with an int64 column."""

NATURAL = frozenset({"queue_id", "queue_offset", "attempt", "chooser"})
"""Fields that are never negative."""

NAMES = frozenset({"client", "version", "broker", "error", "cause", "status"})

_OBJECT = msgspec.json.Decoder(dict[str, Any])
_NOTHING: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class _Kind:
    """Fields of one record type, and their limits."""

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
        limits = {name: INT32 if name in SMALL else INT64 for name in written if name in SMALL | LARGE}
        return cls(
            name=name,
            record=record,
            fields=written,
            known=frozenset(written),
            integers=tuple(limits.items()),
            natural=tuple(name for name in written if name in NATURAL),
            names=tuple(name for name in written if name in NAMES),
        )


RECORDS: dict[str, type[Record]] = {
    "hello": Hello,
    "ready": Ready,
    "route": RouteSeen,
    "attempt": Attempt,
    "send": Send,
    "callback": CalledBackAgain,
    "done": Done,
    "failed": SubjectFailed,
}
"""By the ``type`` of a line."""

_KINDS = {name: _Kind.of(name, record) for name, record in RECORDS.items()}
_KIND_OF = {kind.record: kind for kind in _KINDS.values()}

for _record in _KIND_OF:
    # msgspec 0.22 caches enum data in the enum's class at the first conversion, and crashes with SIGSEGV if two threads do this at
    # the same time, as the readers of both arms would. So one thread does it here.
    msgspec.json.Decoder(_record)


def encode_record(record: Record) -> bytes:
    """Return one line with its line end; fields that are None are left out."""
    kind = _KIND_OF[type(record)]
    members: dict[str, object] = {"type": kind.name}
    for name in kind.fields:
        value = getattr(record, name)
        if value is not None:
            members[name] = value
    return msgspec.json.encode(members) + b"\n"


def decode_record(line: bytes) -> ReceivedLine:
    """
    Decode one line without its line end; unknown fields are kept.

    An attempt without ``end_ns`` has only begun (``attempt-starts``). An attempt's error word becomes RocketMQ's
    class, as in the relay's records.

    Raises SubjectBroken (``protocol.bad-line``, ``protocol.unknown-record``, ``protocol.impossible-value``) for any
    other bytes.
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
        if kind.record is Attempt and "end_ns" not in members:
            members = {**members, "end_ns": members.get("start_ns"), "error": UNSEEN_END}
        record = msgspec.convert(members, kind.record)
        if isinstance(record, Attempt) and record.error is not None:
            record = replace(record, error=class_of(record.error))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # invalid UTF-8 is a ValueError
        raise _refused(BAD_LINE, str(error), line) from None
    for signature, sentence in _flaws(kind, record):
        raise _refused(signature, sentence, line)
    return ReceivedLine(record, extra)


_EXPECTED = {
    BAD_LINE: "one JSON record a line of stdout (all else goes to stderr)",
    UNKNOWN_RECORD: "one of the records " + ", ".join(_KINDS),
    IMPOSSIBLE_VALUE: "possible values",
}


def _refused(signature: str, sentence: str, line: bytes) -> SubjectBroken:
    shown = plain_line(line[:SHOWN_CHARACTERS].decode(errors="replace"))
    return SubjectBroken(signature, expected=_EXPECTED[signature], seen=f"{sentence}: {shown}")


def _type_shown(name: object) -> str:
    """The unknown type can be any JSON value."""
    return (
        repr(name[:60])
        if isinstance(name, str)
        else "None"
        if name is None
        else f"not a string ({type(name).__name__})"
    )


def _flaws(kind: _Kind, record: Record) -> Iterator[tuple[str, str]]:
    """Signature and sentence of each impossible value in a record of valid types."""
    for name, limit in kind.integers:
        value = getattr(record, name)
        if value is not None and not -limit <= value < limit:
            yield BAD_LINE, f"{name} is too large for its column"
    for name in kind.natural:
        if (getattr(record, name) or 0) < 0:
            yield IMPOSSIBLE_VALUE, f"{name} is {getattr(record, name)}"
    for name in kind.names:
        yield from _flaws_of_name(name, getattr(record, name))
    if isinstance(record, Attempt | Send | CalledBackAgain) and is_unknown_word(record.error or ""):
        known = ", ".join(ErrorWord)
        yield (
            IMPOSSIBLE_VALUE,
            f"error is {record.error}, which is neither an exception class nor one of the words {known}",
        )
    if isinstance(record, Hello):
        yield from _flaws_of_hello(record)
    if isinstance(record, RouteSeen):
        yield from _flaws_of_queues(record)


def _flaws_of_hello(hello: Hello) -> Iterator[tuple[str, str]]:
    for capability in hello.capabilities:
        yield from _flaws_of_name("a capability", capability)
    own_ms = hello.attempt_timeout_ms
    if own_ms is not None and not 1 <= own_ms <= LONGEST_ATTEMPT_MS:
        yield IMPOSSIBLE_VALUE, f"attempt_timeout_ms is {own_ms}, not 1 to {LONGEST_ATTEMPT_MS}"


def _flaws_of_queues(route: RouteSeen) -> Iterator[tuple[str, str]]:
    for broker, queue_id in route.queues:
        yield from _flaws_of_name("broker", broker)
        if not 0 <= queue_id < INT32:
            shown = str(queue_id) if -INT64 <= queue_id < INT64 else "beyond 64 bits"
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
