"""
The published JSON Schema of ``run.json``, for other programs that read a run.

``python -m rocketdiff.traces.json_schema fixtures/schema/run-1.json`` writes it; a test refuses a stale one.
"""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from rocketdiff.traces.manifest import RunManifest
from rocketdiff.traces.schema import SCHEMA_VERSION


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of ``run.json``; fields that a newer minor version added are allowed."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rocketdiff:run:{SCHEMA_VERSION}",
    } | msgspec.json.schema(RunManifest)


def rendered() -> str:
    """The schema as it stands in the file."""
    return json.dumps(json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
