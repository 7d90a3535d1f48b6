"""The one door to a running cluster, whatever the backend."""

from pathlib import Path

from rocketdiff.cluster.containers import shapes
from rocketdiff.cluster.described import DescribedCluster
from rocketdiff.cluster.external.joining import join
from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.launched.command_line import installed
from rocketdiff.cluster.launched.ports import require_port
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.processes.launch import start_processes
from rocketdiff.cluster.starting import Starter, StartRequest
from rocketdiff.core.errors import UsageError
from rocketdiff.core.topology import Topology, topology_named
from rocketdiff.releases.artifacts import require_server, server_class_path
from rocketdiff.releases.progress import ProgressListener

DEFAULT_SERVER_RELEASE = "5.3.3"


def _processes(request: StartRequest) -> Cluster:
    installation = installed(request.server_release, request.progress)
    port, timeout_s = request.name_server_port, request.timeout_s
    return start_processes(request.topology, installation, request.folder, name_server_port=port, timeout_s=timeout_s)


def _containers(request: StartRequest) -> Cluster:
    from rocketdiff.cluster.containers.launch import start_containers  # noqa: PLC0415  # half a second of imports

    return start_containers(request)


STARTERS: dict[str, Starter] = {
    "processes": _processes,
    "containers": _containers,
    "external": join,
}
"""Every backend by its name; what a backend needs is imported when it is used."""


FORMS = ("processes", "containers", "containers:host", "external:FILE")
"""What can be written after ``--cluster``."""


def require_backend(backend: str) -> None:
    """UsageError for a backend there is not."""
    name, colon, argument = backend.partition(":")
    if name not in STARTERS or (colon and name == "processes"):
        raise UsageError("a known backend", seen=repr(backend), hint="one of " + ", ".join(FORMS))
    if name == "containers":
        shapes.wiring_named(argument)


def why_not(backend: str, topology: Topology) -> str | None:
    """What keeps a backend of ours from starting a topology, and what to do instead; None for nothing."""
    name, _, argument = backend.partition(":")
    return shapes.why_not(shapes.wiring_named(argument), topology) if name == "containers" else None


def require_servers(backend: str, server_release: str) -> None:
    """UsageError for a release of which a backend of ours can have no servers; nothing is fetched, and no engine asked."""
    if backend.partition(":")[0] == "containers":
        from rocketdiff.cluster.containers.images import require_release  # noqa: PLC0415  # as above

        require_release(server_release)
    else:
        require_server(server_release)


def fetch_servers(backend: str, server_release: str, progress: ProgressListener | None = None) -> None:
    """
    Download or build everything that servers of that release need on a backend of ours, so that a start has only to start.

    Raises UsageError for an unknown release, EnvironmentMissing without jars, container engine or image.
    """
    name, _, argument = backend.partition(":")
    if name == "containers":
        from rocketdiff.cluster.containers.launch import fetch_image  # noqa: PLC0415  # as above

        fetch_image(argument, server_release, progress)
    else:
        server_class_path(server_release, progress)


def start_cluster(
    backend: str = "processes",
    topology: str = "two-masters",
    server_release: str = DEFAULT_SERVER_RELEASE,
    *,
    folder: Path,
    name_server_port: int | None = None,
    timeout_s: float = READY_TIMEOUT_S,
    progress: ProgressListener | None = None,
    described: DescribedCluster | None = None,
) -> Cluster:
    """
    Start a cluster with its files in ``folder`` and return once it is proven to serve; close() ends it.

    backend: its name, for some with an argument after a colon. described: somebody's own cluster, for the backend external.
    name_server_port fixes the port of the first name server; all other ports are chosen free. Raises UsageError (unknown
    backend, topology or release; folder in use), EnvironmentMissing (no Java, no jars, port taken, folder not writable,
    disk full) and ClusterError (not ready within ``timeout_s`` seconds, with the last log lines).
    """
    require_backend(backend)
    shape = topology_named(topology)
    # Before a fresh machine compiles or fetches anything.
    if described is None:
        require_servers(backend, server_release)
    if name_server_port is not None:
        require_port(name_server_port)
    name, _, argument = backend.partition(":")
    options = (name_server_port, timeout_s, progress)
    return STARTERS[name](StartRequest(shape, server_release, folder, *options, argument, described))
