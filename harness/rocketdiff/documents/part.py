"""What the formats of files that people write are made of, and the JSON Schema that is published of a format."""

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
    """Marks a type that the file has in another form: ``form`` is the type of that form, ``read`` makes the value of it."""

    form: Any
    read: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, _source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.read, handler.generate_schema(self.form))


def published_schema(kind: type, name: str, *, stated: Collection[str] = ()) -> str:
    """
    JSON Schema (2020-12) of files of that kind, as it stands in fixtures/schema; rules over two fields are not in it.

    stated: fields that a file must have although the program knows their value.
    """
    schema = TypeAdapter(kind).json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        found = [field for field in stated if field in part.get("properties", {})]
        if found:
            part["required"] = [*found, *part.get("required", [])]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:rocketdiff:{name}"}
    return json.dumps(head | schema, indent=2) + "\n"
