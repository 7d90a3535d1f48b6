"""
Sanitises text from clients, brokers and stored runs, for all renderers.

A document is cleaned when it is built and when it is read back: no control characters, no CI commands, no excessive length.
"""

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, cast

import msgspec

from rocketdiff.core.text.plain_text import plain

Value = TypeVar("Value")

_plain = lru_cache(maxsize=4_096)(plain)


def cleaned(value: Value) -> Value:
    """Return the same value with all text in it plain; enums and numbers are unchanged."""
    return cast("Value", _cleaned(value))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Enum):
        return _plain(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_cleaned(item) for item in value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(
            value, **{name: _cleaned(getattr(value, name)) for name in value.__struct_fields__}
        )
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _cleaned(getattr(value, field.name)) for field in fields(value)})
    return value
