"""
Messages as a broker stores them and returns them to pulls (MessageDecoder.decode, 4.0.0-incubating to 5.3.3).
"""

import socket
import struct
import zlib
from dataclasses import dataclass
from enum import IntFlag

from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.properties import UNIQ_KEY, decode_properties

MAGIC_V1 = 0xDAA320A7
MAGIC_V2 = 0xDAA320AB  # topic longer than 127 bytes; its length takes two bytes
_MAGIC_OF_PADDING = 0xCBD43194  # end of a commit log file; never in answers to pulls, but named in the error

_FIXED = struct.Struct(
    ">IIIiiqqiq"
)  # size, magic, body crc, queue, flag, queue offset, physical offset, sys flag, born
_STORED = struct.Struct(">iq")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")

_COMPRESSION_NAMES = {1: "LZ4", 2: "ZSTD"}


class SysFlag(IntFlag):
    """
    Bits of a message's system flag (MessageSysFlag, 5.3.3).

    From 5.0.0 three bits name the compression; zero means zlib, the only one in earlier releases.
    """

    COMPRESSED = 0x1
    MULTI_TAGS = 0x2
    TRANSACTION_PREPARED = 0x4
    TRANSACTION_COMMIT = 0x8
    BORN_HOST_V6 = 0x10
    STORE_HOST_V6 = 0x20
    NEED_UNWRAP = 0x40
    INNER_BATCH = 0x80
    COMPRESSION_LZ4 = 0x100
    COMPRESSION_ZSTD = 0x200
    COMPRESSION_ZLIB = 0x300


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """
    One message of one queue. Times in milliseconds since 1970, by the producer's clock (born) and the broker's (store).

    body is decompressed; sys_flag is as stored. born_host and store_host are ``host:port``. transaction_id: given by the consumer, not stored.
    """

    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    body: bytes
    properties: dict[str, str]
    flag: int
    sys_flag: int
    born_timestamp_ms: int
    born_host: str
    store_timestamp_ms: int
    store_host: str
    reconsume_times: int
    body_crc: int
    transaction_id: str | None = None

    @property
    def unique_key(self) -> str | None:
        """The client's id of the message; None if the client set none."""
        return self.properties.get(UNIQ_KEY)

    @property
    def offset_message_id(self) -> str:
        """The broker's id: broker address and physical offset."""
        return encode_offset_message_id(self.store_host, self.physical_offset)


def decode_stored(data: bytes) -> list[StoredMessage]:
    """
    Return the messages in the body of a pull's answer, in queue order.

    Raises RemotingCommandException for bytes that are no messages, and for LZ4 and ZSTD bodies, which the standard library
    cannot decompress.
    """
    messages: list[StoredMessage] = []
    at = 0
    while at < len(data):
        message, at = _decode_one(data, at)
        messages.append(message)
    return messages


def _decode_one(data: bytes, start: int) -> tuple[StoredMessage, int]:
    try:
        size, magic, crc, queue_id, flag, queue_offset, physical_offset, sys_flag, born_ms = _FIXED.unpack_from(
            data, start
        )
        if magic not in (MAGIC_V1, MAGIC_V2):
            what = "padding" if magic == _MAGIC_OF_PADDING else "no message"
            raise RemotingCommandException(f"expected a stored message at byte {start}, saw {what} (magic {magic:#x})")
        if size < _FIXED.size or start + size > len(data):
            raise RemotingCommandException(f"expected a message of {size} bytes at {start}, saw {len(data) - start}")
        at = start + _FIXED.size
        born_host, at = _host(data, at, is_v6=bool(sys_flag & SysFlag.BORN_HOST_V6))
        (store_ms,) = _LONG.unpack_from(data, at)
        store_host, at = _host(data, at + 8, is_v6=bool(sys_flag & SysFlag.STORE_HOST_V6))
        reconsume_times, _prepared_transaction_offset = _STORED.unpack_from(data, at)
        at += _STORED.size
        body, at = _sized(data, at, 4)
        topic, at = _sized(data, at, 1 if magic == MAGIC_V1 else 2)
        properties, at = _sized(data, at, 2)
        message = StoredMessage(
            topic=topic.decode(),
            queue_id=queue_id,
            queue_offset=queue_offset,
            physical_offset=physical_offset,
            body=decompress(body, sys_flag),
            properties=decode_properties(properties.decode()),
            flag=flag,
            sys_flag=sys_flag,
            born_timestamp_ms=born_ms,
            born_host=born_host,
            store_timestamp_ms=store_ms,
            store_host=store_host,
            reconsume_times=reconsume_times,
            body_crc=crc,
        )
    except (struct.error, UnicodeDecodeError) as error:
        raise RemotingCommandException(f"expected a stored message at byte {start}: {error}") from error
    return message, start + size


def _host(data: bytes, at: int, *, is_v6: bool) -> tuple[str, int]:
    end = at + (16 if is_v6 else 4)
    (port,) = _INT.unpack_from(data, end)
    if is_v6:
        return f"[{socket.inet_ntop(socket.AF_INET6, data[at:end])}]:{port}", end + 4
    return f"{socket.inet_ntoa(data[at:end])}:{port}", end + 4


def _sized(data: bytes, at: int, length_bytes: int) -> tuple[bytes, int]:
    start = at + length_bytes
    end = start + int.from_bytes(data[at:start], "big")
    if end > len(data):
        raise RemotingCommandException(f"expected {end - start} bytes at {start}, saw {len(data) - start}")
    return data[start:end], end


def compress(body: bytes, level: int) -> bytes:
    """Return the body compressed with zlib (UtilAll.compress to 4.9.x, ZlibCompressor from 5.0.0; default level 5)."""
    return zlib.compress(body, level)


def decompress(body: bytes, sys_flag: int) -> bytes:
    """
    Return a body as the application sent it.

    Raises RemotingCommandException for LZ4 and ZSTD (possible from 5.0.0) and for damaged zlib data.
    """
    if not sys_flag & SysFlag.COMPRESSED or not body:
        return body
    kind = (sys_flag >> 8) & 0x7
    if kind not in (0, 3):
        name = _COMPRESSION_NAMES.get(kind, f"type {kind}")
        raise RemotingCommandException(f"expected a body compressed with zlib, saw {name}, which is not supported here")
    try:
        return zlib.decompress(body)
    except zlib.error as error:
        raise RemotingCommandException(f"expected a body compressed with zlib: {error}") from error


def encode_offset_message_id(store_host: str, physical_offset: int) -> str:
    """Return the broker's message id: address, port (4 bytes), physical offset (8) in upper-case hex (createMessageId)."""
    host, _, port = store_host.rpartition(":")
    is_v6 = host.startswith("[")
    packed = socket.inet_pton(socket.AF_INET6, host.strip("[]")) if is_v6 else socket.inet_aton(host)
    return (packed + _INT.pack(int(port)) + _LONG.pack(physical_offset)).hex().upper()
