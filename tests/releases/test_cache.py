"""The cache folder, and the check of its files against the lock."""

import hashlib
import os
from pathlib import Path

import pytest

from rocketdiff.releases import cache as cache_module
from rocketdiff.releases.cache import Condition, cache_dir, condition_of
from rocketdiff.releases.lock import Artifact


@pytest.mark.parametrize(
    ("own", "xdg", "chosen"),
    [
        ("/tmp/mine", "/tmp/xdg", "/tmp/mine"),
        (None, "/tmp/xdg", "/tmp/xdg/rocketdiff"),
        (None, "here", "/tmp/home/.cache/rocketdiff"),
    ],
)
def test_the_cache_is_named_by_our_variable_or_xdgs(
    own: str | None, xdg: str, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ROCKETDIFF_CACHE names the folder itself; otherwise it is ours in XDG's, whose variable must be absolute by its standard."""
    monkeypatch.delenv("ROCKETDIFF_CACHE", raising=False)
    for name, value in (("ROCKETDIFF_CACHE", own), ("XDG_CACHE_HOME", xdg), ("HOME", "/tmp/home")):
        if value is not None:
            monkeypatch.setenv(name, value)
    assert cache_dir() == Path(chosen)


CONTENT = b"the jar"
ARTIFACT = Artifact("g:a:1", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    file = tmp_path / "a.jar"
    file.write_bytes(CONTENT)
    return file


def test_the_right_content_is_whole(jar: Path) -> None:
    """The right content is WHOLE, and nothing is written beside it."""
    assert condition_of(jar, ARTIFACT) is Condition.WHOLE
    assert list(jar.parent.iterdir()) == [jar]


def test_other_content_of_the_same_size_and_time_is_corrupted(jar: Path) -> None:
    """Other content of equal size and time, as in a restored cache, is CORRUPTED."""
    assert condition_of(jar, ARTIFACT) is Condition.WHOLE
    before = jar.stat()
    jar.write_bytes(b"the far")
    os.utime(jar, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert condition_of(jar, ARTIFACT) is Condition.CORRUPTED


def test_within_a_process_an_untouched_file_is_hashed_once(jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process hashes an unchanged file once, because each case requests its class path."""
    condition_of(jar, ARTIFACT)
    monkeypatch.setattr(cache_module, "sha256_of", lambda _file: pytest.fail("hashed again"))
    assert condition_of(jar, ARTIFACT) is Condition.WHOLE


def test_a_missing_file_is_absent_and_a_folder_corrupted(tmp_path: Path) -> None:
    """A missing file is ABSENT, and a folder in its place is CORRUPTED."""
    assert condition_of(tmp_path / "none.jar", ARTIFACT) is Condition.ABSENT
    (tmp_path / "a.jar").mkdir()
    assert condition_of(tmp_path / "a.jar", ARTIFACT) is Condition.CORRUPTED
