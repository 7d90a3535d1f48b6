"""
Markdown for a CI step summary, and a shorter comment on a pull request.

Platforms drop a summary over 1 MiB and refuse a comment over 64 KiB. To fit, these are left out in order: clusters beyond the
first ten, the matrix, clusters beyond the first three.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.documents.files import replace_file
from rocketdiff.report.clusters import DivergenceCluster, Weight
from rocketdiff.report.document import Document
from rocketdiff.report.views.case_matrix import CaseCell, matrix_of
from rocketdiff.report.views.open_checks import why_open
from rocketdiff.report.views.page import context_of, unanswered
from rocketdiff.report.words.gate_rates import controls_lines, trust_briefly, unseen_rate
from rocketdiff.report.words.ledger import because, ledger_parts, to_look_at, trouble_text
from rocketdiff.report.words.signatures import title_of
from rocketdiff.report.words.signs import (
    MEASURED,
    SIGNS,
    duration,
    explain_command,
    headline,
    left_out,
    plural,
    sentence,
    short_case,
    subline,
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


def write(document: Document, folder: Path) -> tuple[Path, Path]:
    """Write the step summary and the comment into ``folder``."""
    summary, comment = folder / SUMMARY_FILE, folder / COMMENT_FILE
    replace_file(summary, render(document, SUMMARY_BYTES).encode())
    replace_file(comment, render(document, COMMENT_BYTES, _EXTENTS[2:]).encode())
    return summary, comment


def render(document: Document, limit_bytes: int, extents: Sequence[Extent] = _EXTENTS) -> str:
    """Return the most detailed text that fits; verdict, counts and command always fit."""
    for extent in extents:
        text = _text(document, extent)
        if len(text.encode()) <= limit_bytes:
            return text
    return _text(document, _SHORTEST).encode()[:limit_bytes].decode(errors="ignore")


def _text(document: Document, extent: Extent) -> str:
    parts = [_head(document), *_cluster_parts(document, extent), _open_ends(document), _left_out(document)]
    parts.append(_ledger(document))
    if extent.matrix:
        parts.append(_matrix(document))
    parts += [_trust(document), _facts(document), _fenced(document.run.reproduce), _code(document.machine_line)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _head(document: Document) -> str:
    head = f"## {_RUN_EMOJI.get(document.verdict, '⚠️')} {_plain(headline(document))}\n\n{_plain(subline(document))}"
    return "\n\n".join((head, *map(_plain, why_open(document))))


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
        f"### {mark} {_plain(sentence(title_of(cluster, document)))}",
        f"{_code(cluster.signature)}: {_plain(cluster.check)}, {_plain(cluster.subject)}: {cluster.count:,} × in {plural(len(cluster.cases), 'case')}",
        "",
        "| | |\n|---|---|",
        f"| expected | {_plain(cluster.example.expected)} |",
        f"| observed | {_plain(cluster.example.observed)} |",
        f"| example | {_plain(where_in(cluster, document.run))} |",
    ]
    if cluster.declared_by:
        lines.append(f"| declared | by {', '.join(map(_code, cluster.declared_by))} |")
    if context.since:
        lines.append(f"| since | {_plain(context.since)}; the rules of {_plain(context.before)} do not explain it |")
    lines += [f"| known | {_plain(entry.reason)} ({_plain(entry.ref)}) |" for entry in context.known]
    if command := explain_command(cluster, document.run):
        lines.append(f"| explain | {_code(command)} |")
    return "\n".join(lines)


def _open_ends(document: Document) -> str:
    rows = unanswered(document)
    if not rows:
        return ""
    lines = [
        f"- {EMOJI[row.result.verdict]} {_plain(short_case(row.result.case, document.run))} {_plain(row.result.check)}:"
        f" {_plain(row.why)}"
        for row in rows[:FIRST_CLUSTERS]
    ]
    if len(rows) > FIRST_CLUSTERS:
        lines.append(f"- and {len(rows) - FIRST_CLUSTERS:,} more")
    return "### Without an answer\n\n" + "\n".join(lines)


def _left_out(document: Document) -> str:
    lines = [f"- {_plain(line)}" for line in left_out(document.run)]
    return "\n".join(["### Left out\n", *lines]) if lines else ""


def _ledger(document: Document) -> str:
    """Entries that need action, then declared divergences with reasons."""
    declared = (
        (part.title, [because(entry) for entry in part.entries if entry.seen]) for part in ledger_parts(document)
    )
    parts = [("", [trouble_text(entry) for entry in to_look_at(document)]), *declared]
    text = "\n\n".join(_listed(title, lines) for title, lines in parts if lines)
    return f"### Ledger\n\n{text}" if text else ""


def _listed(title: str, texts: Sequence[str]) -> str:
    lines = [f"- {_plain(text)}" for text in texts[:FIRST_CLUSTERS]]
    if len(texts) > len(lines):
        lines.append(f"- and {len(texts) - len(lines):,} more")
    return "\n".join([f"{title}:\n", *lines] if title else lines)


def _trust(document: Document) -> str:
    lines = (*unseen_rate(document), *controls_lines(document), trust_briefly(document))
    return "\n".join(f"- {_plain(line)}" for line in lines)


def _matrix(document: Document) -> str:
    matrix = matrix_of(document)
    lines = [_row(("case", *map(_plain, matrix.checks))), _row(["---"] + [":-:"] * len(matrix.checks))]
    lines += [_row([_plain(short_case(row.case, document.run)), *map(_emoji, row.cells)]) for row in matrix.rows]
    return "### Checks\n\n" + "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _emoji(cell: CaseCell | None) -> str:
    return "" if cell is None else _EMOJI_OF_MARK[cell.sign.mark]


def _facts(document: Document) -> str:
    run = document.run
    gating = sum(result.severity is Severity.MUST for result in document.results)
    return (
        f"{_plain(run.baseline.title)} (baseline) against {_plain(run.candidate.title)}, RocketMQ"
        f" {_plain(run.server_release)} on {_plain(run.backend)}, suite {_plain(run.suite)}, seed {run.seed}, {duration(run.took_s)},"
        f" {gating} must checks. Reproduce:"
    )


_MARKUP = str.maketrans(
    {character: f"\\{character}" for character in "\\`*_~[]|#"}
    | {character: f"&#{ord(character)};" for character in "<>@"}
)
"""Escapes; an at sign becomes an entity, because a backslash does not stop a platform from notifying a user."""


def _plain(text: str) -> str:
    return " ".join(text.translate(_MARKUP).split())


def _code(text: str) -> str:
    return f"`{' '.join(text.replace('`', chr(39)).replace('|', chr(92) + '|').split())}`"


def _fenced(text: str) -> str:
    """In a fence longer than any in the text."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"
