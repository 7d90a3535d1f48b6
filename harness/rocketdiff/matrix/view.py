"""What all formats of a matrix share: signs, words, and the columns as shown, with equal releases grouped."""

import re
from collections import Counter
from dataclasses import dataclass

from rocketdiff.core.tables.effects import Effect, effect_of
from rocketdiff.core.text import machine_line as text
from rocketdiff.matrix.document import CellState, Column, MatrixCell, MatrixDocument, MatrixRow, RowKind
from rocketdiff.report.words.signs import Sign, plural

SIGNS = {
    CellState.SAME: Sign("✓", "as the baseline", "good"),
    CellState.DIFFERS: Sign("✗", "differs", "bad"),
    CellState.KNOWN: Sign("◆", "differs, known", "known"),
    CellState.OPEN: Sign("?", "inconclusive", "open"),
    CellState.NOT_MEASURED: Sign("–", "not measured", "mute"),
}
"""Mark and word distinguish the states without the colour."""

STANDINGS = {
    CellState.DIFFERS: "with a difference that no ledger knows",
    CellState.KNOWN: "with known differences only",
    CellState.OPEN: "without a difference but with open checks",
    CellState.SAME: "as the baseline",
    CellState.NOT_MEASURED: "",
}


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """Columns with equal results, shown as one. anchor: of its section of the page. releases: one per column."""

    anchor: str
    client: str
    releases: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def heading(self) -> str:
        """For example ``java 4.9.4, 4.9.8``."""
        return f"{self.client} {', '.join(self.releases)}".strip()

    @property
    def column(self) -> Column:
        """The first column; its cells stand for all."""
        return self.columns[0]

    def cell(self, row: MatrixRow) -> MatrixCell:
        return next(cell for cell in self.column.cells if cell.row == row.id)


def groups_of(document: MatrixDocument) -> tuple[ColumnGroup, ...]:
    """Return the columns as shown, in the order of the file."""
    return tuple(_group(document, members) for members in document.groups)


def _group(document: MatrixDocument, members: tuple[int, ...]) -> ColumnGroup:
    columns = tuple(document.columns[number] for number in members)
    client = columns[0].label or columns[0].subject.partition(":")[0]
    releases = tuple(column.subject.partition(":")[2] for column in columns)
    anchor = "client-" + re.sub("[^A-Za-z0-9]+", "-", columns[0].subject).strip("-") + f"-{members[0] + 1}"
    return ColumnGroup(anchor, client, tuple(filter(None, releases)), columns)


def effects_undeclared(document: MatrixDocument) -> str:
    """Return which clients show which effect that no ledger declares, most serious first; a sentence if none does."""
    shown: dict[Effect, dict[str, list[str]]] = {}
    for group in groups_of(document):
        undeclared = {effect_of(item.signature) for item in group.column.differences if not item.is_known}
        for effect in undeclared:
            shown.setdefault(effect, {}).setdefault(group.client, []).extend(group.releases)
    lines = [
        f"{effect} at {'; '.join(' '.join((client, ', '.join(releases))).strip() for client, releases in shown[effect].items())}"
        for effect in Effect
        if effect in shown
    ]
    return f"Undeclared: {' · '.join(lines)}" if lines else "No client shows a difference that no ledger declares."


def rows_measured(document: MatrixDocument, kind: RowKind) -> tuple[MatrixRow, ...]:
    """Return the rows with an answer in at least one column."""
    return tuple(row for row in document.rows if row.kind is kind and not _is_blank(row, document))


def rows_blank(document: MatrixDocument) -> tuple[tuple[MatrixRow, str], ...]:
    """Return the rows without an answer in any column, each with the reasons."""
    blank = (row for row in document.rows if _is_blank(row, document))
    return tuple((row, _reasons(row, document)) for row in blank)


def _is_blank(row: MatrixRow, document: MatrixDocument) -> bool:
    return all(
        cell.state is CellState.NOT_MEASURED
        for column in document.columns
        for cell in column.cells
        if cell.row == row.id
    )


def _reasons(row: MatrixRow, document: MatrixDocument) -> str:
    measured = [column for column in document.columns if column.is_measured] or document.columns
    return "; ".join(dict.fromkeys(cell.reason for column in measured for cell in column.cells if cell.row == row.id))


def counts_of(column: Column) -> Counter[CellState]:
    """Count the cells of a column by state."""
    return Counter(cell.state for cell in column.cells)


def standing_of(column: Column) -> str:
    """Return words for a column's most serious state; empty if not measured."""
    states = {cell.state for cell in column.cells}
    return next(words for state, words in STANDINGS.items() if state in states)


def brief(cell: MatrixCell, column: Column) -> str:
    """Summarise a cell: how many of its answers have its state, then signatures or reason."""
    word = SIGNS[cell.state].word
    if not cell.answers or cell.state is CellState.NOT_MEASURED:
        return f"{word}: {cell.reason}" if cell.reason else word
    same = sum(column.answers[number].state is cell.state for number in cell.answers)
    summary = f"{word} in {same} of {plural(len(cell.answers), 'answer')}"
    signatures = ", ".join(dict.fromkeys(column.differences[number].signature for number in cell.differences))
    return ": ".join(filter(None, (summary, signatures or cell.reason)))


def machine_line(document: MatrixDocument, folder: str) -> str:
    """Return the last line of the command's output, for programs."""
    counts = sum((counts_of(column) for column in document.columns), Counter[CellState]())
    measured = sum(column.is_measured for column in document.columns)
    return text.machine_line(
        "MATRIX",
        columns=len(document.columns),
        measured=measured,
        groups=len(document.groups),
        **{state.value: counts[state] for state in CellState},
        folder=folder,
    )
