"""
The matrix document: rows, columns, cells and their evidence as one value. JSON is its stored form and the source of every other format.

schemaVersion is semantic, as of a report. ``python -m rocketdiff.matrix.document > fixtures/schema/matrix-1.json`` writes the published
JSON Schema, which is generated from the types; a test compares the two.
"""

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec

from rocketdiff.documents.files import replace_file

SCHEMA_VERSION = "1.0.0"
FILE_NAME = "matrix.json"


class State(StrEnum):
    """
    What a cell says, the first of several answers wins; only what was measured.

    KNOWN: it differs, and a ledger declares how. OPEN: it was asked, and a run could not tell. SAME: every answer is that it does as the
    baseline does.
    """

    DIFFERS = "differs"
    KNOWN = "known"
    OPEN = "inconclusive"
    SAME = "same"
    NOT_MEASURED = "not-measured"


class RowKind(StrEnum):
    """A described behaviour, or a check whatever it is asked of."""

    BEHAVIOUR = "behaviour"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class Row:
    """id: row of fixtures/behaviours.md, or name of a check. checks: whose answers are in it. unmeasured: why no run can tell it."""

    id: str
    kind: RowKind
    title: str
    checks: tuple[str, ...]
    unmeasured: str = ""


@dataclass(frozen=True, slots=True)
class KnownAs:
    """An entry of a ledger that declares a difference."""

    id: str
    reason: str
    ref: str


@dataclass(frozen=True, slots=True)
class ArmExample:
    """What a subject did at the send of an example, in words."""

    subject: str
    attempts: tuple[str, ...]
    call: str = ""
    stored: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """
    One signature of one run, with its example.

    fingerprint: as in the run's report. report: its place there, from this file on; empty where the report is not beside it. explain:
    command that prints the rules behind the example; empty where it is no single send. run: number of the column's run. is_known: a ledger
    declares it, by the entries ``known``.
    """

    fingerprint: str
    check: str
    signature: str
    title: str
    count: int
    scenarios: tuple[str, ...]
    where: str
    expected: str
    observed: str
    run: int
    is_known: bool = False
    arms: tuple[ArmExample, ...] = ()
    known: tuple[KnownAs, ...] = ()
    explain: str = ""
    report: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """
    One check of one scenario in one run (its number): state and what it rests on.

    scenario: name, or of a pool of scenarios. verdict: word of the report. differences: numbers in the column's list. report: place in the
    run's report.
    """

    run: int
    scenario: str
    check: str
    state: State
    verdict: str
    reason: str = ""
    differences: tuple[int, ...] = ()
    report: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """
    State of a row in a column. answers: numbers in the column's list of those that speak about the row, whatever they say.

    reason: why it is open or not measured. differences: numbers in the column's list.
    """

    row: str
    state: State
    answers: tuple[int, ...] = ()
    differences: tuple[int, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """
    One run of a column. folder: its directory, from this file on; empty where it is not beside it. reproduce: the command that repeats it.

    left_out: scenarios that were chosen and not run, with the reason.
    """

    run: str
    suite: str
    seed: int
    verdict: str
    machine_line: str
    started_at: str
    took_s: float
    server_release: str
    backend: str
    machine: str
    reproduce: str
    scenarios: tuple[str, ...]
    judging_source: str = ""
    left_out: tuple[tuple[str, str], ...] = ()
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """
    One subject.

    spec: as it was named in the file. subject: what it said it is, or the spec where nobody could ask it. label: what its user calls it.
    missing: runs of the plan that were not made, with the reason.
    """

    spec: str
    subject: str
    baseline: str
    label: str
    runs: tuple[Run, ...]
    cells: tuple[Cell, ...]
    answers: tuple[Answer, ...] = ()
    differences: tuple[Difference, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether there is a run of it."""
        return bool(self.runs)


class MatrixDocument(msgspec.Struct, frozen=True, kw_only=True, rename={"schema_version": "schemaVersion"}):
    """
    Clients × behaviours.

    columns: in the order of the file. groups: numbers of columns whose cells say the same with the same signatures, so that they are
    shown as one; every column is in one group. command: what makes the matrix.
    """

    schema_version: Annotated[str, msgspec.Meta(pattern=r"^1\.\d+\.\d+$")]
    title: str
    rocketdiff: str
    command: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    groups: tuple[tuple[int, ...], ...]


def encode(document: MatrixDocument) -> bytes:
    """JSON with a line for each value's beginning; equal documents give equal bytes."""
    return msgspec.json.encode(document) + b"\n"


def write(document: MatrixDocument, folder: Path) -> Path:
    """Stores the document in ``folder``."""
    path = folder / FILE_NAME
    replace_file(path, encode(document))
    return path


def schema() -> bytes:
    """JSON Schema (2020-12) of matrix documents of the current major version."""
    body = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"rocketdiff matrix document {SCHEMA_VERSION}",
        **msgspec.json.schema(MatrixDocument),
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=1) + b"\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(schema())
