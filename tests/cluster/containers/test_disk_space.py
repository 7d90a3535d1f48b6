"""Free disk space for containers."""

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
    """The result of shutil.disk_usage, in bytes."""

    total: int
    used: int
    free: int


@pytest.fixture
def almost_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every disk has 1 MiB free."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(GIB, GIB - 2**20, 2**20))


@pytest.mark.usefixtures("almost_full")
def test_too_little_disk_is_reported_with_the_engines_folder(tmp_path: Path) -> None:
    """Too little disk space is an environment error with the engine's folder."""
    engine = replace(FakeWorld().engine(), storage=tmp_path)
    with pytest.raises(EnvironmentMissing, match=rf"{tmp_path}; saw 1 MiB; try: .*docker system prune"):
        engine.require_disk_space(2, SPACE_TO_START_BYTES)


@pytest.mark.usefixtures("almost_full")
def test_an_engine_elsewhere_is_accepted_whatever_this_hosts_disk_holds() -> None:
    """Without a known storage folder nothing is checked: the engine's disk is elsewhere."""
    FakeWorld().engine().require_disk_space(2, SPACE_TO_START_BYTES)


@pytest.mark.usefixtures("almost_full")
def test_a_cluster_whose_disk_fills_up_is_not_sound(tmp_path: Path) -> None:
    """A full disk makes the cluster unsound, so broker errors are not charged to a client."""
    engine = replace(FakeWorld().engine(), storage=tmp_path)
    image = ServerImage("x", "5.3.3", is_foreign=False)
    servers = ContainerServers(Deployment(engine, image, NetworkMode.HOST, None, {}, "r"), [])
    with pytest.raises(EnvironmentMissing, match="full under"):
        servers.require_sound()


def test_an_engines_folder_is_this_hosts_if_its_socket_is_and_it_is_there(tmp_path: Path) -> None:
    """Storage is local only with a Unix socket and an existing folder; a virtual machine has only the socket here."""
    assert storage_here(UNIX, {"DockerRootDir": str(tmp_path)}) == tmp_path
    assert storage_here("tcp://127.0.0.1:2375", {"DockerRootDir": str(tmp_path)}) is None
    assert storage_here(UNIX, {"DockerRootDir": str(tmp_path / "none")}) is None
    assert storage_here(UNIX, {}) is None
