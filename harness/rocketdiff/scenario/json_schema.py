"""
The published JSON Schema of the scenario format, for editors and other programs; rules over two fields are not in it.

``python -m rocketdiff.scenario.json_schema fixtures/schema/scenario-1.json`` writes it; a test rejects a stale file.
"""

import sys
from pathlib import Path

from rocketdiff.documents.part import published_schema
from rocketdiff.scenario.file_format import FORMAT, ScenarioFile


def rendered() -> str:
    """Return the schema as text of the file."""
    return published_schema(ScenarioFile, f"scenario:{FORMAT}")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
