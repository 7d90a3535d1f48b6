"""Each run is recorded once; damaged ones are quarantined, none replaces another."""

import shutil
from pathlib import Path

import pytest

from rocketdiff.core.errors import TraceError, UsageError
from rocketdiff.record.commands import add, refusal, status
from rocketdiff.record.ingest import folders_of
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.record.storage.tables import Kept
from rocketdiff.record.work import Here
from tests.record.conftest import NewRun, spoil

OLDER = Path(__file__).parents[1] / "older_run"


def test_a_folder_of_runs_is_added_with_all_rows(place: RecordPlace, new_run: NewRun) -> None:
    """A folder's runs are added with all rows: one case each, sixty sends an arm."""
    folders = folders_of([new_run("run-1").parent, new_run("run-2")])
    added = add(place, folders, Here())
    snapshot = look(place)
    assert [one.run for one in added.new] == ["run-1", "run-2"]
    assert snapshot.rows(Kept.SENDS, ["run", "arm"]).num_rows == 2 * 2 * 60
    assert snapshot.rows(Kept.CASES, ["run", "case", "sends_planned"]).to_pylist() == [
        {"run": run, "case": 1, "sends_planned": 60} for run in ("run-1", "run-2")
    ]


def test_a_run_that_is_added_twice_is_there_once(place: RecordPlace, new_run: NewRun) -> None:
    """A run and its copy are added once."""
    run = new_run()
    copy = shutil.copytree(run, run.parent.parent / "copied" / "elsewhere")
    first = add(place, [run, copy], Here())
    again = add(place, [copy], Here())
    assert (len(first.new), len(first.known), len(again.new), len(again.known)) == (1, 1, 0, 1)
    assert status(place).runs == 1


def test_other_content_under_the_same_name_is_refused_in_one_sentence(place: RecordPlace, new_run: NewRun) -> None:
    """Other content under a known name is refused; other runs are added."""
    add(place, [new_run("run-1")], Here())
    added = add(place, [new_run("run-1", change=spoil, folder="others"), new_run("run-2")], Here())
    assert ([one.run for one in added.new], [one.run for one in added.other]) == (["run-2"], ["run-1"])
    error = refusal(added.other)
    assert isinstance(error, UsageError)
    assert "other content than the record has under the name run-1" in str(error)


def test_damaged_and_half_copied_runs_go_to_quarantine(place: RecordPlace, new_run: NewRun) -> None:
    """Truncated, incomplete and foreign runs are quarantined; a good run is added."""
    cut, half, foreign, good = (new_run(name) for name in ("cut", "half", "foreign", "good"))
    table = cut / "sends" / "01-candidate.parquet"
    table.write_bytes(table.read_bytes()[:-100])
    (half / "run.json").unlink()
    (foreign / "run.json").write_text('{"runs": 3}')
    for _ in range(2):
        added = add(place, folders_of([good.parent]), Here())
    reported = status(place)
    assert (reported.runs, len(added.damaged)) == (1, 3)
    assert [name for name, _ in reported.quarantine] == ["cut", "foreign", "half"]
    assert "Parquet magic bytes not found" in dict(reported.quarantine)["cut"]


def test_a_run_whose_table_lies_under_another_name_goes_to_quarantine(place: RecordPlace, new_run: NewRun) -> None:
    """A run with a table under another case's name is quarantined, because the file states its case."""
    run = new_run()
    (run / "attempts" / "01-candidate.parquet").rename(run / "attempts" / "02-candidate.parquet")
    assert len(add(place, [run], Here()).damaged) == 1
    assert status(place).runs == 0


def test_a_record_below_its_runs_is_no_run(new_run: NewRun) -> None:
    """``record add reports`` finds no run in reports/record, which has tables of the same names."""
    run = new_run()
    for _ in range(2):
        added = add(RecordPlace.named(str(run.parent / "record")), folders_of([run.parent]), Here())
    assert (len(added.known), len(added.damaged)) == (1, 0)


def test_a_run_of_a_schema_without_digests_is_added(place: RecordPlace) -> None:
    """A run of a schema without digests is identified by a digest of its files."""
    assert [len(add(place, [OLDER], Here()).new) for _ in range(2)] == [1, 0]


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    """A folder without runs is refused, because adding nothing would go unnoticed."""
    with pytest.raises(UsageError, match="a run directory, or a folder of such"):
        folders_of([tmp_path])


def test_a_missing_record_is_reported(place: RecordPlace) -> None:
    """Commands refuse a missing record; only `add` creates one."""
    with pytest.raises(UsageError, match="expected a record; saw none at"):
        status(place)


def test_a_record_of_another_version_is_refused(place: RecordPlace, new_run: NewRun) -> None:
    """A record of another version is refused."""
    add(place, [new_run()], Here())
    first = Path(place.url, "batches", "_delta_log", f"{0:020}.json")
    first.write_text(first.read_text().replace("rocketdiff record 1", "rocketdiff record 9"))
    with pytest.raises(TraceError, match="expected a record of version 1; saw rocketdiff record 9"):
        status(place)


def test_a_record_can_be_named_by_a_url(place: RecordPlace, new_run: NewRun) -> None:
    """A record can be named by a `file://` URL."""
    url = RecordPlace.named(f"file://{place.url}")
    add(url, [new_run()], Here())
    assert status(url).runs == status(place).runs == 1
