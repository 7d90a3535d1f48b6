"""Writes all formats of one document into one folder."""

from collections.abc import Callable
from pathlib import Path

from rocketdiff.report import badge, html, junit, markdown, sarif
from rocketdiff.report.document import Document, write


def _nobody_listens(_case: str) -> None:
    """Ignore the case."""


def write_reports(
    document: Document, folder: Path, note: Callable[[str], None] = _nobody_listens
) -> tuple[tuple[str, Path], ...]:
    """
    Write every format and return names and paths; ``note`` is called with every case drawn, for a progress bar.

    JSON is written first, because the others can be rendered again from it.
    """
    written = [("json", write(document, folder))]
    return (*written, *render_all(document, folder, note))


def render_all(
    document: Document, folder: Path, note: Callable[[str], None] = _nobody_listens
) -> tuple[tuple[str, Path], ...]:
    """Write every format except JSON, from a document that was just built or loaded."""
    summary, comment = markdown.write(document, folder)
    return (
        ("html", html.write(document, folder, note)),
        ("junit", junit.write(document, folder)),
        ("markdown", summary),
        ("comment", comment),
        ("sarif", sarif.write(document, folder)),
        ("badge", badge.write(document, folder)),
    )
