"""Where the cache folder is."""

from pathlib import Path

import pytest

from rocketdiff.releases.cache import cache_dir


def test_the_variable_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ROCKETDIFF_CACHE names the folder itself."""
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir() == tmp_path / "mine"
    assert not (tmp_path / "mine").exists()


def test_xdg_folder_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of our own inside the XDG cache folder."""
    monkeypatch.delenv("ROCKETDIFF_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir() == tmp_path / "xdg" / "rocketdiff"


def test_relative_xdg_folder_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As its specification demands."""
    monkeypatch.delenv("ROCKETDIFF_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "rocketdiff"
