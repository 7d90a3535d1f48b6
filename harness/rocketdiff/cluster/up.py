"""
A local RocketMQ: ``rocketdiff cluster up`` and ``down``.

One cluster at a time, owned by the process that runs serve(). A state file in the cache folder has its process id and the
addresses of its name servers. A state file whose process is gone is stale and ignored.
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

# Ending the servers takes a fraction of a second; this long only if the disk is slow to delete the stores.
_DOWN_TIMEOUT_S = 15.0

# A supervisor notices its owner's end at once and kills the servers; this long only if the machine is very busy.
_LAST_MOMENTS_S = 5.0
_REMOVE_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class UpState:
    """A cluster that serve() runs: its owner, its addresses, its files. security: the security file for its clients; empty if anybody may ask."""

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
    Starts a cluster, calls ``announce`` with its state, and keeps it until ``stop`` is set or an exception (Ctrl-C) comes.

    All its files are removed at the end; if it does not start they stay until the next start, because of the logs. Raises
    UsageError if one is up already, and what start_cluster raises.
    """
    _refuse_second()
    with contextlib.suppress(EnvironmentMissing):  # without an engine only containers cannot be started
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
    The cluster that is up on this machine for this cache folder, None if there is none.

    A cache folder belongs to one user: a process that /proc hides is another user's, with the reused id of an owner that is gone.
    """
    state = _written()
    return state if state is not None and started_ticks(state.pid) == state.started_ticks else None


def down() -> UpState | None:
    """
    Ends the cluster that is up, from another process; None if there is none, and then removes what a killed owner left.

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
                    seen="it still lives",
                    hint=f"kill -9 {state.pid}, then rocketdiff cluster down again for what it leaves",
                )
        finally:
            os.close(owner)
    # An owner that did not catch the signal left these; its supervisor has ended servers that are processes.
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
    """
    Removes what clusters left that did not start or whose owner was killed.

    Raises EnvironmentMissing if these are containers and no engine answers.
    """
    for folder in _home().glob("up-*"):
        owner = folder.name.removeprefix("up-")
        # Other folders are not ours.
        if owner.isascii() and owner.isdecimal() and not is_there(int(owner[:10])):
            shutil.rmtree(folder, ignore_errors=True)
    stale = _written()
    if stale is not None and current() is None:
        _clear(stale)


def _clear(state: UpState) -> None:
    """Removes containers, which no supervisor ends, and then the state file: as long as it exists, containers may exist too."""
    with contextlib.suppress(UsageError):  # an unknown backend, in a file that was edited
        backend_named(state.backend).sweep()
    _forget(state.pid)


def _remove(folder: Path) -> None:
    """Removes a folder that ending servers may still write to."""
    deadline = time.monotonic() + _LAST_MOMENTS_S
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(_REMOVE_POLL_S)


def _state_of(cluster: Cluster, folder: Path, backend: str) -> UpState:
    asked_so = security_of(cluster)
    return UpState(
        pid=os.getpid(),
        started_ticks=started_ticks(os.getpid()) or 0,
        topology=cluster.topology.name,
        server_release=cluster.server_release,
        name_servers=cluster.name_server_addresses,
        brokers={node.name: node.address for node in cluster.brokers},
        folder=str(folder),
        backend=backend,
        security="" if asked_so == OPEN else str(security_file.write(asked_so, folder)),
    )


def _written() -> UpState | None:
    """The content of the state file, whether its owner lives or not."""
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
    """Removes the state file if it is that process's."""
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
