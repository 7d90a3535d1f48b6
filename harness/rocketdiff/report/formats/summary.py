"""The summary of a run on the terminal, readable within ten seconds, and a last line for programs."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.tables.effects import effect_of
from rocketdiff.report.clusters import DivergenceCluster, Weight
from rocketdiff.report.consuming.words import FIGURES_SHOWN, figure_line
from rocketdiff.report.document import Document
from rocketdiff.report.views.case_matrix import CaseRow, Matrix, matrix_of
from rocketdiff.report.views.open_checks import why_open
from rocketdiff.report.views.page import context_of, guards_of, subjects_of, unanswered_together
from rocketdiff.report.words.gate_rates import controls_lines, is_measured, trust_briefly, unseen_rate
from rocketdiff.report.words.ledger import STATE_SIGNS, because, to_look_at, trouble_text
from rocketdiff.report.words.signatures import alike_note, explained_from, title_of
from rocketdiff.report.words.signs import (
    RUN_MARKS,
    RUN_TONE,
    SIGNS,
    Sign,
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

STYLES = {"good": "green", "bad": "red", "open": "yellow", "warn": "yellow", "known": "blue", "mute": "dim"}
CLUSTERS_SHOWN = 6
UNANSWERED_SHOWN = 6

FOR_STATISTICS = "How sure this is, and how often the gate alarms falsely: in the report, and here with -v."

NAME_WIDTH = 27
"""Minimum width for a case's name; a longer name is folded."""


class Detail(Enum):
    """How much of a summary is printed. FULL: the statistics behind the verdict too, which the page has in any case."""

    BRIEF = auto()
    USUAL = auto()
    FULL = auto()


_BRIEFLY = ("What diverged", "Without an answer")
"""Parts that a quiet run prints."""


def print_summary(
    document: Document,
    console: Console,
    files: Mapping[str, Path] | None = None,
    *,
    shown_before: Collection[str] = (),
    detail: Detail = Detail.USUAL,
) -> None:
    """
    Print the summary; the machine line is last and never wrapped.

    shown_before: cases whose divergences were just printed; only their titles are repeated.
    """
    console.print()
    console.print(_verdict(document))
    for title, body in (
        ("What diverged", _clusters(document, shown_before)),
        ("Without an answer", _unanswered(document)),
        *((title, Group(*map(Text, lines))) for title, lines in unjudged(document.run).items()),
        ("Ledger", _ledger(document)),
        ("Checks", _matrix(document)),
        ("Consumers", _groups(document)),
        ("More", _more(document, files or {})),
    ):
        if body is not None and (detail is not Detail.BRIEF or title in _BRIEFLY):
            console.print(Text(f"\n{title}", style="bold"))
            console.print(Padding(body, (0, 0, 0, 2)))
    console.print()
    for line in (*controls_lines(document), *_statistics(document, detail)):
        console.print(Text(line, style="dim"))
    console.print()
    console.print(document.machine_line, highlight=False, markup=False, soft_wrap=True)


def _statistics(document: Document, detail: Detail) -> tuple[str, ...]:
    if detail is Detail.FULL or not is_measured(document):
        return (*unseen_rate(document), trust_briefly(document))
    return (FOR_STATISTICS,) if detail is Detail.USUAL else ()


def _verdict(document: Document) -> RenderableType:
    run, style = document.run, STYLES[RUN_TONE[document.verdict]]
    lines = [
        Text.assemble((f"{RUN_MARKS[document.verdict]} {headline(document)}", f"bold {style}")),
        Text(f"  {subline(document)}"),
        Text(
            f"  {run.baseline.title} (baseline) against {run.candidate.title}, RocketMQ {run.server_release}"
            f" on {run.backend}, suite {run.suite}, seed {run.seed}, {duration(run.took_s)}",
            style="dim",
        ),
    ]
    lines += [Text(f"  {line}", style=style) for line in why_open(document)]
    lines += [
        Text(f"  ✗ {guard.name}: {guard.seen} (expected: {guard.expected})", style="red")
        for guard in guards_of(document)
        if not guard.held
    ]
    return Group(*lines)


