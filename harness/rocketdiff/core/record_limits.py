"""
What no record can say, though it has the right fields of the right types.

Asked of every record twice: when a subject says it, and when its journal is read, perhaps years later. So what was taken
live can always be sealed, and a line that cannot be sealed is never taken.
"""

from collections.abc import Iterator
from typing import NamedTuple

from rocketdiff.core.plain_text import UNPRINTABLE
from rocketdiff.core.records import (
    AttemptEnded,
    CalledBackAgain,
    Done,
    Hello,
    Ready,
    Record,
    RouteSeen,
    SendEnded,
    SubjectFailed,
)

BAD_LINE = "protocol.bad-line"
IMPOSSIBLE_VALUE = "protocol.impossible-value"

NAME_CHARACTERS = 1_000
"""The longest name of a broker is 255 characters, of a class some hundred; a longer one is no name."""

_INT32, _INT64 = 2**31, 2**63

_SMALL = ("thread", "attempt", "queue_id", "code", "route", "route_after", "chooser")
"""Fields whose column is int32."""

_LARGE = ("send", "start_ns", "end_ns", "returned_ns", "at_ns", "queue_offset", "sends", "pid", "protocol", "clock_ns")
"""Fields whose column is int64."""

_NATURAL = ("queue_id", "queue_offset", "attempt", "chooser")
"""Numbers that are never negative."""

_NAMES = ("client", "version", "broker", "error", "cause", "status")

_FIELDS: dict[type[Record], dict[str, tuple[str, ...]]] = {
    kind: {
        of: tuple(name for name in names if name in kind.__slots__)
        for of, names in (("small", _SMALL), ("large", _LARGE), ("natural", _NATURAL), ("names", _NAMES))
    }
    for kind in (Hello, Ready, RouteSeen, AttemptEnded, SendEnded, CalledBackAgain, Done, SubjectFailed)
}


class Flaw(NamedTuple):
    """Why a record cannot be true: the signature, and a sentence."""

    signature: str
    sentence: str


def kind_shown(kind: object) -> str:
    """The type of an unknown record in words; it can be any JSON, of any depth."""
    return repr(kind[:60]) if isinstance(kind, str) else "None" if kind is None else f"no word ({type(kind).__name__})"


def flaw_of(record: Record) -> Flaw | None:
    """The first thing about a record that cannot be; None for a record that can be kept."""
    return next(_flaws(record), None)


def _flaws(record: Record) -> Iterator[Flaw]:
    fields = _FIELDS[type(record)]
    for name in fields["small"] + fields["large"]:
        limit = _INT32 if name in fields["small"] else _INT64
        if not _fits(getattr(record, name), limit):
            yield Flaw(BAD_LINE, f"{name} is too large for its column")
    for name in fields["natural"]:
        if (getattr(record, name) or 0) < 0:
            yield Flaw(IMPOSSIBLE_VALUE, f"{name} is {getattr(record, name)}")
    for name in fields["names"]:
        yield from _flaws_of_name(name, getattr(record, name))
    if isinstance(record, Hello):
        for capability in record.capabilities:
            yield from _flaws_of_name("a capability", capability)
    if isinstance(record, RouteSeen):
        yield from _flaws_of_queues(record)


def _flaws_of_queues(route: RouteSeen) -> Iterator[Flaw]:
    for broker, queue_id in route.queues:
        yield from _flaws_of_name("broker", broker)
        if not 0 <= queue_id < _INT32:
            yield Flaw(IMPOSSIBLE_VALUE, f"queue_id is {_short(queue_id)}")


def _fits(value: int | None, limit: int) -> bool:
    return value is None or -limit <= value < limit


def _flaws_of_name(what: str, name: str | None) -> Iterator[Flaw]:
    if name is None:
        return
    if what == "broker" and not name:
        yield Flaw(IMPOSSIBLE_VALUE, "broker is empty")
    if len(name) > NAME_CHARACTERS:
        yield Flaw(BAD_LINE, f"{what} has {len(name):,} characters")
    if UNPRINTABLE.search(name) or "\n" in name or "\t" in name:
        yield Flaw(BAD_LINE, f"{what} has a control character")


def _short(number: int) -> str:
    return str(number) if -_INT64 <= number < _INT64 else "beyond 64 bits"
