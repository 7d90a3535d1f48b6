"""
The published JSON Schema of a script, for editors and for other programs; rules over several fields are not in it.

``python -m rocketdiff.simulation.script.schema fixtures/schema/script-1.json`` writes it; a test refuses a stale one.
"""

import sys
from pathlib import Path

from rocketdiff.documents.part import published_schema
from rocketdiff.simulation.script.model import Script
from rocketdiff.simulation.script.vocabulary import FORMAT


def rendered() -> str:
    """The schema as it stands in the file."""
    return published_schema(Script, f"script:{FORMAT}", stated=("format", "do"))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
