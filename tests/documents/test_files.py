"""Reports are replaced atomically."""

from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing, ExitCode
from rocketdiff.documents.files import replace_file


def test_a_file_is_replaced_and_readable_by_all(tmp_path: Path) -> None:
    """A file is replaced and readable by all; its folders are made."""
    path = tmp_path / "deep" / "report.json"
    replace_file(path, b"one")
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_an_unwritable_folder_is_one_clear_message(tmp_path: Path) -> None:
    """A file where a folder should be is exit code 69, with a hint to --out."""
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(EnvironmentMissing, match="--out") as refused:
        replace_file(tmp_path / "taken" / "report.json", b"x")
    assert refused.value.exit_code is ExitCode.ENVIRONMENT


def test_a_full_disk_leaves_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the last step fails on a full disk, the old file stays and no draft is left."""
    path = tmp_path / "report.json"
    replace_file(path, b"old")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(EnvironmentMissing, match="No space left"):
        replace_file(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]
    assert path.read_bytes() == b"old"
