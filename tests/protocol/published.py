"""The published schema of the protocol."""

import json
from pathlib import Path

import jsonschema

FILE = Path(__file__).parents[2] / "fixtures" / "schema" / "subject-protocol-1.json"
_WHOLE = json.loads(FILE.read_text())
RECORD = jsonschema.Draft202012Validator({**_WHOLE, "anyOf": [{"$ref": "#/$defs/record"}]})
COMMAND = jsonschema.Draft202012Validator({**_WHOLE, "anyOf": [{"$ref": "#/$defs/command"}]})


def require_record(line: bytes) -> None:
    """Raise jsonschema's ValidationError for a record that the schema refuses."""
    RECORD.validate(json.loads(line))