def _clusters(document: Document, shown_before: Collection[str]) -> RenderableType | None:
    if not document.clusters:
        return None
    shown = document.clusters[:CLUSTERS_SHOWN]
    parts: list[RenderableType] = [
        _title(number, item, document)
        if item.weight is Weight.NEW and item.example_case in shown_before
        else _cluster(number, item, document)
        for number, item in enumerate(shown, start=1)
    ]
    if len(document.clusters) > len(shown):
        parts.append(
            Text(f"and {plural(len(document.clusters) - len(shown), 'more signature')} in the report", style="dim")
        )
    return Group(*parts)


def _title(number: int, cluster: DivergenceCluster, document: Document) -> Text:
    style = {Weight.NEW: "red", Weight.WARNING: "yellow", Weight.DECLARED: "blue", Weight.VOID: "yellow"}[
        cluster.weight
    ]
    kind = {
        Weight.NEW: "",
        Weight.WARNING: " (does not gate)",
        Weight.DECLARED: " (declared)",
        Weight.VOID: " (invalid run)",
    }
    return Text.assemble((f"{number}. {sentence(title_of(cluster, document))}", f"bold {style}"), kind[cluster.weight])


def _cluster(number: int, cluster: DivergenceCluster, document: Document) -> RenderableType:
    count = f"{effect_of(cluster.signature)}; {cluster.check}, {cluster.subject}, {cluster.count:,} × in {plural(len(cluster.cases), 'case')}"
    lines = Table.grid(padding=(0, 1))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column(overflow="fold")
    lines.add_row("signature", Text(f"{cluster.signature} ({count})"))
    lines.add_row("expected", Text(cluster.example.expected))
    lines.add_row("observed", Text(cluster.example.observed))
    lines.add_row("example", Text(where_in(cluster, document.run)))
    if cluster.declared_by:
        lines.add_row("declared", Text(f"by {', '.join(cluster.declared_by)}"))
    context = context_of(cluster, document)
    if context.since:
        lines.add_row("explained", Text(explained_from(context)))
    if note := alike_note(cluster, document):
        lines.add_row("why", Text(note))
    for entry in context.known:
        lines.add_row("known", Text(f"{entry.reason} ({entry.ref})"))
    if command := explain_command(cluster, document.run):
        lines.add_row("explain", Text(command))
    return Group(_title(number, cluster, document), Padding(lines, (0, 0, 0, 3)))


def _unanswered(document: Document) -> RenderableType | None:
    rows = unanswered_together(document)
    if not rows:
        return None
    lines = [
        Text.assemble(
            (f"{row.sign.mark} ", STYLES[row.sign.tone]),
            f"{short_case(row.result.case, document.run)} {checks}: {row.why}",
        )
        for row, checks in rows[:UNANSWERED_SHOWN]
    ]
    if len(rows) > len(lines):
        lines.append(Text(f"and {len(rows) - len(lines):,} more in the report", style="dim"))
    return Group(*lines)


def _ledger(document: Document) -> RenderableType | None:
    if not document.ledger:
        return None
    states = Counter(entry.state for entry in document.ledger)
    counts = ", ".join(f"{states[state]} {sign.word}" for state, sign in STATE_SIGNS.items() if states[state])
    shared = sum(entry.is_shared for entry in document.ledger)
    more = f"; {shared} of them at fault on both sides, or a gap in the specification" if shared else ""
    lines = [Text(f"{plural(len(document.ledger), 'entry', 'entries')} about this run: {counts}{more}")]
    troubled = to_look_at(document)
    texts = [(entry, because(entry)) for entry in document.ledger if entry.seen and entry not in troubled]
    for entry, text in (*texts, *((entry, trouble_text(entry)) for entry in troubled)):
        sign = STATE_SIGNS[entry.state]
        lines.append(Text.assemble((f"{sign.mark} ", STYLES[sign.tone]), text))
    return Group(*lines)


