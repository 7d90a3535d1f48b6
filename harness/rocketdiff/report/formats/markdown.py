"""
Markdown for a CI step summary, and a shorter comment on a pull request.

Platforms drop a summary over 1 MiB and refuse a comment over 64 KiB. To fit, these are left out in order: clusters beyond the
first ten, the matrix, clusters beyond the first three.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.core.tables.effects import effect_of
from rocketdiff.core.text.markdown import code, fenced, inline, table_row
from rocketdiff.documents.files import replace_file
from rocketdiff.report.clusters import DivergenceCluster, Weight
from rocketdiff.report.consuming.words import (
    FIGURE_HEADS,
    FIGURE_NOTE,
    FIGURES_SHOWN,
    SILENCE_HEAD,
    figure_cells,
    silence_cell,
)
from rocketdiff.report.document import Document
from rocketdiff.report.run_difference import briefly
from rocketdiff.report.views.case_matrix import CaseCell, matrix_of
from rocketdiff.report.views.open_checks import why_open
from rocketdiff.report.views.page import context_of, subjects_of, unanswered_together
from rocketdiff.report.words.gate_rates import controls_lines, trust_briefly, unseen_rate
from rocketdiff.report.words.ledger import because, ledger_parts, to_look_at, trouble_text
from rocketdiff.report.words.signatures import alike_note, explained_from, title_of
from rocketdiff.report.words.signs import (
    MEASURED,
    SIGNS,
    duration,
    explain_command,
    headline,
    plural,
    sentence,
    short_case,
    subline,
    unjudged,
    where_in,
)
from rocketdiff.verdict.judge import RunVerdict

SUMMARY_FILE, COMMENT_FILE = "summary.md", "comment.md"
SUMMARY_BYTES = 1_000_000
COMMENT_BYTES = 60_000
"""Below 65,536, with room for additions of the platform or a wrapper."""

FIRST_CLUSTERS = 10

EMOJI = {
    Verdict.CONFORMS: "✅",
    Verdict.EQUIVALENT: "✅",
    Verdict.DECLARED: "☑️",
    Verdict.DIVERGES: "❌",
    Verdict.STALE: "❌",
    Verdict.INCONCLUSIVE: "⚠️",
    Verdict.INVALID: "⚠️",
    Verdict.NOT_APPLICABLE: "➖",
    Verdict.ERROR: "💥",
}
_RUN_EMOJI = {RunVerdict.CONFORMS: "✅", RunVerdict.DIVERGES: "❌", RunVerdict.STALE: "❌", RunVerdict.ERROR: "💥"}
_EMOJI_OF_MARK = {sign.mark: EMOJI[verdict] for verdict, sign in SIGNS.items()} | {MEASURED.mark: "·"}


@dataclass(frozen=True, slots=True)
class Extent:
    """How much detail is shown."""

    clusters: int
    folded_clusters: int
    matrix: bool


_EXTENTS = (
    Extent(FIRST_CLUSTERS, 1_000, matrix=True),
    Extent(FIRST_CLUSTERS, 40, matrix=True),
    Extent(FIRST_CLUSTERS, 0, matrix=True),
    Extent(FIRST_CLUSTERS, 0, matrix=False),
    Extent(3, 0, matrix=False),
)
_SHORTEST = Extent(0, 0, matrix=False)


def write(document: Document, folder: Path, since: Document | None = None) -> tuple[Path, Path]:
    """Write the step summary and the comment into ``folder``; with an earlier run the comment begins with what is new."""
    summary, comment = folder / SUMMARY_FILE, folder / COMMENT_FILE
    replace_file(summary, render(document, SUMMARY_BYTES).encode())
    head = "" if since is None else "\n".join(briefly(since, document)) + "\n\n"
    text = render(document, COMMENT_BYTES - len(head.encode()), _EXTENTS[2:])
    replace_file(comment, (head + text).encode())
    return summary, comment


def render(document: Document, limit_bytes: int, extents: Sequence[Extent] = _EXTENTS) -> str:
    """Return the most detailed text that fits; verdict, counts and command always fit."""
    for extent in extents:
        text = _text(document, extent)
        if len(text.encode()) <= limit_bytes:
            return text
    return _text(document, _SHORTEST).encode()[:limit_bytes].decode(errors="ignore")


def _text(document: Document, extent: Extent) -> str:
    parts = [_head(document), *_cluster_parts(document, extent), _open_ends(document), *_unjudged(document)]
    parts.append(_ledger(document))
    if extent.matrix:
        parts += [_matrix(document), _groups(document)]
    parts += [_trust(document), _facts(document), fenced(document.run.reproduce), code(document.machine_line)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _head(document: Document) -> str:
    head = f"## {_RUN_EMOJI.get(document.verdict, '⚠️')} {inline(headline(document))}\n\n{inline(subline(document))}"
    return "\n\n".join((head, *map(inline, why_open(document))))


def _cluster_parts(document: Document, extent: Extent) -> Iterator[str]:
    shown = document.clusters[: extent.clusters]
    folded = document.clusters[extent.clusters : extent.clusters + extent.folded_clusters]
    for cluster in shown:
        yield _cluster(cluster, document)
    if folded:
        inside = "\n\n".join(_cluster(cluster, document) for cluster in folded)
        yield f"<details><summary>{plural(len(folded), 'more signature')}</summary>\n\n{inside}\n\n</details>"
    left = len(document.clusters) - len(shown) - len(folded)
    if left > 0:
        yield f"{plural(left, 'more signature')} in the report."


def _cluster(cluster: DivergenceCluster, document: Document) -> str:
    mark = {Weight.NEW: "❌", Weight.WARNING: "⚠️", Weight.DECLARED: "☑️", Weight.VOID: "⚠️"}[cluster.weight]
    context = context_of(cluster, document)
    lines = [
        f"### {mark} {inline(sentence(title_of(cluster, document)))}",
        f"**{effect_of(cluster.signature)}** · {code(cluster.signature)}: {inline(cluster.check)}, {inline(cluster.subject)}: {cluster.count:,} × in {plural(len(cluster.cases), 'case')}",
        "",
        "| | |\n|---|---|",
        table_row(("expected", inline(cluster.example.expected))),
        table_row(("observed", inline(cluster.example.observed))),
        table_row(("example", inline(where_in(cluster, document.run)))),
    ]
    if cluster.declared_by:
        lines.append(table_row(("declared", f"by {', '.join(map(code, cluster.declared_by))}")))
    if context.since:
        lines.append(table_row(("explained", inline(explained_from(context)))))
    if note := alike_note(cluster, document):
        lines.append(table_row(("why", inline(note))))
    lines += [table_row(("known", inline(f"{entry.reason} ({entry.ref})"))) for entry in context.known]
    if command := explain_command(cluster, document.run):
        lines.append(table_row(("explain", code(command))))
    return "\n".join(lines)


def _open_ends(document: Document) -> str:
    rows = unanswered_together(document)
    if not rows:
        return ""
    lines = [
        f"- {EMOJI[row.result.verdict]} {inline(short_case(row.result.case, document.run))} {inline(checks)}:"
        f" {inline(row.why)}"
        for row, checks in rows[:FIRST_CLUSTERS]
    ]
    if len(rows) > FIRST_CLUSTERS:
        lines.append(f"- and {len(rows) - FIRST_CLUSTERS:,} more")
    return "### Without an answer\n\n" + "\n".join(lines)


def _unjudged(document: Document) -> Iterator[str]:
    for title, lines in unjudged(document.run).items():
        yield "\n".join([f"### {title}\n", *(f"- {inline(line)}" for line in lines)])


def _ledger(document: Document) -> str:
    """Entries that need action, then declared divergences with reasons."""
    declared = (
        (part.title, [because(entry) for entry in part.entries if entry.seen]) for part in ledger_parts(document)
    )
    parts = [("", [trouble_text(entry) for entry in to_look_at(document)]), *declared]
    text = "\n\n".join(_listed(title, lines) for title, lines in parts if lines)
    return f"### Ledger\n\n{text}" if text else ""


def _listed(title: str, texts: Sequence[str]) -> str:
    lines = [f"- {inline(text)}" for text in texts[:FIRST_CLUSTERS]]
    if len(texts) > len(lines):
        lines.append(f"- and {len(texts) - len(lines):,} more")
    return "\n".join([f"{title}:\n", *lines] if title else lines)


def _trust(document: Document) -> str:
    lines = (*unseen_rate(document), *controls_lines(document), trust_briefly(document))
    return "\n".join(f"- {inline(line)}" for line in lines)


def _matrix(document: Document) -> str:
    matrix = matrix_of(document)
    lines = [table_row(("case", *map(inline, matrix.checks))), table_row(["---"] + [":-:"] * len(matrix.checks))]
    lines += [table_row([inline(short_case(row.case, document.run)), *map(_emoji, row.cells)]) for row in matrix.rows]
    return "### Checks\n\n" + "\n".join(lines)


def _groups(document: Document) -> str:
    """What the groups of consumers did, case by case; empty without any."""
    rows = document.plots.figures[:FIGURES_SHOWN]
    if not rows:
        return ""
    subjects = subjects_of(document)
    head = ("case", *(name.lower() for name in (*FIGURE_HEADS, SILENCE_HEAD)))
    lines = [table_row(head), table_row(["---", "---", *["--:"] * (len(head) - 2)])]
    for row in rows:
        cells = (
            short_case(row.case, document.run),
            subjects.get(row.arm, row.arm),
            *figure_cells(row),
            silence_cell(row),
        )
        lines.append(table_row(map(inline, cells)))
    more = len(document.plots.figures) - len(rows)
    lines += ["", FIGURE_NOTE + (f" {plural(more, 'more row')} in the report." if more else "")]
    return "### Consumers\n\n" + "\n".join(lines)


def _emoji(cell: CaseCell | None) -> str:
    return "" if cell is None else _EMOJI_OF_MARK[cell.sign.mark]


def _facts(document: Document) -> str:
    run = document.run
    gating = sum(result.severity is Severity.MUST for result in document.results)
    return (
        f"{inline(run.baseline.title)} (baseline) against {inline(run.candidate.title)}, RocketMQ"
        f" {inline(run.server_release)} on {inline(run.backend)}, suite {inline(run.suite)}, seed {run.seed}, {duration(run.took_s)},"
        f" {gating} must checks. Reproduce:"
    )
