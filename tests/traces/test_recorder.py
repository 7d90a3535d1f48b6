"""The journal survives a full disk, a kill and a failed write."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing, ExitCode
from rocketdiff.core.resources import import_path
from rocketdiff.traces.journal import whole_lines
from rocketdiff.traces.recorder import Recorder, replacing, write_whole

WITH_HARNESS = os.environ | {"PYTHONPATH": import_path()}


def test_lines_are_on_disk_at_once(tmp_path: Path) -> None:
    """A recorded line is readable before the recorder is closed."""
    with Recorder(tmp_path / "journal" / "01-baseline.ndjson") as recorder:
        recorder.line(b'{"a": 1}\r\n')
        assert (tmp_path / "journal" / "01-baseline.ndjson").read_bytes() == b'{"a": 1}\n'


def test_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    """On a full device every line raises EnvironmentMissing with its exit code."""
    path = tmp_path / "full.ndjson"
    path.symlink_to("/dev/full")
    recorder = Recorder(path)
    for _ in range(2):
        with pytest.raises(EnvironmentMissing, match=r"no space left while writing .*full\.ndjson") as raised:
            recorder.line(b"{}")
    recorder.close()
    assert raised.value.exit_code is ExitCode.ENVIRONMENT == 69


def test_half_written_line_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk fills within a line, earlier lines stay unchanged."""
    path = tmp_path / "journal.ndjson"
    recorder = Recorder(path)
    recorder.line(b'{"whole": true}')
    write = os.write
    left = [3]

    def small_disk(file: int, data: bytes) -> int:
        if left[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        room, left[0] = left[0], 0
        return write(file, data[:room])

    monkeypatch.setattr(os, "write", small_disk)
    with pytest.raises(EnvironmentMissing):
        recorder.line(b'{"half": true}')
    monkeypatch.undo()
    recorder.close()
    assert path.read_bytes() == b'{"whole": true}\n'


def test_small_tmpfs_keeps_every_recorded_line(tmp_path: Path) -> None:
    """On a file system of 64 KiB every accepted line survives a full disk."""
    script = textwrap.dedent(
        """
        import subprocess, sys
        import pyarrow as pa
        import pyarrow.parquet as pq
        from pathlib import Path
        from rocketdiff.core.errors import EnvironmentMissing
        from rocketdiff.traces.recorder import replacing
        from rocketdiff.traces.recorder import Recorder
        folder = Path(sys.argv[1])
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True)
        if mounted.returncode:
            sys.exit(77)
        recorder = Recorder(folder / "01-baseline.ndjson")
        try:
            while True:
                recorder.line(b'{"send": %d, "padding": "%s"}' % (recorder.lines, b"x" * 900))
        except EnvironmentMissing as problem:
            lines = (folder / "01-baseline.ndjson").read_bytes().splitlines(keepends=True)
            whole = all(line.endswith(b"}\\n") for line in lines)
            if not (len(lines) == recorder.lines > 10 and whole and "no space left" in str(problem)):
                sys.exit("the journal lost or garbled lines")
        try:
            with replacing(folder / "sends.parquet") as temporary:
                pq.write_table(pa.table({"x": list(range(100_000))}), temporary)
        except EnvironmentMissing as problem:
            clean = sorted(entry.name for entry in folder.iterdir()) == ["01-baseline.ndjson"]
            sys.exit(0 if clean and "no space left" in str(problem) else f"{problem}, clean: {clean}")
        sys.exit("a table was written to a full disk")
        """
    )
    # Mounted in a private user and mount namespace: needs no privileges and leaves nothing behind.
    command = ["unshare", "-Urm", sys.executable, "-c", script, str(tmp_path)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=WITH_HARNESS)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if ran.returncode == 77 or "unshare" in ran.stderr:
        pytest.skip(f"no private mount here: {ran.stderr.strip()}")
    assert ran.returncode == 0, ran.stderr


def test_killed_writer_leaves_whole_lines(tmp_path: Path) -> None:
    """After kill -9 every finished line is readable, in order and without gaps."""
    path = tmp_path / "01-baseline.ndjson"
    script = textwrap.dedent(
        f"""
        from pathlib import Path
        from rocketdiff.traces.recorder import Recorder
        recorder = Recorder(Path({str(path)!r}))
        while True:
            recorder.line(b'{{"send": %d}}' % recorder.lines)
            if recorder.lines == 2000:
                print("busy", flush=True)
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=WITH_HARNESS) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    lines = [content for _, content in whole_lines(path)]
    assert len(lines) >= 2000
    assert lines == [b'{"send": %d}' % number for number in range(len(lines))]


def test_failed_replacement_keeps_the_old_file(tmp_path: Path) -> None:
    """A file is replaced whole or not at all, and no temporary file stays."""
    path = tmp_path / "run.json"
    write_whole(path, b"old")

    def half_written() -> None:
        with replacing(path) as temporary:
            temporary.write_bytes(b"ne")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(EnvironmentMissing, match="no space left"):
        half_written()
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]
    assert path.read_bytes() == b"old"


def test_unwritable_folder_is_reported_in_the_systems_words(tmp_path: Path) -> None:
    """A file in place of the journal's folder is reported in the system's words."""
    (tmp_path / "journal").write_text("not a folder")
    with pytest.raises(EnvironmentMissing, match=r"File exists|Not a directory"):
        Recorder(tmp_path / "journal" / "01-baseline.ndjson")
