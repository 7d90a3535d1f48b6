"""
Turns an error in a hand-written file into one sentence: what was expected, where, and what was seen.

pydantic reports errors as data; the words are ours, and a format adds its own for some fields. YAML formats consist
of models; JSON formats may consist of dataclasses.
"""

import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from rocketdiff.core.errors import UsageError
from rocketdiff.core.text import quoted as plain
from rocketdiff.documents.part import WrittenAs
from rocketdiff.documents.yaml_source import Location

Place = Callable[[Location], str]
"""From a location in the data to ``file line 12``."""

Read = TypeVar("Read")

_KINDS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
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
    "tuple_type": "a list",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "dataclass_type": "an object",
    "json_invalid": "JSON",
}
"""By pydantic's error type, with its limits."""


_KEY = ("[key]",)
"""End of pydantic's location for an error in a key. The key stands before it, as in the location of its value."""

_MISSING = "missing"
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
"""For a model and for a dataclass."""

_MOST_ERRORS = 1_000
"""No user corrects more at once."""

_REFUSED = "refused"
"""Error type of our own rules, whose context has the words."""


@dataclass(frozen=True, slots=True)
class Words:
    """
    The words of one format, by field name.

    fields: what the field or anything below it should be.
    patterns: form of its text, by field name or pattern.
    unions: meaning of a mapping whose kind this field names.
    unknown: hint for a part that has no such field.
    kinds: by error type, overriding the shared words.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    patterns: Mapping[str, str] = field(default_factory=dict)
    unions: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[tuple[type, str], str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)


def refused(place: Place, location: Location, *, expected: str, seen: str, hint: str = "") -> UsageError:
    """Return the error for one place of a file."""
    return UsageError(f"{expected} at {dotted(location)} ({place(location)})", seen=seen, hint=hint)


def rule_broken(expected: str, *, seen: str = "", hint: str = "") -> PydanticCustomError:
    """Return an exception for a validator; without ``seen`` the value is shown."""
    return PydanticCustomError(_REFUSED, "{expected}", {"expected": expected, "seen": seen, "hint": hint})


def dotted(location: Location) -> str:
    """Return a location such as ``faults[0].broker``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return text.removeprefix(".") or "the top level"


def shown(value: object) -> str:
    """Return a wrong value in YAML or JSON form, truncated."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return plain.shown(value)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name probably meant, ignoring case, or an empty text."""
    by_folded = {name.lower(): name for name in known}
    close = get_close_matches(name.lower(), by_folded, n=1)
    return by_folded[close[0]] if close else ""


def require_format(data: object, place: Place, version: int, *, what: str, holds: str) -> None:
    """
    Raise UsageError if the data is no mapping or has another format version.

    Called first, because in another version every field may differ in meaning.
    what: the file in words (``cluster file``).
    holds: fields to name if there is no mapping.
    """
    if not isinstance(data, dict):
        seen = "nothing" if data is None else type(data).__name__
        raise refused(place, (), expected=f"a mapping with {holds}", seen=seen)
    require_version(data, place, version, what=what)


def require_version(data: Mapping[str, object], place: Place, version: int, *, what: str) -> None:
    """Raise UsageError if a mapping has another format version."""
    found = data.get("format")
    if found != version or isinstance(found, bool):
        seen = "none" if found is None else f"format: {plain.shown(found)}"
        hint = f"this rocketdiff reads no other version of the {what}"
        raise refused(place, ("format",), expected=f"format: {version}", seen=seen, hint=hint)


def read_part(model: type[Read], data: object, place: Place, words: Words, above: Location = ()) -> Read:
    """
    Return the data as ``model``. ``above``: location of the data in the file.

    Raises UsageError for the first error in the format's order; the hint counts the rest.
    """
    try:
        value: Read = _adapter(model).validate_python(data)  # type: ignore[arg-type]  # a class can be hashed
    except ValidationError as problem:
        raise _Refusal(model, data, words).of(problem, place, above) from problem
    return value


