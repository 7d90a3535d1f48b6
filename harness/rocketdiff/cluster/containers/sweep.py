"""
Removing what killed runners have left: containers and networks whose owner is gone, never those of a run that goes on.

Done before every start with this backend and by ``rocketdiff doctor --clean``.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from docker.errors import NotFound
from docker.models.containers import Container

from rocketdiff.cluster.containers.engine import Engine, engine_errors
from rocketdiff.cluster.containers.ownership import RUN_LABEL, Fate, Owner, fate_of
from rocketdiff.core.errors import ClusterError

_RUNS = ("running", "paused", "restarting")


@dataclass(frozen=True, slots=True)
class Swept:
    """Names of what was removed, and of what was left because nobody here can tell whether its owner lives."""

    removed: tuple[str, ...]
    left: tuple[str, ...]


def sweep(engine: Engine) -> Swept:
    """
    Remove every container and network of ours whose owner is gone.

    Raises EnvironmentMissing if the engine stops answering, ClusterError if it refuses to remove one.
    """
    here = Owner.here()
    containers = [(one, _fate(one.labels, here, is_running=one.status in _RUNS)) for one in engine.containers()]
    # A network does not run; while containers of its run do, it stays with them.
    busy = {one.labels.get(RUN_LABEL) for one, fate in containers if fate is not Fate.GONE}
    networks = [(one, _fate(one.attrs.get("Labels") or {}, here, is_running=False)) for one in engine.networks()]
    gone = [one for one, fate in containers if fate is Fate.GONE]
    gone_networks = [
        one
        for one, fate in networks
        if fate is Fate.GONE and (one.attrs.get("Labels") or {}).get(RUN_LABEL) not in busy
    ]
    _remove(gone, gone_networks)
    return Swept(
        removed=tuple(one.name for one in (*gone, *gone_networks)),
        left=tuple(one.name for one, fate in containers if fate is Fate.UNKNOWN),
    )


def remove_run(engine: Engine, run: str) -> None:
    """
    Remove everything of one run, whatever it does.

    Raises EnvironmentMissing if the engine does not answer, ClusterError if it refuses.
    """
    _remove(engine.containers(run), engine.networks(run))


def _remove(containers: Iterable[Container], networks: Iterable[Any]) -> None:
    """Containers side by side, because each takes the engine a quarter of a second; then the networks they were in."""
    doomed = list(containers)
    if doomed:
        with ThreadPoolExecutor(len(doomed)) as pool:
            list(pool.map(_remove_container, doomed))
    for network in networks:
        with engine_errors(f"network {network.name} to be removed"), suppress(NotFound):
            network.remove()


def _remove_container(container: Container) -> None:
    try:
        with engine_errors(f"container {container.name} to be removed"), suppress(NotFound):
            container.remove(force=True, v=True)
    except ClusterError as error:
        # Two that sweep at the same time meet here; the other one does the work.
        if "already in progress" not in error.seen:
            raise


def _fate(labels: dict[str, str], here: Owner, *, is_running: bool) -> Fate:
    return fate_of(Owner.named(labels), here, is_running=is_running)
