"""A fuzz run depends on seed and budget; it reports one difference per dialect and depth."""

from dataclasses import replace

from rocketdiff.lab.fuzz.differences import FuzzDifference
from rocketdiff.lab.fuzz.lockstep import (
    SCRIPTS_OF_A_SEED,
    Effort,
    FuzzOutcome,
    chunks,
    distinct,
    name_of,
    script_of,
    weight_of,
)
from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.script import Depth

FOUND = FuzzDifference("fuzz-selection-9", "5.1.1", "java-5.1.1", 3, "a", "b")


def test_the_same_seed_and_budget_are_the_same_work() -> None:
    """Seed and budget alone determine the work."""
    effort = Effort(decisions=2_000, sends=1_000, allocations=100, rounds=50)
    assert list(chunks(effort, 7)) == list(chunks(effort, 7))
    assert {number // SCRIPTS_OF_A_SEED for chunk in chunks(effort, 7) for number in chunk.numbers} == {7}


def test_the_budget_is_met_at_every_depth() -> None:
    """Each depth gets its budget, and at most one chunk more."""
    effort = Effort(decisions=3_000, sends=2_000, allocations=500, rounds=100)
    for depth in Depth:
        weights = [chunk.weight for chunk in chunks(effort, 1) if chunk.depth is depth]
        assert effort.of(depth) <= sum(weights) < effort.of(depth) + max(weights)


def test_sends_are_divided_where_both_depths_are_asked_for() -> None:
    """Both deeper depths share the sends; a single one gets all."""
    assert Effort(10, 1_000).of(Depth.SEND_LOOP) + Effort(10, 1_000).of(Depth.REMOTING) == 1_000
    only = Effort(10, 1_000, (Depth.REMOTING,))
    assert [only.of(depth) for depth in Depth] == [0, 0, 1_000, 0, 0, 0, 0]


def test_a_name_is_a_script() -> None:
    """The name in a report suffices to generate its script."""
    assert script_of(name_of(Depth.SEND_LOOP, 12)) == generate("send-loop", 12)


def test_weights_count_decisions_and_sends() -> None:
    """A selection script weighs its selections and updates, others their messages, including timelines, or allocations."""
    steps = [{"do": "update"}, {"do": "select"}, {"do": "advance", "ms": 1}]
    assert weight_of({"depth": "selection", "steps": steps}) == 2
    sends = [
        {"do": "send", "count": 3},
        {"do": "timeline", "entries": [{"at_ms": 0, "action": {"do": "send"}}, {"at_ms": 1, "action": {"do": "kill"}}]},
        {"do": "select"},
    ]
    assert weight_of({"depth": "remoting", "steps": sends}) == 4
    assert weight_of({"depth": "allocation", "steps": [{"do": "allocate"}, {"do": "route"}]}) == 1


def test_one_difference_of_a_dialect_and_depth_is_shown() -> None:
    """Of several differences in a dialect and depth the first is shown."""
    others = [
        replace(FOUND, release="5.1.2"),
        replace(FOUND, script="fuzz-selection-8"),
        replace(FOUND, dialect="java-5.2.0"),
    ]
    shown = [(one.dialect, one.script) for one in distinct([FOUND, *others])]
    assert shown == [("java-5.1.1", "fuzz-selection-8"), ("java-5.2.0", "fuzz-selection-9")]


def test_the_summary_is_for_machines() -> None:
    """The summary is one line with everything needed to repeat the run."""
    outcome = FuzzOutcome(
        ("4.9.8", "5.3.3"),
        3,
        dict(zip(Depth, (100, 20, 5, 7, 5, 2, 1), strict=True)),
        scripts={b"1", b"2"},
    )
    assert (
        outcome.summary
        == "FUZZ clean releases=2 scripts=2 decisions=100 sends=25 allocations=7 calls=5 rounds=3 seed=3"
    )
    outcome.found.append(FOUND)
    done = "scripts=2 decisions=100 sends=25 allocations=7 calls=5 rounds=3"
    assert outcome.summary == f"FUZZ differs differences=1 releases=2 {done} seed=3"
