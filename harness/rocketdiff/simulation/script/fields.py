"""One value of a script's JSON text, checked: right, or refused in one sentence that names the place and the nearest known name."""

import dataclasses
from collections.abc import Collection
from dataclasses import MISSING, dataclass
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from rocketdiff.core import plain
from rocketdiff.core.errors import UsageError

Value = TypeVar("Value")

_WORDS: dict[type[inspect.Type], tuple[type, str]] = {
    inspect.IntType: (int, "a whole number"),
    inspect.StrType: (str, "text"),
    inspect.BoolType: (bool, "true or false"),
    inspect.VarTupleType: (list, "a list"),
    inspect.DataclassType: (dict, "an object"),
    inspect.NoneType: (type(None), "null"),
}
"""What JSON has for a type, and what it is called."""


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
    types = _types(kind)  # type: ignore[arg-type]  # a class can be hashed
    data = members(raw, place, tuple(types))
    try:
        return msgspec.convert(data, kind, strict=True)
    except ValueError:  # msgspec's own among them: which field it is, its types tell
        values = {name: convert(types[name], value, place / name) for name, value in data.items()}
        for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # only dataclasses come here
            if field.default is MISSING and field.name not in values:
                place.refuse("a value", seen="nothing", in_words=True, hint=f"add {field.name}")
        raise


def convert(kind: Any, raw: object, place: Place) -> Any:
    """A value of the type, strictly: nothing is converted silently, and limits are those of the type."""
    try:
        return msgspec.convert(raw, kind, strict=True)
    except msgspec.ValidationError:
        for number, value in enumerate(raw if isinstance(raw, list) and raw else ()):
            convert(_item(kind), value, place / number)
        _refuse(inspect.type_info(kind), raw, place)
    except ValueError:  # half of a character outside the basic plane: JSON can write it, UTF-8 cannot
        place.refuse("whole characters", seen=raw)


@cache
def _types(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _refuse(kind: inspect.Type, raw: Any, place: Place) -> NoReturn:
    """A value that is not of the type, told by the type: its kind, its limit, its names."""
    members_of = [_bare(one) for one in (kind.types if isinstance(kind, inspect.UnionType) else (_bare(kind),))]
    for one in members_of:
        if isinstance(one, inspect.EnumType):
            names = [str(name) for name in one.cls]
            place.refuse(f"one of {', '.join(names)}", seen=raw, hint=nearest(str(raw), names))
        if type(raw) is _WORDS[type(one)][0]:
            _refuse_limit(one, raw, place)
    place.refuse(" or ".join(_WORDS[type(one)][1] for one in members_of), seen=raw)


def _refuse_limit(kind: inspect.Type, raw: Any, place: Place) -> NoReturn:
    """A value of the right JSON type."""
    match kind:
        case inspect.DataclassType(cls=cls):
            read(cls, raw, place)
        case inspect.VarTupleType():
            place.refuse("a shorter list" if raw else "a list that is not empty", seen=len(raw) if raw else raw)
        case inspect.IntType(ge=int(least)) if raw < least:
            place.refuse(f"a whole number >= {least}", seen=raw)
        case inspect.IntType(le=int(most)) if raw > most:
            place.refuse(f"a whole number <= {most}", seen=raw)
        case inspect.StrType(pattern=str()) if raw:
            place.refuse("text of visible ASCII characters", seen=raw)
        case inspect.StrType():
            place.refuse("text that is not empty", seen=raw)
    place.refuse(_WORDS[type(kind)][1], seen=raw)


def _item(kind: Any) -> Any:
    """Of what type the entries of a list are; any, where there is to be none."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return get_args(kind)[0] if get_origin(kind) is tuple else Any


def _bare(kind: inspect.Type) -> inspect.Type:
    """Without what is only for the schema."""
    return _bare(kind.type) if isinstance(kind, inspect.Metadata) else kind
