"""Views of the page: everything the template shows, computed before rendering."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rocketdiff.matrix.document import (
    CellState,
    Column,
    ColumnDifference,
    MatrixCell,
    MatrixDocument,
    MatrixRow,
    RowKind,
    Run,
)
from rocketdiff.matrix.view import SIGNS, ColumnGroup, brief, groups_of, rows_measured
from rocketdiff.report.words.signatures import rule_title
from rocketdiff.report.words.signs import Sign

DIFFERENCES_SHOWN = 200
"""Number of signatures with a card; the document has the rest."""


@dataclass(frozen=True, slots=True)
class CellView:
    """A cell of the table: sign, tooltip, and the anchor of its line in the client's section."""

    sign: Sign
    hint: str
    anchor: str
    tone: str


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of the table. needs_a_look: a client differs, or is open."""

    row: MatrixRow
    cells: tuple[CellView, ...]
    needs_a_look: bool


@dataclass(frozen=True, slots=True)
class TableView:
    """One of the two tables."""

    anchor: str
    title: str
    about: str
    rows: tuple[RowView, ...]


@dataclass(frozen=True, slots=True)
class ScenarioLinks:
    """A scenario that answered, with a link to each member's answer: (member, link)."""

    scenario: str
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """Answers of one check with the same state."""

    sign: Sign
    check: str
    places: tuple[ScenarioLinks, ...]


