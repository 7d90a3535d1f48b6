"""Random scripts are reproducible, valid, and of the right length."""

import json
from hashlib import sha256

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.script import Depth, depth_of, parse_script

SEEDS = range(60)


@pytest.mark.parametrize("depth", list(Depth))
def test_every_generated_script_is_accepted(depth: str) -> None:
    """The format accepts every generated script at its depth."""
    for seed in SEEDS:
        assert depth_of(parse_script(generate(depth, seed), f"{depth}-{seed}")) is Depth(depth)


@pytest.mark.parametrize("depth", list(Depth))
def test_a_seed_is_a_script(depth: str) -> None:
    """Each seed has its own script, always the same."""
    texts = [json.dumps(generate(depth, seed)) for seed in SEEDS]
    assert texts == [json.dumps(generate(depth, seed)) for seed in SEEDS]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("depth", "fewest", "most"),
    [
        ("selection", 80, 300),
        ("send-loop", 40, 90),
        ("remoting", 20, 50),
        ("allocation", 10, 95),
        ("process-queue", 20, 62),
        ("rebalance", 8, 100),
        ("consumer", 5, 40),
    ],
)
def test_scripts_are_of_moderate_length(depth: str, fewest: int, most: int) -> None:
    """Scripts are long enough to find something, short enough for a local difference."""
    lengths = [len(generate(depth, seed)["steps"]) for seed in SEEDS]
    assert fewest <= min(lengths) <= max(lengths) <= most


def test_every_kind_of_step_occurs() -> None:
    """The generators together write every kind of step."""
    kinds = {
        part["do"]
        for depth in list(Depth)
        for seed in SEEDS
        for step in generate(depth, seed)["steps"]
        for part in [step, *(entry["action"] for entry in step.get("entries", ()))]
    }
    assert kinds == {
        *("update", "select", "advance", "index", "worst_index", "dump", "route", "poll_routes"),
        *(
            "allocate",
            "put",
            "remove",
            "take",
            "commit",
            "rollback",
            "consume_again",
            "pulled",
            "consumer",
            "store",
            "notify",
            "suggest",
            "retry_topic",
            "hook_fails",
            "reset_offset",
            "refuse",
            "lock_holder",
            "poll",
            "seek",
            "assign",
            "commit_polled",
            "pause_queue",
            "resume_queue",
            "leave",
            "members",
            "offset",
            "consumed",
            "wake",
            "rounds",
            "send",
            "broker",
            "name_server",
            "timeline",
            "kill",
            "restart",
            "pause",
            "resume",
            "close",
            "heartbeat",
        ),
    }


def test_an_unknown_depth_is_refused() -> None:
    """An unknown depth is refused with the known ones."""
    with pytest.raises(UsageError, match="send-loop"):
        generate("deep", 1)


def test_dice_are_the_same_everywhere() -> None:
    """Python guarantees only random() for a seed, so numbers are as on CPython 3.11."""
    rng = RandomSource("selection:1")
    drawn = [rng.between(0, 999) for _ in range(1_000)]
    assert sha256(json.dumps(drawn).encode()).hexdigest()[:16] == "262878cc5aa72172"


def test_dice_keep_to_their_limits() -> None:
    """Both limits are drawn, weights of 0 are not, and nothing is picked twice."""
    rng = RandomSource("limits")
    assert {rng.between(3, 5) for _ in range(200)} == {3, 4, 5}
    assert {rng.weighted({"a": 1, "b": 0, "c": 2}) for _ in range(200)} == {"a", "c"}
    assert sorted(rng.some("abc", 5)) == ["a", "b", "c"]
    assert {rng.number((100,), 0) for _ in range(400)} == {0, 99, 100, 101}
