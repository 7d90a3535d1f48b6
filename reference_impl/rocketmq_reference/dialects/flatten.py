"""A dialect as a flat table of fields, and the difference of two dialects, for reading."""

from dataclasses import fields, is_dataclass

from rocketmq_reference.rules.dialect import Dialect

_NOT_BEHAVIOUR = {"name", "releases", "parent"}


def flatten(dialect: Dialect) -> dict[str, str]:
    """Return every behavioural field as text, by its dotted name."""
    return {
        name: text
        for part in fields(dialect)
        if part.name not in _NOT_BEHAVIOUR
        for name, text in _flat(part.name, getattr(dialect, part.name))
    }


def difference(one: Dialect, other: Dialect) -> dict[str, tuple[str, str]]:
    """Return the fields in which two dialects differ: dotted name → (value in the first, value in the second)."""
    left, right = flatten(one), flatten(other)
    return {name: (left[name], right[name]) for name in left if left[name] != right[name]}


def _flat(name: str, value: object) -> list[tuple[str, str]]:
    if is_dataclass(value):
        return [pair for part in fields(value) for pair in _flat(f"{name}.{part.name}", getattr(value, part.name))]
    return [(name, _text(value))]


def _text(value: object) -> str:
    if isinstance(value, frozenset):
        return " ".join(str(item) for item in sorted(value))
    if isinstance(value, tuple):
        return " ".join(str(item) for item in value)
    return str(getattr(value, "__name__", value))
