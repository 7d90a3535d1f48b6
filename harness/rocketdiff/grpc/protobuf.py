"""Protobuf's encoding of a message as a list of numbered fields, without its schema; without I/O."""

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Wire types; groups (3 and 4) are in no message of ours."""

_FIXED_BYTES = {FIXED64: 8, FIXED32: 4}


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """
    Number and value of each field in order: an int for a varint, bytes for anything else.

    Raises ValueError for what is no message.
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            length, at = _varint(message, at)
        elif kind in _FIXED_BYTES:
            length = _FIXED_BYTES[kind]
        else:
            raise ValueError(f"wire type {kind}")
        if at + length > len(message):
            raise ValueError("a field that is longer than its message")
        yield key >> 3, message[at : at + length]
        at += length


def texts(message: bytes, number: int) -> Iterator[str]:
    """The values of a field of texts."""
    for found, value in fields(message):
        if found == number and isinstance(value, bytes):
            yield value.decode(errors="replace")


def parts(message: bytes, number: int) -> Iterator[bytes]:
    """The values of a field of messages, texts or bytes."""
    for found, value in fields(message):
        if found == number and isinstance(value, bytes):
            yield value


def number_of(message: bytes, number: int) -> int:
    """The last value of a field of numbers; 0, its default, where it is left out."""
    last = 0
    for found, value in fields(message):
        if found == number and isinstance(value, int):
            last = value
    return last


def varint_field(number: int, value: int) -> bytes:
    """A field of a number."""
    return _encoded(number << 3 | VARINT) + _encoded(value)


def bytes_field(number: int, value: bytes | str) -> bytes:
    """A field of a message, a text or bytes."""
    content = value.encode() if isinstance(value, str) else value
    return _encoded(number << 3 | BYTES) + _encoded(len(content)) + content


def _encoded(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:  # ten bytes of seven bits
            raise ValueError("a number that does not end")
        octet = message[at]
        at += 1
        value |= (octet & 0x7F) << shift
        if octet < 0x80:  # the top bit says that more follows
            return value, at
        shift += 7
