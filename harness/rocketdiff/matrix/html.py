"""The matrix as one self-contained HTML file, which opens offline."""

from collections import Counter
from functools import cache
from pathlib import Path

from jinja2 import Environment

from rocketdiff.documents.files import replace_file
from rocketdiff.matrix import page
from rocketdiff.matrix.document import MatrixDocument
from rocketdiff.matrix.view import SIGNS, effects_undeclared, groups_of, rows_blank, standing_of
from rocketdiff.report.html_kit import LIMIT_BYTES, page_environment
from rocketdiff.report.words.signs import plural

FILE_NAME = "matrix.html"


def write(document: MatrixDocument, folder: Path) -> Path:
    """Write the page into ``folder`` and return its path."""
    path = folder / FILE_NAME
    replace_file(path, render(document).encode())
    return path


def render(document: MatrixDocument) -> str:
    """Return the page; without the clients' sections if it would be too large."""
    text = _page(document, page.clients_of(document))
    return text if len(text.encode()) <= LIMIT_BYTES else _page(document, ())


def _page(document: MatrixDocument, clients: tuple[page.ClientView, ...]) -> str:
    baselines = tuple(dict.fromkeys(column.baseline for column in document.columns))
    template = _environment().get_template("matrix.html.j2")
    return template.render(
        document=document,
        groups=groups_of(document),
        subline=subline(document),
        effects=effects_undeclared(document),
        baselines=baselines,
        tables=page.tables_of(document),
        clients=clients,
        linked={client.group.anchor for client in clients},
        differences=page.differences_of(document),
        blank=blank_by_reason(document),
        legend=tuple(SIGNS.values()),
        started=sorted(run.started_at for column in document.columns for run in column.runs),
        limit_mb=LIMIT_BYTES // 1_000_000,
    )


def subline(document: MatrixDocument) -> str:
    """Return the number of columns, by result."""
    standings = Counter(standing_of(column) for column in document.columns)
    parts = [f"{count} {words}" for words, count in standings.items() if words]
    if standings[""]:
        parts.append(f"{standings['']} not measured")
    return f"{plural(len(document.columns), 'client')}: " + ", ".join(parts)


def blank_by_reason(document: MatrixDocument) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return the rows without any answer, as (id, title), by reason."""
    blank = rows_blank(document)
    reasons = dict.fromkeys(reason for _, reason in blank)
    return tuple((reason, tuple((row.id, row.title) for row, why in blank if why == reason)) for reason in reasons)


@cache
def _environment() -> Environment:
    return page_environment("rocketdiff.matrix")
