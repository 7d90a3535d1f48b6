"""Telling whole files from others without hashing them each time."""

import hashlib
import os
from pathlib import Path

import pytest

from harness.releases import verified
from harness.releases.lock import Artifact
from harness.releases.verified import Condition, condition_of

JAR = Artifact("g:a:1", hashlib.sha256(b"content").hexdigest(), 7)


def test_an_absent_file_is_absent(tmp_path: Path) -> None:
    """Nothing there."""
    assert condition_of(tmp_path / "a.jar", JAR) is Condition.ABSENT


def test_a_verified_file_is_not_hashed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note beside it speaks for it."""
    (tmp_path / "a.jar").write_bytes(b"content")
    assert condition_of(tmp_path / "a.jar", JAR) is Condition.WHOLE
    monkeypatch.setattr(verified, "sha256_of", lambda _file: pytest.fail("hashed again"))
    assert condition_of(tmp_path / "a.jar", JAR) is Condition.WHOLE


def test_a_changed_file_is_hashed_again(tmp_path: Path) -> None:
    """Size or modification time differ from the note."""
    file = tmp_path / "a.jar"
    file.write_bytes(b"content")
    condition_of(file, JAR)
    file.write_bytes(b"CONTENT")
    os.utime(file, ns=(1, 1))
    assert condition_of(file, JAR) is Condition.CORRUPTED


def test_a_note_for_another_content_does_not_count(tmp_path: Path) -> None:
    """When the lock changes its mind about a jar, the jar is looked at again."""
    file = tmp_path / "a.jar"
    file.write_bytes(b"content")
    condition_of(file, JAR)
    assert condition_of(file, Artifact("g:a:1", "0" * 64, 7)) is Condition.CORRUPTED


def test_a_cache_that_cannot_be_written_still_serves(tmp_path: Path) -> None:
    """Without a note the file is hashed each time, and that is all."""
    file = tmp_path / "a.jar"
    file.write_bytes(b"content")
    (tmp_path / "a.jar.verified").mkdir()
    assert condition_of(file, JAR) is Condition.WHOLE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jar", "a.jar.verified"]
