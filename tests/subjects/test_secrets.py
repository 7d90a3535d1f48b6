"""Secrets of a setup that a client prints or writes are kept nowhere, even after a kill of the runner."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.cli.commands.listing import remove_secrets
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.errors import SubjectBroken, UsageError
from rocketdiff.core.sends.plan import Plan
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.subjects.secret_removal import SecretRemoval, remove_left_secrets
from rocketdiff.subjects.sending.talk import SendingTalk
from tests.subjects.conftest import HELLO, Start, setup_of

SECRET = 's3cret"of\\a-test'  # noqa: S105 - of a test
"""Has characters that JSON escapes."""

KILLED = """
import os, signal, sys
from pathlib import Path
from rocketdiff.subjects.secret_removal import SecretRemoval
removal = SecretRemoval(Path(sys.argv[1]), ("1234", "s3cret-key"))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """The logs of a client whose runner was killed."""
    logs = tmp_path / "run-1" / "logs" / "01" / "baseline"
    logs.mkdir(parents=True)
    (logs / "stderr.log").write_text("key 1234 of s3cret-key")
    subprocess.run([sys.executable, "-c", KILLED, str(logs)], check=False)
    return logs


def notes(cache: Path) -> list[Path]:
    return list((cache / "secrets").iterdir())


def test_a_printed_setup_has_no_secret(start: Start, own_cache: Path) -> None:
    """A secret that a client prints or writes is removed from journal, error, stderr log and its other files."""
    lines: list[bytes] = []
    process = start(["say", HELLO], ["echo"], lines=lines)
    process.await_hello()
    inner = process.folder / "logs" / "inner.log"
    inner.parent.mkdir()
    inner.write_bytes(b"\xff" + SECRET.encode())
    outside = own_cache.with_name("outside")
    outside.write_text(SECRET)
    (process.folder / "link").symlink_to(outside)
    os.mkfifo(process.folder / "pipe")
    account = {"access_key": "me", "secret_key": SECRET}
    process.prepare(SendingTalk(Plan(1, 1, ()), replace(setup_of(), security={"account": account})))
    with pytest.raises(SubjectBroken, match="me") as raised:
        process.await_ready()
    (note,) = notes(own_cache)
    assert note.stat().st_mode & 0o777 == 0o600
    process.close()
    kept = (process.folder / "stderr.log").read_text() + b"".join(lines).decode() + str(raised.value)
    assert "s3cret" not in kept
    assert kept.count("(left out)") >= 2
    assert inner.read_bytes() == b"\xff(left out)"
    assert outside.read_text() == SECRET
    assert notes(own_cache) == []


@pytest.mark.parametrize("next_start", ["doctor --clean", "analyze"])
def test_the_next_start_cleans_what_a_killed_runner_left(left: Path, own_cache: Path, next_start: str) -> None:
    """After kill -9 of the runner, files of its clients are cleaned, and the note of them is removed."""
    assert len(notes(own_cache)) == 1
    if next_start == "analyze":
        older = Path(__file__).parents[1] / "older_run"
        with pytest.raises(UsageError, match="--out FOLDER"):
            judge_runs([older, older], policy=Policy())
    else:
        remove_secrets()
    assert (left / "stderr.log").read_text() == "key (left out) of (left out)"
    assert notes(own_cache) == []


def test_a_moved_run_is_cleaned_when_it_is_judged(left: Path, tmp_path: Path, own_cache: Path) -> None:
    """A run that was moved after the kill is cleaned as soon as it is named; until then the note stays."""
    shutil.move(tmp_path / "run-1", tmp_path / "moved")
    assert remove_left_secrets({"run-2": tmp_path / "moved" / "logs"}) == ()
    assert len(notes(own_cache)) == 1
    assert remove_left_secrets({"run-1": tmp_path / "moved" / "logs"}) == (tmp_path / "moved" / "logs",)
    assert (
        (tmp_path / "moved" / left.relative_to(tmp_path / "run-1") / "stderr.log")
        .read_text()
        .startswith("key (left out)")
    )


def test_files_of_a_living_runner_stay(tmp_path: Path, own_cache: Path) -> None:
    """A run in progress is cleaned by itself only: its client still writes."""
    log = tmp_path / "stderr.log"
    log.write_text("s3cret-key")
    with SecretRemoval(tmp_path, ("s3cret-key",)):
        assert remove_left_secrets() == ()
        assert log.read_text() == "s3cret-key"
    assert log.read_text() == "(left out)"
    assert notes(own_cache) == []
