"""One value of a script's JSON text, checked: right, or refused in one sentence that names the place and the nearest known name."""

import dataclasses
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

import msgspec

from rocketdiff.core import plain
from rocketdiff.core.errors import UsageError
from rocketdiff.simulation.script.vocabulary import Depth, DumpPart, Lookup, Mode

Value = TypeVar("Value")

_AT = r"( - at `\$(?P<path>[^`]*)`)?"
_MESSAGE = re.compile(rf"Expected `(?P<type>[^`]*)`(?P<limit>.*?)(, got `[^`]*`)?{_AT}")
_MISSING = re.compile(rf"Object missing required field `(?P<field>[^`]*)`{_AT}")
_ENUM = re.compile(rf"Invalid enum value .*?{_AT}")
_PART = re.compile(r"\.(\w+)|\[(\d+)\]")
_NAMES: Mapping[str, type[StrEnum]] = {"depth": Depth, "mode": Mode, "lookup": Lookup, "parts": DumpPart}
_LIMITS = {" matching regex '^[!-~]+$'": " of visible ASCII characters", " of length >= 1": " that is not empty"}
_WORDS = {
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where in which script; ``path`` as in ``steps[3].send.count``."""

    script: str
    path: str = ""

    def __truediv__(self, part: str | int) -> "Place":
        """One step further down."""
        if isinstance(part, int):
            return Place(self.script, f"{self.path}[{part}]")
        return Place(self.script, f"{self.path}.{part}" if self.path else part)

    @property
    def field(self) -> str:
        """Name of the innermost field."""
        return self.path.partition("[")[0] if "." not in self.path else self.path.rpartition(".")[2].partition("[")[0]

    def refuse(self, expected: str, *, seen: object, hint: str = "", in_words: bool = False) -> NoReturn:
        """Raise the UsageError for this place; a value that was seen is quoted unless it is told in words."""
        where = f"{self.path or 'the top level'} (script {self.script})"
        raise UsageError(f"{expected} at {where}", seen=str(seen) if in_words else shown(seen), hint=hint)


def shown(value: object) -> str:
    """A value as JSON would have it, cut short."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return plain.shown(value)


def nearest(name: str, known: Collection[str]) -> str:
    """The known name that was probably meant, or nothing."""
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return f"{close[0]}?" if close else ""


def members(raw: object, place: Place, known: Collection[str]) -> dict[str, Any]:
    """An object that holds known fields only."""
    if not isinstance(raw, dict):
        place.refuse("an object", seen=raw)
    for name in raw:
        if name not in known:
            place.refuse(f"one of the fields {', '.join(known)}", seen=name, hint=nearest(name, known))
    return raw


def read(kind: type[Value], raw: object, place: Place) -> Value:
    """A dataclass from an object with its fields (each is in the file what it is in the class)."""
    assert dataclasses.is_dataclass(kind)
    data = members(raw, place, [field.name for field in dataclasses.fields(kind)])
    value: Value = convert(kind, data, place)
    return value


def convert(kind: Any, raw: object, place: Place) -> Any:
    """A value of the type, strictly: nothing is converted silently, and limits are those of the type."""
    try:
        return msgspec.convert(raw, kind, strict=True)
    except msgspec.ValidationError as problem:
        _refuse(str(problem), raw, place)
    except ValueError:  # half of a character outside the basic plane: JSON can write it, UTF-8 cannot
        place.refuse("whole characters", seen=raw)


def _refuse(message: str, raw: object, place: Place) -> NoReturn:
    """The problem in our words: what msgspec says names the type, the limit and the place below ``place``."""
    if match := _MISSING.fullmatch(message):
        where, _ = _below(match["path"], raw, place)
        where.refuse("a value", seen="nothing", in_words=True, hint=f"add {match['field']}")
    if match := _ENUM.fullmatch(message):
        where, value = _below(match["path"], raw, place)
        names = [str(name) for name in _NAMES.get(where.field, ())]
        where.refuse(f"one of {', '.join(names)}", seen=value, hint=nearest(str(value), names))
    if match := _MESSAGE.fullmatch(message):
        where, value = _below(match["path"], raw, place)
        kinds = " or ".join(_WORDS.get(kind.strip(), kind.strip()) for kind in match["type"].split("|"))
        where.refuse(f"{kinds}{_LIMITS.get(match['limit'], match['limit'])}", seen=value)
    place.refuse(message, seen=raw)


def _below(path: str | None, raw: Any, place: Place) -> tuple[Place, object]:
    """The place that a path of msgspec leads to, and what stands there."""
    for name, number in _PART.findall(path or ""):
        part = int(number) if number else name
        raw = raw[part]
        place /= part
    return place, raw
