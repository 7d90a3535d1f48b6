"""``run.json`` has a published schema, and both stay in step."""

import json
from pathlib import Path

import jsonschema

from rocketdiff.traces.manifest import schema
from rocketdiff.traces.run_directory import RunDirectory

SCHEMA = Path(__file__).parents[2] / "fixtures" / "schema" / "run-1.json"


def test_published_schema_is_up_to_date() -> None:
    """``python -m rocketdiff.traces.manifest > fixtures/schema/run-1.json`` renews it."""
    assert SCHEMA.read_bytes() == schema()


def test_a_written_run_is_accepted_by_the_published_schema(complete_run: RunDirectory) -> None:
    """What a run puts down is what is promised to other programs."""
    published = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(published)
    jsonschema.validate(json.loads((complete_run.path / "run.json").read_text()), published)