def read_json(kind: type[Read], data: object, place: Place, words: Words) -> Read:
    """
    Return data parsed from JSON as a dataclass; raises as ``read_part`` does.

    Strict pydantic creates dataclasses, tuples and enum members from JSON text only, so the data is encoded again.
    """
    try:
        value: Read = _adapter(kind).validate_json(json.dumps(data))  # type: ignore[arg-type]  # a class can be hashed
    except ValidationError as problem:
        raise _Refusal(kind, data, words).of(problem, place, ()) from problem
    return value


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@dataclass(frozen=True, slots=True)
class _Refusal:
    kind: type
    data: object
    words: Words

    def of(self, problem: ValidationError, place: Place, above: Location) -> UsageError:
        details = self._meant(problem.errors(include_url=False)[:_MOST_ERRORS])
        fields = [self._field(detail)[:2] for detail in details]
        first = {field: number for number, field in reversed([*enumerate(fields)])}

        def rank(numbered: tuple[int, ErrorDetails]) -> tuple[bool, int, bool, bool]:
            # A misspelt field is both unknown and missing; reporting it as unknown helps more. Among alternatives, the one whose
            # rule is broken was meant, else the one of the value's type.
            number, detail = numbered
            kind = detail["type"]
            return kind not in _UNKNOWN, first[fields[number]], kind != _REFUSED, kind.endswith("_type")

        _, detail = min(enumerate(details), key=rank)
        expected, seen, hint = self._worded(detail)
        if (more := len(first) - 1) > 0:
            at_least = "at least " if problem.error_count() > _MOST_ERRORS else ""
            hint = "; ".join(filter(None, (hint, f"{at_least}{more} more to correct after this one")))
        location, _ = self._walk(detail)
        return refused(place, (*above, *location), expected=expected, seen=seen, hint=hint)

    def _meant(self, details: list[ErrorDetails]) -> list[ErrorDetails]:
        """Among alternatives keep the deepest errors: that alternative matched furthest."""
        fields = [self._field(detail) for detail in details]
        above = {field[:length] for field in fields for length in range(len(field))}
        return [detail for detail, field in zip(details, fields, strict=True) if field not in above]

    def _field(self, detail: ErrorDetails) -> Location:
        """Location in the file, of a missing field too; for a key, one step below it."""
        location, _ = self._walk(detail)
        is_below = detail["type"] == _MISSING or detail["loc"][-1:] == _KEY
        return (*location, detail["loc"][-1]) if is_below else location

    def _worded(self, detail: ErrorDetails) -> tuple[str, str, str]:
        """Expected, seen, hint."""
        (location, kinds), context = self._walk(detail), detail.get("ctx", {})
        name = str(detail["loc"][-1]) if detail["loc"] else ""
        seen = shown(detail["input"])
        if detail["type"] == _MISSING:
            return f"the field {name}", "nothing", f"add {name}"
        if detail["type"] in _UNKNOWN:
            expected, hint = self._unknown(name, kinds)
            return expected, shown(name), hint
        if detail["type"] in ("union_tag_invalid", "union_tag_not_found"):
            key = context["discriminator"].strip("'")
            tags = [tag for kind in kinds for tag in _choices(_fields_of(kind)[key])]
            meant = nearest(context.get("tag", ""), tags) or f"{', '.join(tags[:-1])} or {tags[-1]}"
            return self.words.unions[key], seen, f"write {key}: {meant}"
        if detail["type"] == _REFUSED:
            return context["expected"], context["seen"] or seen, context["hint"]
        choices = [str(choice) for kind in kinds for choice in _choices(kind)]
        meant = nearest(detail["input"], choices) if isinstance(detail["input"], str) else ""
        return self._expected(detail, location, choices), seen, meant

    def _expected(self, detail: ErrorDetails, location: Location, choices: list[str]) -> str:
        names = [step for step in location if isinstance(step, str)]
        worded = next((name for name in reversed(names) if name in self.words.fields), None)
        if worded is not None:
            return self.words.fields[worded]
        limits = {name: _limit(value) for name, value in detail.get("ctx", {}).items()}
        if detail["type"] == "string_pattern_mismatch":
            for key in (*names[-1:], str(limits["pattern"])):
                if key in self.words.patterns:
                    return self.words.patterns[key]
        if detail["type"] in ("literal_error", "enum"):
            return f"one of {', '.join(map(repr, choices))}"
        shared = _KINDS.get(detail["type"], detail["msg"])
        return self.words.kinds.get(detail["type"], shared).format_map(limits)

    def _unknown(self, name: str, parts: list[Any]) -> tuple[str, str]:
        """The fields of a part in words, and the one probably meant."""
        known = list(dict.fromkeys(name for part in parts for name in _fields_of(part)))
        hints = [self.words.unknown[part, name] for part in parts if (part, name) in self.words.unknown]
        return f"one of the fields {', '.join(known)}", next(iter(hints), "") or nearest(name, known)

    def _walk(self, detail: ErrorDetails) -> tuple[Location, list[Any]]:
        """
        The location in the file, and the types allowed there (for an unknown or missing field: of its part).

        pydantic inserts a label at each union: the kind, a class name, or other text.
        """
        location: list[str | int] = []
        kinds, is_chosen = [*_members(self.kind)], False
        steps = detail["loc"]
        for number, step in enumerate(steps):
            if len(kinds) > 1 and not is_chosen:
                kinds, is_chosen = [kind for kind in kinds if step in _labels(kind)] or kinds, True
                continue
            is_last = number == len(steps) - 1
            if is_last and detail["type"] == _MISSING:
                break
            location.append(step)
            if is_last and detail["type"] in _UNKNOWN:
                break
            if steps[number + 1 :] == _KEY:
                return tuple(location), [member for kind in kinds for member in _members(get_args(kind)[0])]
            kinds = [member for kind in kinds for below in _below(kind, step) for member in _members(below)]
            is_chosen = False
        return tuple(location), kinds


def _limit(value: object) -> object:
    """Pydantic reports limits of floats as floats: 5.0 is shown as 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def _members(kind: Any) -> tuple[Any, ...]:
    """A type without its limits; the members of a union except null."""
    if get_origin(kind) is Annotated:
        written = [mark.form for mark in kind.__metadata__ if isinstance(mark, WrittenAs)]
        return _members(written[0] if written else get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return tuple(member for choice in get_args(kind) for member in _members(choice))
    return () if kind is types.NoneType else (kind,)


def _below(kind: Any, step: str | int) -> Iterator[Any]:
    if isinstance(step, int):
        yield from get_args(kind)[:1] if get_origin(kind) in (list, tuple) else ()
    elif get_origin(kind) is dict:
        yield get_args(kind)[1]
    elif step in _fields_of(kind):
        yield _fields_of(kind)[step]


@cache
def _labels(part: Any) -> tuple[Any, ...]:
    """Pydantic labels a union member by its class or by a literal of one of its fields."""
    kinds = [choice for kind in _fields_of(part).values() for choice in _choices(kind)]
    return (getattr(part, "__name__", None), *kinds)


@cache
def _fields_of(kind: Any) -> Mapping[str, Any]:
    """Field types of a model or dataclass, by name in the file."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {info.alias or name: info.annotation for name, info in kind.model_fields.items()}
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {each.name: hints[each.name] for each in fields(kind)}
    return {}


def _choices(kind: Any) -> tuple[Any, ...]:
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(choice.value for choice in kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()
