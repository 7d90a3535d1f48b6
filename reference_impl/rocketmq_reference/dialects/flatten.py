"""A dialect as a flat table of fields, and the difference of two dialects."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar

from rocketmq_reference.rules.dialect import ConsumerDialect, Dialect

AnyDialect = TypeVar("AnyDialect", bound=Dialect | ConsumerDialect)
"""Of one role."""

_LABELS = {"name", "releases", "parent"}


class Rule(NamedTuple):
    """A behavioural field; path: attribute names from the dialect to it, the part first."""

    path: tuple[str, ...]
    value: object

    @property
    def name(self) -> str:
        """The dotted name without the part: names are unique among the parts."""
        return ".".join(self.path[1:])

    @property
    def text(self) -> str:
        if isinstance(self.value, frozenset):
            return " ".join(str(item) for item in sorted(self.value))
        if isinstance(self.value, tuple):
            return " ".join(str(item) for item in self.value)
        return str(getattr(self.value, "__name__", self.value))


def rules_of(dialect: Dialect | ConsumerDialect) -> tuple[Rule, ...]:
    """Return every behavioural field."""
    parts = (field.name for field in fields(dialect) if field.name not in _LABELS)
    return tuple(rule for part in parts for rule in _rules((part,), getattr(dialect, part)))


def flatten(dialect: Dialect | ConsumerDialect) -> dict[str, str]:
    """Return every behavioural field as text, by its dotted name."""
    return {rule.name: rule.text for rule in rules_of(dialect)}


def difference(one: AnyDialect, other: AnyDialect) -> dict[str, tuple[str, str]]:
    """Return the fields in which two dialects differ: dotted name → (value in the first, value in the second)."""
    return {left.name: (left.text, right.text) for left, right in differing(one, other)}


def differing(one: AnyDialect, other: AnyDialect) -> tuple[tuple[Rule, Rule], ...]:
    """Return the fields in which two dialects differ, as in the first and as in the second."""
    pairs = zip(rules_of(one), rules_of(other), strict=True)
    return tuple((left, right) for left, right in pairs if left.value != right.value)


def exchanged(dialect: AnyDialect, rule: Rule) -> AnyDialect:
    """Return the dialect with one field as in the rule."""
    changed: AnyDialect = _with(dialect, rule.path, rule.value)
    return changed


def _rules(path: tuple[str, ...], value: object) -> Iterator[Rule]:
    if not is_dataclass(value):
        yield Rule(path, value)
        return
    for field in fields(value):
        yield from _rules((*path, field.name), getattr(value, field.name))


def _with(value: Any, path: tuple[str, ...], new: object) -> Any:
    name, *rest = path
    return replace(value, **{name: _with(getattr(value, name), tuple(rest), new) if rest else new})
