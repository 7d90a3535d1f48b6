"""Missing evidence is refused whatever the files are called, never taken for an event that did not happen."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.core.run_info import Guard
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.manifest import decode_manifest, encode_manifest, stamped
from rocketdiff.traces.reader import read_table, require_whole
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_file import write_sealed
from rocketdiff.traces.tables import tables_of
from tests.traces import conftest as sample

PRODUCERS = [spec.name for spec in tables_of(ClientRole.PRODUCER)]


def shortened(run: RunDirectory, table: TableName, arm: Arm | None, rows: int) -> None:
    """Seal a table with only its first rows, as a valid file."""
    content = read_table(run, table, 1, arm).slice(0, rows)
    path = run.path / table / (f"01-{arm}.parquet" if arm else "01.parquet")
    subject = None if arm is None else run.subject(arm)
    _, digest = write_sealed(path, content, run=run.run, name=table, case=1, arm=arm, subject=subject)
    run.change(1, lambda entry: replace(entry, files=entry.files | {f"{table}/{path.name}": digest}))


def test_a_sealed_run_is_accepted_as_whole(complete_run: RunDirectory) -> None:
    """``require_whole`` accepts a run as the recorder wrote it."""
    require_whole(complete_run)


@pytest.mark.parametrize("table", [TableName.SENDS, TableName.ATTEMPTS])
def test_rows_that_are_gone_from_both_arms_are_missed(complete_run: RunDirectory, table: TableName) -> None:
    """Rows missing in both arms are noticed by the counts in run.json."""
    for arm in Arm:
        shortened(complete_run, table, arm, 2)
    with pytest.raises(TraceError, match=f"rows of {table} of baseline in case 1"):
        require_whole(complete_run)


def test_a_proven_fault_that_is_gone_is_missed(complete_run: RunDirectory) -> None:
    """A missing fault is noticed, because timeouts under it would be judged as calm."""
    complete_run.case(1).guard(Guard("fault-1", held=True, expected="in effect", seen="proven", case="c"))
    require_whole(complete_run)
    shortened(complete_run, TableName.FAULTS, None, 0)
    with pytest.raises(TraceError, match="no episode 1"):
        require_whole(complete_run)


@pytest.mark.parametrize("table", PRODUCERS)
def test_a_table_under_another_name_is_refused(complete_run: RunDirectory, table: TableName) -> None:
    """A table with an unknown file name is refused, such as Spark's part files."""
    (complete_run.path / table).mkdir(exist_ok=True)
    pq.write_table(read_table(complete_run, TableName.FAULTS, 1), complete_run.path / table / "part-0.parquet")
    with pytest.raises(TraceError, match="a file named NN"):
        require_whole(complete_run)


@pytest.mark.parametrize("table", [name for name in PRODUCERS if name is not TableName.SCHEDULED])
def test_every_table_of_a_complete_case_is_required(complete_run: RunDirectory, table: TableName) -> None:
    """Every table of a complete case is required, except that of delayed messages."""
    shutil.rmtree(complete_run.path / table)
    with pytest.raises(TraceError, match="all files of the complete case 1"):
        require_whole(complete_run)


def test_a_case_that_run_json_does_not_know_is_refused(new_run: Callable[..., RunDirectory]) -> None:
    """A case missing in run.json is refused; during a run one case may be read alone."""
    run = new_run(cases=2)
    for number in (1, 2):
        sample.record_case(run, number)
        run.case(number).seal()
        run.case(number).complete()
    require_whole(run.only(1))
    with pytest.raises(TraceError, match=r"case 2 of sends in run\.json"):
        require_whole(RunDirectory(run.path, replace(run.manifest, cases=run.manifest.cases[:1])))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"subjects": {"baseline": "java:5.3.3"}}, "no subject for candidate"),
        ({"created_wall_ms": 10**17}, "ms since 1970"),
        ({"ended_wall_ms": -5}, "ms since 1970"),
    ],
)
def test_a_run_description_that_contradicts_itself_is_refused(
    complete_run: RunDirectory, edit: dict[str, object], message: str
) -> None:
    """A run description that contradicts itself is refused."""
    content = json.loads(encode_manifest(complete_run.manifest)) | edit
    with pytest.raises(TraceError, match=message):
        decode_manifest(stamped(content), where="run.json")


def test_a_case_number_twice_is_refused(complete_run: RunDirectory) -> None:
    """A duplicate case number is refused, because its evidence would count twice."""
    content = json.loads(encode_manifest(complete_run.manifest))
    content["cases"] *= 2
    with pytest.raises(TraceError, match=r"case numbers \[1, 1\]"):
        decode_manifest(stamped(content), where="run.json")
