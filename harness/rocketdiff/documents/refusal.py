"""
One clear sentence for whatever is wrong with a file that people write: what was expected, where it stands, what was seen.

pydantic tells as data what is wrong (place, kind of error, limits); the words are ours. A format adds its own words for
some of its fields.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rocketdiff.core.errors import UsageError
from rocketdiff.core.plain import shown
from rocketdiff.documents.yaml_source import Location

Place = Callable[[Location], str]
"""From a location in the data to ``file line 12``."""

Read = TypeVar("Read", bound=BaseModel)

_KINDS = {
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:.0f}",
    "too_short": "at least {min_length} entry",
    "too_long": "at most {max_length} entries",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "text like {pattern}",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "date_type": "a date",
    "list_type": "a list",
    "model_type": "a mapping",
    "dict_type": "a mapping",
}
"""By pydantic's kind of error, with the limit that it gives."""


@dataclass(frozen=True, slots=True)
class Words:
    """
    What a format says in words of its own, by the name of the field.

    fields: what is expected in it, or anywhere below it, whatever is wrong. patterns: what its text looks like. unions: what
    is meant by a mapping whose kind the field names. unknown: a hint, where a part of the format has no such field.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    patterns: Mapping[str, str] = field(default_factory=dict)
    unions: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[tuple[type[BaseModel], str], str] = field(default_factory=dict)


def refused(place: Place, location: Location, *, expected: str, seen: str, hint: str = "") -> UsageError:
    """The error for one place of a file."""
    return UsageError(f"{expected} at {dotted(location)} ({place(location)})", seen=seen, hint=hint)


def dotted(location: Location) -> str:
    """``faults[0].broker``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return text.removeprefix(".") or "the top level"


