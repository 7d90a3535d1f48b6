"""Command headers as JSON, encoding 0 and the default of Java clients (RemotingCommand with fastjson, every release)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from rocketmq_reference.remoting.errors import RemotingCommandException
from rocketmq_reference.remoting.json_text import read_json, write_json


class Header(NamedTuple):
    """The fields of a command header, independent of its encoding."""

    code: int
    language: str
    version: int
    opaque: int
    flag: int
    remark: str | None
    ext_fields: Mapping[str, str]


def encode(header: Header) -> bytes:
    """Return the header as a JSON object; a remark of None and empty ext fields are omitted, as fastjson omits nulls."""
    fields: dict[str, Any] = {
        "code": int(header.code),
        "flag": header.flag,
        "language": header.language,
        "opaque": header.opaque,
        "serializeTypeCurrentRPC": "JSON",
        "version": header.version,
    }
    if header.ext_fields:
        fields["extFields"] = dict(header.ext_fields)
    if header.remark is not None:
        fields["remark"] = header.remark
    return write_json(fields)


def decode(data: bytes) -> Header:
    """
    Read a JSON header; missing fields have Java's defaults.

    Raises RemotingCommandException if it is no JSON object or a number is invalid.
    """
    header = read_json(data)
    try:
        get = header.get
        ext_fields = get("extFields") or {}
        return Header(  # by position, for speed: made for every answer
            int(get("code", 0)),
            get("language") or "OTHER",
            int(get("version", 0)),
            int(get("opaque", 0)),
            int(get("flag", 0)),
            get("remark"),
            {name: value if type(value) is str else str(value) for name, value in ext_fields.items()},
        )
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise RemotingCommandException(f"expected a command header, saw {data[:200]!r}: {error}") from error
