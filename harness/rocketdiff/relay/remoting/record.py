"""
Records of the relay: one frozen dataclass per NDJSON line, in one closed union; the witness is always ``wire``.

Times are nanoseconds of the host's monotonic clock. ``exchanges.py`` matches responses to requests by connection and
``opaque``.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

from rocketdiff.core.files import open_regular
from rocketdiff.relay.remoting.consuming import GroupFrame

WITNESS = "wire"

FLUSH_S = 0.01
"""Interval of writes; a killed relay loses at most this much."""

_MOST_WAITING = 512
"""This many waiting records (some 100 kB) are written at once."""


@dataclass(frozen=True, slots=True)
class Connected:
    """A client is connected to a server through the relay. vip: on the port two below the broker's own."""

    connection: int
    node: str
    at_ns: int
    vip: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The relay accepted a client, but the server refused the connection."""

    connection: int
    node: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Shut:
    """The server refuses, so its relay port refuses from now on; connection attempts then leave no record."""

    node: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Opened:
    """The server and its relay port accept connections again."""

    node: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection has ended. by: client, server or relay (a switch). reset: by RST, not by FIN."""

    connection: int
    node: str
    at_ns: int
    by: str
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Passed:
    """
    One frame.

    to: receiver, server or client. in_ns: arrival of its last byte. out_ns: the kernel had accepted all of it for the
    receiver; None if it did not at once (the receiver does not read) or the frame was not forwarded (see ``action``).

    Send request: topic, queue_id, identity (property ``rocketdiff.id``), unique_key. Its response: queue_id, queue_offset.
    Route response: queues, the writable brokers by name with their number of queues. group: of a consumer's frame. action: delay, swallow or reset, by a
    switch. released_ns: end of a delay. note: anything unusual.
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
    group: GroupFrame | None = None
    action: str | None = None
    released_ns: int | None = None
    note: str | None = None

    @property
    def has_arrived(self) -> bool:
        """True if it was forwarded, neither swallowed nor replaced by a reset."""
        return self.action not in ("swallow", "reset")

    @property
    def let_go_ns(self) -> int:
        """Time of forwarding: on arrival, or after its delay."""
        return self.in_ns if self.released_ns is None else self.released_ns


@dataclass(frozen=True, slots=True)
class Called:
    """
    One message of a completed SendMessage call of a gRPC client.

    in_ns: arrival of the complete request. ended_by: ``answer``, or ``client`` or ``server`` if that side ended the call
    without one. closed: the whole connection ended. timeout_ns: the deadline in the request. grpc_status: from the trailers.
    code: RocketMQ's response code. identity: property ``rocketdiff.id``. unique_key: message id. group: message group.
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
    """Return one line with its line feed; fields that are None or False are left out."""
    kind = type(record)
    members: dict[str, object] = {"type": _NAMES[kind], "witness": WITNESS}
    for name in _FIELDS[kind]:
        value = getattr(record, name)
        if value is not None and value is not False:
            members[name] = value
    return msgspec.json.encode(members) + b"\n"


def decode_wire(line: bytes) -> WireRecord:
    """
    Return the record of one line; unknown members are ignored.

    Raises msgspec.MsgspecError for a line that is no record.
    """
    members = _OBJECT.decode(line)
    kind = _KINDS.get(str(members.get("type")))
    if kind is None or members.get("witness") != WITNESS:
        raise msgspec.ValidationError(f"expected a record of the wire, saw {members.get('type')!r}")
    return msgspec.convert({name: value for name, value in members.items() if name in _FIELDS[kind]}, kind)


def read_wire(file: Path) -> Iterator[WireRecord]:
    """Yield the records of all complete lines; skip an unfinished last line, yield none for a missing file."""
    if not file.exists():
        return
    with open_regular(file) as lines:
        for line in lines:
            if line.endswith(b"\n"):
                yield decode_wire(line)


class WireTail:
    """A journal that is still written; each ``read`` returns the records of the lines that were completed since the last one."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read_bytes = 0

    def read(self) -> list[WireRecord]:
        """Return the new records; none while the file is missing."""
        if not self._file.exists():
            return []
        with open_regular(self._file) as lines:
            lines.seek(self._read_bytes)
            whole, _, _ = lines.read().rpartition(b"\n")
        self._read_bytes += len(whole) + bool(whole)
        return [decode_wire(line) for line in whole.splitlines()]


class WireJournal:
    """
    An append-only file of records; used only by the event loop that forwards frames.

    On a full disk recording stops and forwarding continues, because the client must not be disturbed; ``problem`` has the
    error for the reply to ``stop``.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._waiting: list[WireRecord] = []
        self.records = 0
        self.problem = ""

    def put(self, record: WireRecord) -> None:
        self._waiting.append(record)
        if len(self._waiting) >= _MOST_WAITING:
            self.flush()

    def flush(self) -> None:
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
        self.flush()
        os.close(self._file)
