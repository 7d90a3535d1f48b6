"""Judges a case of the record: reads its rows back as the original trace, and writes the facts."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import msgspec
import numpy as np
import pyarrow as pa

from rocketdiff.analysis.case_trace import CaseTrace, TableKey, integers_or, rows_at
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.record.facts import silver
from rocketdiff.record.rules import BASE
from rocketdiff.record.storage.batch import StatedFile, files_from_json
from rocketdiff.record.storage.digests import DamagedFile
from rocketdiff.record.storage.files import PartWriter, RecordPlace, read_run, texts
from rocketdiff.record.storage.tables import COLUMNS, TRACES, Kept, NewFile
from rocketdiff.traces.manifest import CaseStatus, RunManifest, decode_manifest
from rocketdiff.traces.schema import ARM_CODES
from rocketdiff.traces.sealed_file import FileStatement, verify
from rocketdiff.traces.tables import TABLES


@dataclass(frozen=True, slots=True)
class CaseUnit:
    """One case to judge. files: of the part that holds its rows, as JSON."""

    run: str
    case: int
    month: str
    statements: str
    files: str

    def file(self, table: Kept) -> StatedFile:
        """Return the file of a table; TraceError if the part has none."""
        found = next((file for file in _files(self.files) if file.table == table), None)
        if found is None:
            raise TraceError(f"a file of table {table} for run {self.run}", seen="none", hint="rocketdiff record check")
        return found


_files = lru_cache(maxsize=4)(files_from_json)


def judge_units(
    place: RecordPlace, batch: str, wanted: frozenset[str], units: Iterable[CaseUnit]
) -> tuple[NewFile, ...]:
    """Judge some cases and write their facts of the wanted checks as one part of a batch."""
    writer = PartWriter(place, batch)
    for unit in units:
        trouble, rows = _judged(place, unit, wanted)
        for table, some in rows.items():
            writer.add(table, unit.month, some, [unit.run])
        facts = sum(some.num_rows for some in rows.values())
        row = {"run": unit.run, "case": unit.case, "trouble": trouble, "facts": facts}
        writer.add(Kept.JUDGED, unit.month, pa.Table.from_pylist([row], schema=COLUMNS[Kept.JUDGED]), [unit.run])
    return writer.close()


def check_units(place: RecordPlace, units: Iterable[CaseUnit]) -> list[str]:
    """Read these cases back as they were sealed; return what is wrong, one sentence each."""
    found = []
    for unit in units:
        try:
            read_unit(place, unit)
        except (TraceError, DamagedFile) as error:
            found.append(f"case {unit.case} of run {unit.run}: {error}")
    return found


def _judged(place: RecordPlace, unit: CaseUnit, wanted: frozenset[str]) -> tuple[str, dict[Kept, pa.Table]]:
    """Return the reason why the case could not be judged, and its facts."""
    try:
        trace = read_unit(place, unit)
        return "", {} if trace.entry.status is CaseStatus.PLANNED else silver(
            judge_case(trace, wanted=checks_of(wanted), is_drawn=False), wanted
        )
    except TraceError as error:
        return str(error), {}


def checks_of(wanted: frozenset[str]) -> frozenset[str] | None:
    """Return the checks that the pass must run; None (all) if facts of ``BASE`` are wanted, which need every check."""
    return None if BASE in wanted else wanted


def read_unit(place: RecordPlace, unit: CaseUnit) -> CaseTrace:
    """Return the case as it was sealed; TraceError if the record lacks a row that its statement counts."""
    manifest = manifest_of(place, unit)
    statements = msgspec.json.decode(unit.statements, type=list[FileStatement])
    tables: dict[TableKey, pa.Table] = {}
    for statement in statements:
        rows = _rows(place, unit.file(TRACES[statement.table]), unit.run)
        content = rows.of(unit.case, statement.arm).cast(TABLES[statement.table].schema)
        verify(content, statement, where=f"{statement.table} of case {unit.case} of run {unit.run} in the record")
        tables[statement.table, statement.arm] = content
    entry, rules = manifest.case(unit.case), manifest.baseline_rules
    return CaseTrace(unit.run, manifest.subjects, entry, tables, rules, manifest.bodies_compared)


def manifest_of(place: RecordPlace, unit: CaseUnit) -> RunManifest:
    """Return ``run.json`` of a unit's run."""
    return _manifest(place, unit.file(Kept.RUNS), unit.run)


@lru_cache(maxsize=4)
def _manifest(place: RecordPlace, file: StatedFile, run: str) -> RunManifest:
    rows = read_run(place, file, run)
    found = texts(rows, "manifest")
    if len(found) != 1:
        raise TraceError(f"run {run} once in the record", seen=f"it {len(found)} times", hint="rocketdiff record check")
    return decode_manifest(found[0].encode(), where=f"run {run} of the record")


_ARMS = 256
"""More than any number of an arm that a damaged row may have."""


_NONE = -1
"""No case's number, and no arm's."""


class _RunRows:
    """The rows of a run in one table, as a writer leaves them in order: a case after the other, an arm after the other."""

    def __init__(self, rows: pa.Table) -> None:
        self._table = rows.drop_columns(["run"])
        keys = integers_or(rows.column("case"), _NONE) * _ARMS
        if "arm" in rows.column_names:
            keys += integers_or(rows.column("arm"), _NONE)
        self._order = np.argsort(keys, kind="stable") if bool((np.diff(keys) < 0).any()) else None
        keys = keys if self._order is None else keys[self._order]
        begins = np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1))
        spans = pairwise([*begins.tolist(), keys.size])
        self._spans: dict[int, tuple[int, int]] = dict(zip(keys[begins].tolist(), spans, strict=True))

    def of(self, case: int, arm: Arm | None) -> pa.Table:
        """Return those of a case, and of an arm in a table that has arms."""
        begin, end = self._spans.get(case * _ARMS + (0 if arm is None else ARM_CODES[arm]), (0, 0))
        return (
            self._table.slice(begin, end - begin)
            if self._order is None
            else rows_at(self._table, self._order[begin:end])
        )


@lru_cache(maxsize=12)
def _rows(place: RecordPlace, file: StatedFile, run: str) -> _RunRows:
    """Cached for the run's next case; at most two runs are in memory."""
    return _RunRows(read_run(place, file, run))
