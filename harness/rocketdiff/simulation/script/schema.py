"""
The published JSON Schema of a script, for editors and for other programs; limits are those of the model.

``python -m rocketdiff.simulation.script.schema fixtures/schema/script-1.json`` writes it; a test refuses a stale one. That
every broker named is in some route, and that a depth is deep enough, it cannot say.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from rocketdiff.simulation.script import model, vocabulary
from rocketdiff.simulation.script.answers import CODES, MOST_ANSWERS, MOST_BROKERS, STATUSES
from rocketdiff.simulation.script.steps import NAME_SERVER_FAULTS

Schema = dict[str, Any]

_PLAIN: dict[str, type[Any]] = {
    "update": model.Update,
    "select": model.Select,
    "poll_routes": model.PollRoutes,
    "pause": model.Pause,
    "resume": model.Resume,
    "kill": model.Kill,
    "restart": model.Restart,
    "close": model.Close,
    "heartbeat": model.Heartbeat,
    "send": model.Send,
    "advance": model.Advance,
    "index": model.SetIndex,
    "worst_index": model.SetWorstIndex,
}
"""Steps that are written as their class is; the rest stand below."""

_NOT_IN_TIMELINES = {"advance", "index", "worst_index", "dump", "timeline"}


def json_schema() -> Schema:
    """JSON Schema (2020-12) of a script."""
    _, parts = msgspec.json.schema_components(
        [*_PLAIN.values(), vocabulary.ScriptSettings, vocabulary.BrokerRoute], ref_template="#/$defs/{name}"
    )
    parts = {name: _closed(part) for name, part in parts.items()}
    parts["Send"]["not"] = {"required": ["queue", "selector"]}
    parts["BrokerRoute"]["properties"].pop("name")
    parts["BrokerRoute"]["required"].remove("name")
    parts |= {"Answer": _answer(vocabulary.Fault), "NameServerAnswer": _answer(NAME_SERVER_FAULTS)}
    parts |= {"Route": _route(parts["BrokerRoute"]["properties"]["queues"])}
    steps = {do: _step(do, step) for do, step in _steps(parts).items()}
    actions = [step for do, step in steps.items() if do not in _NOT_IN_TIMELINES]
    parts |= {"Action": {"oneOf": actions}, "Step": {"oneOf": list(steps.values())}}
    parts = {name: part for name, part in parts.items() if name not in {kind.__name__ for kind in _PLAIN.values()}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rocketdiff:script:{vocabulary.FORMAT}",
        "title": "A script of the simulation",
        **_object(_top(), ["format", "route", "steps"]),
        "$defs": parts,
    }


def rendered() -> str:
    """The schema as it stands in the file."""
    return json.dumps(json_schema(), indent=2) + "\n"


def _top() -> dict[str, Schema]:
    index = msgspec.json.schema(vocabulary.Int32)
    return {
        "format": {"const": vocabulary.FORMAT},
        "depth": {"enum": [*map(str, vocabulary.Depth), None]},
        "route": _ref("Route"),
        "settings": _ref("ScriptSettings"),
        "start_index": {"anyOf": [index, {"type": "array", "items": index, "minItems": 1, "maxItems": 256}]},
        "seed": {"type": "integer", "minimum": 0, "maximum": 2**63 - 1, "default": 0},
        "expired_wait_extra_ms": {"type": "integer", "minimum": 0, "maximum": 1, "default": 0},
        "lookup": {"enum": [*map(str, vocabulary.Lookup)], "default": str(vocabulary.Lookup.BEFORE)},
        "steps": {"type": "array", "items": _ref("Step"), "maxItems": vocabulary.MOST_STEPS},
    }


def _steps(parts: dict[str, Schema]) -> dict[str, Schema]:
    """What stands beside ``do`` in each step."""
    answers = {"type": "array", "items": _ref("Answer"), "minItems": 1, "maxItems": MOST_ANSWERS}
    name = msgspec.json.schema(vocabulary.BrokerName)
    dump = {"type": "array", "items": {"enum": [*map(str, vocabulary.DumpPart)]}, "minItems": 1, "uniqueItems": True}
    entry = _object({"at_ms": msgspec.json.schema(vocabulary.Ms), "action": _ref("Action")}, ["at_ms", "action"])
    entries = {"type": "array", "items": entry, "minItems": 1, "maxItems": vocabulary.MOST_STEPS}
    return {
        **{do: parts[kind.__name__] for do, kind in _PLAIN.items()},
        "broker": _object({"name": name, "answers": {"anyOf": [_ref("Answer"), answers]}}, ["name", "answers"]),
        "name_server": _object({"answer": _ref("NameServerAnswer")}, ["answer"]),
        "route": _object({"route": _ref("Route")}, ["route"]),
        "dump": _object({"parts": dump}, ["parts"]),
        "timeline": _object({"entries": entries}, ["entries"]),
    }


def _step(do: str, step: Schema) -> Schema:
    properties = {"do": {"const": do}, **step["properties"]}
    return {**step, "properties": properties, "required": ["do", *step["required"]]}


def _answer(faults: Iterable[vocabulary.Fault]) -> Schema:
    named = [*map(str, faults), *STATUSES, *CODES]
    latency, code = msgspec.json.schema(vocabulary.Ms), msgspec.json.schema(vocabulary.Code)
    decimal = {"type": "string", "pattern": "^[0-9]{1,10}$"}
    status = {"enum": [*STATUSES]}
    described = _object({"latency_ms": latency, "code": {"anyOf": [code, {"enum": [*STATUSES, *CODES]}, decimal]}}, [])
    with_status = _object({"latency_ms": latency, "status": status}, ["status"])
    return {"anyOf": [latency, {"enum": named}, decimal, {**described, "minProperties": 1}, with_status]}


def _route(queues: Schema) -> Schema:
    brokers = {
        "type": "object",
        "propertyNames": msgspec.json.schema(vocabulary.BrokerName),
        "additionalProperties": {"anyOf": [queues, _ref("BrokerRoute")]},
        "minProperties": 1,
        "maxProperties": MOST_BROKERS,
    }
    return {"anyOf": [brokers, {"type": "null"}]}


def _closed(part: Schema) -> Schema:
    return part | {"additionalProperties": False} if part.get("type") == "object" else part


def _object(properties: dict[str, Schema], required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
