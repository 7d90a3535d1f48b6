"""Any command line gives one clear message and the right exit code."""

import shutil
import subprocess
from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ClusterError, ExitCode

OLDER_RUN = Path(__file__).parents[1] / "older_run"


def test_our_own_fault_has_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An internal error is one message, a file with the traceback and exit code 70, never a verdict."""

    def broken(**_: object) -> int:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("rocketdiff.cli.commands.listing.print_findings", broken)
    assert guarded(["doctor"]) == ExitCode.INTERNAL
    printed = capsys.readouterr().err
    assert "internal error: ZeroDivisionError: on purpose" in printed
    traceback = Path(printed.split("please report it with ")[1].strip())
    assert "ZeroDivisionError" in traceback.read_text()
    traceback.unlink()


def test_the_cause_is_printed_before_the_cleanup_that_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An account without a right can neither create a topic nor take away what was owed; an error that states another as its cause is alone."""

    def broken(**_: object) -> int:
        try:
            try:
                raise KeyError("frame")
            except KeyError as error:
                raise ClusterError("a topic", seen="no permission") from error
        finally:
            raise ClusterError("a clean cluster", seen="a topic left over")

    monkeypatch.setattr("rocketdiff.cli.commands.listing.print_findings", broken)
    assert guarded(["doctor"]) == ExitCode.ENVIRONMENT
    assert capsys.readouterr().err.splitlines() == [
        "rocketdiff: expected a topic; saw no permission",
        "rocketdiff: expected a clean cluster; saw a topic left over",
    ]


def test_our_own_fault_is_reported_without_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An internal error is reported even if the temporary folder cannot be written."""
    monkeypatch.setattr("rocketdiff.cli.commands.listing.print_findings", lambda **_: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert guarded(["doctor"]) == ExitCode.INTERNAL
    assert "ZeroDivisionError" in capsys.readouterr().err.split("please report it with", 1)[1]


def test_a_full_disk_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A full disk, a tmpfs that only root can mount, gives exit code 69 and no verdict."""
    small = tmp_path / "small"
    small.mkdir()
    mount = shutil.which("mount") or "mount"
    mounted = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {mounted.stderr.strip()}")
    try:
        assert guarded(["run", "--out", str(small), "--scenario", "round-robin/calm"]) == ExitCode.ENVIRONMENT
    finally:
        subprocess.run([shutil.which("umount") or "umount", str(small)], check=True)
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    assert "VERDICT conforms" not in output.out


def test_version_and_help_are_no_errors(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` and `--help` exit with 0."""
    assert guarded(["--version"]) == ExitCode.CONFORMS
    assert guarded(["run", "--help"]) == ExitCode.CONFORMS
    assert "rocketdiff 0." in capsys.readouterr().out


def test_folders_may_have_letters_of_any_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Folder names may be in any script: all report files are written."""
    shutil.copytree(OLDER_RUN, tmp_path / "ünï 日本" / "rün")
    out = tmp_path / "عربى" / "löst"
    judged = ["analyze", str(tmp_path / "ünï 日本" / "rün"), "--master", "none", "--out", str(out)]
    assert guarded(judged) in (ExitCode.CONFORMS, ExitCode.DIVERGES, ExitCode.INCONCLUSIVE)
    assert capsys.readouterr().out.splitlines()[-1].startswith("VERDICT ")
    names = {path.name for path in out.iterdir()}
    assert {"report.html", "report.json", "junit.xml", "summary.md", "results.sarif", "badge.json"} <= names
