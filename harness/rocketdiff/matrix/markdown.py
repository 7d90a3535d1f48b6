"""The matrix as Markdown: tables, then each difference and the commands that repeat the runs."""

from collections.abc import Iterator
from pathlib import Path

from rocketdiff.core.tables.effects import effect_of
from rocketdiff.core.text.markdown import code, inline, link, table_row
from rocketdiff.documents.files import replace_file
from rocketdiff.matrix.document import MatrixDocument, MatrixRow, RowKind
from rocketdiff.matrix.view import SIGNS, ColumnGroup, effects_undeclared, groups_of, rows_blank, rows_measured
from rocketdiff.report.words.signs import plural

FILE_NAME = "matrix.md"


def write(document: MatrixDocument, folder: Path) -> Path:
    """Write the Markdown into ``folder``."""
    path = folder / FILE_NAME
    replace_file(path, render(document).encode())
    return path


def render(document: MatrixDocument) -> str:
    """Return the whole text."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: MatrixDocument) -> Iterator[str]:
    groups = groups_of(document)
    yield f"# {inline(document.title)}"
    yield ""
    yield " · ".join(f"`{sign.mark}` {sign.word}" for sign in SIGNS.values())
    yield ""
    yield inline(effects_undeclared(document))
    for title, kind in (("Behaviours", RowKind.BEHAVIOUR), ("Checks", RowKind.CHECK)):
        yield from _table(title, rows_measured(document, kind), groups)
    yield from _differences(groups)
    yield from _not_measured(document, groups)
    yield from _runs(groups)
    yield ""
    yield f"Made by rocketdiff {inline(document.rocketdiff)}: {code(document.command)}"


def _table(title: str, rows: tuple[MatrixRow, ...], groups: tuple[ColumnGroup, ...]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    yield table_row(("", *(inline(group.heading) for group in groups)))
    yield table_row(("---", *(":-:" for _ in groups)))
    for each in rows:
        yield table_row((_titled(each), *(SIGNS[group.cell(each).state].mark for group in groups)))


def _titled(item: MatrixRow) -> str:
    return f"**{inline(item.id)}** {inline(item.title)}"


def _differences(groups: tuple[ColumnGroup, ...]) -> Iterator[str]:
    yield ""
    yield "## Differences"
    for group in groups:
        if not group.column.differences:
            continue
        yield ""
        yield f"### {inline(group.heading)}"
        yield ""
        for item in group.column.differences:
            known = "".join(f"; known: {entry.id} ({entry.ref})" for entry in item.known)
            evidence = f" ({link('evidence', item.report)})" if item.report else ""
            yield f"- **{effect_of(item.signature)}** · {code(item.signature)} {inline(item.title)}: {item.count:,} × in {plural(len(item.scenarios), 'scenario')}{inline(known)}{evidence}"


def _not_measured(document: MatrixDocument, groups: tuple[ColumnGroup, ...]) -> Iterator[str]:
    blank = rows_blank(document)
    missing = [(group, name, reason) for group in groups for name, reason in group.column.missing]
    if blank or missing:
        yield ""
        yield "## Not measured"
        yield ""
    for group, name, reason in missing:
        yield f"- {inline(group.heading)}, {inline(name)}: {inline(reason)}"
    for reason in dict.fromkeys(reason for _, reason in blank):
        names = ", ".join(_titled(item) for item, why in blank if why == reason)
        yield f"- {inline(reason)}: {names}"


def _runs(groups: tuple[ColumnGroup, ...]) -> Iterator[str]:
    yield ""
    yield "## Runs"
    yield ""
    made = ((column.subject, run.reproduce) for group in groups for column in group.columns for run in column.runs)
    alike: dict[str, list[tuple[str, str]]] = {}
    for subject, command in made:
        alike.setdefault(_command_of_any(subject, command), []).append((subject, command))
    for command, members in alike.items():
        if len(members) == 1:
            yield f"- {code(members[0][1])}"
        else:
            yield f"- {code(command)}; SUBJECT: {inline(', '.join(subject for subject, _ in members))}"


def _command_of_any(subject: str, command: str) -> str:
    """Return the command with SUBJECT for the last mention of the subject, so that clients share it."""
    before, named, after = command.rpartition(f"--subject {subject} ")
    return f"{before}--subject SUBJECT {after}" if named else command
