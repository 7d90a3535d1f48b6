"""A mapping of a file that people write, as a pydantic model; and the JSON Schema that is published of such a file."""

import json

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A mapping of the file: unknown fields are refused and nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def published_schema(model: type[BaseModel], name: str) -> str:
    """JSON Schema (2020-12) of files of that model, as it stands in fixtures/schema; rules over two fields are not in it."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:rocketdiff:{name}"}
    return json.dumps(head | model.model_json_schema(), indent=2) + "\n"
