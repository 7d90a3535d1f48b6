"""Generation and drift of golden data."""

from rocketdiff.simulation.golden.files import grouped
from rocketdiff.simulation.golden.generate import drift, execute, stale
from tests.lab.history.toys import by_table, select_line, toy_standard

WALK, STEPS = (toy_standard(name, {}) for name in ("walk", "steps"))
RELEASES = ("4.7.0", "4.7.1", "4.8.0")


def test_every_release_is_executed_on_every_script() -> None:
    """Every release runs every script, and equal answers are grouped."""
    golden = execute(by_table({"walk": {"4.8.0": 1}}), RELEASES, (WALK, STEPS))
    assert [group.releases for group in golden["walk"].groups] == [("4.7.0", "4.7.1"), ("4.8.0",)]
    assert [group.releases for group in golden["steps"].groups] == [RELEASES]


def test_equal_data_has_not_drifted() -> None:
    """Equal data have no drift."""
    golden = execute(by_table({"walk": {"4.8.0": 1}}), RELEASES, (WALK,))
    assert list(drift(golden, golden)) == []


def test_drift_names_script_releases_and_first_difference() -> None:
    """Releases with the same first difference share one sentence."""
    committed = execute(by_table({}), RELEASES, (WALK,))
    executed = execute(by_table({"walk": {"4.7.1": 3, "4.8.0": 3}}), RELEASES, (WALK,))
    assert list(drift(committed, executed)) == ["walk, 4.7.1 4.8.0: step 0, queue: queue 0 of a → queue 3 of a"]


def test_a_new_release_and_a_new_script_are_named() -> None:
    """A new release, a new script and unused data are named."""
    line = (select_line("walk", 0),)
    committed = {"walk": grouped("walk", {"4.7.0": line}), "gone": grouped("gone", {"4.7.0": line})}
    executed = {"walk": grouped("walk", {"4.7.0": line, "4.7.1": line}), "new": grouped("new", {"4.7.0": line})}
    sentences = list(drift(committed, executed))
    assert sentences[0] == "gone: golden data without a script"
    assert sentences[1].startswith("walk, 4.7.1: step 0")
    assert sentences[2] == "new: a script without golden data"


def test_changed_parts_of_the_manifest_are_named() -> None:
    """Changed parts of the manifest are named, entry by entry."""
    committed = {"java_host_sha256": "a", "scripts": {"walk": "1", "gone": "2"}, "format": 1}
    current = {"java_host_sha256": "b", "scripts": {"walk": "3", "gone": "2"}, "format": 1}
    assert list(stale(committed, current)) == [
        "manifest: java_host_sha256 changed since",
        "manifest: scripts of walk changed since",
    ]
