"""
The published JSON Schema of the format, for editors and for other programs.

``python -m rocketdiff.scenario.json_schema fixtures/schema/scenario-1.json`` writes it; a test refuses a stale one.
"""

import json
import sys
from pathlib import Path
from typing import Any

from rocketdiff.scenario.file_format import ScenarioFile
from rocketdiff.scenario.model import FORMAT


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a scenario file; the rules that need two fields at once are not in it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rocketdiff:scenario:{FORMAT}",
    } | ScenarioFile.model_json_schema()


def rendered() -> str:
    """The schema as it stands in the file."""
    return json.dumps(json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
