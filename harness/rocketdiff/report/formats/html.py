"""The page: one self-contained HTML file, which opens offline from a CI artefact."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup, escape

from rocketdiff.core.answers.evidence import TraceCounts
from rocketdiff.core.extras import CHARTS
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.documents.files import replace_file
from rocketdiff.report.charts import palette
from rocketdiff.report.clusters import weight_of
from rocketdiff.report.consuming.words import FIGURE_HEADS, FIGURE_NOTE
from rocketdiff.report.document import Document
from rocketdiff.report.html_kit import LIMIT_BYTES, page_environment
from rocketdiff.report.sending.words import attempt_text, plain_text
from rocketdiff.report.views import page
from rocketdiff.report.views.case_matrix import CaseCell, matrix_of
from rocketdiff.report.views.open_checks import why_open
from rocketdiff.report.views.pictures import CasePictures, draw_cases
from rocketdiff.report.words.gate_rates import bound, calibrations, trust_briefly, trust_lines
from rocketdiff.report.words.ledger import STATE_SIGNS, ledger_parts
from rocketdiff.report.words.measures import measure_lines
from rocketdiff.report.words.signs import (
    MEASURED,
    RUN_MARKS,
    RUN_TONE,
    SIGNS,
    headline,
    number,
    phase_word,
    plural,
    short_case,
    subline,
    unjudged,
)

FILE_NAME = "report.html"

FINDINGS = 5
"""Limit of findings below the headline; each links to its card."""

COLOURS = (
    (palette.INK, "--ink"),
    (palette.MUTED, "--muted"),
    (palette.GRID, "--grid"),
    (palette.BASELINE, "--baseline"),
    (palette.CANDIDATE, "--candidate"),
    (palette.FAILED, "--failed"),
    (palette.UNKNOWN, "--unknown"),
    (palette.PAUSE, "--pause"),
    (palette.PAUSED_LANE, "--paused-lane"),
    *((colour, f"--broker-{number}") for number, colour in enumerate(palette.BROKERS, start=1)),
)
"""
A picture's literal colours and the variables of page.css that replace them, so that pictures follow the page's colour scheme.
"""


def write(document: Document, folder: Path) -> Path:
    """Write the page into ``folder`` and return its path."""
    path = folder / FILE_NAME
    replace_file(path, render(document).encode())
    return path


def render(document: Document) -> str:
    """Return the page; without pictures of cases if it would be too large."""
    order = page.cases_by_interest(document)
    pictures = draw_cases(order, document.plots, page.subjects_of(document))
    text = _page(document, pictures)
    if len(text.encode()) > LIMIT_BYTES:
        text = _page(document, {case: CasePictures(no_room=True) for case in order})
    return text


_BARS = {ClientRole.PRODUCER: "one bar per attempt", ClientRole.CONSUMER: "bars of calls"}
_POOLS = {ClientRole.PRODUCER: "failover", ClientRole.CONSUMER: "resumption"}


def _page(document: Document, pictures: dict[str, CasePictures]) -> str:
    clusters = page.cluster_views(document)
    matrix = matrix_of(document)
    roles = document.run.roles
    used = {cell.sign for row in matrix.rows for cell in row.cells if cell}
    template = _environment(document).get_template("report.html.j2")
    return template.render(
        document=document,
        run=document.run,
        headline=headline(document),
        subline=subline(document),
        tone=RUN_TONE[document.verdict],
        mark=RUN_MARKS[document.verdict],
        colours=COLOURS,
        topologies=", ".join(sorted({case.topology for case in document.run.cases if case.topology})),
        episodes=sum(case.episodes for case in document.run.cases),
        guards=page.guards_of(document),
        broken_guards=sum(not guard.held for guard in page.guards_of(document)),
        trust=trust_lines(document),
        trust_briefly=trust_briefly(document),
        calibrations=[each for _, each in calibrations(document) if each is not None],
        findings=[cluster for cluster in clusters if cluster.tone in ("bad", "open")][:FINDINGS],
        why_open=why_open(document),
        matrix=matrix,
        legend=[sign for sign in (*SIGNS.values(), MEASURED) if sign in used],
        anchors=page.anchors_of(document),
        clusters=clusters,
        clusters_left_out=len(document.clusters) - len(clusters),
        first_divergence=page.card_anchor(clusters[0].item) if clusters and clusters[0].tone == "bad" else "",
        unanswered=page.unanswered(document),
        unjudged=unjudged(document.run),
        ledger=ledger_parts(document),
        ledger_signs=STATE_SIGNS,
        pools=page.pool_views(document),
        cases=page.case_views(document, pictures),
        limit_mb=LIMIT_BYTES // 1_000_000,
        bars=" or ".join(_BARS[role] for role in roles),
        pools_title=" and ".join(_POOLS[role] for role in roles).capitalize(),
        operations=" and ".join(role.operations for role in roles),
        what_was_read=_what_was_read(document.traces),
    )


def _environment(document: Document) -> Environment:
    environment, cards = page_environment(), page.cards_of(document)
    missing_charts = CHARTS.missing() if document.plots.shares or document.plots.failover else None
    environment.globals.update(figure_heads=FIGURE_HEADS, figure_note=FIGURE_NOTE, missing_charts=missing_charts)
    environment.filters.update(
        card=lambda divergence, result: cards.get(
            (
                result.check,
                divergence.signature,
                divergence.subject,
                str(weight_of(result, divergence, document.policy)),
            ),
            "",
        ),
        anchor=page.card_anchor,
        short=lambda case: short_case(case, document.run),
        measure_lines=measure_lines,
        number=number,
        attempt=attempt_text,
        settings=_settings_text,
        briefly=_briefly,
        hint=_hint,
        bound=bound,
        breakable=_breakable,
        phase=phase_word,
    )
    return environment


def _what_was_read(traces: TraceCounts) -> str:
    parts = [plural(traces.sends, "send")] if traces.sends or not traces.calls else []
    if traces.attempts is not None and parts:
        parts.append(plural(traces.attempts, "attempt"))
    return ", ".join(
        [*parts, *([plural(traces.calls, "call of listeners", "calls of listeners")] if traces.calls else [])]
    )


def _settings_text(settings: dict[str, object]) -> str:
    return ", ".join(f"{name} = {plain_text(value)}" for name, value in settings.items())


def _briefly(sentences: Sequence[str]) -> str:
    more = f"; and {len(sentences) - 2} more" if len(sentences) > 2 else ""
    return "; ".join(sentences[:2]) + more


def _hint(cell: CaseCell) -> str:
    lines = []
    for result in cell.results:
        signatures = ", ".join(divergence.signature for divergence in result.divergences)
        lines.append(": ".join(filter(None, (cell.sign.word, signatures or result.reason))))
    return "\n".join(lines)


def _breakable(name: str) -> Markup:
    return Markup("-<wbr>").join(escape(part) for part in name.split("-"))
