"""Start of a cluster of containers: engine, cleanup, image, ports, network; again with other ports if one was taken."""

import json
import secrets
from contextlib import closing, suppress
from pathlib import Path

from testcontainers.core.network import Network

from rocketdiff.cluster.containers.cleanup import Owner, sweep
from rocketdiff.cluster.containers.container import Deployment
from rocketdiff.cluster.containers.engine import RUN_LABEL, TIMEOUT_S, Engine, engine_errors
from rocketdiff.cluster.containers.images import ServerImage, image_for
from rocketdiff.cluster.containers.networking import NetworkMode, plan_server, require_image, require_topology
from rocketdiff.cluster.containers.servers import ContainerServers
from rocketdiff.cluster.launched.cluster import LaunchedCluster, first_ready
from rocketdiff.cluster.launched.node_slot import (
    SPACE_TO_START_BYTES,
    NodeSlot,
    reserve_slots,
    take_folder,
    unwritable,
)
from rocketdiff.cluster.launched.security import ServerSecurity, server_security
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.security_file import SecurityAsked
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.tables.topology import Topology
from rocketdiff.releases.progress import ProgressListener


def start_containers(
    topology: Topology,
    server_release: str,
    folder: Path,
    *,
    mode: NetworkMode = NetworkMode.BRIDGE,
    name_server_port: int | None = None,
    timeout_s: float = READY_TIMEOUT_S,
    progress: ProgressListener | None = None,
    asked: SecurityAsked | None = None,
) -> LaunchedCluster:
    """
    Start a cluster of containers and prove that it serves; logs and settings are kept in ``folder``.

    First removes containers that killed runs left. Raises UsageError (topology, folder in use), EnvironmentMissing (no engine,
    no image, disk full, folder not writable) and ClusterError (not ready in time).
    """
    require_topology(mode, topology)
    folder = folder.resolve()
    take_folder(folder, topology)
    with closing(Engine.connect()) as engine:
        sweep(engine)
        engine.require_disk_space(len(topology.node_names), SPACE_TO_START_BYTES)
        image = image_for(engine, server_release, progress)
    require_image(mode, image)
    security = server_security(asked, server_release, folder)
    return first_ready(lambda: _set_up(topology, image, mode, folder, name_server_port, security), timeout_s)


def fetch_image(server_release: str, listener: ProgressListener | None = None) -> None:
    """
    Check that the engine answers, and build or pull the image.

    Raises UsageError (release), EnvironmentMissing (no engine, no image).
    """
    with closing(Engine.connect()) as engine:
        image_for(engine, server_release, listener)


def _set_up(
    topology: Topology,
    image: ServerImage,
    mode: NetworkMode,
    folder: Path,
    name_server_port: int | None,
    security: ServerSecurity,
) -> LaunchedCluster:
    slots = reserve_slots(topology, folder, name_server_port)
    network: Network | None = None
    try:
        for slot in slots:
            slot.folder.mkdir(parents=True, exist_ok=True)
        security.hand_out()
        planned = [(slot, plan_server(mode, topology, slot, slots, image, security)) for slot in slots]
        run = secrets.token_hex(6)
        labels = {RUN_LABEL: run, **Owner.here().labels()}
        network = _network(run, labels) if mode is NetworkMode.BRIDGE else None
        deployment = Deployment(Engine.connect(), image, mode, network, labels, run)
        servers = ContainerServers(deployment, planned, security)
        # kept with logs and settings, because the containers are removed
        (folder / "containers.json").write_text(json.dumps(servers.facts(), indent=2) + "\n")
    except BaseException as error:
        _release(slots, network)
        if isinstance(error, OSError):
            raise unwritable(folder, error) from error
        raise
    return LaunchedCluster(topology, image.release, servers)


def _network(run: str, labels: dict[str, str]) -> Network:
    network = Network(docker_client_kw={"timeout": TIMEOUT_S}, docker_network_kw={"labels": labels, "driver": "bridge"})
    network.name = f"rocketdiff-{run}"
    with engine_errors("a network for the containers"):
        return network.create()


def _release(slots: list[NodeSlot], network: Network | None) -> None:
    """An engine that does not answer must not hide the first error; the network is then removed later."""
    for slot in slots:
        slot.reserved.release()
    if network is not None:
        with suppress(HarnessError), engine_errors("the network of the containers to be removed"):
            network.remove()
