"""kill -9 and concurrent commands neither lose nor duplicate anything."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.record import commands
from rocketdiff.record.commands import add, check, judge, status
from rocketdiff.record.ingest import FoundRun
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import commit
from rocketdiff.record.storage.tables import NewFile
from rocketdiff.record.work import Here
from tests.record.conftest import NewRun
from tests.record.killed import PHASES


def test_kill_in_any_phase_loses_and_doubles_nothing(tmp_path: Path, new_run: NewRun) -> None:
    """Commands killed in any phase of `add`, `judge` or `compact` and repeated give the rows of an undisturbed record."""
    run, other = new_run("run-1"), new_run("run-2")
    command = [sys.executable, "-m", "tests.record.killed", str(tmp_path / "records"), str(run), str(other)]
    root = Path(__file__).parents[2]
    reported = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout
    results = [json.loads(line) for line in reported.splitlines()]
    assert [(one["phase"], one["died_of"]) for one in results] == [(phase, 9) for phase in PHASES]
    assert {one["rows"] for one in results} == {one["undisturbed"] for one in results}


class Beaten(Here):
    """Another command runs while this one writes its files."""

    def __init__(self, between: Callable[[], object]) -> None:
        self._between = between

    def ingest(self, place: RecordPlace, batch: str, found: Sequence[FoundRun]) -> tuple[list[NewFile], list[FoundRun]]:
        written = super().ingest(place, batch, found)
        between, self._between = self._between, lambda: None
        between()
        return written


def test_two_commands_that_add_the_same_run_at_once_add_it_once(place: RecordPlace, new_run: NewRun) -> None:
    """Two concurrent commands add a shared run once."""
    shared, mine, other = new_run("shared"), new_run("mine"), new_run("other")
    add(place, [new_run("first")], Here())
    slower = add(place, [shared, mine], Beaten(lambda: add(place, [shared, other], Here())))
    assert ([one.run for one in slower.new], [one.run for one in slower.known]) == (["mine"], ["shared"])
    assert status(place).runs == 4
    assert check(place, Here()) == []


def test_two_commands_that_judge_at_once_judge_each_run_once(
    place: RecordPlace, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two concurrent commands judge a run once."""
    add(place, [new_run("run-1")], Here())
    turns: list[int] = []

    def beaten(*given: Any) -> None:
        if not turns:
            turns.append(1)
            judge(place, Here(), print_line=print)
        commit(*given)

    monkeypatch.setattr(commands, "commit", beaten)
    assert judge(place, Here(), print_line=print) == (0, 0)
    assert (status(place).judged, status(place).concluded) == (1, 1)
    assert check(place, Here()) == []


def test_a_full_disk_is_one_message_and_adds_nothing(
    place: RecordPlace, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is one message, and no run is added."""
    add(place, [new_run("run-1")], Here())
    second = new_run("run-2")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(EnvironmentMissing, match="No space left on device"):
        add(place, [second], Here())
    monkeypatch.undo()
    assert status(place).runs == 1
