"""Several messages of one topic in one request body (MessageDecoder.encodeMessages, 4.1.0 to 5.5.0)."""

import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.properties import decode_properties, encode_properties

_HEAD = struct.Struct(">iiiii")  # size, magic, crc, flag, body length; the broker fills in magic and crc
_SHORT = struct.Struct(">H")


class BatchEntry(NamedTuple):
    """One message of a batch; topic and queue are those of the request."""

    body: bytes
    properties: Mapping[str, str]
    flag: int = 0


def encode_batch(entries: Iterable[BatchEntry], *, closed: bool = True) -> bytes:
    """
    Return the body of a batch request; bodies in a batch are never compressed. closed: as in encode_properties.

    Raises RemotingCommandException if one message's properties take over 32767 bytes.
    """
    return b"".join(_encode_entry(entry, closed=closed) for entry in entries)


def _encode_entry(entry: BatchEntry, *, closed: bool) -> bytes:
    properties = encode_properties(entry.properties, closed=closed).encode()
    if len(properties) > 0x7FFF:
        raise RemotingCommandException(f"expected properties of at most 32767 bytes, saw {len(properties)}")
    size = _HEAD.size + len(entry.body) + _SHORT.size + len(properties)
    head = _HEAD.pack(size, 0, 0, entry.flag, len(entry.body))
    return b"".join((head, entry.body, _SHORT.pack(len(properties)), properties))


def decode_batch(data: bytes) -> list[BatchEntry]:
    """
    Return the messages in the body of a batch request, as a broker does (MessageDecoder.decodeMessages).

    Raises RemotingCommandException for anything else.
    """
    entries: list[BatchEntry] = []
    at = 0
    try:
        while at < len(data):
            size, _magic, _crc, flag, body_bytes = _HEAD.unpack_from(data, at)
            body_end = at + _HEAD.size + body_bytes
            (properties_bytes,) = _SHORT.unpack_from(data, body_end)
            end = body_end + 2 + properties_bytes
            if body_bytes < 0 or end != at + size or end > len(data):
                raise RemotingCommandException(f"expected a batched message of {size} bytes at {at}")
            properties = decode_properties(data[body_end + 2 : end].decode())
            entries.append(BatchEntry(data[at + _HEAD.size : body_end], properties, flag))
            at = end
    except (struct.error, UnicodeDecodeError) as error:
        raise RemotingCommandException(f"expected a batched message at {at}: {error}") from error
    return entries
