"""What is read out of containers: logs, settings, and bytes that their servers have not taken yet."""

import io
import tarfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from docker.errors import NotFound
from docker.models.containers import Container

from rocketdiff.cluster.containers.engine import engine_errors
from rocketdiff.cluster.containers.wiring import SETTINGS
from rocketdiff.cluster.launched.seat import Seat
from rocketdiff.cluster.launched.sockets import unread_bytes
from rocketdiff.core.errors import HarnessError

_PROC = Path("/proc")


def logged(container: Container, lines: int | None = None) -> str:
    """
    What a server and its JVM said, the last lines or all; it outlives the process.

    Raises ClusterError where the engine keeps no logs, EnvironmentMissing where it does not answer.
    """
    with engine_errors("the log of a container"):
        said: bytes = container.logs(tail="all" if lines is None else lines)
    return said.decode(errors="replace")


def settings_in(container: Container) -> str | None:
    """
    The settings file as it is now: a broker writes all settings in effect into it; None where there is none.

    Raises EnvironmentMissing where the engine does not answer.
    """
    with engine_errors("the settings file of a container"):
        try:
            chunks, _ = container.get_archive(str(SETTINGS))
        except NotFound:
            return None
        packed = b"".join(chunks)
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        file = tar.extractfile(SETTINGS.name)
        return None if file is None else file.read().decode(errors="replace")


def keep(seat: Seat, container: Container) -> None:
    """
    Put log and settings as they are now into the node's folder.

    What the engine does not give, or the disk does not take, is left out: a cluster that ends must go on to its end.
    """
    with suppress(HarnessError, OSError):
        log, settings = logged(container), settings_in(container)
        seat.log.write_text(log)
        if settings is not None:
            seat.settings.write_text(settings)


def unread_inside(pid: int, container_id: str, ports: Collection[int], proc: Path = _PROC) -> int | None:
    """
    Bytes and connections that wait in a container's own network, seen through its first process.

    None where that process is not on this host, or belongs to a container that does not run. An engine elsewhere tells the
    number of a process of its own host, which may be anybody's here: only one in the container's control group is believed,
    and it is asked last, because what is still the container's was so before.
    """
    if pid <= 0:
        return None
    try:
        unread = unread_bytes(ports, proc / str(pid) / "net" / "tcp")
        return unread if container_id in (proc / str(pid) / "cgroup").read_text() else None
    except OSError:
        return None
