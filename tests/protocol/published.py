"""The published schema of the protocol, and lines held against it."""

import json
from pathlib import Path

import jsonschema

FILE = Path(__file__).parents[2] / "fixtures" / "schema" / "subject-protocol-1.json"
_WHOLE = json.loads(FILE.read_text())
RECORD = jsonschema.Draft202012Validator({**_WHOLE, "anyOf": [{"$ref": "#/$defs/record"}]})
COMMAND = jsonschema.Draft202012Validator({**_WHOLE, "anyOf": [{"$ref": "#/$defs/command"}]})


def require_record(line: bytes) -> None:
    """Raises jsonschema's ValidationError for a subject's line that the schema refuses."""
    RECORD.validate(json.loads(line))
