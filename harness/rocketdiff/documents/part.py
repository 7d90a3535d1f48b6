"""Base of the file formats that people write, and their published JSON Schema."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema

STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)
"""Unknown fields are refused and nothing is converted silently."""


class Part(BaseModel):
    """A mapping of the file."""

    model_config = STRICT


@dataclass(frozen=True, slots=True)
class WrittenAs:
    """Marks a type with another form in the file: ``form`` is that form's type, ``read`` converts it to the value."""

    form: Any
    read: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, _source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.read, handler.generate_schema(self.form))


def published_schema(kind: type, name: str, *, stated: Collection[str] = ()) -> str:
    """
    Return the JSON Schema (2020-12) of a file format, as in fixtures/schema; rules over two fields are not included.

    stated: fields that a file must have although the program knows their value.
    """
    schema = TypeAdapter(kind).json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        found = [field for field in stated if field in part.get("properties", {})]
        if found:
            part["required"] = [*found, *part.get("required", [])]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:rocketdiff:{name}"}
    return json.dumps(head | schema, indent=2) + "\n"
