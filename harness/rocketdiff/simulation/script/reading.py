"""Reads scripts from text or parsed JSON, and writes their canonical form."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, NoReturn

from rocketdiff.core.errors import UsageError
from rocketdiff.documents.refusal import Place, Words, nearest, read_json, refused, shown
from rocketdiff.documents.yaml_source import Location
from rocketdiff.simulation.script.answers import MOST_ANSWERS, STATUSES, answer_data, answers_data, route_data
from rocketdiff.simulation.script.depths import require_deep_enough
from rocketdiff.simulation.script.model import Script, actions_of
from rocketdiff.simulation.script.roles import broker_of, require_alike, require_consistent
from rocketdiff.simulation.script.steps.environment import RouteChange
from rocketdiff.simulation.script.vocabulary import FORMAT, VISIBLE

MOST_CHARACTERS = 64_000_000
"""A script of a hundred thousand steps has about ten million characters."""

_ANSWER = "a latency in ms, a fault, a send status or a response code"

_WORDS = Words(
    fields={
        "answers": f"{_ANSWER}, or a list of 1 to {MOST_ANSWERS} of them",
        "answer": "a latency in ms, timeout, refused or a response code from a name server",
        "status": f"one of {', '.join(STATUSES)}",
    },
    patterns={VISIBLE: "text of visible ASCII characters"},
    unions={"do": "a step of a known kind"},
    kinds=dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "an object"),
)


def parse_script(script: str | bytes | Mapping[str, Any], name: str) -> Script:
    """
    Parse a script from text or from parsed JSON; ``name`` is its name in messages and answers.

    Raises UsageError with the error and its place.
    """
    data = _data(script, name) if isinstance(script, str | bytes) else dict(script)

    def place(_location: Location) -> str:
        return f"script {name}"

    _require_format(data, place)
    parsed = read_json(Script, data, place, _WORDS)
    _require_consistent(parsed, place)
    require_deep_enough(parsed, name)
    return parsed


def canonical(script: Script) -> str:
    """Return one line of JSON, equal for equivalent scripts, to store, compare and digest."""
    return json.dumps(to_dict(script), ensure_ascii=False, separators=(",", ":"))


def to_dict(script: Script) -> dict[str, Any]:
    """Return the canonical form: fields in the order of the format, without defaults."""
    return _fields_of(script)


_ALWAYS_WRITTEN = {"format", "do", "mode"}
"""The mode of a send is written even if it is the default, because readers look for it."""


def _fields_of(part: Any) -> dict[str, Any]:
    values = ((name, getattr(part, name), default, form) for name, default, form in _written(part.__class__))
    return {name: form(value) for name, value, default, form in values if value != default or name in _ALWAYS_WRITTEN}


@cache
def _written(kind: Any) -> tuple[tuple[str, Any, Callable[[Any], Any]], ...]:
    return tuple((each.name, each.default, _FORMS.get(each.name, _plain)) for each in fields(kind))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, str):
        return str(value)
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else _fields_of(value)


def _indexes(indexes: tuple[int, ...]) -> int | list[int]:
    return indexes[0] if len(indexes) == 1 else list(indexes)


_FORMS: Mapping[str, Callable[[Any], Any]] = {
    "answer": answer_data,
    "answers": answers_data,
    "properties": dict,
    "route": route_data,
    "start_index": _indexes,
}
"""Writers of the fields that have another form in the file."""


def _data(text: str | bytes, name: str) -> object:
    if len(text) > MOST_CHARACTERS:
        raise UsageError(f"a script of at most {MOST_CHARACTERS} characters ({name})", seen=f"{len(text)}")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except UsageError as problem:
        raise UsageError(f"{problem.expected} (script {name})", seen=problem.seen, hint=problem.hint) from None
    except json.JSONDecodeError as problem:
        raise UsageError(
            f"JSON in script {name}", seen=f"{problem.msg} on line {problem.lineno}, column {problem.colno}"
        ) from None
    except (
        ValueError,
        RecursionError,
    ) as problem:  # not UTF-8, a number with thousands of digits, or nested too deeply
        raise UsageError(f"JSON in script {name}", seen=" ".join(str(problem).split())) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate keys; plain JSON parsing would keep the last."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError("each key once in an object", seen=f"{twice!r} twice", hint="remove one of them")
    return data


def _no_number(constant: str) -> NoReturn:
    raise UsageError("a number", seen=constant)


def _require_format(data: object, place: Place) -> None:
    """Check the format first: in another format every field may have another meaning."""
    if not isinstance(data, dict):
        raise refused(place, (), expected="an object", seen=shown(data))
    version = data.get("format")
    if version != FORMAT or isinstance(version, bool | float):
        raise refused(
            place,
            ("format",),
            expected=f"format {FORMAT}",
            seen="nothing" if version is None else shown(version),
            hint="this rocketdiff reads no other version of the script format",
        )


def _require_consistent(script: Script, place: Place) -> None:
    """
    Raise UsageError for contradictory fields.

    A misspelt broker, which is in no route of the script, would look like a run without faults.
    """
    actions = list(actions_of(script))
    routes = [script.route, *(action.route for _, action in actions if isinstance(action, RouteChange))]
    known = dict.fromkeys(
        name
        for route in routes
        for broker in route or ()
        for name in (broker.name, broker.server, *broker.members.values())
    )
    for location, action in actions:
        broker = broker_of(action)
        if broker is not None and broker not in known:
            expected = f"a broker of the script's routes ({', '.join(known) or 'which hold none'})"
            raise refused(place, location, expected=expected, seen=shown(broker), hint=nearest(broker, known))
        require_consistent(action, location, place)
    require_alike(actions, place)
