"""Golden digests of random scripts: the reference and the classes still give the recorded answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pytest

from rocketdiff.lab.fuzz.differences import behaviours
from rocketdiff.lab.fuzz.golden_digests import (
    ONCE_APART,
    SCRIPTS_OF,
    GoldenScript,
    class_paths,
    corpus,
    digest_of,
    drift,
    execute,
    load_golden_digests,
    stale,
    text_of,
)
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.golden.fingerprints import artifacts_fingerprint
from rocketdiff.simulation.java_host import JavaHost, Job
from rocketdiff.simulation.script import Depth
from rocketdiff.simulation.virtual import dialect_for, run_reference

CHECK = "python -m rocketdiff.lab.fuzz.golden_digests --check"
RELEASES = client_releases()
TURNS = 4
"""
Each release runs the first script of two depths; `python -m rocketdiff.lab.fuzz.golden_digests --check` runs all of all.
"""

DIALECT_TURNS = 8
"""Each dialect runs one script in eight; `make mutants` runs all."""


def first_difference_of(wrong: Sequence[tuple[str, str]], as_release: str | None = None) -> str:
    """Return the names and the first differing line; a digest has none, so the classes run again."""
    name, release = wrong[0]
    script = next(golden for golden in load_golden_digests() if golden.name == name).script()
    ours = run_reference(dialect_for(script, as_release or release), name, script, trace=True)
    with JavaHost() as host:
        (finished,) = host.finish_all([Job(release, name, script, trace=True)])
    pairs = enumerate(zip_longest(ours, finished.lines), start=1)
    first = next(
        (f"line {line}: reference {one!r}, Java {other!r}" for line, (one, other) in pairs if one != other), ""
    )
    what = first or "the classes answer as the reference does: the digests are stale"
    return f"{len(wrong)} differ: {wrong[:10]}\n{name} as {release}: {what}\nmore: rocketdiff fuzz, and {CHECK} for the classes"


@pytest.mark.slow
@pytest.mark.parametrize("depth", list(Depth))
def test_the_reference_answers_as_the_classes_did(depth: Depth) -> None:
    """Each dialect gives the golden digests of every eighth script and of those that once differed."""
    groups = behaviours(RELEASES, depth)
    wrong = []
    for number, golden in enumerate(golden for golden in load_golden_digests() if golden.depth is depth):
        script = golden.script()
        for group in groups if golden.name in ONCE_APART else groups[number % DIALECT_TURNS :: DIALECT_TURNS]:
            digest = digest_of(run_reference(group.dialect, golden.name, script, trace=True))
            wrong += [(golden.name, release) for release in group.releases if golden.answers[release] != digest]
    assert not wrong, first_difference_of(wrong)


def test_the_classes_answer_as_they_did(java_host: JavaHost) -> None:
    """The classes still give their golden digests of a script of each depth: no drift of host, generators or artifacts."""
    committed = {golden.depth: golden for golden in reversed(load_golden_digests())}
    for number, golden in enumerate(committed.values()):
        assert list(drift([golden], execute(java_host, RELEASES[number % TURNS :: TURNS], [golden.name]))) == []


def test_all_scripts_and_releases_have_digests() -> None:
    """All scripts have digests of all releases."""
    committed = load_golden_digests()
    assert [golden.name for golden in committed] == list(corpus())
    assert len(committed) == sum(SCRIPTS_OF.values()) + len(ONCE_APART)
    assert all(tuple(golden.answers) == RELEASES for golden in committed)


def _one(name: str = "fuzz-selection-1", script: str = "s", answers: Mapping[str, str] | None = None) -> GoldenScript:
    return GoldenScript(name, script, answers or {"4.9.8": "one", "5.3.3": "two", "5.5.0": "two"})


def test_the_file_holds_what_was_written(tmp_path: Path) -> None:
    """The file is read as written; answers are a pattern over the releases."""
    file = tmp_path / "digests.json"
    releases = {release: artifacts_fingerprint(release) for release in ("4.9.8", "5.3.3", "5.5.0")}
    file.write_text(text_of([_one()], releases, "host"), encoding="utf-8")
    assert load_golden_digests(file) == (_one(),)
    assert '"pattern": "ABB"' in file.read_text(encoding="utf-8")


def test_drift_names_releases_and_causes() -> None:
    """Drift distinguishes other answers, another script and missing digests."""
    changed = _one(answers={"4.9.8": "one", "5.3.3": "two", "5.5.0": "three"})
    assert list(drift([_one()], [_one()])) == []
    assert list(drift([_one()], [changed])) == ["fuzz-selection-1: other answers of 5.5.0"]
    assert list(drift([_one()], [replace(changed, script_digest="t")])) == [
        "fuzz-selection-1: the generators make another script"
    ]
    assert list(drift([], [_one()])) == ["fuzz-selection-1: no golden digest"]
    assert list(drift([_one()], [])) == ["fuzz-selection-1: golden digests without a script"]


def test_generators_of_the_digests_still_exist() -> None:
    """Jars and host sources of the digests are current; else run: python -m rocketdiff.lab.fuzz.golden_digests."""
    assert list(stale()) == []


def test_stale_digests_are_reported(tmp_path: Path) -> None:
    """A changed host and a changed jar are reported separately."""
    file = tmp_path / "digests.json"
    file.write_text(text_of([_one()], class_paths() | {"5.3.3": "another"}, "another host"), encoding="utf-8")
    assert list(stale(file)) == ["the sources of the Java host changed since", "other jars, or none, of 5.3.3"]


def test_a_wrong_digest_is_reported_with_the_first_difference() -> None:
    """A wrong digest is reported with the first differing line."""
    output = first_difference_of([(load_golden_digests()[0].name, "4.9.8")], as_release="5.3.3")
    assert re.search(r"line \d+: reference '.*', Java '.*'\nmore: ", output), output
    assert CHECK in output
