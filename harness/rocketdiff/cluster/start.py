"""The only parser of ``--cluster``, and the shortest way to a running cluster."""

from pathlib import Path

from rocketdiff.cluster import security_file
from rocketdiff.cluster.backend import Backend
from rocketdiff.cluster.containers.backend import Containers
from rocketdiff.cluster.external.backend import NAME as EXTERNAL
from rocketdiff.cluster.external.backend import External
from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.readiness import READY_TIMEOUT_S
from rocketdiff.cluster.processes.backend import Processes
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.tables.topology import DEFAULT_TOPOLOGY, topology_named
from rocketdiff.releases.progress import ProgressListener

FORMS = ("processes", "containers", "containers:host", "external:FILE")
"""Values of ``--cluster``."""


def backend_named(written: str, server_release: str = DEFAULT_RELEASE, security: Path | None = None) -> Backend:
    """
    Parse a value of ``--cluster``, with those of ``--server`` and ``--security``. Downloads nothing and connects to nothing.

    Raises UsageError for an unknown backend, a release without servers, or an invalid cluster or security file.
    """
    asked = None if security is None else security_file.read(security)
    name, colon, argument = written.partition(":")
    match name:
        case "processes" if not colon:
            return Processes.of(server_release, asked)
        case "containers":
            return Containers.of(server_release, argument, asked)
        case "external":
            return External.of(argument, server_release, asked)
    raise UsageError("a known backend", seen=repr(written), hint="one of " + ", ".join(FORMS))


def own_backend_named(
    written: str, server_release: str = DEFAULT_RELEASE, security: Path | None = None, *, hint: str
) -> Backend:
    """
    As backend_named, for commands that cannot use an existing cluster. hint: what to do instead.

    Also raises UsageError for an existing cluster, before reading its file: pauses by several users would interfere.
    """
    if written.partition(":")[0] == EXTERNAL:
        raise UsageError("a backend that starts clusters", seen=repr(written), hint=hint)
    return backend_named(written, server_release, security)


def start_cluster(
    backend: str = "processes",
    topology: str = DEFAULT_TOPOLOGY,
    server_release: str = DEFAULT_RELEASE,
    *,
    folder: Path,
    security: Path | None = None,
    name_server_port: int | None = None,
    timeout_s: float = READY_TIMEOUT_S,
    progress: ProgressListener | None = None,
) -> Cluster:
    """
    Start a cluster by the names of its backend and topology; see Backend.start. security: a security file.

    Also raises UsageError for unknown names, for an existing cluster, and for servers that do not support this security.
    """
    hint = "run and compare take --cluster external:cluster.yaml"
    own, wanted = own_backend_named(backend, server_release, security, hint=hint), topology_named(topology)
    reason = own.why_not(wanted, (), delayed=False)
    if reason is not None:
        raise UsageError(f"a cluster of {topology} that can be started", seen=own.title, hint=reason)
    return own.start(wanted, folder, name_server_port=name_server_port, timeout_s=timeout_s, progress=progress)
