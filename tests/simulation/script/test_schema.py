"""The published schema of scripts accepts what the reader accepts."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rocketdiff.core.resources import resource
from rocketdiff.simulation.script import parse_script, to_dict
from rocketdiff.simulation.script.model import schema
from tests.simulation.script.examples import BAD, EVERYTHING, EXAMPLE

VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema()))

# Rules that no schema can express: over several fields, a sum, or a list of names.
BEYOND_A_SCHEMA = (
    "routes (a, b)", "saw 'A'", "saw 'c'", "at most 16384 queues", "needs send-loop", "no timeout_ms with mode oneway",
    "a response code of at most", "another id for each slave", "in every consumer step",
)  # fmt: skip


@pytest.mark.parametrize("data", [json.loads(EXAMPLE), EVERYTHING], ids=["example", "everything"])
def test_good_scripts_are_accepted(data: dict[str, Any]) -> None:
    """The schema accepts valid scripts, also in canonical form."""
    VALIDATOR.validate(data)
    VALIDATOR.validate(to_dict(parse_script(data, "S")))


@pytest.mark.parametrize(("data", "message"), BAD, ids=[message for _, message in BAD])
def test_the_schema_refuses_what_the_reader_refuses(data: dict[str, Any], message: str) -> None:
    """The schema refuses what the reader refuses, except rules that it cannot express."""
    assert VALIDATOR.is_valid(data) == any(reason in message for reason in BEYOND_A_SCHEMA)


def test_every_shipped_script_is_accepted() -> None:
    """The schema accepts the standard scripts."""
    for file in sorted(Path(resource("fixtures/simulation/scripts")).glob("*.json")):
        VALIDATOR.validate(json.loads(file.read_text(encoding="utf-8")))
