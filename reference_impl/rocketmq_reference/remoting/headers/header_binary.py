"""
Command headers in binary, encoding 1 (RocketMQSerializable, 4.0.0-incubating to 5.3.3).

code (2 bytes), language (1), version (2), opaque (4), flag (4), remark (length 4, UTF-8), length of the fields (4), then
each field as key (length 2, UTF-8) and value (length 4, UTF-8). Big endian. An empty remark is read as None.
"""

import struct

from rocketmq_reference.remoting.codes import LanguageCode
from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.headers.header_json import Header

_FIXED = struct.Struct(">hbhii")
_SHORT = struct.Struct(">h")
_INT = struct.Struct(">i")
_LONGEST_KEY_BYTES = 0x7FFF

_LANGUAGE_NAMES = {int(language): language.name for language in LanguageCode}


def encode(header: Header) -> bytes:
    """
    Return the header in binary; a language without a number is written as OTHER.

    Raises RemotingCommandException for a key over 32767 bytes or a code that does not fit 16 bits.
    """
    fields = b"".join(map(_encode_field, header.ext_fields.items()))
    text = (header.remark or "").encode()
    number = LanguageCode.__members__.get(header.language, LanguageCode.OTHER)
    try:
        fixed = _FIXED.pack(header.code, number, header.version, header.opaque, header.flag)
    except struct.error as error:
        seen = f"{header.code} and {header.version}"
        raise RemotingCommandException(f"expected code and version of 16 bits, saw {seen}") from error
    return b"".join((fixed, _INT.pack(len(text)), text, _INT.pack(len(fields)), fields))


def _encode_field(field: tuple[str, str]) -> bytes:
    key, value = field[0].encode(), field[1].encode()
    if len(key) > _LONGEST_KEY_BYTES:
        raise RemotingCommandException(f"expected a key of at most {_LONGEST_KEY_BYTES} bytes, saw {len(key)}")
    return b"".join((_SHORT.pack(len(key)), key, _INT.pack(len(value)), value))


def decode(data: bytes) -> Header:
    """
    Read a binary header.

    Raises RemotingCommandException if lengths exceed it or text is not UTF-8.
    """
    try:
        code, language, version, opaque, flag = _FIXED.unpack_from(data)
        remark, at = _text(data, _FIXED.size)
        (fields_bytes,) = _INT.unpack_from(data, at)
        at += 4
        end = at + fields_bytes
        if fields_bytes < 0 or end > len(data):
            raise RemotingCommandException(f"extFields length: {fields_bytes}, but header length: {len(data)}")
        ext_fields: dict[str, str] = {}
        while at < end:
            (key_bytes,) = _SHORT.unpack_from(data, at)
            if key_bytes < 0:
                raise RemotingCommandException(f"string length exceed limit: {key_bytes}")
            key, at = data[at + 2 : at + 2 + key_bytes].decode(), at + 2 + key_bytes
            ext_fields[key], at = _text(data, at)
    except (struct.error, UnicodeDecodeError) as error:
        raise RemotingCommandException(f"expected a binary command header, saw {data[:200]!r}: {error}") from error
    return Header(code, _LANGUAGE_NAMES.get(language, "OTHER"), version, opaque, flag, remark or None, ext_fields)


def _text(data: bytes, at: int) -> tuple[str, int]:
    (size,) = _INT.unpack_from(data, at)
    end = at + 4 + size
    if size < 0 or end > len(data):
        raise RemotingCommandException(f"string length exceed limit: {size}")
    return data[at + 4 : end].decode(), end
