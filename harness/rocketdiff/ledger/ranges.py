"""Ranges of releases and of counts as the ledger writes them: ``>=4.0.0,<4.9.8 || >=5.0.0,<5.1.4``."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

_VERSION = re.compile(r"(?P<numbers>\d+(?:\.\d+)*)(?:-(?P<suffix>[A-Za-z0-9.]+))?")
_TERM = re.compile(rf"(?P<sign>>=|<=|==|!=|>|<|)\s*(?P<version>{_VERSION.pattern})")
_HOLDS: dict[str, Callable[["_Key", "_Key"], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "": operator.eq,
}

FORM = "a range such as '>=4.0.0,<4.9.8 || >=5.0.0,<5.1.4'"

_Key = tuple[tuple[int, ...], bool, str]


@dataclass(frozen=True, slots=True)
class Range:
    """
    Alternatives joined by ``||``, each a list of conditions joined by commas that must all hold.

    A version without a sign means that version alone. ``4.0.0-incubating`` comes before ``4.0.0``, and ``4.9`` is ``4.9.0``.
    """

    text: str
    alternatives: tuple[tuple[tuple[str, str], ...], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a range; ValueError names the part that is none."""
        alternatives = tuple(tuple(_term(part) for part in group.split(",")) for group in text.split("||"))
        return cls(text, alternatives)

    def holds(self, version: str) -> bool:
        """Whether a version is inside; one that is no number (a toy's defect) is inside no range."""
        key = _key(version)
        if key is None:
            return False
        return any(all(_is_met(key, sign, bound) for sign, bound in group) for group in self.alternatives)


def _term(part: str) -> tuple[str, str]:
    match = _TERM.fullmatch(part.strip())
    if match is None:
        raise ValueError(part.strip() or "nothing between the signs")
    return match["sign"], match["version"]


def _is_met(key: _Key, sign: str, bound: str) -> bool:
    limit = _key(bound)
    assert limit is not None, "terms are checked when they are read"
    return _HOLDS[sign](key, limit)


def _key(version: str) -> _Key | None:
    match = _VERSION.fullmatch(version)
    if match is None:
        return None
    numbers = [int(number) for number in match["numbers"].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), match["suffix"] is None, match["suffix"] or ""
