"""
The matrix file, version 1: which subjects are measured against which baseline, and how. Its format, its JSON Schema and its reader.

``python -m rocketdiff.matrix.file_format > fixtures/schema/matrix-file-1.json`` writes the published schema; a test refuses a stale one.
Whether a suite, a release or a client is known is not in the schema: ``read`` checks it.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from rocketdiff.core.errors import UsageError
from rocketdiff.core.plain import shown
from rocketdiff.core.run_options import DEFAULT_RELEASE
from rocketdiff.core.suites import EVERY_SUITE, SUITES
from rocketdiff.documents.part import Part, published_schema
from rocketdiff.documents.refusal import Place, Words, read_part, refused
from rocketdiff.documents.yaml_source import Location, parse_yaml, read_text
from rocketdiff.matrix.plan import ColumnPlan, MatrixPlan, Work

FORMAT = 1

MOST_SUBJECTS = 100
"""There are 28 releases of the Java client; a page with more columns than this is read by nobody."""

Text = Annotated[str, Field(min_length=1, max_length=500)]
Name = Annotated[str, Field(pattern=r"^[^\s]+$", max_length=200)]
Names = Annotated[list[Name], Field(min_length=1, max_length=MOST_SUBJECTS)]
Seeds = Annotated[list[Annotated[int, Field(ge=0, lt=1 << 31)]], Field(min_length=1, max_length=100)]


class SubjectPart(Part):
    """A subject that is measured otherwise than the others; what is not given is as in the file."""

    subject: Text
    baseline: Text | None = None
    suites: Names | None = None
    scenarios: Names | None = None
    seeds: Seeds | None = None


class MatrixFile(Part):
    """
    One matrix.

    suites, scenarios: what is run, scenarios by globs of their names; suite quick when neither is given. A run is made of each suite, and
    one of all globs, with each seed. ledgers: files of declared divergences besides the shipped ones.
    """

    format: Literal[1]
    baseline: Text
    subjects: Annotated[list[Text | SubjectPart], Field(min_length=1, max_length=MOST_SUBJECTS)]
    title: Text | None = None
    suites: Names | None = None
    scenarios: Names | None = None
    seeds: Seeds = [1]
    server: Text = DEFAULT_RELEASE
    cluster: Text = "processes"
    security: Text | None = None
    wire: bool = False
    strict: bool = False
    ledgers: list[Text] = []
    shipped_ledgers: bool = True


_SUITES = f"suites, a list of {', '.join(SUITES)} or {EVERY_SUITE}"
WORDS = Words(
    fields={
        "format": f"format: {FORMAT}",
        "baseline": "a subject such as java:5.3.3",
        "subject": "a subject such as java:4.9.8",
        "subjects": f"a list of 1 to {MOST_SUBJECTS} subjects, such as java:4.9.8, or mappings with the field subject",
        "suites": _SUITES,
        "scenarios": "a list of globs of scenario names, such as round-robin/*",
        "seeds": "a list of whole numbers from 0 on",
        "server": "a release such as 5.3.3, in quotes where it could be a number",
        "ledgers": "a list of ledger files",
    }
)


def schema() -> bytes:
    """JSON Schema of matrix files of this version."""
    return published_schema(MatrixFile, f"matrix-file:{FORMAT}").encode()


def read(path: Path) -> MatrixPlan:
    """Reads and checks one matrix file; starts nothing. UsageError names the file, the line and what was expected there."""
    source = parse_yaml(read_text(path, "matrix file"), str(path))
    data, place = source.data, source.place
    _require_format(data, place)
    file = read_part(MatrixFile, data, place, WORDS)
    columns = tuple(_column(file, number, place) for number in range(len(file.subjects)))
    _require_once(columns, place)
    return MatrixPlan(
        title=file.title or f"RocketMQ clients against {file.baseline}",
        origin=path.name,
        columns=columns,
        server=file.server,
        cluster=file.cluster,
        security=None if file.security is None else Path(file.security),
        is_wire_wanted=file.wire,
        is_strict=file.strict,
        ledgers=tuple(Path(name) for name in file.ledgers),
        has_shipped_ledgers=file.shipped_ledgers,
    )


def _require_format(data: object, place: Place) -> None:
    """Checked first, because in a file of another format every field may mean something else."""
    if not isinstance(data, dict):
        seen = "nothing" if data is None else type(data).__name__
        raise refused(place, (), expected="a mapping with format, baseline and subjects", seen=seen)
    version = data.get("format")
    if version != FORMAT or isinstance(version, bool):
        seen = "none" if version is None else f"format: {shown(version)}"
        hint = "this rocketdiff reads no other version of the matrix file"
        raise refused(place, ("format",), expected=f"format: {FORMAT}", seen=seen, hint=hint)


def _column(file: MatrixFile, number: int, place: Place) -> ColumnPlan:
    entry = file.subjects[number]
    location: Location = ("subjects", number)
    part = entry if isinstance(entry, SubjectPart) else SubjectPart(subject=entry)
    has_own = part.suites is not None or part.scenarios is not None
    suites, globs = (part.suites, part.scenarios) if has_own else (file.suites, file.scenarios)
    _require_suites(suites or [], (*location, "suites") if has_own else ("suites",), place)
    chosen = [Work(None if name == EVERY_SUITE else name) for name in suites or ()]
    if globs:
        chosen.append(Work(suite=None, patterns=tuple(globs)))
    work = tuple(
        Work(one.suite, one.patterns, seed) for seed in part.seeds or file.seeds for one in chosen or [Work("quick")]
    )
    spec, baseline = part.subject.strip(), (part.baseline or file.baseline).strip()
    return ColumnPlan(spec, baseline, tuple(dict.fromkeys(work)), place(location))


def _require_suites(names: list[str], location: Location, place: Place) -> None:
    for name in names:
        if name not in SUITES and name != EVERY_SUITE:
            raise refused(place, location, expected=_SUITES, seen=name)


def _require_once(columns: tuple[ColumnPlan, ...], place: Place) -> None:
    seen: dict[tuple[str, str], int] = {}
    for number, column in enumerate(columns):
        first = seen.setdefault((column.spec, column.baseline), number)
        if first != number:
            raise refused(
                place, ("subjects", number), expected="each subject once", seen=f"{shown(column.spec)} again",
                hint=f"it stands at {place(('subjects', first))}",
            )  # fmt: skip


def at(column: ColumnPlan, problem: UsageError) -> UsageError:
    """An error about a subject, with the line of the file that names it."""
    return UsageError(f"{problem.expected} ({column.place})", seen=problem.seen, hint=problem.hint)


if __name__ == "__main__":
    sys.stdout.buffer.write(schema())