def _matrix(document: Document) -> RenderableType:
    """Checks that conform in every case share one line instead of a column each."""
    wide = matrix_of(document)
    places = [place for place in range(len(wide.checks)) if not _conforms_everywhere(wide, place)]
    matrix = Matrix(
        tuple(wide.checks[place] for place in places),
        tuple(CaseRow(row.case, tuple(row.cells[place] for place in places)) for row in wide.rows),
    )
    used = dict.fromkeys(cell.sign for row in matrix.rows for cell in row.cells if cell is not None)
    fine = [check for check in wide.checks if check not in matrix.checks]
    parts: list[RenderableType] = []
    if fine:
        parts.append(Text.assemble(("✓ ", "green"), f"in every case that asks: {', '.join(fine)}"))
    if places:
        names = tuple(short_case(row.case, document.run) for row in matrix.rows)
        parts += [_Signs(matrix, names), _legend(used)]
    return Group(*parts)


def _groups(document: Document) -> RenderableType | None:
    """What the groups of consumers did; a paragraph for each case and arm."""
    rows = document.plots.figures[:FIGURES_SHOWN]
    if not rows:
        return None
    subjects, lines = subjects_of(document), list[RenderableType]()
    for case in dict.fromkeys(row.case for row in rows):
        lines.append(Text(short_case(case, document.run)))
        for row in (row for row in rows if row.case == case):
            shown = Text.assemble((f"{subjects.get(row.arm, row.arm)}: ", "dim"), figure_line(row))
            lines.append(Padding(shown, (0, 0, 0, 2)))
    return Group(*lines)


def _conforms_everywhere(matrix: Matrix, place: int) -> bool:
    asked = [cell for row in matrix.rows if (cell := row.cells[place]) is not None]
    return all(cell.sign is SIGNS[Verdict.CONFORMS] for cell in asked)


@dataclass(frozen=True, slots=True)
class _Signs:
    """The matrix, split into tables that fit the width."""

    matrix: Matrix
    names: tuple[str, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heads = list(self.matrix.checks)
        name_width = min(max(map(len, self.names), default=0), max(NAME_WIDTH, options.max_width - _width(heads)))
        rest = list(range(len(heads)))
        while rest:
            count = 1
            while count < len(rest) and name_width + _width(heads[i] for i in rest[: count + 1]) < options.max_width:
                count += 1
            yield self._table(rest[:count], heads, name_width)
            rest = rest[count:]

    def _table(self, columns: Sequence[int], heads: Sequence[str], name_width: int) -> Table:
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", pad_edge=False)
        table.add_column("case", overflow="fold", width=name_width)
        for i in columns:
            table.add_column(heads[i], justify="center", no_wrap=True)
        for name, row in zip(self.names, self.matrix.rows, strict=True):
            cells = [row.cells[i] for i in columns]
            if any(cell is not None for cell in cells):
                table.add_row(Text(name), *(Text(" ") if cell is None else _sign(cell.sign) for cell in cells))
        return table


def _width(heads: Iterable[str]) -> int:
    return sum(len(head) + 1 for head in heads)


def _legend(used: Iterable[Sign]) -> Text:
    order = [*SIGNS.values()]
    ranked = sorted(used, key=lambda sign: order.index(sign) if sign in order else len(order))
    return Text("  ".join(f"{sign.mark} {sign.word}" for sign in ranked), style="dim")


def _sign(sign: Sign) -> Text:
    return Text(sign.mark, style=STYLES[sign.tone])


def _more(document: Document, files: Mapping[str, Path]) -> RenderableType:
    lines = Table.grid(padding=(0, 1))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column(overflow="fold")
    for name, path in files.items():
        lines.add_row(name, Text(str(path)))
    lines.add_row("reproduce", Text(document.run.reproduce))
    return lines
