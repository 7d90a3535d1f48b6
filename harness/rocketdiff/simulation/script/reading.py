"""A whole script, in both directions: text or JSON data to a checked Script, and back in the one canonical form."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Annotated, Any, NoReturn

from msgspec import Meta

from rocketdiff.core.errors import UsageError
from rocketdiff.simulation.script.answers import read_route, route_data
from rocketdiff.simulation.script.depths import require_deep_enough
from rocketdiff.simulation.script.fields import Place, convert, members, nearest, read
from rocketdiff.simulation.script.model import (
    BrokerAnswers,
    Close,
    Kill,
    Pause,
    Restart,
    Resume,
    Script,
    Select,
    Send,
    Step,
    Timeline,
    Update,
    brokers_of,
)
from rocketdiff.simulation.script.steps import read_step, step_data
from rocketdiff.simulation.script.vocabulary import FORMAT, MOST_STEPS, Depth, Int32, Lookup, ScriptSettings

MOST_CHARACTERS = 64_000_000
"""A script of a hundred thousand steps has some ten million characters."""


def parse_script(script: str | bytes | Mapping[str, Any], name: str) -> Script:
    """
    A script from its text, or from data that was JSON; ``name`` is what messages and answers call it.

    Raises UsageError that says in one sentence what is wrong and where.
    """
    return read_script(_data(script, name) if isinstance(script, str | bytes) else dict(script), name)


def canonical(script: Script) -> str:
    """One line of JSON, the same for any two scripts that mean the same: to be kept, compared and digested."""
    return json.dumps(to_dict(script), ensure_ascii=False, separators=(",", ":"))


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
    except (ValueError, RecursionError) as problem:  # not UTF-8, a number of thousands of digits, or nested too deep
        raise UsageError(f"JSON in script {name}", seen=" ".join(str(problem).split())) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON itself would let the second of two equal keys win."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError("each key once in an object", seen=f"{twice!r} twice", hint="remove one of them")
    return data


def _no_number(constant: str) -> NoReturn:
    raise UsageError("a number", seen=constant)


FIELDS = ("format", "depth", "route", "settings", "start_index", "seed", "expired_wait_extra_ms", "lookup", "steps")

_MOST_THREADS = 256
_StartIndexes = Annotated[tuple[Int32, ...], Meta(min_length=1, max_length=_MOST_THREADS)]
_Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_ExtraMs = Annotated[int, Meta(ge=0, le=1)]


def read_script(raw: object, name: str) -> Script:
    """A script from its JSON data; ``name`` is what messages call it."""
    top = Place(name)
    data = members(raw, top, FIELDS)
    _require_format(data, top)
    for field in ("route", "steps"):
        if field not in data:
            top.refuse("a value", seen="nothing", in_words=True, hint=f"add {field}")
    script = Script(
        route=read_route(data["route"], top / "route"),
        steps=_steps(data["steps"], top / "steps"),
        settings=read(ScriptSettings, data.get("settings", {}), top / "settings"),
        depth=convert(Depth | None, data.get("depth"), top / "depth"),
        start_index=_start_index(data["start_index"], top / "start_index") if "start_index" in data else (),
        seed=convert(_Seed, data.get("seed", 0), top / "seed"),
        expired_wait_extra_ms=convert(_ExtraMs, data.get("expired_wait_extra_ms", 0), top / "expired_wait_extra_ms"),
        lookup=convert(Lookup, data.get("lookup", str(Lookup.BEFORE)), top / "lookup"),
    )
    require_known_brokers(script, name)
    require_deep_enough(script, name)
    return script


def to_dict(script: Script) -> dict[str, Any]:
    """The canonical form: fields in the order of the format, what has its default left out."""
    data: dict[str, Any] = {"format": FORMAT}
    if script.depth is not None:
        data["depth"] = str(script.depth)
    data["route"] = route_data(script.route)
    if settings := _settings_data(script.settings):
        data["settings"] = settings
    if script.start_index:
        data["start_index"] = script.start_index[0] if len(script.start_index) == 1 else list(script.start_index)
    if script.seed:
        data["seed"] = script.seed
    if script.expired_wait_extra_ms:
        data["expired_wait_extra_ms"] = script.expired_wait_extra_ms
    if script.lookup is not Lookup.BEFORE:
        data["lookup"] = str(script.lookup)
    data["steps"] = [step_data(step) for step in script.steps]
    return data


def _require_format(data: dict[str, Any], top: Place) -> None:
    """Before any value is looked at: in another format every field may mean something else."""
    version = data.get("format")
    if version != FORMAT or isinstance(version, bool | float):
        (top / "format").refuse(
            f"format {FORMAT}",
            seen="nothing" if version is None else version,
            hint="this rocketdiff reads no other version of the script format",
        )


def _steps(raw: object, place: Place) -> tuple[Step, ...]:
    if not isinstance(raw, list):
        place.refuse("a list of steps", seen=raw)
    if len(raw) > MOST_STEPS:
        place.refuse(f"at most {MOST_STEPS} steps", seen=len(raw))
    return tuple(read_step(step, place / number) for number, step in enumerate(raw))


def _start_index(raw: object, place: Place) -> tuple[int, ...]:
    if isinstance(raw, list):
        return tuple(convert(_StartIndexes, raw, place))
    return (int(convert(Int32, raw, place)),)


def _settings_data(settings: ScriptSettings) -> dict[str, Any]:
    pairs = {field.name: (getattr(settings, field.name), field.default) for field in fields(settings)}
    changed = {name: value for name, (value, default) in pairs.items() if value != default}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}


def require_known_brokers(script: Script, name: str) -> None:
    """UsageError for a broker that no route of the script ever holds: a slip of the pen would look like a calm run."""
    known = brokers_of(script)
    for number, step in enumerate(script.steps):
        for broker in _named(step):
            if broker not in known:
                place = Place(name) / "steps" / number
                expected = f"a broker of the script's routes ({', '.join(known) or 'which hold none'})"
                place.refuse(expected, seen=broker, hint=nearest(broker, tuple(known)))


def _named(step: Step) -> Iterator[str]:
    match step:
        case Timeline(entries):
            for entry in entries:
                yield from _named(entry.action)
        case Update(broker=broker) | Pause(broker) | Resume(broker) | Kill(broker) | Restart(broker) | Close(broker):
            yield broker
        case BrokerAnswers(name=broker):
            yield broker
        case Select(last_broker=str(broker)):
            yield broker
        case Send(queue=queue) if queue is not None:
            yield queue.broker
