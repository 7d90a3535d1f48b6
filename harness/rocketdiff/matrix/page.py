"""Views of the page: everything the template shows, computed before rendering."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rocketdiff.matrix.document import Cell, Column, Difference, MatrixDocument, Row, RowKind, Run, State
from rocketdiff.matrix.view import SIGNS, Group, brief, groups_of, rows_measured
from rocketdiff.report.words.signatures import rule_title
from rocketdiff.report.words.signs import Sign

DIFFERENCES_SHOWN = 200
"""Signatures with a card; the document has the rest."""


@dataclass(frozen=True, slots=True)
class CellView:
    """A cell of the table: sign, tooltip, and the line of the client's part that it leads to."""

    sign: Sign
    hint: str
    anchor: str
    tone: str


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of the table; is_telling: some client differs or is open."""

    row: Row
    cells: tuple[CellView, ...]
    is_telling: bool


@dataclass(frozen=True, slots=True)
class TableView:
    """One of the two tables."""

    anchor: str
    title: str
    about: str
    rows: tuple[RowView, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A scenario that answered, with a link to each member's answer: (member, link)."""

    scenario: str
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SaidView:
    """Answers of one check that say the same."""

    sign: Sign
    check: str
    places: tuple[Place, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LineView:
    """One row of a client: what it rests on, and the differences with their cards: (signature, anchor)."""

    row: Row
    anchor: str
    sign: Sign
    reason: str
    said: tuple[SaidView, ...]
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
    """The part of one client, or of releases that answer alike."""

    group: Group
    tone: str
    summary: tuple[tuple[Sign, int], ...]
    runs: tuple[RunView, ...]
    missing: tuple[tuple[str, str, str], ...]
    lines: tuple[LineView, ...]


@dataclass(frozen=True, slots=True)
class ShownBy:
    """A client that shows a difference: its example; members: (subject, number of times, link, command)."""

    anchor: str
    heading: str
    sign: Sign
    example: Difference
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
    """Behaviours, then checks; rows that nobody has an answer to are listed elsewhere."""
    groups = groups_of(document)
    tables = (
        ("behaviours", "Behaviours", "What a producer's owner notices. Each is decided by the answers of some checks, in the scenarios that cover it.", RowKind.BEHAVIOUR),
        ("checks", "Checks", "Each question over all scenarios of the runs.", RowKind.CHECK),
    )  # fmt: skip
    return tuple(
        TableView(anchor, title, about, tuple(_row(row, groups) for row in rows_measured(document, kind)))
        for anchor, title, about, kind in tables
    )


def _row(row: Row, groups: Sequence[Group]) -> RowView:
    cells = tuple(_cell(group, row) for group in groups)
    return RowView(row, cells, any(cell.sign.tone in ("bad", "known", "open") for cell in cells))


def _cell(group: Group, row: Row) -> CellView:
    cell = group.cell(row)
    sign = SIGNS[cell.state]
    return CellView(
        sign, f"{group.heading}, {row.id}: {brief(cell, group.column)}", _line_anchor(group, row), sign.tone
    )


def _line_anchor(group: Group, row: Row) -> str:
    return f"{group.anchor}.{row.id}"


def clients_of(document: MatrixDocument) -> tuple[ClientView, ...]:
    """The parts of the clients, in the order of the columns."""
    cards = _anchors_of_cards(document)
    return tuple(_client(document, group, cards) for group in groups_of(document))


def _client(document: MatrixDocument, group: Group, cards: dict[tuple[str, str], str]) -> ClientView:
    counts = [(SIGNS[state], sum(cell.state is state for cell in group.column.cells)) for state in State]
    states = {cell.state for cell in group.column.cells}
    runs = tuple(
        RunView(column.subject, column.baseline, run, f"{group.anchor}-run-{member}-{number}")
        for member, column in enumerate(group.columns)
        for number, run in enumerate(column.runs)
    )
    missing = tuple((column.subject, name, reason) for column in group.columns for name, reason in column.missing)
    rows = [row for kind in RowKind for row in rows_measured(document, kind)]
    lines = tuple(_line(group, row, cards) for row in rows)
    tone = next(SIGNS[state].tone for state in State if state in states)
    return ClientView(group, tone, tuple(pair for pair in counts if pair[1]), runs, missing, lines)


def _line(group: Group, row: Row, cards: dict[tuple[str, str], str]) -> LineView:
    cell = group.cell(row)
    differences = [group.column.differences[number] for number in cell.differences]
    return LineView(
        row=row,
        anchor=_line_anchor(group, row),
        sign=SIGNS[cell.state],
        reason=cell.reason,
        said=tuple(_said(group, cell)) if cell.state is not State.NOT_MEASURED else (),
        differences=tuple((one.signature, cards.get((one.check, one.signature), "")) for one in differences),
    )


def _said(group: Group, cell: Cell) -> Iterator[SaidView]:
    """Answers by what they say and by check, the gravest first."""
    order = list(State)
    answers = [group.column.answers[number] for number in cell.answers]
    answers = sorted(
        (one for one in answers if one.state is not State.NOT_MEASURED),
        key=lambda one: (order.index(one.state), one.check),
    )
    for (state, check), members in groupby(answers, key=lambda one: (one.state, one.check)):
        scenarios = dict.fromkeys(one.scenario for one in members)
        places = tuple(Place(name, tuple(_links(group, name, check))) for name in scenarios)
        yield SaidView(SIGNS[state], check, places)


def _links(group: Group, scenario: str, check: str) -> Iterator[tuple[str, str]]:
    for column in group.columns:
        for answer in column.answers:
            if (answer.scenario, answer.check) == (scenario, check) and answer.report:
                seed = f" seed {column.runs[answer.run].seed}" if len({run.seed for run in column.runs}) > 1 else ""
                yield f"{column.subject.partition(':')[2] or column.subject}{seed}", answer.report


def differences_of(document: MatrixDocument) -> tuple[DifferenceView, ...]:
    """Every signature that some client shows: those that no ledger knows first, then those of more clients."""
    groups, cards = groups_of(document), _anchors_of_cards(document)
    views = []
    for (check, signature), anchor in cards.items():
        shown = tuple(
            _shown_by(group, check, signature, anchor) for group in groups if _of(group.column, check, signature)
        )
        first = shown[0].example
        tone = "bad" if any(one.sign.tone == "bad" for one in shown) else "known"
        views.append(DifferenceView(anchor, check, signature, rule_title(signature) or first.title, tone, shown))
    return tuple(sorted(views, key=lambda view: (view.tone != "bad", -len(view.shown_by))))


def _shown_by(group: Group, check: str, signature: str, anchor: str) -> ShownBy:
    own = [(column, one) for column in group.columns for one in _of(column, check, signature)]
    is_known = all(one.is_known for _, one in own)
    return ShownBy(
        anchor=f"{anchor}-{group.anchor}",
        heading=group.heading,
        sign=SIGNS[State.KNOWN if is_known else State.DIFFERS],
        example=own[0][1],
        members=tuple((column.subject, one.count, one.report, one.explain) for column, one in own),
    )


def _of(column: Column, check: str, signature: str) -> list[Difference]:
    return [one for one in column.differences if (one.check, one.signature) == (check, signature)]


def _anchors_of_cards(document: MatrixDocument) -> dict[tuple[str, str], str]:
    keys = dict.fromkeys((one.check, one.signature) for column in document.columns for one in column.differences)
    return {key: f"difference-{number}" for number, key in enumerate([*keys][:DIFFERENCES_SHOWN], start=1)}
