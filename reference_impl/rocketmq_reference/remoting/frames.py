"""
Frames of the remoting protocol: commands to bytes and back, with both header encodings; no I/O.

A frame is: total length (4 bytes, without itself), encoding of the header (1 byte), header length (3 bytes), header, body. A
server answers in the encoding of the request.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count

from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.headers import header_binary, header_json

RESPONSE_FLAG = 0b01
ONEWAY_FLAG = 0b10

FRAME_MAX_BYTES = 16_777_216
"""com.rocketmq.remoting.frameMaxLength of NettyDecoder in every release; it closes the connection on a longer frame."""

_LENGTHS = struct.Struct(">II")
_LENGTH = struct.Struct(">I")
_OPAQUE_MASK = 0x7FFFFFFF
_opaques = count(1)


class Serialization(IntEnum):
    """Encoding of a header (SerializeType, from 4.0.0-incubating); Java clients use JSON by default."""

    JSON = 0
    ROCKETMQ = 1


_HEADERS: dict[int, tuple[Serialization, Callable[[bytes], header_json.Header]]] = {
    Serialization.JSON: (Serialization.JSON, header_json.decode),
    Serialization.ROCKETMQ: (Serialization.ROCKETMQ, header_binary.decode),
}


def next_opaque() -> int:
    """Return a request number for this process: 31 bits, unique until it wraps. Thread-safe."""
    return next(_opaques) & _OPAQUE_MASK


@dataclass(slots=True)  # not frozen, because that would slow down every answer; treat as immutable
class Command:
    """
    One request or response (RemotingCommand, 4.0.0-incubating to 5.3.3).

    ext_fields: header of this request or response code, all values as text. opaque: the number that a response repeats.
    flag: bit 0 set for a response, bit 1 for a oneway request. version: MQVersion ordinal of the sender, which servers
    check for a few features.
    """

    code: int
    ext_fields: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    opaque: int = field(default_factory=next_opaque)
    flag: int = 0
    language: str = "PYTHON"
    version: int = 0
    remark: str | None = None
    serialization: Serialization = Serialization.JSON

    @property
    def is_response(self) -> bool:
        """True if this is the response to the request with the same opaque."""
        return bool(self.flag & RESPONSE_FLAG)

    @property
    def is_oneway(self) -> bool:
        return bool(self.flag & ONEWAY_FLAG)


def respond_to(
    request: Command,
    code: int,
    *,
    remark: str | None = None,
    ext_fields: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Command:
    """Return the response to a request: same opaque, same header encoding, response bit set."""
    return Command(
        code=code,
        ext_fields=ext_fields or {},
        body=body,
        opaque=request.opaque,
        flag=RESPONSE_FLAG,
        remark=remark,
        serialization=request.serialization,
    )


def encode(command: Command, opaque: int | None = None) -> bytes:
    """
    Return the frame of a command (RemotingCommand.encode, 5.3.3); opaque: replaces its own number.

    Raises RemotingCommandException if the header cannot be written (binary keys are limited to 32767 bytes).
    """
    number = command.opaque if opaque is None else opaque
    header = header_json.Header(
        command.code, command.language, command.version, number, command.flag, command.remark, command.ext_fields
    )
    written = (header_json if command.serialization is Serialization.JSON else header_binary).encode(header)
    return join_frame(command.serialization, written, command.body)


def join_frame(serialization: Serialization, header: bytes, body: bytes) -> bytes:
    """Return the frame of an encoded header and a body."""
    total = 4 + len(header) + len(body)
    return b"".join((_LENGTHS.pack(total, serialization << 24 | len(header)), header, body))


def decode(frame: bytes) -> Command:
    """
    Return the command in a frame without its leading total length (RemotingCommand.decode, 5.3.3).

    Raises RemotingCommandException for anything else.
    """
    return _decode(frame, 0)


def _decode(data: bytes, begin: int) -> Command:
    """Decode the frame whose header length is at begin and whose body reaches to the end of the data."""
    header_begin = begin + 4
    if len(data) < header_begin:
        raise RemotingCommandException(f"expected a frame of at least 4 bytes, saw {len(data) - begin}")
    (word,) = _LENGTH.unpack_from(data, begin)
    header_end = header_begin + (word & 0xFFFFFF)
    if header_end > len(data):
        raise RemotingCommandException(f"decode error, bad header length: {word & 0xFFFFFF}")
    found = _HEADERS.get(word >> 24)
    if found is None:
        raise RemotingCommandException(f"expected header encoding 0 or 1, saw {word >> 24}")
    serialization, decode_header = found
    code, language, version, opaque, flag, remark, ext_fields = decode_header(data[header_begin:header_end])
    return Command(code, ext_fields, data[header_end:], opaque, flag, language, version, remark, serialization)


class FrameBuffer:
    """Collects received bytes and returns complete commands, in order."""

    __slots__ = ("_received",)

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> list[Command]:
        """
        Add received bytes and return the commands that are now complete.

        Raises RemotingCommandException for an unreadable frame; the stream is unusable afterwards.
        """
        received = self._received
        if not received and len(data) >= 4 and int.from_bytes(data[:4], "big") == len(data) - 4 <= FRAME_MAX_BYTES:
            return [_decode(data, 4)]  # exactly one frame, as for nearly every answer
        received += data
        commands: list[Command] = []
        start = 0
        while len(received) - start >= 4:
            total = int.from_bytes(received[start : start + 4], "big")
            if total > FRAME_MAX_BYTES:
                raise RemotingCommandException(f"expected a frame of at most {FRAME_MAX_BYTES} bytes, saw {total}")
            end = start + 4 + total
            if end > len(received):
                break
            commands.append(decode(bytes(received[start + 4 : end])))
            start = end
        if start:
            del received[:start]
        return commands
