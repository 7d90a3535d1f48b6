"""The published schema of ``run.json`` matches the code."""

import json
from pathlib import Path

import jsonschema

from rocketdiff.traces.run_directory import RunDirectory

SCHEMA = Path(__file__).parents[2] / "fixtures" / "schema" / "run-1.json"


def test_a_written_run_is_accepted_by_the_published_schema(complete_run: RunDirectory) -> None:
    """The published schema accepts a recorded run."""
    published = json.loads(SCHEMA.read_text())
    jsonschema.validate(json.loads((complete_run.path / "run.json").read_text()), published)
