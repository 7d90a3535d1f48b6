"""
The published JSON Schema of the format, for editors and for other programs; rules that need two fields at once are not in it.

``python -m rocketdiff.scenario.json_schema fixtures/schema/scenario-1.json`` writes it; a test refuses a stale one.
"""

import sys
from pathlib import Path

from rocketdiff.documents.part import published_schema
from rocketdiff.scenario.file_format import FORMAT, ScenarioFile


def rendered() -> str:
    """The schema as it stands in the file."""
    return published_schema(ScenarioFile, f"scenario:{FORMAT}")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
