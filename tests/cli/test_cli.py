"""Any command line gives one clear message and the right exit code."""

import shutil
import subprocess
from pathlib import Path

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.errors import ExitCode

OLDER_RUN = Path(__file__).parents[1] / "older_run"
BAD_SCENARIO = "format: 1\nname: bad/settings\nestablishes: nothing\nsettings: {send_latency_fault_enabled: true}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--subject", "java"], "client:release"),
        (["run", "--subject", "java:9.9.9"], "java:9.9.9"),
        (["run", "--subject", "rust:1.0.0"], "rust:1.0.0"),
        (["run", "--subject", "org.example:x:1"], "'org.example:x:1'"),
        (["run", "--suite", "nope"], "nope"),
        (["run", "--scenario", "no/such"], "no/such"),
        (["run", "--inconclusive", "maybe"], "maybe"),
        (["run", "--cluster", "clouds"], "clouds"),
        (["run", "--no-such-option"], "--no-such-option"),
        (["nothing"], "nothing"),
        (["analyze", "no-such-run"], "no-such-run"),
        (["report", "no-such-run"], "no-such-run"),
        (["explain", "no-such-run", "baseline", "1"], "no-such-run"),
        (["compare", "java:5.3.3"], "candidate"),
    ],
)
def test_bad_arguments_are_named_with_exit_code_4(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Wrong arguments give exit code 4 and are repeated in the message."""
    monkeypatch.chdir(tmp_path)
    assert guarded(arguments) == ExitCode.USAGE
    output = capsys.readouterr()
    assert message in output.err
    assert "Traceback" not in output.err
    assert not list(tmp_path.glob("reports/*"))


def test_a_bad_scenario_is_named_with_file_line_and_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown setting of a scenario is reported with its file."""
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "settings.yaml").write_text(BAD_SCENARIO)
    assert guarded(["run", "--scenarios", str(tmp_path), "--out", str(tmp_path / "out")]) == ExitCode.USAGE
    printed = capsys.readouterr().err
    assert "settings.yaml" in printed
    assert "send_latency_fault_enabled" in printed


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


@pytest.mark.parametrize("command", ["report", "analyze", "identify"])
def test_a_path_of_any_length_is_one_short_message(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A path of 100,000 characters gives a message of fewer than 2,500."""
    assert guarded([command, "x" * 100_000]) == ExitCode.USAGE
    assert len(capsys.readouterr().err) < 2_500


@pytest.mark.parametrize(
    "arguments", [["\x1b[2J"], ["cluster", "up", "--topology", "\x1b[2J"], ["analyze", "\x1b[2J\x07"]]
)
def test_control_characters_are_written_out(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters are escaped, because a terminal would obey them."""
    assert guarded(arguments) == ExitCode.USAGE
    assert "\x1b" not in "".join(capsys.readouterr())


def test_our_own_fault_is_reported_without_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An internal error is reported even if the temporary folder cannot be written."""
    monkeypatch.setattr("rocketdiff.cli.commands.listing.print_findings", lambda **_: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert guarded(["doctor"]) == ExitCode.INTERNAL
    assert "ZeroDivisionError" in capsys.readouterr().err.split("please report it with", 1)[1]


def test_a_folder_that_cannot_be_written_is_an_environment_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reports folder that is a file gives exit code 69."""
    (tmp_path / "out").write_text("in the way")
    assert guarded(["run", "--out", str(tmp_path / "out")]) == ExitCode.ENVIRONMENT
    assert str(tmp_path / "out") in capsys.readouterr().err


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


def test_a_complete_case_whose_sends_are_gone_is_not_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`explain` refuses a complete case without its files, as `analyze` does."""
    shutil.copytree(OLDER_RUN, tmp_path / "run", ignore=shutil.ignore_patterns("sends"))
    assert guarded(["explain", str(tmp_path / "run"), "baseline", "1", "--case", "1"]) == ExitCode.USAGE
    assert "expected all files of the complete case 1 in run" in capsys.readouterr().err


def test_folders_may_have_letters_of_any_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Folder names may be in any script: all report files are written."""
    shutil.copytree(OLDER_RUN, tmp_path / "ünï 日本" / "rün")
    out = tmp_path / "عربى" / "löst"
    judged = ["analyze", str(tmp_path / "ünï 日本" / "rün"), "--master", "none", "--out", str(out)]
    assert guarded(judged) in (ExitCode.CONFORMS, ExitCode.DIVERGES, ExitCode.INCONCLUSIVE)
    assert capsys.readouterr().out.splitlines()[-1].startswith("VERDICT ")
    names = {path.name for path in out.iterdir()}
    assert {"report.html", "report.json", "junit.xml", "summary.md", "results.sarif", "badge.json"} <= names
