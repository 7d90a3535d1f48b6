"""
The codec of a subject's records (one JSON line each), used by subjects, the runner, the relay's witness and the journal.

A line is accepted only if its values are possible and fit their columns. A record accepted live can therefore always
be sealed.
"""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, get_type_hints

import msgspec

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.field_types import INT64, UNREPORTED, Limits
from rocketdiff.core.records.received import RECORDS, ReceivedLine, Record
from rocketdiff.core.records.sending import UNSEEN_END, Attempt
from rocketdiff.core.records.session import LINE_NAME, Done, Hello
from rocketdiff.core.sends.outcome import ErrorWord, class_of, is_unknown_word
from rocketdiff.core.text.plain_text import UNPRINTABLE, plain_line
from rocketdiff.protocol.shapes import Shape, shape_of

BAD_LINE = "protocol.bad-line"
UNKNOWN_RECORD = "protocol.unknown-record"
IMPOSSIBLE_VALUE = "protocol.impossible-value"

NAME_CHARACTERS = 1_000
"""Broker names have at most 255 characters, class names some hundred."""

LONGEST_ATTEMPT_MS = 60_000
"""A pause lasts twice as long as an attempt, and a quick case has one or two pauses. No client waits longer for a response."""

SHOWN_CHARACTERS = 200
"""Quoted length of a bad line, enough to recognise it."""

_MARKS = {codecs.BOM_UTF8: "UTF-8", codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}

_OBJECT = msgspec.json.Decoder(dict[str, Any])
_NOTHING: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class _Kind:
    """The fields of one type of line: (name on the line, attribute), and the limits of those that have any, by attribute."""

    name: str
    record: type[Record]
    written: tuple[tuple[str, str], ...]
    known: frozenset[str]
    renamed: tuple[tuple[str, str], ...]
    limits: tuple[tuple[str, Limits], ...]
    nested: tuple[tuple[str, Shape], ...]

    @classmethod
    def of(cls, name: str, record: type[Record]) -> "_Kind":
        written = reported_fields(record)
        return cls(
            name=name,
            record=record,
            written=tuple(written.items()),
            known=frozenset(written),
            renamed=tuple((shown, attribute) for shown, attribute in written.items() if shown != attribute),
            limits=tuple(limits_of(record).items()),
            nested=tuple(nested_of(record).items()),
        )


def reported_fields(record: type[Record]) -> dict[str, str]:
    """Return the fields of a record that a subject reports: attribute by name on the line."""
    return {
        each.metadata.get(LINE_NAME, each.name): each.name
        for each in fields(record)
        if UNREPORTED.keys().isdisjoint(each.metadata)
    }


def limits_of(record: type[Record]) -> dict[str, Limits]:
    """Return the limits of a record's reported fields by attribute; fields without limits are left out."""
    shapes = {name: shape_of(annotation) for name, annotation in _annotations(record).items()}
    return {name: shape.limits for name, shape in shapes.items() if shape.limits is not None}


def nested_of(record: type[Record]) -> dict[str, Shape]:
    """Return the shapes of a record's lists, by attribute; lists without limits are left out."""
    shapes = {name: shape_of(annotation) for name, annotation in _annotations(record).items()}
    return {name: shape for name, shape in shapes.items() if shape.limits is None and shape.has_limits}


def _annotations(record: type[Record]) -> dict[str, object]:
    types = get_type_hints(record, include_extras=True)
    return {name: types[name] for name in reported_fields(record).values()}


_KINDS = {name: _Kind.of(name, record) for name, record in RECORDS.items()}
_KIND_OF = {kind.record: kind for kind in _KINDS.values()}

for _record in _KIND_OF:
    # msgspec 0.22 caches enum data in the enum's class at the first conversion, and crashes with SIGSEGV if two threads do this at
    # the same time, as the readers of both arms would. So one thread does it here.
    msgspec.json.Decoder(_record)


def type_of(record: Record) -> str:
    """Return the ``type`` of a record's line."""
    return _KIND_OF[type(record)].name


