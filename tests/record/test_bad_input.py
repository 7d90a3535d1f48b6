"""A full disk, a clock set back, half-copied folders, foreign tables and a concurrent writer."""

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from rocketdiff.core.errors import EnvironmentMissing, TraceError
from rocketdiff.record import commands
from rocketdiff.record.commands import add, check, compact, judge, status
from rocketdiff.record.rules import rules_now
from rocketdiff.record.storage import store
from rocketdiff.record.storage.digests import DamagedFile
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.record.storage.tables import Kept
from rocketdiff.record.work import Here
from tests.record.conftest import NewRun, quiet
from tests.record.rows import all_rows


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """Files that grow beyond this size fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 1_000, 2_400])
def test_a_disk_that_is_full_at_any_file_is_one_message(place: RecordPlace, new_run: NewRun, size: int) -> None:
    """
    On a full disk `add` and `judge` fail with one message, change no row, and can be repeated.

    The sizes stop Parquet files at their beginning, middle and end, and Delta's commits.
    """
    add(place, [new_run("run-1")], Here())
    second, before = new_run("run-2"), all_rows(place)
    for command in (lambda: add(place, [second], Here()), lambda: judge(place, Here(), print_line=quiet)):
        with no_file_beyond(size), pytest.raises(EnvironmentMissing, match="record"):
            command()
        assert all_rows(place) == before
    assert len(add(place, [second], Here()).new) == 1
    assert judge(place, Here(), print_line=quiet) == (2, 2)
    assert check(place, Here()) == []


def test_a_clock_that_goes_back_changes_no_order(
    place: RecordPlace, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock set back by a day changes no order of batches, and nothing new is removed as old."""
    add(place, [new_run("run-1")], Here())
    judge(place, Here(), print_line=quiet)
    today_ns = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: today_ns - 86_400_000_000_000)
    rules = rules_now()
    monkeypatch.setattr(commands, "rules_now", lambda: rules | {"loss": "changed"})
    add(place, [new_run("run-2")], Here())
    judge(place, Here(), print_line=quiet)
    batches = look(place).batches
    assert [one.kind for one in batches[:3]] == ["add", "judge", "conclude"]
    assert [one.rules.get("loss") == "changed" for one in batches if one.kind == "judge"] == [False, True, True]
    compact(place, Here(), keep_hours=1, print_line=quiet)
    assert (status(place).runs, status(place).judged) == (2, 2)
    assert check(place, Here()) == []


def test_a_half_copied_record_is_reported_file_by_file(recorded: Callable[..., RecordPlace], new_run: NewRun) -> None:
    """`check` names the missing and truncated files of a half-copied record."""
    place = recorded(new_run("run-1"))
    (sends,), (runs,) = look(place).paths(Kept.SENDS), look(place).paths(Kept.RUNS)
    size = Path(runs).stat().st_size
    Path(sends).unlink()
    Path(runs).write_bytes(Path(runs).read_bytes()[:-100])
    reported = check(place, Here())
    assert [one.partition("/")[0] for one in reported] == ["file runs", "file sends"]
    assert f"has {size - 100} of {size} bytes" in reported[0]
    with pytest.raises(DamagedFile, match=f"file runs/.* has {size - 100} of {size} bytes"):
        status(place)


def test_a_record_without_the_log_of_a_table_is_one_message(place: RecordPlace, new_run: NewRun) -> None:
    """A truncated Delta log of the table ``batches`` is one message."""
    add(place, [new_run("run-1")], Here())
    log = min(Path(place.url, "batches", "_delta_log").glob("*.json"))
    log.write_text(log.read_text()[:40])
    with pytest.raises(TraceError, match="table batches of a record") as raised:
        status(place)
    assert "unknown" not in raised.value.seen  # frames of a library in Rust
    assert "\n" not in str(raised.value)


def test_tables_of_somebody_else_are_refused(place: RecordPlace, new_run: NewRun) -> None:
    """Nothing is added to a foreign Delta table of the same name."""
    write_deltalake(place.folder(Kept.BATCHES), pa.table({"batch": ["b"]}))
    with pytest.raises(TraceError, match="expected a record of version 1; saw no record of rocketdiff"):
        add(place, [new_run("run-1")], Here())


def test_compaction_beside_another_writer_begins_anew(
    place: RecordPlace, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run added during a compaction is kept, as are all compacted rows."""
    for number in range(2):
        add(place, [new_run(f"run-{number}")], Here())
    others = [new_run("other")]

    def beaten(*given: object) -> None:
        if others:
            add(place, [others.pop()], Here())
        store.commit(*given)  # type: ignore[arg-type]  # passed on unchanged

    monkeypatch.setattr(commands, "commit", beaten)
    compact(place, Here(), keep_hours=0, print_line=quiet)
    assert status(place).runs == 3
    assert check(place, Here()) == []
