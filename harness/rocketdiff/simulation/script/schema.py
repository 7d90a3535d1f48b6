"""
The published JSON Schema of a script; it omits most rules that span several fields.

``python -m rocketdiff.simulation.script.schema fixtures/schema/script-1.json`` writes it; a test fails if it is stale.
"""

import sys
from pathlib import Path

from rocketdiff.documents.part import published_schema
from rocketdiff.simulation.script.model import Script
from rocketdiff.simulation.script.vocabulary import FORMAT


def rendered() -> str:
    """Return the text of the schema file."""
    return published_schema(Script, f"script:{FORMAT}", stated=("format", "do"))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
