"""The one place that reads what is written after ``--cluster``, and the short way to a running cluster of ours."""

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
"""What can be written after ``--cluster``."""


def backend_named(written: str, server_release: str = DEFAULT_RELEASE) -> Backend:
    """
    The backend that is written so, with the release of its servers.

    Raises UsageError for one there is not, for a release of which there are no servers, and for a cluster file that is
    refused; nothing is fetched, and no engine or cluster asked.
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
    The same where clusters are started; hint: what to do instead with somebody's own.

    Raises UsageError for that as well, before its file is read: others work on it, and each would take our pauses for its own.
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
    Start a cluster of ours by the names of its backend and topology; as Backend.start.

    Raises UsageError for names that there are not, too, and for somebody's own cluster.
    """
    own = own_backend_named(backend, server_release, hint="run and compare take --cluster external:cluster.yaml")
    return own.start(
        topology_named(topology), folder, name_server_port=name_server_port, timeout_s=timeout_s, progress=progress
    )
