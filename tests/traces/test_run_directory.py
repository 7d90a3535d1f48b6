"""A run can be recorded, killed, sealed, moved and read again."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from rocketdiff.core.arm import CANDIDATE, Arm
from rocketdiff.core.errors import EnvironmentMissing, TraceError, UsageError
from rocketdiff.core.resources import import_path
from rocketdiff.core.sends.plan import Plan
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.manifest import Breach, CaseStatus, ResourceSample, stamped
from rocketdiff.traces.reader import has_table, read_table, sealed_files
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_file import read_sealed
from rocketdiff.traces.tables import TABLES, tables_of
from tests.traces import conftest as sample

WITH_HARNESS = os.environ | {"PYTHONPATH": import_path()}
NewRun = Callable[..., RunDirectory]


def whole_table(run: RunDirectory, table: TableName) -> pa.Table:
    contents = [read_sealed(file.path)[0] for file in sealed_files(run, table)]
    return pa.concat_tables(contents) if contents else TABLES[table].schema.empty_table()


def test_complete_case_holds_everything(complete_run: RunDirectory) -> None:
    """A complete case has all tables with the recorded rows; nothing was delayed, so ``scheduled`` is empty."""
    counts = {spec.name: whole_table(complete_run, spec.name).num_rows for spec in tables_of(ClientRole.PRODUCER)}
    assert counts == {"sends": 8, "attempts": 9, "routes": 2, "faults": 1, "stored": 10, "scheduled": 0}
    entry = complete_run.entry(1)
    assert entry.status is CaseStatus.COMPLETE
    assert entry.arms[Arm.CANDIDATE].attempts == 5
    assert entry.arms[Arm.BASELINE].client == "java"
    assert entry.arms[Arm.BASELINE].done


def test_tables_are_sorted_whatever_the_order_of_arrival(complete_run: RunDirectory) -> None:
    """Sends are sorted by thread and number, stored messages by broker, queue and offset."""
    sends = read_table(complete_run, TableName.SENDS, 1, Arm.BASELINE)
    assert sends.select(["thread", "send"]).to_pylist() == [
        {"thread": 0, "send": 0},
        {"thread": 0, "send": 2},
        {"thread": 1, "send": 1},
        {"thread": 1, "send": 3},
    ]
    stored = read_table(complete_run, TableName.STORED, 1, Arm.BASELINE)
    assert stored.column("queue_offset").to_pylist() == [0, 1, 2, 3, 0]
    assert stored.column("send").to_pylist() == [0, 1, 2, 3, None]


def test_samples_of_resources_are_kept_and_an_older_run_has_none(new_run: NewRun) -> None:
    """Samples of a client's resources are read as written, unknown numbers too; a run of schema 1.8 has none."""
    taken = (
        ResourceSample(1, 12, 30, 1 << 20, 9, 4),
        ResourceSample(2),
        ResourceSample(3, 12, 31, 1 << 20, 9, None, True),
    )
    run = new_run()
    sample.record_case(run)
    run.case(1).seal()
    run.case(1).complete(resources={CANDIDATE: taken})
    assert RunDirectory.open(run.path).entry(1).resources == {"candidate": taken}
    content = json.loads((run.path / "run.json").read_text()) | {"schema": "1.8"}
    del content["cases"][0]["resources"]
    (run.path / "run.json").write_bytes(stamped(content))
    assert RunDirectory.open(run.path).entry(1).resources == {}


def test_run_can_be_moved(complete_run: RunDirectory, tmp_path: Path) -> None:
    """A run directory can be moved, because it contains no paths."""
    before = whole_table(complete_run, TableName.ATTEMPTS)
    assert str(tmp_path) not in (complete_run.path / "run.json").read_text()
    moved = RunDirectory.open(Path(shutil.move(complete_run.path, tmp_path / "elsewhere")))
    assert whole_table(moved, TableName.ATTEMPTS).equals(before)
    assert moved.run == "20261121-120000-7"


def test_sealing_twice_changes_nothing(complete_run: RunDirectory) -> None:
    """Sealing again gives the same files and keeps the status."""
    files = sorted(complete_run.path.rglob("*.parquet"))
    before = [file.read_bytes() for file in files]
    RunDirectory.open(complete_run.path).seal()
    assert [file.read_bytes() for file in files] == before
    assert RunDirectory.open(complete_run.path).entry(1).status is CaseStatus.COMPLETE


