"""
A local RocketMQ: ``rocketdiff cluster up`` and ``down``.

One cluster at a time, owned by the process that runs serve(). A state file in the cache folder has its process id and the
addresses of its name servers; it is ignored if the process is gone.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rocketdiff.cluster import security_file
from rocketdiff.cluster.interface import Cluster, security_of
from rocketdiff.cluster.start import backend_named, start_cluster
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, UsageError
from rocketdiff.core.security import OPEN
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.tables.topology import DEFAULT_TOPOLOGY
from rocketdiff.process.liveness import is_there, started_ticks
from rocketdiff.releases.cache import cache_dir
from rocketdiff.releases.progress import ProgressListener

# Ending the servers takes a fraction of a second, but deleting the stores may be slow.
_DOWN_TIMEOUT_S = 15.0

# A supervisor kills the servers as soon as its owner ends; this long only on a very busy machine.
_LAST_MOMENTS_S = 5.0
_REMOVE_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class UpState:
    """A cluster that serve() runs. security: security file for its clients; empty if none is needed."""

    pid: int
    started_ticks: int
    topology: str
    server_release: str
    name_servers: tuple[str, ...]
    brokers: dict[str, str]
    folder: str
    backend: str = "processes"
    security: str = ""


def serve(
    stop: threading.Event,
    announce: Callable[[UpState], None],
    *,
    topology: str = DEFAULT_TOPOLOGY,
    server_release: str = DEFAULT_RELEASE,
    name_server_port: int | None = None,
    progress: ProgressListener | None = None,
    backend: str = "processes",
    security: Path | None = None,
) -> None:
    """
    Start a cluster, call ``announce`` with its state, and keep it until ``stop`` is set or an exception (Ctrl-C) is raised.

    All its files are removed at the end; after a failed start they stay until the next start, for their logs. Raises UsageError
    if a cluster is up already, and what start_cluster raises.
    """
    _refuse_second()
    with contextlib.suppress(EnvironmentMissing):  # only the backend containers needs an engine
        _sweep()
    folder = _home() / f"up-{os.getpid()}"
    cluster = start_cluster(
        backend=backend,
        topology=topology,
        server_release=server_release,
        folder=folder,
        security=security,
        name_server_port=name_server_port,
        progress=progress,
    )
    try:
        with cluster:
            _refuse_second()
            state = _state_of(cluster, folder, backend)
            _write(state)
            announce(state)
            stop.wait()
    finally:
        _forget(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)


def current() -> UpState | None:
    """
    Return the cluster that is up on this machine for this cache folder, or None.

    A cache folder belongs to one user. So a process that /proc hides is another user's, with the reused id of a dead owner.
    """
    state = _written()
    return state if state is not None and started_ticks(state.pid) == state.started_ticks else None


def down() -> UpState | None:
    """
    End the cluster that is up, from another process. If there is none, remove what a killed owner left and return None.

    Raises ClusterError if its owner does not end, EnvironmentMissing if it left containers and no engine answers.
    """
    state = current()
    if state is None:
        _sweep()
        return None
    with contextlib.suppress(ProcessLookupError):
        owner = os.pidfd_open(state.pid)
        try:
            signal.pidfd_send_signal(owner, signal.SIGTERM)
            if not _ended(owner, _DOWN_TIMEOUT_S):
                raise ClusterError(
                    f"process {state.pid} to end within {_DOWN_TIMEOUT_S:g} s of SIGTERM",
                    seen="it is still running",
                    hint=f"kill -9 {state.pid}, then rocketdiff cluster down again for what it leaves",
                )
        finally:
            os.close(owner)
    # Left by an owner that did not handle the signal. Its supervisor has ended servers that are processes.
    _remove(Path(state.folder))
    if _written() == state:
        _clear(state)
    return state


def _refuse_second() -> None:
    state = current()
    if state is not None:
        raise UsageError(
            "no other cluster to be up",
            seen=f"one at {';'.join(state.name_servers)} (process {state.pid})",
            hint="use it, or end it with: rocketdiff cluster down",
        )


def _sweep() -> None:
    """Remove what clusters left that did not start or whose owner was killed."""
    for folder in _home().glob("up-*"):
        owner = folder.name.removeprefix("up-")
        # Other names are not made by serve().
        if owner.isascii() and owner.isdecimal() and not is_there(int(owner[:10])):
            shutil.rmtree(folder, ignore_errors=True)
    stale = _written()
    if stale is not None and current() is None:
        _clear(stale)


def _clear(state: UpState) -> None:
    """Remove containers, which no supervisor ends, then the state file: while it exists, containers may exist too."""
    with contextlib.suppress(UsageError):  # unknown backend in an edited file
        backend_named(state.backend).sweep()
    _forget(state.pid)


def _remove(folder: Path) -> None:
    """Remove a folder that ending servers may still write to."""
    deadline = time.monotonic() + _LAST_MOMENTS_S
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(_REMOVE_POLL_S)


def _state_of(cluster: Cluster, folder: Path, backend: str) -> UpState:
    security = security_of(cluster)
    return UpState(
        pid=os.getpid(),
        started_ticks=started_ticks(os.getpid()) or 0,
        topology=cluster.topology.name,
        server_release=cluster.server_release,
        name_servers=cluster.name_server_addresses,
        brokers={node.name: node.address for node in cluster.brokers},
        folder=str(folder),
        backend=backend,
        security="" if security == OPEN else str(security_file.write(security, folder)),
    )


def _written() -> UpState | None:
    try:
        fields: dict[str, Any] = json.loads(_state_file().read_text())
        return UpState(**{**fields, "name_servers": tuple(fields["name_servers"])})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _write(state: UpState) -> None:
    draft = _state_file().with_suffix(f".{state.pid}")
    draft.write_text(json.dumps(asdict(state), indent=2) + "\n")
    draft.replace(_state_file())


def _forget(pid: int) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError):
        if json.loads(_state_file().read_text()).get("pid") == pid:
            _state_file().unlink()


def _home() -> Path:
    return cache_dir() / "cluster"


def _state_file() -> Path:
    return _home() / "up.json"


def _ended(descriptor: int, timeout_s: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(timeout_s * 1000))