@dataclass(frozen=True, slots=True)
class LineView:
    """One row of a client: its answers, and its differences with their cards: (signature, anchor)."""

    row: MatrixRow
    anchor: str
    sign: Sign
    reason: str
    answers: tuple[AnswerView, ...]
    differences: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run of a member: its subject and the anchor of its command."""

    subject: str
    baseline: str
    run: Run
    anchor: str


@dataclass(frozen=True, slots=True)
class ClientView:
    """The section of one client, or of releases with equal results."""

    group: ColumnGroup
    tone: str
    summary: tuple[tuple[Sign, int], ...]
    runs: tuple[RunView, ...]
    missing: tuple[tuple[str, str, str], ...]
    lines: tuple[LineView, ...]


@dataclass(frozen=True, slots=True)
class ShownBy:
    """A client that shows a difference, with an example. members: (subject, count, link, command)."""

    anchor: str
    heading: str
    sign: Sign
    example: ColumnDifference
    members: tuple[tuple[str, int, str, str], ...]


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """A signature of a check, and every client that shows it."""

    anchor: str
    check: str
    signature: str
    title: str
    tone: str
    shown_by: tuple[ShownBy, ...]


def tables_of(document: MatrixDocument) -> tuple[TableView, ...]:
    """Return the tables of behaviours and checks, without rows that no column has an answer to."""
    groups = groups_of(document)
    tables = (
        (
            "behaviours",
            "Behaviours",
            "What users of a client notice. Each is decided by the answers of some checks, in the scenarios that cover it.",
            RowKind.BEHAVIOUR,
        ),
        ("checks", "Checks", "Each question over all scenarios of the runs.", RowKind.CHECK),
    )
    return tuple(
        TableView(anchor, title, about, tuple(_row(row, groups) for row in rows_measured(document, kind)))
        for anchor, title, about, kind in tables
    )


def _row(row: MatrixRow, groups: Sequence[ColumnGroup]) -> RowView:
    cells = tuple(_cell(group, row) for group in groups)
    return RowView(row, cells, any(cell.sign.tone in ("bad", "known", "open") for cell in cells))


def _cell(group: ColumnGroup, row: MatrixRow) -> CellView:
    cell = group.cell(row)
    sign = SIGNS[cell.state]
    return CellView(
        sign, f"{group.heading}, {row.id}: {brief(cell, group.column)}", _line_anchor(group, row), sign.tone
    )


def _line_anchor(group: ColumnGroup, row: MatrixRow) -> str:
    return f"{group.anchor}.{row.id}"


def clients_of(document: MatrixDocument) -> tuple[ClientView, ...]:
    """Return the sections of the clients, in column order."""
    cards = _anchors_of_cards(document)
    return tuple(_client(document, group, cards) for group in groups_of(document))


def _client(document: MatrixDocument, group: ColumnGroup, cards: dict[tuple[str, str], str]) -> ClientView:
    counts = [(SIGNS[state], sum(cell.state is state for cell in group.column.cells)) for state in CellState]
    states = {cell.state for cell in group.column.cells}
    runs = tuple(
        RunView(column.subject, column.baseline, run, f"{group.anchor}-run-{member}-{number}")
        for member, column in enumerate(group.columns)
        for number, run in enumerate(column.runs)
    )
    missing = tuple((column.subject, name, reason) for column in group.columns for name, reason in column.missing)
    rows = [row for kind in RowKind for row in rows_measured(document, kind)]
    lines = tuple(_line(group, row, cards) for row in rows)
    tone = next(SIGNS[state].tone for state in CellState if state in states)
    return ClientView(group, tone, tuple(pair for pair in counts if pair[1]), runs, missing, lines)


def _line(group: ColumnGroup, row: MatrixRow, cards: dict[tuple[str, str], str]) -> LineView:
    cell = group.cell(row)
    differences = [group.column.differences[number] for number in cell.differences]
    return LineView(
        row=row,
        anchor=_line_anchor(group, row),
        sign=SIGNS[cell.state],
        reason=cell.reason,
        answers=tuple(_answers(group, cell)) if cell.state is not CellState.NOT_MEASURED else (),
        differences=tuple((item.signature, cards.get((item.check, item.signature), "")) for item in differences),
    )


def _answers(group: ColumnGroup, cell: MatrixCell) -> Iterator[AnswerView]:
    """By state and check, most serious first."""
    order = list(CellState)
    answers = [group.column.answers[number] for number in cell.answers]
    answers = sorted(
        (answer for answer in answers if answer.state is not CellState.NOT_MEASURED),
        key=lambda one: (order.index(one.state), one.check),
    )
    for (state, check), members in groupby(answers, key=lambda one: (one.state, one.check)):
        scenarios = dict.fromkeys(answer.scenario for answer in members)
        places = tuple(ScenarioLinks(name, tuple(_links(group, name, check))) for name in scenarios)
        yield AnswerView(SIGNS[state], check, places)


def _links(group: ColumnGroup, scenario: str, check: str) -> Iterator[tuple[str, str]]:
    for column in group.columns:
        for answer in column.answers:
            if (answer.scenario, answer.check) == (scenario, check) and answer.report:
                seed = f" seed {column.runs[answer.run].seed}" if len({run.seed for run in column.runs}) > 1 else ""
                yield f"{column.subject.partition(':')[2] or column.subject}{seed}", answer.report


def differences_of(document: MatrixDocument) -> tuple[DifferenceView, ...]:
    """Return every signature that a client shows: undeclared ones first, then by number of clients."""
    groups, cards = groups_of(document), _anchors_of_cards(document)
    views = []
    for (check, signature), anchor in cards.items():
        shown = tuple(
            _shown_by(group, check, signature, anchor) for group in groups if _of(group.column, check, signature)
        )
        first = shown[0].example
        tone = "bad" if any(client.sign.tone == "bad" for client in shown) else "known"
        views.append(DifferenceView(anchor, check, signature, rule_title(signature) or first.title, tone, shown))
    return tuple(sorted(views, key=lambda view: (view.tone != "bad", -len(view.shown_by))))


def _shown_by(group: ColumnGroup, check: str, signature: str, anchor: str) -> ShownBy:
    own = [(column, item) for column in group.columns for item in _of(column, check, signature)]
    is_known = all(item.is_known for _, item in own)
    return ShownBy(
        anchor=f"{anchor}-{group.anchor}",
        heading=group.heading,
        sign=SIGNS[CellState.KNOWN if is_known else CellState.DIFFERS],
        example=own[0][1],
        members=tuple((column.subject, item.count, item.report, item.explain) for column, item in own),
    )


def _of(column: Column, check: str, signature: str) -> list[ColumnDifference]:
    return [item for item in column.differences if (item.check, item.signature) == (check, signature)]


def _anchors_of_cards(document: MatrixDocument) -> dict[tuple[str, str], str]:
    keys = dict.fromkeys((item.check, item.signature) for column in document.columns for item in column.differences)
    return {key: f"difference-{number}" for number, key in enumerate([*keys][:DIFFERENCES_SHOWN], start=1)}
