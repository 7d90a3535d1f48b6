"""
Removal of containers and networks whose owner was killed, never those of a living run.

Done before every start with this backend, by ``rocketdiff cluster down`` (of ``cluster up``) and by ``rocketdiff doctor
--clean``.

Labels name the owner: process id and start time of the runner, boot, machine and process id namespace, because one engine may
serve several of each. An owner that this process cannot decide is UNKNOWN; its containers stay.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from docker.errors import NotFound
from docker.models.containers import Container

from rocketdiff.cluster.containers.engine import LABEL_PREFIX, RUN_LABEL, Engine, engine_errors
from rocketdiff.core.errors import ClusterError
from rocketdiff.process.liveness import is_there, started_ticks

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MACHINE = Path("/etc/machine-id")
_PID_SPACE = Path("/proc/self/ns/pid")


class OwnerState(StrEnum):
    """Whether the owner of a container lives."""

    LIVES = "lives"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that started a cluster. boot, pid_space, machine: the scope of its process id."""

    pid: int
    started_ticks: int
    boot: str
    pid_space: str
    machine: str

    @classmethod
    def here(cls) -> Self:
        pid = os.getpid()
        return cls(pid, started_ticks(pid) or 0, _read(_BOOT), _PID_SPACE.readlink().name, _read(_MACHINE))

    @classmethod
    def from_labels(cls, labels: Mapping[str, str]) -> Self | None:
        """None if the labels are incomplete."""
        values = [labels.get(LABEL_PREFIX + name) for name in _FIELDS]
        pid, ticks, *places = values
        if not (pid and ticks and pid.isdigit() and ticks.isdigit()) or None in places:
            return None
        return cls(int(pid), int(ticks), *(place or "" for place in places))

    def labels(self) -> dict[str, str]:
        values = (self.pid, self.started_ticks, self.boot, self.pid_space, self.machine)
        return {LABEL_PREFIX + name: str(value) for name, value in zip(_FIELDS, values, strict=True)}


_FIELDS = ("owner-pid", "owner-started-ticks", "owner-boot", "owner-pid-space", "owner-machine")


def owner_state(
    owner: Owner | None,
    here: Owner,
    *,
    is_running: bool,
    ticks_of: Callable[[int], int | None] = started_ticks,
    has: Callable[[int], bool] = is_there,
) -> OwnerState:
    """
    Return whether an owner lives, as far as this process can decide.

    is_running: whether the container runs. Containers do not survive a reboot. So a stopped container of an earlier boot of
    this machine has no owner, and a running one belongs to another machine with the same engine (UNKNOWN). Also UNKNOWN: an
    owner whose process /proc hides because it is another user's; its start time cannot be compared.
    """
    if owner is None:
        return OwnerState.UNKNOWN
    if owner.boot != here.boot:
        is_ours = bool(here.machine) and owner.machine == here.machine
        return OwnerState.GONE if is_ours and not is_running else OwnerState.UNKNOWN
    if owner.pid_space != here.pid_space:
        return OwnerState.UNKNOWN
    ticks = ticks_of(owner.pid)
    if ticks is None:
        return OwnerState.UNKNOWN if has(owner.pid) else OwnerState.GONE
    return OwnerState.LIVES if ticks == owner.started_ticks else OwnerState.GONE


_RUNNING = ("running", "paused", "restarting")


@dataclass(frozen=True, slots=True)
class SweepResult:
    """Names. left: containers whose owner is UNKNOWN."""

    removed: tuple[str, ...]
    left: tuple[str, ...]


def sweep(engine: Engine) -> SweepResult:
    """
    Remove all our containers and networks whose owner is gone.

    Raises EnvironmentMissing if the engine stops answering, ClusterError if it refuses a removal.
    """
    here = Owner.here()
    states = [
        (container, owner_state(Owner.from_labels(container.labels), here, is_running=container.status in _RUNNING))
        for container in engine.containers()
    ]
    gone = [container for container, state in states if state is OwnerState.GONE]
    # A network has no running state; it stays as long as a container of its run.
    in_use = {container.labels.get(RUN_LABEL) for container, state in states if state is not OwnerState.GONE}
    gone_networks = []
    for network in engine.networks():
        labels = network.attrs.get("Labels") or {}
        state = owner_state(Owner.from_labels(labels), here, is_running=False)
        if state is OwnerState.GONE and labels.get(RUN_LABEL) not in in_use:
            gone_networks.append(network)
    _remove(gone, gone_networks)
    return SweepResult(
        removed=tuple(removed.name for removed in (*gone, *gone_networks)),
        left=tuple(container.name for container, state in states if state is OwnerState.UNKNOWN),
    )


def remove_run(engine: Engine, run: str) -> None:
    """Remove everything of one run, running or not. Raises as sweep."""
    _remove(engine.containers(run), engine.networks(run))


def _remove(containers: Iterable[Container], networks: Iterable[Any]) -> None:
    """Remove containers in parallel, because each takes the engine a quarter of a second; then their networks."""
    containers = list(containers)
    if containers:
        with ThreadPoolExecutor(len(containers)) as pool:
            list(pool.map(_remove_container, containers))
    for network in networks:
        with _others_may_remove(f"network {network.name}", "active endpoints"):
            network.remove()


def _remove_container(container: Container) -> None:
    with _others_may_remove(f"container {container.name}", "already in progress"):
        container.remove(force=True, v=True)


@contextmanager
def _others_may_remove(what: str, reply: str) -> Iterator[None]:
    """Ignore that something is gone, or that the engine says ``reply``: another process is removing it."""
    try:
        with engine_errors(f"{what} to be removed"), suppress(NotFound):
            yield
    except ClusterError as error:
        if reply not in error.seen:
            raise


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
