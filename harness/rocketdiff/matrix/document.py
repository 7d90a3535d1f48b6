"""
The matrix document: rows, columns, cells and their evidence. JSON is its stored form and the source of all other formats.

schemaVersion is semantic.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec

from rocketdiff.core.answers.where import Place
from rocketdiff.documents.files import replace_file

SCHEMA_VERSION = "1.1.0"
FILE_NAME = "matrix.json"


class CellState(StrEnum):
    """
    State of a cell, in order of precedence: the first state that any of its answers has.

    KNOWN: it differs as a ledger declares. OPEN: it was asked, but a run could not decide. SAME: every answer equals the
    baseline's.
    """

    DIFFERS = "differs"
    KNOWN = "known"
    OPEN = "inconclusive"
    SAME = "same"
    NOT_MEASURED = "not-measured"


class RowKind(StrEnum):
    """A described behaviour, or a check over all scenarios."""

    BEHAVIOUR = "behaviour"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """
    A behaviour or a check.

    id: row of fixtures/behaviours.md, or name of a check. checks: whose answers it combines. unmeasured: why no run can
    measure it.
    """

    id: str
    kind: RowKind
    title: str
    checks: tuple[str, ...]
    unmeasured: str = ""


@dataclass(frozen=True, slots=True)
class KnownAs:
    """A ledger entry that declares a difference."""

    id: str
    reason: str
    ref: str


@dataclass(frozen=True, slots=True)
class ArmExample:
    """
    What one subject did at the example's send or message, in words.

    attempts: of the send, or deliveries of the message. part: the word for one of them.
    """

    subject: str
    attempts: tuple[str, ...]
    call: str = ""
    stored: str = ""
    part: str = Place.SEND.part


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """
    One signature of one run, with its example.

    fingerprint: as in the run's report. report: link to its place there, relative to this file, or empty. explain: command
    that prints the rules behind the example; empty if the example is not a single send or message. run: index of the run in the column.
    is_known: declared by the ledger entries in ``known``.
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
class CellAnswer:
    """
    The result of one check of one scenario (or pool of scenarios) in one run.

    run: index of the run in the column. verdict: the report's word. differences: indices into the column's list. report: link
    to the run's report.
    """

    run: int
    scenario: str
    check: str
    state: CellState
    verdict: str
    reason: str = ""
    differences: tuple[int, ...] = ()
    report: str = ""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """
    State of a row in a column.

    answers: indices of all answers about the row in the column's list. differences: indices into the column's list. reason:
    why the state is OPEN or NOT_MEASURED.
    """

    row: str
    state: CellState
    answers: tuple[int, ...] = ()
    differences: tuple[int, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """
    One run of a column.

    folder: its directory, relative to this file, or empty. reproduce: the command that repeats it. left_out: selected
    scenarios that were not run, with the reason.
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

    spec: its name in the file. subject: the name it reported, or the spec if it could not be started. label: its display name.
    missing: runs of the plan that were not made, with the reason.
    """

    spec: str
    subject: str
    baseline: str
    label: str
    runs: tuple[Run, ...]
    cells: tuple[MatrixCell, ...]
    answers: tuple[CellAnswer, ...] = ()
    differences: tuple[ColumnDifference, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def is_measured(self) -> bool:
        return bool(self.runs)


class MatrixDocument(msgspec.Struct, frozen=True, kw_only=True, rename={"schema_version": "schemaVersion"}):
    """
    Clients × behaviours.

    columns: in the order of the file. groups: indices of columns with the same cells and signatures, which are shown as one;
    every column is in exactly one group. command: the command that makes the matrix.
    """

    schema_version: Annotated[str, msgspec.Meta(pattern=r"^1\.\d+\.\d+$")]
    title: str
    rocketdiff: str
    command: str
    rows: tuple[MatrixRow, ...]
    columns: tuple[Column, ...]
    groups: tuple[tuple[int, ...], ...]


def encode(document: MatrixDocument) -> bytes:
    """Return the document as one line of JSON; equal documents give equal bytes."""
    return msgspec.json.encode(document) + b"\n"


def write(document: MatrixDocument, folder: Path) -> Path:
    """Write the document into ``folder``."""
    path = folder / FILE_NAME
    replace_file(path, encode(document))
    return path


def schema() -> bytes:
    """Return the JSON Schema (2020-12) of matrix documents of the current major version."""
    body = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"rocketdiff matrix document {SCHEMA_VERSION}",
        **msgspec.json.schema(MatrixDocument),
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=1) + b"\n"
