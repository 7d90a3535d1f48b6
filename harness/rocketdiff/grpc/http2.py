"""
HTTP/2 as far as gRPC uses it (RFC 9113): parses one direction of a connection into headers and data; without I/O.

``hpack`` decodes compressed headers (RFC 7541). Its table belongs to one direction of one connection, so every header
block must pass through it, including those of ignored streams.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from hpack import Decoder

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""The first bytes that a client sends."""

_HEADER_BYTES = 9
_END_STREAM, _ACK, _END_HEADERS, _PADDED, _PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20

_MOST_TABLE_BYTES = 1 << 20
"""A peer's SETTINGS may allow more than 4 KiB; the other side's headers then state the table size."""


class FrameKind(IntEnum):
    """Frame types used here."""

    DATA = 0
    HEADERS = 1
    RST_STREAM = 3
    SETTINGS = 4
    PING = 6
    GOAWAY = 7
    WINDOW_UPDATE = 8
    CONTINUATION = 9


@dataclass(frozen=True, slots=True)
class Headers:
    """A stream's header block: request, response or trailers. ends: nothing follows."""

    stream: int
    values: dict[str, str]
    ends: bool


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes of a stream's body."""

    stream: int
    content: bytes
    ends: bool


@dataclass(frozen=True, slots=True)
class StreamReset:
    """The sender gave up a stream."""

    stream: int
    code: int


@dataclass(frozen=True, slots=True)
class Settings:
    """The sender's settings, which the receiver must acknowledge."""


@dataclass(frozen=True, slots=True)
class Ping:
    """The receiver must answer with the same eight bytes."""

    content: bytes


@dataclass(frozen=True, slots=True)
class GoAway:
    """The sender accepts no stream after this one."""

    last_stream: int
    code: int


Event = Headers | Data | StreamReset | Settings | Ping | GoAway


class FrameReader:
    """Parser for one direction of a connection. from_client: expects the preface."""

    def __init__(self, *, from_client: bool) -> None:
        self._waiting = bytearray()
        self._preface = from_client
        self._decoder = Decoder()
        self._decoder.max_allowed_table_size = _MOST_TABLE_BYTES
        self._block: tuple[int, bool, bytearray] | None = None

    def feed(self, data: bytes) -> Iterator[Event]:
        """Return the events of all frames now complete; raise ValueError if it is not HTTP/2."""
        self._waiting += data
        if self._preface:
            if len(self._waiting) < len(PREFACE):
                return
            if self._waiting[: len(PREFACE)] != PREFACE:
                raise ValueError("a connection that does not begin as HTTP/2 does")
            del self._waiting[: len(PREFACE)]
            self._preface = False
        while len(self._waiting) >= _HEADER_BYTES:
            length = int.from_bytes(self._waiting[:3])
            if len(self._waiting) < _HEADER_BYTES + length:
                return
            kind, flags = self._waiting[3], self._waiting[4]
            stream = int.from_bytes(self._waiting[5:9]) & 0x7FFFFFFF
            payload = bytes(self._waiting[_HEADER_BYTES : _HEADER_BYTES + length])
            del self._waiting[: _HEADER_BYTES + length]
            yield from self._events(kind, flags, stream, payload)

    def _events(self, kind: int, flags: int, stream: int, payload: bytes) -> Iterator[Event]:
        match kind:
            case FrameKind.HEADERS:
                content = _unpadded(flags, payload)
                content = content[5:] if flags & _PRIORITY else content
                self._block = (stream, bool(flags & _END_STREAM), bytearray(content))
                yield from self._headers(flags)
            case FrameKind.CONTINUATION if self._block is not None:
                self._block[2].extend(payload)
                yield from self._headers(flags)
            case FrameKind.DATA:
                yield Data(stream, _unpadded(flags, payload), bool(flags & _END_STREAM))
            case FrameKind.RST_STREAM:
                yield StreamReset(stream, int.from_bytes(payload[:4]))
            case FrameKind.SETTINGS if not flags & _ACK:
                yield Settings()
            case FrameKind.PING if not flags & _ACK:
                yield Ping(payload)
            case FrameKind.GOAWAY:
                yield GoAway(int.from_bytes(payload[:4]) & 0x7FFFFFFF, int.from_bytes(payload[4:8]))

    def _headers(self, flags: int) -> Iterator[Event]:
        if not flags & _END_HEADERS or self._block is None:
            return
        stream, ends, block = self._block
        self._block = None
        values = {_text(name): _text(value) for name, value in self._decoder.decode(bytes(block), raw=True)}
        yield Headers(stream, values, ends)


def frame(
    kind: FrameKind, stream: int, payload: bytes = b"", *, ends: bool = False, acknowledges: bool = False
) -> bytes:
    """Return one frame with a complete header block. ends: the stream; acknowledges: SETTINGS or PING."""
    flags = _END_STREAM if ends or acknowledges else 0
    if kind is FrameKind.HEADERS:
        flags |= _END_HEADERS
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def grpc_message(content: bytes) -> bytes:
    """Return a message as in a stream's body: uncompressed, after its length."""
    return b"\0" + struct.pack(">I", len(content)) + content


def grpc_messages(body: bytes) -> Iterator[bytes]:
    """Return the complete messages of a body; raise ValueError for a compressed one."""
    at = 0
    while len(body) - at >= 5:  # a flag and four bytes of length
        length = int.from_bytes(body[at + 1 : at + 5])
        if len(body) - at - 5 < length:
            return
        if body[at]:
            raise ValueError("a compressed message")
        yield body[at + 5 : at + 5 + length]
        at += 5 + length


def _unpadded(flags: int, payload: bytes) -> bytes:
    return payload[1 : len(payload) - payload[0]] if flags & _PADDED and payload else payload


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode(errors="replace")
