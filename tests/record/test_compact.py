"""Compaction keeps all rows in fewer files and removes leftovers of killed commands."""

from pathlib import Path

import pytest
from deltalake import DeltaTable

from rocketdiff.record.commands import add, check, compact, compact_many, judge, status
from rocketdiff.record.storage import store
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.record.storage.tables import Kept
from rocketdiff.record.work import Here
from tests.record.conftest import NewRun, quiet
from tests.record.rows import all_rows


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_rows_are_the_same_in_fewer_files(place: RecordPlace, new_run: NewRun) -> None:
    """Compaction turns nine batches into one per kind and keeps all rows."""
    for number in range(3):
        add(place, [new_run(f"run-{number}")], Here())
        judge(place, Here(), print_line=quiet)
    before, files = all_rows(place), status(place).files
    assert compact(place, Here(), keep_hours=1, print_line=quiet) == 9
    assert all_rows(place) == before
    assert status(place).files < files / 2
    assert [batch.kind for batch in look(place).visible] == ["compact-add", "compact-judge", "compact-conclude"]
    assert check(place, Here()) == []


def test_a_record_of_many_batches_is_compacted_by_the_command_that_adds_to_it(
    place: RecordPlace, new_run: NewRun
) -> None:
    """Above the limit one command merges them, and the next has nothing to do; a damaged record is left as it is."""
    printed: list[str] = []
    merged = []
    for number in range(4):
        add(place, [new_run(f"run-{number}")], Here())
        merged.append(compact_many(place, Here(), print_line=printed.append, most=2))
    assert (merged, printed) == ([0, 0, 3, 0], ["gathered 3 batches into one"])
    add(place, [new_run("run-4")], Here())
    (newest, *_) = sorted(map(Path, look(place).paths(Kept.SENDS)), key=lambda path: -path.stat().st_mtime)
    newest.unlink()
    assert compact_many(place, Here(), print_line=printed.append, most=2) == 0
    assert "not compacted: expected a record that rocketdiff record check finds whole" in printed[-1]


def test_a_compacted_record_is_judged_and_added_to_as_before(place: RecordPlace, new_run: NewRun) -> None:
    """A compacted record is judged and added to as before."""
    add(place, [new_run("run-1")], Here())
    judge(place, Here(), print_line=quiet)
    add(place, [new_run("run-2")], Here())
    compact(place, Here(), keep_hours=1, print_line=quiet)
    assert judge(place, Here(), print_line=quiet) == (1, 1)
    assert len(add(place, [new_run("run-2", folder="again")], Here()).known) == 1


def test_replaced_files_are_removed_once_no_reader_has_them(place: RecordPlace, new_run: NewRun) -> None:
    """With nothing kept, only current files are left on disk."""
    for number in range(2):
        add(place, [new_run(f"run-{number}")], Here())
    compact(place, Here(), keep_hours=0, print_line=quiet)
    on_disk = {str(path) for path in Path(place.url, "sends").rglob("*.parquet")}
    assert on_disk == set(look(place).paths(Kept.SENDS))


def test_a_compaction_that_ends_between_two_tables_is_taken_up_again(
    place: RecordPlace, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compaction killed between two tables changes no row and can be repeated."""
    for number in range(2):
        add(place, [new_run(f"run-{number}")], Here())
    before = all_rows(place)
    monkeypatch.setattr(DeltaTable, "vacuum", _killed)
    with pytest.raises(KeyboardInterrupt):
        compact(place, Here(), keep_hours=0, print_line=quiet)
    monkeypatch.undo()
    assert all_rows(place) == before
    compact(place, Here(), keep_hours=0, print_line=quiet)
    assert all_rows(place) == before


def test_files_of_a_killed_command_are_found_by_check_and_removed(
    place: RecordPlace, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a killed `add` are counted as left behind, not read, and removed by compaction."""
    add(place, [new_run("run-1")], Here())
    monkeypatch.setattr(store, "_append_batch", _killed)
    with pytest.raises(KeyboardInterrupt):
        add(place, [new_run("run-2")], Here())
    monkeypatch.undo()
    assert status(place).left_behind == 1
    assert look(place).rows(Kept.SENDS, ["run"]).num_rows == 120
    compact(place, Here(), keep_hours=0, print_line=quiet)
    assert status(place).left_behind == 0


def test_a_snapshot_opens_each_table_once(place: RecordPlace, new_run: NewRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot opens each table once and does not see later runs."""
    add(place, [new_run("run-1")], Here())
    snapshot = look(place)
    assert snapshot.rows(Kept.RUNS, ["run"]).num_rows == 1
    add(place, [new_run("run-2")], Here())
    monkeypatch.setattr(store, "_opened", _killed)
    assert snapshot.rows(Kept.RUNS, ["run"]).num_rows == 1


def test_files_of_batches_are_merged_by_the_commands_themselves(
    place: RecordPlace, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands merge the files of ``batches`` from a certain number on, and no batch changes."""
    monkeypatch.setattr(store, "MOST_BATCH_FILES", 3)
    for number in range(4):
        add(place, [new_run(f"run-{number}")], Here())
    assert len(look(place).listed(Kept.BATCHES)) == 2
    assert (status(place).runs, check(place, Here())) == (4, [])
