"""Digests on disk."""

from pathlib import Path

from rocketdiff.lab.history.digest_store import DigestStore


def test_written_answers_are_read_again(tmp_path: Path) -> None:
    """Another store on the same file reads all digests and omits unknown keys."""
    file = tmp_path / "deep" / "digests.sqlite"
    digests = {f"key {number}": f"digest {number}" for number in range(1_200)}
    DigestStore(file).write(digests)
    assert DigestStore(file).read([*digests, "no such key"]) == digests


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    """Reading without a file finds nothing and creates no file."""
    file = tmp_path / "digests.sqlite"
    assert DigestStore(file).read(["key"]) == {}
    assert not file.exists()


def test_a_fresh_store_reads_nothing_and_writes_all_the_same(tmp_path: Path) -> None:
    """A fresh store reads nothing but writes for the next one."""
    file = tmp_path / "digests.sqlite"
    DigestStore(file).write({"key": "old"})
    fresh = DigestStore(file, fresh=True)
    assert fresh.read(["key"]) == {}
    fresh.write({"key": "new"})
    assert DigestStore(file).read(["key"]) == {"key": "new"}


def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    """A folder that cannot be written is ignored; everything runs again next time."""
    (tmp_path / "file").write_text("in the way")
    store = DigestStore(tmp_path / "file" / "digests.sqlite")
    store.write({"key": "digest"})
    assert store.read(["key"]) == {}
