"""
Removes secrets from a line of a subject, so that journal, transcript and messages never have them.

A line is decoded first. A number stays, and so does a name (a broker's, an exception's class) in which a secret under
``LONG_CHARACTERS`` happens to occur: a key password ``1234`` is part of many a correct record.
"""

from collections.abc import Callable
from typing import Any, get_type_hints

import msgspec

from rocketdiff.core.records.received import RECORDS, Record
from rocketdiff.core.security import LEFT_OUT, hidden, hidden_bytes
from rocketdiff.protocol.records import limits_of, reported_fields

LONG_CHARACTERS = 12
"""A secret of so many characters is part of no name by chance; keys of accounts have 16 and more."""

_OBJECT = msgspec.json.Decoder(dict[str, Any])


def without_secrets(line: bytes, secrets: tuple[str, ...]) -> bytes:
    """Return the line, encoded anew only if a secret may be in it. A line that is no JSON object is redacted as text."""
    redacted = hidden_bytes(line, secrets)
    if redacted == line:
        return line
    try:
        members = _OBJECT.decode(line)
        return msgspec.json.encode(_redacted(members, secrets))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return redacted


def _redacted(members: dict[str, Any], secrets: tuple[str, ...]) -> dict[str, Any]:
    kind = members.get("type")
    names = _NAMES.get(str(kind), frozenset({"type"}))
    long = tuple(secret for secret in secrets if len(secret) >= LONG_CHARACTERS)

    def in_name(value: object) -> object:
        if not isinstance(value, str):
            return value
        return hidden(value, secrets if any(map(str.isspace, value)) else long)

    def in_text(value: object) -> object:
        if isinstance(value, str):
            return hidden(value, secrets)
        return LEFT_OUT if str(value) in secrets else value

    return {
        name if name in names else hidden(name, secrets): _mapped(value, in_name if name in names else in_text)
        for name, value in members.items()
    }


def _mapped(value: object, change: Callable[[object], object]) -> object:
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {str(change(key)): _mapped(item, change) for key, item in value.items()}
    return change(value)


def _names_of(record: type[Record]) -> frozenset[str]:
    """The fields of a record but those of free text, which are strings without limits."""
    types, limited = get_type_hints(record), limits_of(record)
    fields = reported_fields(record)
    texts = {name for name, field in fields.items() if types[field] in (str, str | None) and field not in limited}
    return frozenset({"type", *fields} - texts)


_NAMES = {name: _names_of(record) for name, record in RECORDS.items()}
