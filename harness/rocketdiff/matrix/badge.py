"""A badge of the matrix: endpoint JSON of shields.io, in the format of a report's badge."""

import json
from collections import Counter
from pathlib import Path

from rocketdiff.documents.files import replace_file
from rocketdiff.matrix.document import MatrixDocument
from rocketdiff.matrix.view import standing_of
from rocketdiff.report.formats.badge import SCHEMA_VERSION

FILE_NAME = "badge.json"


def write(document: MatrixDocument, folder: Path) -> Path:
    """Write the badge into ``folder``."""
    path = folder / FILE_NAME
    replace_file(path, (json.dumps(render(document), ensure_ascii=False, indent=1) + "\n").encode())
    return path


def render(document: MatrixDocument) -> dict[str, object]:
    """Return the badge: how many clients have which result; grey if a client was not measured."""
    standings = Counter(standing_of(column) for column in document.columns)
    measured = sum(column.is_measured for column in document.columns)
    parts = [f"{measured} of {len(document.columns)} measured"] if measured < len(document.columns) else []
    parts += [f"{count} {words}" for words, count in sorted(standings.items()) if words]
    colour = "lightgrey" if measured < len(document.columns) else "blue"
    return {
        "schemaVersion": SCHEMA_VERSION,
        "label": f"{len(document.columns)} RocketMQ clients",
        "message": ", ".join(parts),
        "color": colour,
    }
