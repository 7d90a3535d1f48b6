"""A cluster of containers that cannot start releases what it took."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.cluster.containers import launch
from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.cluster.containers.images import ServerImage
from rocketdiff.cluster.containers.launch import start_containers
from rocketdiff.cluster.launched.node_slot import NodeSlot, reserve_slots
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, UsageError
from rocketdiff.core.tables.topology import topology_named
from tests.cluster.containers.fakes import FakeNetwork, FakeWorld

IMAGE = ServerImage("rocketdiff/server:x", "5.3.3", is_foreign=False)


@pytest.fixture
def slots() -> list[NodeSlot]:
    """Every reserved slot."""
    return []


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, slots: list[NodeSlot]) -> FakeWorld:
    """An engine that creates networks."""
    made = FakeWorld()

    def network(run: str, labels: dict[str, str]) -> FakeNetwork:
        made.networks.append(FakeNetwork(made, run, labels))
        return made.networks[-1]

    def take(*wanted: Any) -> Sequence[NodeSlot]:
        slots.extend(reserve_slots(*wanted))
        return slots

    monkeypatch.setattr(Engine, "connect", made.engine)
    monkeypatch.setattr(launch, "image_for", lambda *_: IMAGE)
    monkeypatch.setattr(launch, "_network", network)
    monkeypatch.setattr(launch, "reserve_slots", take)
    return made


def start(folder: Path, topology: str = "one-master") -> None:
    start_containers(topology_named(topology), "5.3.3", folder, timeout_s=1.0)


def fill_the_disk(folder: Path, _: pytest.MonkeyPatch) -> None:
    (folder / "containers.json").mkdir()


def refuse_containers(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ClusterError("containers", seen="no")

    monkeypatch.setattr(launch, "ContainerServers", refuse)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [(fill_the_disk, "to be able to write the cluster's files"), (refuse_containers, "saw no")],
)
def test_a_failure_before_the_first_container_leaves_nothing(
    world: FakeWorld,
    slots: list[NodeSlot],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path, pytest.MonkeyPatch], None],
    message: str,
) -> None:
    """If the cluster's files cannot be written, or the engine refuses, network and ports are released."""
    spoil(tmp_path, monkeypatch)
    with pytest.raises((ClusterError, EnvironmentMissing), match=message):
        start(tmp_path)
    assert world.networks == []
    assert slots
    assert all(claim.fileno() == -1 for slot in slots for claim in slot.reserved._claims)


def test_an_unsuitable_topology_is_refused_before_an_image_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unsuitable topology is refused before an image is built, which takes minutes."""

    def ask() -> Engine:
        raise AssertionError("an engine was asked")

    monkeypatch.setattr(Engine, "connect", ask)
    with pytest.raises(UsageError, match=r"master-with-slave-sync; .*containers:host"):
        start(tmp_path / "cluster", "master-with-slave-sync")
    assert not (tmp_path / "cluster").exists()


def test_a_folder_with_an_earlier_clusters_files_is_refused(
    world: FakeWorld, slots: list[NodeSlot], tmp_path: Path
) -> None:
    """A folder with an earlier cluster's files is refused."""
    (tmp_path / "broker-a").mkdir()
    with pytest.raises(UsageError, match="without an earlier cluster's files"):
        start(tmp_path)
    assert slots == []
