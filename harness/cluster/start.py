"""The one door to a running cluster, whatever the backend."""

from pathlib import Path

from harness.cluster.interface import Cluster
from harness.cluster.processes.command_line import installed
from harness.cluster.processes.launch import start_processes
from harness.cluster.readiness import READY_TIMEOUT_S
from harness.cluster.topology import topology_named
from harness.core.errors import UsageError
from harness.releases.progress import ProgressListener

DEFAULT_SERVER_RELEASE = "5.3.3"

BACKENDS = ("processes",)


def require_backend(backend: str) -> None:
    """UsageError for a backend there is not."""
    if backend not in BACKENDS:
        raise UsageError("a known backend", seen=repr(backend), hint="one of " + ", ".join(BACKENDS))


def start_cluster(
    backend: str = "processes",
    topology: str = "two-masters",
    server_release: str = DEFAULT_SERVER_RELEASE,
    *,
    folder: Path,
    name_server_port: int | None = None,
    timeout_s: float = READY_TIMEOUT_S,
    progress: ProgressListener | None = None,
) -> Cluster:
    """
    Start a cluster with its files in ``folder`` and return once it is proven to serve; close() ends it.

    name_server_port fixes the port of the first name server; all other ports are chosen free. Raises UsageError (unknown
    backend, topology or release; folder in use), EnvironmentMissing (no Java, no jars, port taken, folder not writable,
    disk full) and ClusterError (not ready within ``timeout_s`` seconds, with the last log lines).
    """
    require_backend(backend)
    shape = topology_named(topology)
    installation = installed(server_release, progress)
    return start_processes(shape, installation, folder, name_server_port=name_server_port, timeout_s=timeout_s)
