"""A changed bit in any file of a record, and a log that has lost a commit, are named, and cost no row."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from deltalake import DeltaTable

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.errors import ExitCode, HarnessError, TraceError
from rocketdiff.ledger.model import Ledger
from rocketdiff.record import commands
from rocketdiff.record import judge as judge_module
from rocketdiff.record.commands import add, check, compact, judge, status, unfinished
from rocketdiff.record.conclude import Concluding
from rocketdiff.record.facts import CONCLUDED_FROM
from rocketdiff.record.rules import rules_now
from rocketdiff.record.storage import files as files_module
from rocketdiff.record.storage.digests import DamagedFile
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.record.storage.tables import TRACES, Kept
from rocketdiff.record.work import Here
from tests.analysis.consuming.group_story import Story
from tests.record.conftest import NewRun, quiet, spoil
from tests.record.groups import write_group_run
from tests.record.rows import all_rows, flipped, forget_digests

Recorded = Callable[..., RecordPlace]


def flip(path: Path, at: int, bit: int = 2) -> bytes:
    """Change a bit; return the file as it was."""
    for cached in (judge_module._manifest, judge_module._rows, files_module._footer):
        cached.cache_clear()  # as in another process
    return flipped(path, at, bit)


def conclude_anew(place: RecordPlace) -> None:
    judge(place, Here(), how=Concluding(Policy(), Ledger()), print_line=quiet)


def judge_anew(place: RecordPlace) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commands, "rules_now", lambda: dict.fromkeys(rules_now(), "changed"))
        judge(place, Here(), print_line=quiet)


def read_runs(place: RecordPlace, table: Kept) -> None:
    look(place).rows(table, ["run"])


READERS: dict[Kept, Callable[[RecordPlace], object]] = {
    **dict.fromkeys((Kept.RUNS, Kept.JUDGED, Kept.VERDICTS), status),
    **dict.fromkeys((Kept.CASES, *TRACES.values()), judge_anew),
    **dict.fromkeys(CONCLUDED_FROM, conclude_anew),
}
"""A command that reads the table; the others are read on Spark alone."""


def test_a_changed_bit_in_any_file_is_named_by_check_and_by_its_reader(
    recorded: Recorded, new_run: NewRun, tmp_path: Path
) -> None:
    """A bit changed in any table, by turns at the end, in a column's name or in the rows, is one sentence with the file, and exit code 4."""
    groups = write_group_run(tmp_path / "groups", Story(pauses=((5_000, 3_000),)), run="run-2")
    place = recorded(new_run("run-1", change=spoil), groups)
    rows, seen = all_rows(place), set()
    files = [file for table in Kept if table is not Kept.BATCHES for file in look(place).files(table)]
    for number, file in enumerate(files):
        path, table = Path(place.url, file.table, file.path), Kept(file.table)
        where, content = f"{file.table}/{file.path}", path.read_bytes()
        seen.add(table)
        flip(path, (len(content) - 1, content.rindex(b"run"), len(content) // 3)[number % 3])
        assert check(place, Here()) == [f"file {where} has other bytes than were committed: its digest has changed"]
        with pytest.raises(DamagedFile, match=where) as error:
            READERS.get(table, partial(read_runs, table=table))(place)
        assert error.value.exit_code is ExitCode.USAGE
        with pytest.raises(HarnessError, match=where):
            compact(place, Here(), keep_hours=0, print_line=quiet)
        path.write_bytes(content)
    assert seen >= READERS.keys() - {Kept.SCHEDULED, Kept.ROUTES, Kept.WIRE}
    assert (check(place, Here()), all_rows(place)) == ([], rows)


def test_a_changed_bit_in_a_batch_changes_no_batch(place: RecordPlace, new_run: NewRun) -> None:
    """With any bit of a file of ``batches`` changed, the batches are as before, or the file is named."""
    add(place, [new_run("run-1")], Here())
    (path,) = Path(place.url, "batches").glob("*.parquet")
    before, named = look(place).batches, list[str]()
    for at in range(0, path.stat().st_size, 61):
        content = flip(path, at, at % 8)
        try:
            assert look(place).batches == before
        except TraceError as error:
            named.append(str(error))
        path.write_bytes(content)
    assert len(named) > 20
    assert all(path.name in text for text in named)


LOGGED = (Kept.BATCHES, Kept.RUNS, Kept.SENDS, Kept.JUDGED, Kept.ANSWERS)


def test_a_log_that_lost_a_commit_is_named_and_nothing_is_deleted(recorded: Recorded, new_run: NewRun) -> None:
    """A table whose log lost a commit, or whose checkpoint is cut short, is named; compact refuses, and no file goes."""
    place = recorded(new_run("run-1"))
    add(place, [new_run("run-2")], Here())
    judge(place, Here(), print_line=quiet)
    before, files = all_rows(place), sorted(Path(place.url).rglob("batch*/*.parquet"))
    for table in LOGGED:
        commits = sorted(Path(place.folder(table), "_delta_log").glob("*.json"))
        for lost in (commits[-1], commits[1]):
            content = lost.read_bytes()
            lost.unlink()
            assert f"table {table} of a record" in named(place) or f"{table}/_delta_log" in named(place)
            assert table is Kept.BATCHES or all_rows(place) == before
            lost.write_bytes(content)
        DeltaTable(place.folder(table)).create_checkpoint()
        (checkpoint,) = commits[0].parent.glob("*.checkpoint.parquet")
        content = checkpoint.read_bytes()
        checkpoint.write_bytes(content[:-100])
        assert f"table {table} of a record" in named(place)
        checkpoint.write_bytes(content)
    assert sorted(Path(place.url).rglob("batch*/*.parquet")) == files
    compact(place, Here(), keep_hours=0, print_line=quiet)
    assert (check(place, Here()), all_rows(place)) == ([], before)


def named(place: RecordPlace) -> str:
    """The sentence of `check`, or its error if no batch can be read; compact must refuse."""
    with pytest.raises(TraceError):
        compact(place, Here(), keep_hours=0, print_line=quiet)
    try:
        (sentence,) = check(place, Here())
    except TraceError as error:
        return str(error)
    return sentence


def test_a_record_without_digests_is_read_as_before_and_gets_them(recorded: Recorded, new_run: NewRun) -> None:
    """A record of an older release is read and added to; `compact` gives all its files digests."""
    place = recorded(new_run("run-1", change=spoil))
    before = all_rows(place)
    forget_digests(place)
    assert (check(place, Here()), all_rows(place), unfinished(place)) == ([], before, (0, 3))
    for table in (Kept.RUNS, Kept.CASES, Kept.SENDS, Kept.JUDGED, Kept.TALLIES, Kept.BARS, Kept.VERDICTS, Kept.ANSWERS):
        lost = max(Path(place.folder(table), "_delta_log").glob("*.json"))
        content = lost.read_bytes()
        lost.unlink()
        assert table in named(place)
        lost.write_bytes(content)
    add(place, [new_run("run-2")], Here())
    assert judge(place, Here(), print_line=quiet) == (1, 1)
    after = all_rows(place)
    compact(place, Here(), keep_hours=0, print_line=quiet)
    assert (check(place, Here()), all_rows(place), unfinished(place)) == ([], after, (0, 0))
    (sends,) = look(place).paths(Kept.SENDS)
    flip(Path(sends), 40)
    assert ["digest has changed" in sentence for sentence in check(place, Here())] == [True]
