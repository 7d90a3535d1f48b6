"""Protobuf messages as lists of numbered fields, without schema."""

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Wire types. Our messages contain no groups (3 and 4)."""

_FIXED_BYTES = {FIXED64: 8, FIXED32: 4}


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """
    Return number and value of each field: an int for a varint, else bytes.

    Raises ValueError if it is not a message.
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
    """Return a string field's values."""
    for found, value in fields(message):
        if found == number and isinstance(value, bytes):
            yield value.decode(errors="replace")


def parts(message: bytes, number: int) -> Iterator[bytes]:
    """Return the values of a message, string or bytes field."""
    for found, value in fields(message):
        if found == number and isinstance(value, bytes):
            yield value


def number_of(message: bytes, number: int) -> int:
    """Return the last value of a numeric field; 0, the default, if absent."""
    last = 0
    for found, value in fields(message):
        if found == number and isinstance(value, int):
            last = value
    return last


def varint_field(number: int, value: int) -> bytes:
    """Encode a numeric field."""
    return _encoded(number << 3 | VARINT) + _encoded(value)


def bytes_field(number: int, value: bytes | str) -> bytes:
    """Encode a message, string or bytes field."""
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
