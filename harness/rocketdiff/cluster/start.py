"""The only parser of ``--cluster``, and a short way to a running cluster."""

from pathlib import Path

from rocketdiff.cluster.backend import Backend
from rocketdiff.cluster.containers.backend import Containers
from rocketdiff.cluster.external.backend import NAME as EXTERNAL
from rocketdiff.cluster.external.backend import External
from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.processes.backend import Processes
from rocketdiff.core.errors import UsageError
from rocketdiff.core.run_options import DEFAULT_RELEASE
from rocketdiff.core.topology import DEFAULT_TOPOLOGY, topology_named
from rocketdiff.releases.progress import ProgressListener

FORMS = ("processes", "containers", "containers:host", "external:FILE")
"""Values of ``--cluster``."""


def backend_named(written: str, server_release: str = DEFAULT_RELEASE) -> Backend:
    """
    Parses a value of ``--cluster``; server_release: of ``--server``.

    Raises UsageError for an unknown backend, a release without servers, or an invalid cluster file. Downloads nothing and
    connects to nothing.
    """
    name, colon, argument = written.partition(":")
    match name:
        case "processes" if not colon:
            return Processes.of(server_release)
        case "containers":
            return Containers.of(server_release, argument)
        case "external":
            return External.of(argument, server_release)
    raise UsageError("a known backend", seen=repr(written), hint="one of " + ", ".join(FORMS))


def own_backend_named(written: str, server_release: str = DEFAULT_RELEASE, *, hint: str) -> Backend:
    """
    The same for commands that cannot use an existing cluster; hint: what to do instead.

    Raises UsageError also for an existing cluster, before reading its file: several users at once would confuse each other's pauses.
    """
    if written.partition(":")[0] == EXTERNAL:
        raise UsageError("a backend that starts clusters", seen=repr(written), hint=hint)
    return backend_named(written, server_release)


def start_cluster(
    backend: str = "processes",
    topology: str = DEFAULT_TOPOLOGY,
    server_release: str = DEFAULT_RELEASE,
    *,
    folder: Path,
    name_server_port: int | None = None,
    timeout_s: float = READY_TIMEOUT_S,
    progress: ProgressListener | None = None,
) -> Cluster:
    """
    Starts a cluster by the names of its backend and topology; see Backend.start.

    Raises UsageError also for unknown names, and for an existing cluster.
    """
    own = own_backend_named(backend, server_release, hint="run and compare take --cluster external:cluster.yaml")
    return own.start(
        topology_named(topology), folder, name_server_port=name_server_port, timeout_s=timeout_s, progress=progress
    )
