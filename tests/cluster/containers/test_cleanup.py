"""Sweeps remove what killed runners left."""

from dataclasses import replace

import pytest

from rocketdiff.cluster.containers.cleanup import Owner, remove_run, sweep
from rocketdiff.cluster.containers.engine import RUN_LABEL
from rocketdiff.core.errors import EnvironmentMissing
from tests.cluster.containers.fakes import FakeContainer, FakeNetwork, FakeWorld

HERE = Owner.here()
KILLED = replace(HERE, started_ticks=HERE.started_ticks + 1)
ELSEWHERE = replace(HERE, pid_space="pid:[0]")


def world_with(*owners: tuple[str, Owner]) -> FakeWorld:
    world = FakeWorld()
    for run, owner in owners:
        labels = {RUN_LABEL: run, **owner.labels()}
        world.containers.append(FakeContainer(world, f"broker-of-{run}", labels))
        world.networks.append(FakeNetwork(world, f"network-of-{run}", labels))
    return world


def left_in(world: FakeWorld) -> set[str]:
    return {one.name for one in world.containers} | {one.name for one in world.networks}


def test_a_killed_runners_containers_and_network_go() -> None:
    """A sweep removes only the killed runner's containers, here one killed during a pause, and network."""
    world = world_with(("killed", KILLED), ("mine", HERE))
    world.containers[0].status = "paused"
    swept = sweep(world.engine())
    assert swept.removed == ("broker-of-killed", "network-of-killed")
    assert left_in(world) == {"broker-of-mine", "network-of-mine"}


def test_containers_of_another_process_space_are_left_and_reported() -> None:
    """Containers of another process-id space are left: their owner may live in another container."""
    world = world_with(("foreign", ELSEWHERE))
    assert sweep(world.engine()).left == ("broker-of-foreign",)
    assert left_in(world) == {"broker-of-foreign", "network-of-foreign"}


def test_containers_of_others_are_not_even_listed() -> None:
    """A sweep ignores containers without rocketdiff labels."""
    world = FakeWorld()
    world.containers.append(FakeContainer(world, "postgres", {"org.testcontainers": "true"}))
    assert sweep(world.engine()).removed == ()
    assert left_in(world) == {"postgres"}


def test_a_run_is_removed_alone() -> None:
    """Removing one run keeps another run of the same process."""
    world = world_with(("one", HERE), ("two", HERE))
    remove_run(world.engine(), "one")
    assert left_in(world) == {"broker-of-two", "network-of-two"}


def test_an_engine_that_does_not_answer_is_one_clear_message() -> None:
    """Without an engine a sweep raises an environment error that names ``doctor --clean``."""
    world = world_with(("killed", KILLED))
    world.is_gone = True
    with pytest.raises(EnvironmentMissing, match=r"connection refused.*doctor --clean"):
        sweep(world.engine())
