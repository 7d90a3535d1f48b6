"""The disk that containers write to: looked at where it is this host's, and too little of it is said before it is too late."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from rocketdiff.cluster.containers.container import Deployment
from rocketdiff.cluster.containers.engine import storage_here
from rocketdiff.cluster.containers.images import ServerImage
from rocketdiff.cluster.containers.networking import NetworkMode
from rocketdiff.cluster.containers.servers import ContainerServers
from rocketdiff.cluster.launched.node_slot import SPACE_TO_START_BYTES
from rocketdiff.core.errors import EnvironmentMissing
from tests.cluster.containers.fakes import FakeWorld

UNIX = "unix:///var/run/docker.sock"
GIB = 2**30


class Usage(NamedTuple):
    """As shutil tells it, in bytes."""

    total: int
    used: int
    free: int


@pytest.fixture
def almost_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every disk has 1 MiB left."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(GIB, GIB - 2**20, 2**20))


@pytest.mark.usefixtures("almost_full")
def test_too_little_room_is_said_with_the_engines_folder(tmp_path: Path) -> None:
    """And with what helps there."""
    engine = replace(FakeWorld().engine(), storage=tmp_path)
    with pytest.raises(EnvironmentMissing, match=rf"{tmp_path}; saw 1 MiB; try: .*docker system prune"):
        engine.require_disk_space(2, SPACE_TO_START_BYTES)


@pytest.mark.usefixtures("almost_full")
def test_an_engine_elsewhere_is_accepted_whatever_this_hosts_disk_holds() -> None:
    """Nobody here can see its own."""
    FakeWorld().engine().require_disk_space(2, SPACE_TO_START_BYTES)


@pytest.mark.usefixtures("almost_full")
def test_a_cluster_whose_disk_fills_up_is_not_sound(tmp_path: Path) -> None:
    """Asked before every drain: what brokers answered then is nobody's divergence."""
    engine = replace(FakeWorld().engine(), storage=tmp_path)
    image = ServerImage("x", "5.3.3", is_foreign=False)
    servers = ContainerServers(Deployment(engine, image, NetworkMode.HOST, None, {}, "r"), [])
    with pytest.raises(EnvironmentMissing, match="full under"):
        servers.require_sound()


def test_an_engines_folder_is_this_hosts_if_its_socket_is_and_it_is_there(tmp_path: Path) -> None:
    """An engine in a virtual machine has a socket here and its folder there."""
    assert storage_here(UNIX, {"DockerRootDir": str(tmp_path)}) == tmp_path
    assert storage_here("tcp://127.0.0.1:2375", {"DockerRootDir": str(tmp_path)}) is None
    assert storage_here(UNIX, {"DockerRootDir": str(tmp_path / "none")}) is None
    assert storage_here(UNIX, {}) is None
