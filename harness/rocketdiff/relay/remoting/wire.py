"""
What the relay writes down: one frozen record a line (NDJSON), in one closed union; the witness is always ``wire``.

All times are nanoseconds of the host's monotonic clock, as everywhere. The relay never says which request an answer
belongs to: the number does (``opaque``, per connection), and ``exchanges.py`` reads it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

WITNESS = "wire"


@dataclass(frozen=True, slots=True)
class Connected:
    """A client reached a server through the relay; ``vip``: on the port two below the broker's own."""

    connection: int
    node: str
    at_ns: int
    vip: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A client was accepted by the relay and the server behind it was not to be had."""

    connection: int
    node: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Shut:
    """The server refuses, and so does its port here from now on: what clients try there leaves no trace."""

    node: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Opened:
    """The server accepts again, and so does its port here."""

    node: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is over; ``by``: client, server or relay (a switch); ``reset``: not in an orderly way."""

    connection: int
    node: str
    at_ns: int
    by: str
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Passed:
    """
    One frame.

    to: server or client. in_ns: its last byte was here. out_ns: the kernel had all of it for the other side; None when
    that was not so at once (the other side does not read) or never (see ``action``).

    topic, queue_id, identity (property ``rocketdiff.id``) and unique_key are those of a send request; queue_id and
    queue_offset those of its answer. queues: of a name server's answer with a route, brokers that can be written to (by
    name) and how many queues each has. action: what a switch did to it: delay, swallow or reset. released_ns: when a delay
    let it go. note: what was odd.
    """

    connection: int
    node: str
    to: str
    opaque: int
    code: int
    frame_bytes: int
    in_ns: int
    out_ns: int | None = None
    response: bool = False
    oneway: bool = False
    topic: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    identity: str | None = None
    unique_key: str | None = None
    queues: tuple[tuple[str, int], ...] | None = None
    action: str | None = None
    released_ns: int | None = None
    note: str | None = None

    @property
    def has_arrived(self) -> bool:
        """Whether it was passed on; a swallowed one was not, nor one in whose place the connection was reset."""
        return self.action not in ("swallow", "reset")

    @property
    def let_go_ns(self) -> int:
        """When it was about to be passed on: at once, or after its delay."""
        return self.in_ns if self.released_ns is None else self.released_ns


WireRecord = Connected | Refused | Shut | Opened | Closed | Passed

_KINDS: dict[str, type[WireRecord]] = {
    "connected": Connected,
    "refused": Refused,
    "shut": Shut,
    "opened": Opened,
    "closed": Closed,
    "passed": Passed,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_FIELDS = {kind: tuple(each.name for each in fields(kind)) for kind in _NAMES}
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def encode_wire(record: WireRecord) -> bytes:
    """One line with its end; what is None or False is left out."""
    kind = type(record)
    members: dict[str, object] = {"type": _NAMES[kind], "witness": WITNESS}
    for name in _FIELDS[kind]:
        value = getattr(record, name)
        if value is not None and value is not False:
            members[name] = value
    return msgspec.json.encode(members) + b"\n"


def decode_wire(line: bytes) -> WireRecord:
    """
    The record of one line; members this version does not know are passed over.

    Raises msgspec.MsgspecError for anything that is none.
    """
    members = _OBJECT.decode(line)
    kind = _KINDS.get(str(members.get("type")))
    if kind is None or members.get("witness") != WITNESS:
        raise msgspec.ValidationError(f"expected a record of the wire, saw {members.get('type')!r}")
    return msgspec.convert({name: value for name, value in members.items() if name in _FIELDS[kind]}, kind)


def read_wire(file: Path) -> Iterator[WireRecord]:
    """Every whole line of a file; one that its writer did not finish is left out, a missing file has none."""
    if not file.exists():
        return
    with file.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                yield decode_wire(line)
