"""A badge: endpoint JSON of shields.io, which a CI job publishes and a README's image reads."""

import json
from pathlib import Path

from rocketdiff.documents.files import replace_file
from rocketdiff.report.document import Document
from rocketdiff.report.words.signs import plural
from rocketdiff.verdict.judge import RunVerdict

FILE_NAME = "badge.json"

SCHEMA_VERSION = 1
"""Version of the endpoint format, not of rocketdiff."""

_COLOURS = {
    RunVerdict.CONFORMS: "brightgreen",
    RunVerdict.DIVERGES: "red",
    RunVerdict.STALE: "orange",
    RunVerdict.INCONCLUSIVE: "yellow",
    RunVerdict.INVALID: "lightgrey",
    RunVerdict.NOTHING_DECISIVE: "lightgrey",
    RunVerdict.ERROR: "lightgrey",
}


def write(document: Document, folder: Path) -> Path:
    """Write the badge into ``folder``."""
    path = folder / FILE_NAME
    replace_file(path, (json.dumps(render(document), ensure_ascii=False, indent=1) + "\n").encode())
    return path


def render(document: Document) -> dict[str, object]:
    """Return both subjects, and the verdict with its most important number."""
    run = document.run
    return {
        "schemaVersion": SCHEMA_VERSION,
        "label": f"{run.candidate.label or run.candidate.subject} against {run.baseline.label or run.baseline.subject}",
        "message": _message(document),
        "color": _colour(document),
        "isError": document.verdict is RunVerdict.ERROR,
    }


def _message(document: Document) -> str:
    counts, word = document.counts, document.verdict.value.replace("-", " ")
    match document.verdict:
        case RunVerdict.CONFORMS:
            known = f", {counts.declared} declared" if counts.declared else ""
            return f"{word}: {plural(counts.checks, 'check')}{known}"
        case RunVerdict.DIVERGES:
            return f"{word} in {plural(counts.new, 'check')}"
        case RunVerdict.STALE:
            return f"{word}: {plural(counts.stale, 'declared divergence')} gone"
        case RunVerdict.INCONCLUSIVE | RunVerdict.INVALID:
            return f"{word}: {plural(counts.inconclusive, 'check')} without an answer"
        case RunVerdict.NOTHING_DECISIVE | RunVerdict.ERROR:
            return word


def _colour(document: Document) -> str:
    if document.verdict is RunVerdict.CONFORMS and document.counts.declared:
        return "green"
    return _COLOURS[document.verdict]
