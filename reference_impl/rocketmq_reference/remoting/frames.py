"""
Frames of the remoting protocol: a command to bytes and bytes to commands, with both header encodings; no I/O.

A frame is: total length (4 bytes, without itself), header length (3 bytes) under one byte naming the header's
encoding, header, body. The encoding travels in every frame and a server answers in the one it was asked in.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count

from rocketmq_reference.remoting import header_binary, header_json
from rocketmq_reference.remoting.errors import RemotingCommandException

RESPONSE_FLAG = 0b01
ONEWAY_FLAG = 0b10

FRAME_MAX_BYTES = 16_777_216
"""com.rocketmq.remoting.frameMaxLength of NettyDecoder in every release; a longer frame closes the connection there."""

_LENGTHS = struct.Struct(">II")
_LENGTH = struct.Struct(">I")
_OPAQUE_MASK = 0x7FFFFFFF
_opaques = count(1)


class Serialization(IntEnum):
    """Encoding of a header (SerializeType, 4.0.0-incubating on); Java clients use JSON unless told otherwise."""

    JSON = 0
    ROCKETMQ = 1


_HEADERS: dict[int, tuple[Serialization, Callable[[bytes], header_json.Header]]] = {
    Serialization.JSON: (Serialization.JSON, header_json.decode),
    Serialization.ROCKETMQ: (Serialization.ROCKETMQ, header_binary.decode),
}


def next_opaque() -> int:
    """A request number for this process, positive and 31 bits wide; unique until it wraps. Safe for threads."""
    return next(_opaques) & _OPAQUE_MASK


@dataclass(slots=True)  # not frozen, which would make the reading of every answer dearer; nobody changes one
class Command:
    """
    One request or response (RemotingCommand, 4.0.0-incubating to 5.3.3).

    ext_fields: the request's or response's own header, all values as text. opaque: the number a response repeats.
    flag: bit 0 set for a response, bit 1 for a oneway request. version: MQVersion ordinal of the sender, which servers
    look at for a few features.
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
        """Whether this answers the request with the same opaque."""
        return bool(self.flag & RESPONSE_FLAG)

    @property
    def is_oneway(self) -> bool:
        """Whether no answer is expected."""
        return bool(self.flag & ONEWAY_FLAG)


def respond_to(
    request: Command,
    code: int,
    *,
    remark: str | None = None,
    ext_fields: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Command:
    """The response to a request: same opaque, same header encoding, response bit set."""
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
    The frame of a command (RemotingCommand.encode, 5.3.3); opaque: another number than its own.

    Raises RemotingCommandException if the header cannot be written (binary keys are limited to 32767 bytes).
    """
    number = command.opaque if opaque is None else opaque
    if command.serialization is Serialization.JSON:
        header = header_json.encode(
            command.code,
            command.language,
            command.version,
            number,
            command.flag,
            command.remark,
            command.ext_fields,
        )
    else:
        header = header_binary.encode(
            command.code,
            command.language,
            command.version,
            number,
            command.flag,
            command.remark,
            command.ext_fields,
        )
    return join_frame(command.serialization, header, command.body)


def join_frame(serialization: Serialization, header: bytes, body: bytes) -> bytes:
    """A frame from an encoded header and a body."""
    total = 4 + len(header) + len(body)
    return b"".join((_LENGTHS.pack(total, serialization << 24 | len(header)), header, body))


def decode(frame: bytes) -> Command:
    """
    The command in a frame without its leading total length (RemotingCommand.decode, 5.3.3).

    Raises RemotingCommandException for anything that is not one.
    """
    return _decode(frame, 0)


def _decode(data: bytes, begin: int) -> Command:
    """The command in the frame whose header's length stands at begin and whose body ends where the data do."""
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
    """Collects received bytes and gives out whole commands, in order."""

    __slots__ = ("_received",)

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> list[Command]:
        """
        Take bytes as they came and return the commands that are now complete.

        Raises RemotingCommandException for a frame that cannot be read; the stream is useless afterwards.
        """
        received = self._received
        if not received and len(data) >= 4 and int.from_bytes(data[:4], "big") == len(data) - 4 <= FRAME_MAX_BYTES:
            return [_decode(data, 4)]  # one whole frame, as nearly every answer is
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
