"""A pipe, device, socket or link in place of any file of others is refused at once, in one sentence."""

import os
import re
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.resources import resource
from tests.judging.test_damage import stored_run

LONG_S = 30
"""Far longer than any of these commands: a failure instead of a test that waits for ever."""

DOCUMENTS: dict[str, tuple[str, ...]] = {
    "sealed/run.json": ("analyze", "sealed", "--master", "none", "--no-ledger"),
    "sealed/sends/01-candidate.parquet": ("analyze", "sealed", "--master", "none", "--no-ledger"),
    "sealed/faults/01.parquet": ("analyze", "sealed", "--master", "none", "--no-ledger"),
    "unsealed/journal/01-plan.ndjson": ("analyze", "unsealed", "--master", "none", "--no-ledger"),
    "unsealed/journal/01-baseline.ndjson": ("analyze", "unsealed", "--master", "none", "--no-ledger"),
    "unsealed/journal/01-baseline-witnessed.ndjson": ("analyze", "unsealed", "--master", "none", "--no-ledger"),
    "unsealed/journal/01-faults.ndjson": ("analyze", "unsealed", "--master", "none", "--no-ledger"),
    "a/report.json": ("diff", "a", "a"),
    "b/report.json": ("report", "b"),
    "ledger.yaml": ("ledger", "lint", "ledger.yaml"),
    "scenarios/own.yaml": ("run", "--scenarios", "scenarios", "--dry-run"),
    "security.yaml": ("run", "--security", "security.yaml", "--dry-run"),
    "cluster.yaml": ("run", "--cluster", "external:cluster.yaml", "--dry-run"),
    "subject.yaml": ("run", "--subject", "subject.yaml", "--dry-run"),
    "campaign.yaml": ("campaign", "campaign.yaml", "--out", "out"),
    "matrix.yaml": ("matrix", "matrix.yaml", "--out", "out"),
    "script.json": ("simulate", "--script", "script.json"),
    "record/batches/_delta_log/00000000000000000001.json": ("record", "status", "--record", "record"),
    "record/batches/BATCH": ("record", "status", "--record", "record"),
    "record/sends/BATCH": ("record", "judge", "--record", "record", "--master", "none"),
}
"""A file that others can have made, and the command that reads it."""


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/null")


def a_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link(path: Path) -> None:
    outside = Path.cwd() / "outside"
    outside.write_bytes(b"")
    path.symlink_to(outside)


ROWS = (
    [(document, kind) for document in DOCUMENTS for kind in (a_pipe, a_device, a_folder)]
    + [
        ("sealed/run.json", a_socket),
        ("record/sends/BATCH", a_socket),
    ]
    + [(document, a_link) for document in DOCUMENTS if document.startswith(("sealed", "unsealed"))]
)
"""A file that the user names may be a link, one of a run may not."""
WORDS = ("a named pipe", "a device", "a socket", "a folder", "symbolic link", "a folder, pipe, device or socket")


@contextmanager
def watchdog() -> Iterator[None]:
    def bark(*_: object) -> None:
        raise TimeoutError("the command waits for a file that never ends")

    before = signal.signal(signal.SIGALRM, bark)
    signal.alarm(LONG_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed run, one that was cut off, and a record."""
    root = tmp_path_factory.mktemp("originals")
    stored_run(root / "made").rename(root / "sealed")
    assert guarded(["record", "add", str(root / "sealed"), "--record", str(root / "record"), "--master", "none"]) == 0
    stored_run(root / "made", complete=False).rename(root / "unsealed")
    return root


@pytest.mark.parametrize(("document", "kind"), ROWS, ids=lambda value: getattr(value, "__name__", value))
def test_anything_but_a_file_is_refused_at_once(
    document: str,
    kind: Callable[[Path], None],
    originals: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No command waits for a pipe, reads a device for ever or follows a link of a run; the message names what it saw."""
    monkeypatch.chdir(tmp_path)
    name = document.partition("/")[0]
    if (originals / name).exists():
        shutil.copytree(originals / name, name)
    path = Path(document)
    if path.name == "BATCH":
        path = next(path.parent.rglob("*.parquet"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    kind(path)
    with watchdog():
        code = guarded(list(DOCUMENTS[document]))
    error = "".join(capsys.readouterr())
    assert code in {ExitCode.USAGE, ExitCode.ENVIRONMENT}, error
    assert any(word in error for word in WORDS), error


OWN_FILES = {"judging_code.py", "gate_rates.py", "journal.py"}
"""Digests of rocketdiff's own sources, and the calibration journal's own last line."""


@pytest.mark.parametrize("room", ["traces", "record", "report", "ledger", "judging", "campaign", "matrix", "documents"])
def test_files_of_others_are_opened_in_one_way(room: str) -> None:
    """Rooms that read runs, records and hand-written files open them by ``core.files`` only."""
    sources = resource(f"harness/rocketdiff/{room}").rglob("*.py")
    bare = re.compile(r"\.read_bytes\(\)|(?<!files)\.read_text\(|\.open\((\"rb|\)|encoding)|pq\.read_schema\((?!file)")
    found = [source.name for source in sources if bare.search(source.read_text(encoding="utf-8"))]
    assert set(found) <= OWN_FILES