def read_part(model: type[Read], data: object, place: Place, words: Words, above: Location = ()) -> Read:
    """
    Data as the format has it. ``above``: where in the file the data stands.

    Raises UsageError for the first thing that is wrong by its place in the format; the hint tells how many more there are.
    """
    try:
        return model.model_validate(data)
    except ValidationError as problem:
        raise _Refusal(model, data, words).of(problem, place, above) from problem


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Data that is not as the model has it."""

    model: type[BaseModel]
    data: object
    words: Words

    def of(self, problem: ValidationError, place: Place, above: Location) -> UsageError:
        details = self._meant(problem.errors(include_url=False))
        fields = [self._field(detail)[:2] for detail in details]

        def rank(detail: ErrorDetails) -> tuple[bool, int, bool]:
            # A misspelt field is both unknown and missing, and to call it unknown helps more. Of a value that may be one of
            # several things, the one of its type was meant.
            field = fields.index(self._field(detail)[:2])
            return detail["type"] != "extra_forbidden", field, detail["type"].endswith("_type")

        detail = min(details, key=rank)
        expected, seen, hint = self._worded(detail)
        if (more := len(set(fields)) - 1) > 0:
            hint = "; ".join(filter(None, (hint, f"{more} more to correct after this one")))
        location = (*above, *self._location(detail["loc"]))
        return refused(place, location, expected=expected, seen=seen, hint=hint)

    def _meant(self, details: list[ErrorDetails]) -> list[ErrorDetails]:
        """Of a value that may be one of several things, only what is wrong deepest: that alternative came furthest."""
        fields = [self._field(detail) for detail in details]
        return [
            detail
            for detail, own in zip(details, fields, strict=True)
            if not any(own != other and own == other[: len(own)] for other in fields)
        ]

    def _field(self, detail: ErrorDetails) -> Location:
        """Where the file has it, or where it has it not; of a key, one step below it."""
        location, last = self._location(detail["loc"]), detail["loc"][-1:]
        return (*location, *last) if detail["type"] == "missing" or last == ("[key]",) else location

    def _worded(self, detail: ErrorDetails) -> tuple[str, str, str]:
        """What was expected, what was seen, and a hint."""
        location, context = self._location(detail["loc"]), detail.get("ctx", {})
        name = str(detail["loc"][-1]) if detail["loc"] else ""
        match detail["type"]:
            case "missing":
                return f"the field {name}", "nothing", f"add {name}"
            case "extra_forbidden":
                expected, hint = self._unknown(name, detail["loc"][:-1])
                return expected, shown(name), hint
            case "union_tag_invalid" | "union_tag_not_found":
                key = context["discriminator"].strip("'")
                kinds = [
                    tag for part in self._parts(detail["loc"]) for tag in _choices(part.model_fields[key].annotation)
                ]
                hint = f"write {key}: {', '.join(kinds[:-1])} or {kinds[-1]}"
                return self.words.unions[key], shown(detail["input"]), hint
        return self._expected(detail, location), shown(detail["input"]), ""

    def _expected(self, detail: ErrorDetails, location: Location) -> str:
        names = [step for step in location if isinstance(step, str)]
        worded = next((name for name in reversed(names) if name in self.words.fields), None)
        if worded is not None:
            return self.words.fields[worded]
        if detail["type"] == "string_pattern_mismatch" and names and names[-1] in self.words.patterns:
            return self.words.patterns[names[-1]]
        if detail["type"] in ("literal_error", "enum"):
            choices = [one for kind in _at([self.model], detail["loc"]) for one in _choices(kind)]
            return f"one of {', '.join(map(repr, choices))}"
        return _KINDS.get(detail["type"], detail["msg"]).format_map(detail.get("ctx", {}))

    def _unknown(self, name: str, parent: Location) -> tuple[str, str]:
        """Which fields a part has, and the one that was probably meant."""
        parts = self._parts(parent)
        known = list(dict.fromkeys(info.alias or own for part in parts for own, info in part.model_fields.items()))
        close = get_close_matches(name, known, n=1)
        hints = [self.words.unknown[part, name] for part in parts if (part, name) in self.words.unknown]
        return f"one of the fields {', '.join(known)}", next(iter([*hints, *close]), "")

    def _parts(self, location: Location) -> list[type[BaseModel]]:
        return [kind for kind in _at([self.model], location) if _is_part(kind)]

    def _location(self, steps: Location) -> Location:
        """Where the file has it: without the names that pydantic puts in for the members of a union."""
        kept: list[str | int] = []
        data: Any = self.data
        for step in steps:
            here: Any = data if isinstance(data, dict) else dict(enumerate(data)) if isinstance(data, list) else {}
            if step in here:
                data = here[step]
                kept.append(step)
        return tuple(kept)


def _at(kinds: list[Any], location: Location) -> list[Any]:
    """The types that may stand at a location that pydantic gives, members of unions apart."""
    kinds = [member for kind in kinds for member in _members(kind)]
    if location[-1:] == ("[key]",):  # after the key itself, which leads to the value
        location = (*location[:-2], "[key]")
    for step in location:
        below = [member for kind in kinds for one in _below(kind, step) for member in _members(one)]
        kinds = below or [kind for kind in kinds if _is_called(kind, step)] or kinds
    return kinds


def _members(kind: Any) -> Iterator[Any]:
    """A type without its limits; the members of a union."""
    if get_origin(kind) is Annotated:
        yield from _members(get_args(kind)[0])
    elif get_origin(kind) in (Union, types.UnionType):
        for member in get_args(kind):
            yield from _members(member)
    else:
        yield kind


def _below(kind: Any, step: str | int) -> Iterator[Any]:
    """The type one step down: of a field, of an entry, of a key."""
    if _is_part(kind):
        yield from (info.annotation for name, info in kind.model_fields.items() if (info.alias or name) == step)
    elif get_origin(kind) is list and isinstance(step, int):
        yield get_args(kind)[0]
    elif get_origin(kind) is dict:
        key, value = get_args(kind)
        yield value if step != "[key]" else key


def _is_called(part: Any, step: str | int) -> bool:
    """Whether pydantic names a member of a union so: by its class, or by the kind that one of its fields is."""
    if not _is_part(part):
        return False
    kinds = [choice for info in part.model_fields.values() for choice in _choices(info.annotation)]
    return step == part.__name__ or step in kinds


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _choices(kind: Any) -> tuple[Any, ...]:
    """Values of a closed set."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(one.value for one in kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()
