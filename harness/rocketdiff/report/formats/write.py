"""Writes all formats of one document into one folder."""

from pathlib import Path

from rocketdiff.report.document import Document, write
from rocketdiff.report.formats import badge, html, junit, markdown, sarif


def write_reports(document: Document, folder: Path) -> tuple[tuple[str, Path], ...]:
    """Write every format; return name and path of each. JSON comes first: the others can be rendered from it."""
    return (("json", write(document, folder)), *render_all(document, folder))


def render_all(document: Document, folder: Path, since: Document | None = None) -> tuple[tuple[str, Path], ...]:
    """Write every format except JSON. since: an earlier run, for the comment."""
    summary, comment = markdown.write(document, folder, since)
    return (
        ("html", html.write(document, folder)),
        ("junit", junit.write(document, folder)),
        ("markdown", summary),
        ("comment", comment),
        ("sarif", sarif.write(document, folder)),
        ("badge", badge.write(document, folder)),
    )