def test_killed_run_is_sealed_up_to_that_point(tmp_path: Path, new_run: NewRun) -> None:
    """After kill -9 answered sends are readable, the case is aborted, and the next case stays planned."""
    run = new_run(cases=2)
    run.case(1).begin(sample.PLAN, clock=sample.CLOCK, origin_ns=sample.ORIGIN_NS)
    script = textwrap.dedent(
        f"""
        import os, time
        from pathlib import Path
        from rocketdiff.core.arm import BASELINE
        from rocketdiff.traces.run_directory import RunDirectory
        recorder = RunDirectory.open(Path({str(run.path)!r})).case(1).recorder(BASELINE)
        recorder.line({sample.attempt(0)!r})
        recorder.line({sample.send(0)!r})
        recorder.line({sample.attempt(1)!r})
        os.write(recorder._file, {sample.send(1)[:30]!r})
        print("torn", flush=True)
        time.sleep(60)
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=WITH_HARNESS) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    left = RunDirectory.open(run.path)
    left.seal()
    assert [entry.status for entry in left.manifest.cases] == [CaseStatus.ABORTED, CaseStatus.PLANNED]
    assert left.entry(1).reason == "the run ended before this case did"
    assert read_table(left, TableName.SENDS, 1, Arm.BASELINE).column("send").to_pylist() == [0]
    assert read_table(left, TableName.ATTEMPTS, 1, Arm.BASELINE).column("send").to_pylist() == [0, 1]
    assert read_table(left, TableName.SENDS, 1, Arm.CANDIDATE).num_rows == 0
    assert left.entry(1).arms[Arm.BASELINE].unanswered == 3
    assert not has_table(left, TableName.STORED, 1, Arm.BASELINE)
    assert sealed_files(left, TableName.STORED) == ()


def test_renamed_file_is_refused(complete_run: RunDirectory) -> None:
    """A file copied over another arm's is refused, because it states its arm."""
    folder = complete_run.path / "sends"
    shutil.copy(folder / "01-baseline.parquet", folder / "01-candidate.parquet")
    with pytest.raises(TraceError, match="renamed or copied"):
        sealed_files(complete_run, TableName.SENDS)
    with pytest.raises(TraceError, match="as it was sealed"):
        read_table(complete_run, TableName.SENDS, 1, Arm.CANDIDATE)


def test_plan_that_was_not_announced_is_refused(new_run: NewRun) -> None:
    """A plan with another digest than in run.json is refused: both arms use the same sends."""
    other = Plan(8, 1, sample.PLAN.sends[:1])
    with pytest.raises(TraceError, match="announced plan"):
        new_run().case(1).begin(other, clock=sample.CLOCK, origin_ns=0)


def test_altered_plan_is_refused_when_sealing(new_run: NewRun) -> None:
    """A plan changed on disk cannot be sealed."""
    run = new_run()
    run.case(1).begin(sample.PLAN, clock=sample.CLOCK, origin_ns=0)
    plan = run.path / "journal" / "01-plan.ndjson"
    plan.write_bytes(plan.read_bytes().replace(b"128", b"129"))
    with pytest.raises(TraceError, match="altered"):
        run.seal()


def test_run_id_is_used_once(new_run: NewRun) -> None:
    """Two runs cannot share a directory."""
    new_run()
    with pytest.raises(UsageError, match="exists"):
        new_run()


def test_folder_that_cannot_be_made_is_the_environments_fault(tmp_path: Path) -> None:
    """A file in place of the output folder is refused in one sentence."""
    (tmp_path / "runs").write_text("in the way")
    with pytest.raises((EnvironmentMissing, UsageError)):
        RunDirectory.create(tmp_path / "runs", sample.manifest_of())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "a run directory"),
        (b"{", "a run description"),
        (b'{"run": "\xff"}', "a run description"),
        (b"[" * 100_000, "a run description"),
        (b"[]", "not an object"),
        (b'{"schema": "2.0"}', "schema version 1.x"),
        (b'{"schema": "1.0"}', "missing required field"),
    ],
    ids=["none", "cut", "not UTF-8", "nested", "a list", "another major version", "fields missing"],
)
def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    """A folder that is no run directory is refused with what was expected."""
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(TraceError, match=message):
        RunDirectory.open(tmp_path)


def test_fields_of_a_newer_minor_version_are_ignored(complete_run: RunDirectory) -> None:
    """Fields of a newer minor version are ignored."""
    path = complete_run.path / "run.json"
    content = json.loads(path.read_text()) | {"schema": "1.99", "weather": "fine"}
    content["cases"][0]["mood"] = "calm"
    path.write_bytes(stamped(content))
    assert RunDirectory.open(complete_run.path).entry(1).status is CaseStatus.COMPLETE


def test_case_that_never_started_cannot_be_sealed(new_run: NewRun) -> None:
    """A case that never started cannot be sealed."""
    run = new_run()
    with pytest.raises(TraceError, match="a started case 1"):
        run.case(1).seal()
    with pytest.raises(TraceError, match="case number 5"):
        run.case(5)


def test_breach_is_put_down_at_once(new_run: NewRun) -> None:
    """A protocol breach is on disk at once and survives the case's end."""
    run = new_run()
    run.case(1).lost(CANDIDATE, Breach("protocol.died", expected="an answer", seen="exit code 3"))
    assert RunDirectory.open(run.path).entry(1).breaches[Arm.CANDIDATE].signature == "protocol.died"
    run.case(1).complete()
    assert list(run.entry(1).breaches) == [Arm.CANDIDATE]


def test_end_of_the_run_is_put_down(complete_run: RunDirectory) -> None:
    """A run that was not killed states when it ended."""
    assert RunDirectory.open(complete_run.path).manifest.ended_wall_ms is None
    complete_run.end(wall_ms=5)
    assert RunDirectory.open(complete_run.path).manifest.ended_wall_ms == 5


@pytest.mark.parametrize("name", ["run.json", "journal", "sends", "stored", "logs", "journal/01-baseline.ndjson"])
def test_a_planted_link_is_neither_written_through_nor_read(new_run: NewRun, tmp_path: Path, name: str) -> None:
    """A link that a program under test plants in the run directory is refused by the next write and by every reader."""
    run = new_run()
    sample.record_case(run)
    outside = tmp_path / "outside"
    path = run.path / name
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        path.rename(outside)
    else:
        outside.mkdir()
    before = sorted(outside.iterdir()) if outside.is_dir() else outside.read_bytes()
    path.symlink_to(outside)
    for step in (run.case(1).seal, lambda: RunDirectory.open(run.path)):
        with pytest.raises(TraceError, match=f"{name}, a symbolic link"):
            step()
    assert before == (sorted(outside.iterdir()) if outside.is_dir() else outside.read_bytes())
