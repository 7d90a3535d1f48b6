"""What answers depend on, as digests."""

from pathlib import Path

from rocketdiff.simulation.golden.fingerprints import (
    artifacts_fingerprint,
    java_fingerprint,
    python_fingerprint,
    sources_fingerprint,
)


def test_sources_are_told_apart_by_name_and_content(tmp_path: Path) -> None:
    """Files that do not match are no sources."""
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "One.java").write_text("class One {}")
    first = sources_fingerprint([folder], "*.java")
    (folder / "notes.txt").write_text("x")
    assert sources_fingerprint([folder], "*.java") == first
    (folder / "One.java").rename(folder / "Two.java")
    renamed = sources_fingerprint([folder], "*.java")
    (folder / "Two.java").write_text("class Two {}")
    assert len({first, renamed, sources_fingerprint([folder], "*.java")}) == 3


def test_releases_have_their_own_artifacts() -> None:
    """No two class paths are the same."""
    assert artifacts_fingerprint("5.3.2") != artifacts_fingerprint("5.3.3")


def test_a_subject_of_another_kind_is_another_subject() -> None:
    """Answers of the reference are never taken for those of the classes."""
    assert java_fingerprint("5.3.3") != python_fingerprint("5.3.3")
