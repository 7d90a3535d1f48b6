"""Digests of what answers depend on."""

from pathlib import Path

from rocketdiff.simulation.golden.fingerprints import (
    artifacts_fingerprint,
    java_fingerprint,
    python_fingerprint,
    sources_fingerprint,
)


def test_names_and_contents_decide_the_digest(tmp_path: Path) -> None:
    """Names and contents of matching files decide the digest."""
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
    """Each release has its own digest of artifacts."""
    assert artifacts_fingerprint("5.3.2") != artifacts_fingerprint("5.3.3")


def test_a_subject_of_another_kind_is_another_subject() -> None:
    """The reference and the real classes have different digests."""
    assert java_fingerprint("5.3.3") != python_fingerprint("5.3.3")
