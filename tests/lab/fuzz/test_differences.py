"""A host with a known defect differs in the releases that have it."""

import pytest

from rocketdiff.lab.fuzz.differences import SharedDialect, behaviours, differences, reference_lines
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.script import Depth, parse_script
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.dialect import Dialect
from tests.lab.fuzz.old_walk import with_the_old_walk
from tests.lab.fuzz.toy_host import ToyHost

SCRIPTS = [(f"s{seed}", parse_script(generate("selection", seed), f"s{seed}")) for seed in range(3)]
GROUPS = [SharedDialect(dialect_of("4.9.8"), ("4.9.8",)), SharedDialect(dialect_of("5.3.3"), ("5.3.3", "5.5.0"))]


def test_equal_answers_are_no_difference() -> None:
    """A host that answers like the reference has no difference."""
    assert list(differences(ToyHost(), SCRIPTS, GROUPS)) == []


def test_a_defect_is_found_in_the_releases_that_have_it() -> None:
    """A defect is found once per script and release that has it."""
    found = list(differences(ToyHost(with_the_old_walk), SCRIPTS, GROUPS))
    assert {one.release for one in found} == {"5.3.3", "5.5.0"}
    assert len(found) == len({(one.script, one.release) for one in found})
    assert all(one.java is not None and one.java != one.reference for one in found)


def test_a_host_that_fails_is_a_difference() -> None:
    """A failing host is a difference with its message as the line."""
    (found,) = differences(ToyHost(broken=("4.9.8",)), SCRIPTS[:1], GROUPS)
    assert (found.release, found.line) == ("4.9.8", 2)
    assert found.java is not None
    assert found.java.startswith("failed: ")


def test_a_reference_that_fails_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception of the reference is its last line; the campaign continues."""

    def fail(_dialect: Dialect, _name: str, _script: object, *, trace: bool) -> list[str]:
        raise KeyError(f"queue, traced: {trace}")

    monkeypatch.setattr("rocketdiff.lab.fuzz.differences.run_reference", fail)
    assert reference_lines(dialect_of("5.3.3"), *SCRIPTS[0]) == ["raised KeyError: 'queue, traced: True'"]


def test_every_release_is_in_one_behaviour() -> None:
    """Each of 39 releases is in one behaviour per depth; selection has fewer than sends."""
    for depth in Depth:
        releases = [release for group in behaviours(client_releases(), depth) for release in group.releases]
        assert sorted(releases) == sorted(client_releases())
    assert len(behaviours(client_releases(), Depth.SELECTION)) < len(behaviours(client_releases(), Depth.SEND_LOOP))


def test_releases_of_one_behaviour_share_a_dialect_in_what_decides() -> None:
    """The two previews select like the releases from which they were branched."""
    groups = behaviours(("4.9.0", "4.9.3", "5.0.0-PREVIEW", "5.0.0-ALPHA", "4.9.4"), Depth.SELECTION)
    assert [group.releases for group in groups] == [("4.9.0", "4.9.3", "5.0.0-PREVIEW", "5.0.0-ALPHA"), ("4.9.4",)]