def encode_record(record: Record) -> bytes:
    """Return one line with its line end; fields that are None are left out."""
    kind = _KIND_OF[type(record)]
    members: dict[str, object] = {"type": kind.name}
    for name, attribute in kind.written:
        value = getattr(record, attribute)
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
        for name, attribute in kind.renamed:
            if name in members:
                members[attribute] = members.pop(name)
        if kind.record is Attempt and "end_ns" not in members:
            members = {**members, "end_ns": members.get("start_ns"), "error": UNSEEN_END}
        record = msgspec.convert(members, kind.record)
        if isinstance(record, Attempt) and record.error is not None:
            record = replace(record, error=class_of(record.error))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # invalid UTF-8 is a ValueError
        raise _refused(BAD_LINE, _marked(line) or _with_line_names(str(error)), line) from None
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


def _marked(line: bytes) -> str:
    """Name a byte order mark, which no terminal shows."""
    encoding = next((name for mark, name in _MARKS.items() if line.startswith(mark)), "")
    return f"a byte order mark of {encoding} before the record, which is UTF-8 without one" if encoding else ""


def _with_line_names(sentence: str) -> str:
    """Msgspec names attributes, the subject's author knows the names on the line."""
    for kind in _KINDS.values():
        for shown, attribute in kind.renamed:
            sentence = sentence.replace(f"`{attribute}`", f"`{shown}`").replace(f"$.{attribute}`", f"$.{shown}`")
    return sentence


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
    for name, limits in kind.limits:
        value = getattr(record, name)
        if value is not None:
            yield from _flaws_of_field(name, value, limits)
    if isinstance(record, Hello):
        yield from _flaws_of_hello(record)
    if isinstance(record, Done) and record.operations is None and record.calls is None:
        yield BAD_LINE, "done counts neither sends nor calls"
    for name, shape in kind.nested:
        yield from _flaws_of_nested(name, getattr(record, name), shape)


def _flaws_of_field(name: str, value: int | str, limits: Limits) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield from _flaws_of_name(name, value, limits)
    elif limits.below is not None and not -limits.below <= value < limits.below:
        yield BAD_LINE, f"{name} is too large for its column"
    elif limits.is_natural and value < 0:
        yield IMPOSSIBLE_VALUE, f"{name} is {value}"


def _flaws_of_hello(hello: Hello) -> Iterator[tuple[str, str]]:
    for capability in hello.capabilities:
        yield from _flaws_of_name("a capability", capability, Limits())
    own_ms = hello.attempt_timeout_ms
    if own_ms is not None and not 1 <= own_ms <= LONGEST_ATTEMPT_MS:
        yield IMPOSSIBLE_VALUE, f"attempt_timeout_ms is {own_ms}, not 1 to {LONGEST_ATTEMPT_MS}"


def _flaws_of_nested(name: str, value: object, shape: Shape) -> Iterator[tuple[str, str]]:
    for part, limits in shape.parts_of(value, name):
        if isinstance(part, str):
            yield from _flaws_of_name(limits.name or name, part, limits)
        elif isinstance(part, int) and limits.below is not None and not _fits(part, limits):
            shown = str(part) if -INT64 <= part < INT64 else "beyond 64 bits"
            yield IMPOSSIBLE_VALUE, f"{limits.name or name} is {shown}"


def _fits(value: int, limits: Limits) -> bool:
    assert limits.below is not None
    return (0 if limits.is_natural else -limits.below) <= value < limits.below


def _flaws_of_name(what: str, name: str, limits: Limits) -> Iterator[tuple[str, str]]:
    if limits.is_filled and not name:
        yield IMPOSSIBLE_VALUE, f"{what} is empty"
    if len(name) > NAME_CHARACTERS:
        yield BAD_LINE, f"{what} has {len(name):,} characters"
    if UNPRINTABLE.search(name) or "\n" in name or "\t" in name:
        yield BAD_LINE, f"{what} has a control character"
    if limits.is_error and is_unknown_word(name):
        known = ", ".join(ErrorWord)
        yield (
            IMPOSSIBLE_VALUE,
            f"{what} is {name}, which is neither an exception class nor one of the words {known}",
        )
