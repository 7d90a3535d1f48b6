"""
The published JSON Schema of the line protocol, generated from the types that encode and decode the lines.

Each line is one object, ``#/$defs/record`` or ``#/$defs/command``. Rules that no schema can state (order, claims,
times) are in subjects/README.md.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import msgspec

from rocketdiff.core.records.consuming import DeliveredMessage
from rocketdiff.core.records.field_types import Limits
from rocketdiff.core.records.received import RECORDS, Record
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.records.session import PROTOCOL, Done, Hello
from rocketdiff.core.sends.outcome import WORD_FORM, ErrorWord
from rocketdiff.core.sends.plan import PlannedSend
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.protocol.commands import Go, Stop, SubjectSetup
from rocketdiff.protocol.consuming import CONSUMER_COMMANDS, MemberSetup
from rocketdiff.protocol.records import LONGEST_ATTEMPT_MS, NAME_CHARACTERS, limits_of, nested_of, reported_fields
from rocketdiff.protocol.shapes import Shape, shape_of

_TYPE = "type"
_END = "end_ns"
_NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"


def schema() -> bytes:
    """Return the JSON Schema (2020-12) of the lines of this protocol version."""
    commands = {"plan": PlannedSend, "setup": SubjectSetup, "go": Go, "stop": Stop, **CONSUMER_COMMANDS}
    types = (*RECORDS.values(), *commands.values())
    _, parts = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    made: dict[str, Any] = {name: _record(kind, parts[kind.__name__]) for name, kind in RECORDS.items()}
    made |= {name: _command(name, kind, parts[kind.__name__]) for name, kind in commands.items()}
    own = {kind.__name__ for kind in types}
    body = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rocketdiff:subject-protocol:{PROTOCOL}",
        "title": f"rocketdiff subject protocol {PROTOCOL}: one line, of either direction",
        "anyOf": [{"$ref": "#/$defs/record"}, {"$ref": "#/$defs/command"}],
        "$defs": {
            "record": _one_of(RECORDS, "A line of the subject's stdout."),
            "command": _one_of(tuple(commands), "A line of the subject's stdin."),
            **made,
            **{name: _object_in_lists(part) for name, part in parts.items() if name not in own},
        },
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=1) + b"\n"


def _one_of(names: Mapping[str, type] | tuple[str, ...], description: str) -> dict[str, object]:
    return {"description": description, "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names]}


def _record(kind: type[Record], part: Mapping[str, Any]) -> dict[str, object]:
    """Unknown fields are allowed because they are kept. A None may be written or left out."""
    fields_by_name = {each.name: each for each in fields(kind)}
    reported = {name: fields_by_name[attribute] for name, attribute in reported_fields(kind).items()}
    name = next(name for name, record in RECORDS.items() if record is kind)
    properties = {shown: _limited(kind, each.name, part["properties"][each.name]) for shown, each in reported.items()}
    required = [
        shown for shown, each in reported.items() if each.default is MISSING and (kind, shown) != (Attempt, _END)
    ]
    made = _object(name, part, properties, required)
    return made if kind is not Done else made | {"anyOf": [{"required": [each]} for each in ("sends", "calls")]}


def _command(name: str, kind: type, part: Mapping[str, Any]) -> dict[str, object]:
    properties, required = dict(part["properties"]), list(part.get("required", ()))
    if kind is SubjectSetup:
        properties |= {"protocol": {"const": PROTOCOL}, "threads": {"type": "integer", "minimum": 1}}
        required = ["protocol", *required, "threads"]
    if kind is MemberSetup:
        properties |= {"protocol": {"const": PROTOCOL}, "role": {"const": ClientRole.CONSUMER.value}}
        required = ["protocol", "role", *required]
        return _object("setup", part, properties, required)
    return _object(name, part, properties, required)


def _object(
    name: str, part: Mapping[str, Any], properties: Mapping[str, object], required: list[str]
) -> dict[str, object]:
    return {
        "description": part.get("description", ""),
        "type": "object",
        "properties": {_TYPE: {"const": name}, **properties},
        "required": [_TYPE, *required],
    }


def _limited(kind: type[Record], name: str, part: Mapping[str, Any]) -> dict[str, object]:
    match (kind.__name__, name):
        case (Hello.__name__, "protocol"):
            return {**part, "const": PROTOCOL}
        case (Hello.__name__, "attempt_timeout_ms"):
            return {**part, "minimum": 1, "maximum": LONGEST_ATTEMPT_MS}
    limits, nested = limits_of(kind).get(name), nested_of(kind).get(name)
    if nested is not None:
        return _nested(part, nested)
    return {**part} if limits is None else _field(part, limits)


def _nested(part: Mapping[str, Any], shape: Shape) -> dict[str, object]:
    """Objects in lists have a definition of their own, with the limits of its members."""
    if shape.limits is not None:
        return _field(part, shape.limits)
    if shape.each is not None:
        return {**part, "items": _nested(part["items"], shape.each)}
    if shape.places:
        places = [_nested(each, of) for each, of in zip(part["prefixItems"], shape.places, strict=True)]
        return {"type": "array", "prefixItems": places, "minItems": len(places), "maxItems": len(places)}
    return {**part}


def _object_in_lists(part: Mapping[str, Any]) -> dict[str, object]:
    """The definition of an object in the lists of records, else the part as it is."""
    shapes = {kind.__name__: shape_of(kind) for kind in (DeliveredMessage,)}
    if (shape := shapes.get(str(part.get("title")))) is None:
        return {**part}
    limits = {name: of.limits for name, of in shape.members if of.limits is not None}
    properties = {name: _field(of, limits[name]) if name in limits else of for name, of in part["properties"].items()}
    return {**part, "properties": properties}


def _field(part: Mapping[str, Any], limits: Limits) -> dict[str, object]:
    if limits.below is not None:
        return {**part, "minimum": 0 if limits.is_natural else -limits.below, "maximum": limits.below - 1}
    text: dict[str, object] = {"maxLength": NAME_CHARACTERS, "pattern": _NO_CONTROL_CHARACTERS}
    if limits.is_filled:
        text |= {"minLength": 1}
    if not limits.is_error:
        return {**part, **text}
    # A listed word or a class name. A class name never has the form of a word.
    words = {"enum": [None, *map(str, ErrorWord)]}
    text |= {"anyOf": [words, {"not": {"pattern": f"^(?:{WORD_FORM.pattern})$"}}]}
    return {**{key: value for key, value in part.items() if key != "anyOf"}, "type": ["string", "null"], **text}
