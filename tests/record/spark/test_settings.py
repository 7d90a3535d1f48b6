"""Spark's settings by the size of the work and by the user, and messages about failed tasks."""

from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.record.spark.work import MANY_RUNS, _last_line, pairs, settings_for
from rocketdiff.record.storage.batch import new_batch
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import commit, look_or_make
from rocketdiff.record.storage.tables import Kept, NewFile


def test_settings_go_by_size() -> None:
    """Spark generates code only for queries about many runs; remote JVMs compile little for a few."""
    for master in (None, "local[2]", "spark://h:7077"):
        assert settings_for(master, MANY_RUNS)["spark.sql.codegen.wholeStage"] == "true"
        assert settings_for(master, MANY_RUNS - 1)["spark.sql.codegen.wholeStage"] == "false"
    assert "spark.executor.extraJavaOptions" in settings_for("spark://h:7077", 1)
    assert "spark.executor.extraJavaOptions" not in settings_for("local[2]", 1)


def test_a_setting_of_the_user_is_a_pair() -> None:
    """`--conf` takes a name that begins with spark., and a value that may hold an equals sign."""
    assert pairs(["spark.executor.extraJavaOptions=-Da=b"]) == {"spark.executor.extraJavaOptions": "-Da=b"}
    for text in ("spark.executor.memory", "executor.memory=2g", "=2"):
        with pytest.raises(UsageError, match="expected --conf"):
            pairs([text])


def test_files_that_the_driver_cannot_see_are_not_committed(place: RecordPlace) -> None:
    """Files that a worker wrote to its own folder, where the driver cannot see them, are not committed."""
    snapshot = look_or_make(place)
    file = NewFile(Kept.RUNS, "month=2026-11/batch=b/b-1.parquet", "2026-11", "b", 10, 1, "r", "r", "")
    with pytest.raises(EnvironmentMissing, match="1 of them not there"):
        commit(snapshot, new_batch("add"), [file])
    assert not Path(place.url, "runs").exists()


def test_a_traceback_of_a_task_is_shown_by_its_last_line() -> None:
    """A failed task is reported by the last line of its traceback."""
    text = 'Job aborted:\nTraceback (most recent call last):\n  File "x.py", line 3\nFileNotFoundError: [Errno 2] /shared/runs\n\n\tat org.apache.spark'
    assert _last_line(text) == "FileNotFoundError: [Errno 2] /shared/runs"
    assert _last_line("Connection refused") == "Connection refused"
