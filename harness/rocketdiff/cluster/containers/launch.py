"""Starting a cluster of containers: engine, sweep, image, ports, network, and another choice of ports where one was taken."""

import json
import secrets
from contextlib import closing, suppress
from pathlib import Path

from testcontainers.core.network import Network

from rocketdiff.cluster.containers.engine import TIMEOUT_S, Engine, engine_errors
from rocketdiff.cluster.containers.images import ServerImage, image_for
from rocketdiff.cluster.containers.ownership import RUN_LABEL, Owner
from rocketdiff.cluster.containers.room import require_engine_room
from rocketdiff.cluster.containers.servers import ContainerServers, Setting
from rocketdiff.cluster.containers.shapes import Wiring
from rocketdiff.cluster.containers.sweep import sweep
from rocketdiff.cluster.containers.wiring import plan_server, require_fitting, require_possible
from rocketdiff.cluster.launched.cluster import LaunchedCluster, first_ready
from rocketdiff.cluster.launched.seat import Seat, take_folder, take_seats, unwritable
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.topology import Topology
from rocketdiff.releases.progress import ProgressListener


def start_containers(
    topology: Topology,
    server_release: str,
    folder: Path,
    *,
    wiring: Wiring = Wiring.BRIDGE,
    name_server_port: int | None = None,
    timeout_s: float = READY_TIMEOUT_S,
    progress: ProgressListener | None = None,
) -> LaunchedCluster:
    """
    Start a cluster of containers and prove that it serves; logs and settings end up in ``folder``.

    What earlier runs have left behind is removed first. Raises UsageError (topology, folder in use),
    EnvironmentMissing (no engine, no image, no room, folder not writable), ClusterError (not ready in time).
    """
    require_possible(wiring, topology)
    folder = folder.resolve()
    take_folder(folder, topology)
    with closing(Engine.connect()) as engine:
        sweep(engine)
        require_engine_room(engine, len(topology.node_names))
        image = image_for(engine, server_release, progress)
    require_fitting(wiring, image)
    return first_ready(lambda: _set_up(topology, image, wiring, folder, name_server_port), timeout_s)


def fetch_image(server_release: str, listener: ProgressListener | None = None) -> None:
    """
    See that the engine answers and that it has the image, before anything else is begun.

    Raises UsageError (release), EnvironmentMissing (no engine, no image).
    """
    with closing(Engine.connect()) as engine:
        image_for(engine, server_release, listener)


def _set_up(
    topology: Topology, image: ServerImage, wiring: Wiring, folder: Path, name_server_port: int | None
) -> LaunchedCluster:
    """Everything up to the first container."""
    seats = take_seats(topology, folder, name_server_port)
    network: Network | None = None
    try:
        for seat in seats:
            seat.folder.mkdir(parents=True, exist_ok=True)
        planned = [(seat, plan_server(wiring, topology, seat, seats, image)) for seat in seats]
        run = secrets.token_hex(6)
        labels = {RUN_LABEL: run, **Owner.here().labels()}
        network = _network(run, labels) if wiring is Wiring.BRIDGE else None
        servers = ContainerServers(Setting(Engine.connect(), image, wiring, network, labels, run), planned)
        # Beside logs and settings, which stay as well: what they came from is gone with the containers.
        (folder / "containers.json").write_text(json.dumps(servers.facts(), indent=2) + "\n")
    except BaseException as error:
        _give_back(seats, network)
        if isinstance(error, OSError):
            raise unwritable(folder, error) from error
        raise
    return LaunchedCluster(topology, image.release, servers)


def _network(run: str, labels: dict[str, str]) -> Network:
    network = Network(docker_client_kw={"timeout": TIMEOUT_S}, docker_network_kw={"labels": labels, "driver": "bridge"})
    network.name = f"rocketdiff-{run}"
    with engine_errors("a network for the containers"):
        return network.create()


def _give_back(seats: list[Seat], network: Network | None) -> None:
    """Ports and network; what an engine that does not answer keeps is swept later, and must not hide why we are here."""
    for seat in seats:
        seat.reserved.release()
    if network is not None:
        with suppress(HarnessError), engine_errors("the network of the containers to be removed"):
            network.remove()
