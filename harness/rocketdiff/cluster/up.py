"""
A local RocketMQ for anyone: what ``rocketdiff cluster up`` and ``down`` do.

One cluster at a time, owned by the process that runs serve(); a state file in the cache folder says which process that
is and where its name servers are. A state file whose process is gone is stale and means nothing.
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

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import backend_named, start_cluster
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, UsageError
from rocketdiff.core.run_options import DEFAULT_RELEASE
from rocketdiff.core.topology import DEFAULT_TOPOLOGY
from rocketdiff.process.liveness import is_there, started_ticks
from rocketdiff.releases.cache import cache_dir
from rocketdiff.releases.progress import ProgressListener

# Ending the servers takes a fraction of a second; this long only when the disk is slow to give back the stores.
_DOWN_TIMEOUT_S = 15.0

# A supervisor notices its owner's end at once and kills; this long only when the machine is very busy.
_LAST_MOMENTS_S = 5.0
_REMOVE_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class UpState:
    """A cluster that serve() runs: its owner, its addresses, its files."""

    pid: int
    started_ticks: int
    topology: str
    server_release: str
    name_servers: tuple[str, ...]
    brokers: dict[str, str]
    folder: str
    backend: str = "processes"


def serve(
    stop: threading.Event,
    announce: Callable[[UpState], None],
    *,
    topology: str = DEFAULT_TOPOLOGY,
    server_release: str = DEFAULT_RELEASE,
    name_server_port: int | None = None,
    progress: ProgressListener | None = None,
    backend: str = "processes",
) -> None:
    """
    Start a cluster, tell ``announce`` where it is, and keep it until ``stop`` is set or an exception (Ctrl-C) comes.

    All its files are removed in the end; if it does not start, they stay until the next time, for the logs' sake. Raises
    UsageError if one is up already, and what start_cluster raises.
    """
    _refuse_second()
    with contextlib.suppress(EnvironmentMissing):  # an engine that is not there is missed only by who wants containers
        _sweep()
    folder = _home() / f"up-{os.getpid()}"
    cluster = start_cluster(
        backend=backend,
        topology=topology,
        server_release=server_release,
        folder=folder,
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

    A cache folder is one user's: a process that /proc hides is another's, which got the number of an owner that is gone.
    """
    state = _written()
    return state if state is not None and started_ticks(state.pid) == state.started_ticks else None


def down() -> UpState | None:
    """
    End the cluster that is up, from another process; None if there was none, and then what a killed owner left is gone.

    Raises ClusterError if its owner does not end, EnvironmentMissing if it has left containers and no engine answers.
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
    # An owner that did not catch the signal has left these; its supervisor has ended the servers that are processes.
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
    Remove what clusters have left whose owner is gone: they did not start, or were killed.

    Raises EnvironmentMissing if that is containers and no engine answers.
    """
    for folder in _home().glob("up-*"):
        owner = folder.name.removeprefix("up-")
        if (
            owner.isascii() and owner.isdecimal() and not is_there(int(owner[:10]))
        ):  # whatever else is there is not ours
            shutil.rmtree(folder, ignore_errors=True)
    stale = _written()
    if stale is not None and current() is None:
        _clear(stale)


def _clear(state: UpState) -> None:
    """Remove containers, which no supervisor ends, then the state file: while that is there, they may be as well."""
    with contextlib.suppress(UsageError):  # whoever wrote to the file: of a backend that there is not nothing is left
        backend_named(state.backend).sweep()
    _forget(state.pid)


def _remove(folder: Path) -> None:
    """Remove a folder that servers may still be writing to in their last moments."""
    deadline = time.monotonic() + _LAST_MOMENTS_S
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(_REMOVE_POLL_S)


def _state_of(cluster: Cluster, folder: Path, backend: str) -> UpState:
    return UpState(
        pid=os.getpid(),
        started_ticks=started_ticks(os.getpid()) or 0,
        topology=cluster.topology.name,
        server_release=cluster.server_release,
        name_servers=cluster.name_server_addresses,
        brokers={node.name: node.address for node in cluster.brokers},
        folder=str(folder),
        backend=backend,
    )


def _written() -> UpState | None:
    """What the state file says, whether its owner lives or not."""
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
    """Remove the state file if it is that process's."""
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
