"""A record on a Spark cluster: code is shipped, a worker is killed, the answers are the same."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.record.commands import add, check, judge, status
from rocketdiff.record.conclude import concluding
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.record.work import Here
from tests.record.conftest import NewRun, spoil
from tests.record.rows import all_rows
from tests.record.spark.standalone import Standalone, jvm_options, standalone

RUNS = 3


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Standalone]:
    # As in the fixture spark: looking for an archive is no use of it, after which the next command would write one, for half a minute.
    monkeypatch.setattr("rocketdiff.analysis.spark.class_archive.is_to_be_trained", lambda _: False)
    with standalone(tmp_path / "cluster", workers=2) as started:
        yield started


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_changes_no_row(
    tmp_path: Path, cluster: Standalone, new_run: NewRun
) -> None:
    """
    A remote Spark master writes the same rows as one process, although a worker is killed.

    The worker is killed when the first facts are on disk.
    """
    runs = [new_run(f"run-{number:02}", change=spoil if number % 3 == 0 else None) for number in range(RUNS)]
    here, there = RecordPlace.named(str(tmp_path / "here")), RecordPlace.named(str(tmp_path / "there"))
    for place in (here, there):
        add(place, runs, Here())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-m", "rocketdiff", "record", "judge", "--record", there.url, "--master", cluster.master]
    memory = ["--conf", "spark.executor.memory=512m", "--conf", "spark.driver.memory=1g"]
    for who in ("driver", "executor"):
        memory += ["--conf", f"spark.{who}.extraJavaOptions={jvm_options(tmp_path)}"]
    with subprocess.Popen(
        [*command, *memory], cwd=elsewhere, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as judging:
        while judging.poll() is None and not any(Path(there.url).glob("judged/month=*/batch=*/*.parquet")):
            time.sleep(0.02)
        assert judging.poll() is None
        cluster.kill_worker()
        output, _ = judging.communicate(timeout=900)
    assert judging.returncode == 0, output
    assert f"RECORD judged={RUNS} concluded={RUNS}" in output
    judge(here, Here(), print_line=print)
    assert all_rows(there) == all_rows(here)
    assert check(there, Here()) == []
    assert {batch.scope for batch in look(there).of("conclude")} == {concluding().scope}
    assert dict(status(there).verdicts) == {"conforms": RUNS - RUNS // 3, "diverges": RUNS // 3}
    shipped = list((tmp_path / "cluster").glob("worker-*/work/*/*/rocketdiff-code.zip"))
    # On a busy machine the first worker may be killed before it gets any work.
    assert "worker-1" in {path.relative_to(tmp_path / "cluster").parts[0] for path in shipped}
    assert not list(elsewhere.iterdir())
