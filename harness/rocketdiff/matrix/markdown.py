"""The matrix as Markdown: tables, then each difference and the commands that repeat the runs."""

from collections.abc import Iterator
from pathlib import Path

from rocketdiff.documents.files import replace_file
from rocketdiff.matrix.document import MatrixDocument, MatrixRow, RowKind
from rocketdiff.matrix.view import SIGNS, ColumnGroup, groups_of, rows_blank, rows_measured
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
    yield f"# {_escaped(document.title)}"
    yield ""
    yield " · ".join(f"`{sign.mark}` {sign.word}" for sign in SIGNS.values())
    for title, kind in (("Behaviours", RowKind.BEHAVIOUR), ("Checks", RowKind.CHECK)):
        yield from _table(title, rows_measured(document, kind), groups)
    yield from _differences(groups)
    yield from _not_measured(document, groups)
    yield from _runs(groups)
    yield ""
    yield f"Made by rocketdiff {document.rocketdiff}: `{document.command}`"


def _table(title: str, rows: tuple[MatrixRow, ...], groups: tuple[ColumnGroup, ...]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    yield f"| | {' | '.join(_escaped(group.heading) for group in groups)} |"
    yield f"|---|{':-:|' * len(groups)}"
    for row in rows:
        name = f"**{row.id}** {row.title}"
        cells = [group.cell(row) for group in groups]
        yield f"| {_escaped(name)} | {' | '.join(SIGNS[cell.state].mark for cell in cells)} |"


def _differences(groups: tuple[ColumnGroup, ...]) -> Iterator[str]:
    yield ""
    yield "## Differences"
    for group in groups:
        if not group.column.differences:
            continue
        yield ""
        yield f"### {_escaped(group.heading)}"
        yield ""
        for item in group.column.differences:
            known = "".join(f"; known: {entry.id} ({entry.ref})" for entry in item.known)
            link = f" ([evidence]({item.report}))" if item.report else ""
            yield f"- `{item.signature}` {_escaped(item.title)}: {item.count:,} × in {plural(len(item.scenarios), 'scenario')}{_escaped(known)}{link}"


def _not_measured(document: MatrixDocument, groups: tuple[ColumnGroup, ...]) -> Iterator[str]:
    blank = rows_blank(document)
    missing = [(group, name, reason) for group in groups for name, reason in group.column.missing]
    if blank or missing:
        yield ""
        yield "## Not measured"
        yield ""
    for group, name, reason in missing:
        yield f"- {_escaped(group.heading)}, {_escaped(name)}: {_escaped(reason)}"
    for reason in dict.fromkeys(reason for _, reason in blank):
        names = ", ".join(f"**{row.id}** {_escaped(row.title)}" for row, why in blank if why == reason)
        yield f"- {_escaped(reason)}: {names}"


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
            yield f"- `{members[0][1]}`"
        else:
            yield f"- `{command}`; SUBJECT: {_escaped(', '.join(subject for subject, _ in members))}"


def _command_of_any(subject: str, command: str) -> str:
    """Return the command with SUBJECT for the last mention of the subject, so that clients share it."""
    before, named, after = command.rpartition(f"--subject {subject} ")
    return f"{before}--subject SUBJECT {after}" if named else command


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
