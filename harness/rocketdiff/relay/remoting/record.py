"""
What the relay records: one frozen dataclass per line (NDJSON), in one closed union; the witness is always ``wire``.

All times are nanoseconds of the host's monotonic clock. A record does not say which request a response belongs to:
``exchanges.py`` matches them by connection and ``opaque``.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

WITNESS = "wire"

FLUSH_S = 0.01
"""Interval of writes: a killed relay loses at most this much."""

_MOST_WAITING = 512
"""Records that trigger a write before its time: some 100 kB."""


@dataclass(frozen=True, slots=True)
class Connected:
    """A client is connected to a server through the relay; ``vip``: on the port two below the broker's own."""

    connection: int
    node: str
    at_ns: int
    vip: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The relay accepted a client, but the server behind it refused."""

    connection: int
    node: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Shut:
    """The server refuses, so the relay's port for it refuses from now on; connection attempts leave no record."""

    node: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Opened:
    """The server accepts again, and so does the relay's port for it."""

    node: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection has ended; ``by``: client, server or relay (a switch); ``reset``: by RST, not by FIN."""

    connection: int
    node: str
    at_ns: int
    by: str
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Passed:
    """
    One frame.

    to: receiver, server or client. in_ns: the relay had its last byte. out_ns: the kernel had accepted all of it for the
    receiver; None if not at once (the receiver does not read) or never (see ``action``).

    topic, queue_id, identity (property ``rocketdiff.id``) and unique_key: of a send request; queue_id and queue_offset: of its
    response. queues: of a route response, writable brokers by name with their number of queues. action: of a switch: delay,
    swallow or reset. released_ns: end of a delay. note: what was unusual.
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
        """Whether it was forwarded: not swallowed, and not replaced by a reset."""
        return self.action not in ("swallow", "reset")

    @property
    def let_go_ns(self) -> int:
        """When the relay forwarded it: on arrival, or after its delay."""
        return self.in_ns if self.released_ns is None else self.released_ns


@dataclass(frozen=True, slots=True)
class Called:
    """
    One message of a SendMessage call of a client that speaks gRPC, which has ended.

    in_ns: the relay had the whole request. end_ns, ended_by: the answer was there (``answer``), or ``client`` or ``server`` gave the call
    up; closed: with its connection. timeout_ns: the deadline that the client stated. grpc_status: of the trailers. code: RocketMQ's, of the
    response. identity: property ``rocketdiff.id``. unique_key: the message id. group: its message group.
    """

    connection: int
    node: str
    stream: int
    in_ns: int
    end_ns: int
    ended_by: str
    closed: bool = False
    timeout_ns: int | None = None
    grpc_status: int | None = None
    code: int | None = None
    topic: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    identity: str | None = None
    unique_key: str | None = None
    group: str | None = None


WireRecord = Connected | Refused | Shut | Opened | Closed | Passed | Called

_KINDS: dict[str, type[WireRecord]] = {
    "connected": Connected,
    "refused": Refused,
    "shut": Shut,
    "opened": Opened,
    "closed": Closed,
    "passed": Passed,
    "called": Called,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_FIELDS = {kind: tuple(each.name for each in fields(kind)) for kind in _NAMES}
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def encode_wire(record: WireRecord) -> bytes:
    """One line with its line feed; fields that are None or False are left out."""
    kind = type(record)
    members: dict[str, object] = {"type": _NAMES[kind], "witness": WITNESS}
    for name in _FIELDS[kind]:
        value = getattr(record, name)
        if value is not None and value is not False:
            members[name] = value
    return msgspec.json.encode(members) + b"\n"


def decode_wire(line: bytes) -> WireRecord:
    """
    The record of one line; unknown members are ignored.

    Raises msgspec.MsgspecError for a line that is no record.
    """
    members = _OBJECT.decode(line)
    kind = _KINDS.get(str(members.get("type")))
    if kind is None or members.get("witness") != WITNESS:
        raise msgspec.ValidationError(f"expected a record of the wire, saw {members.get('type')!r}")
    return msgspec.convert({name: value for name, value in members.items() if name in _FIELDS[kind]}, kind)


def read_wire(file: Path) -> Iterator[WireRecord]:
    """The records of all complete lines; an unfinished last line is left out, a missing file has none."""
    if not file.exists():
        return
    with file.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                yield decode_wire(line)


class WireJournal:
    """
    An append-only file of records; used by one thread, the loop that forwards frames.

    Memory is bounded by what arrives between two writes. On a full disk recording stops and forwarding continues, because the
    client must not be disturbed; ``problem`` has the error for the answer to ``stop``.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._waiting: list[WireRecord] = []
        self.records = 0
        self.problem = ""

    def put(self, record: WireRecord) -> None:
        """Add a record; the next flush writes it."""
        self._waiting.append(record)
        if len(self._waiting) >= _MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write all waiting records."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        if self.problem:
            return
        data = memoryview(b"".join(map(encode_wire, waiting)))
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.problem = error.strerror or str(error)
            return
        self.records += len(waiting)

    def close(self) -> None:
        """Flush and close the file."""
        self.flush()
        os.close(self._file)
