"""One server's container: its start through testcontainers, its log, settings and unread bytes."""

import io
import tarfile
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from docker.errors import NotFound
from docker.models.containers import Container
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network
from testcontainers.core.transferable import Transferable

from rocketdiff.cluster.containers.engine import LABEL_PREFIX, TIMEOUT_S, Engine, engine_errors
from rocketdiff.cluster.containers.images import ServerImage
from rocketdiff.cluster.containers.networking import HOME, SETTINGS, NetworkMode, ServerPlan
from rocketdiff.cluster.interface import LOOPBACK
from rocketdiff.cluster.launched.node_slot import NodeSlot
from rocketdiff.cluster.launched.security import UNSECURED, ServerSecurity
from rocketdiff.cluster.launched.server_set import ServerEnded
from rocketdiff.cluster.launched.sockets import unread_bytes
from rocketdiff.core.errors import ClusterError, HarnessError

NODE_LABEL = f"{LABEL_PREFIX}node"

USER_ID = 10_911
"""User and group of every server, as in docker/Dockerfile. A number needs no entry in an image's /etc/passwd."""

_PROC = Path("/proc")

_PORT_TAKEN = ("port is already allocated", "address already in use", "bind: ")
"""Messages of Docker and Podman."""

_SETTING_RYUK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Deployment:
    """Values common to all containers of a cluster. network: None in mode host. labels: owner and run."""

    engine: Engine
    image: ServerImage
    network_mode: NetworkMode
    network: Network | None
    labels: Mapping[str, str]
    run: str


class ServerContainer(DockerContainer):
    """The container of one node."""

    def __init__(self, deployment: Deployment, plan: ServerPlan, node: str) -> None:
        super().__init__(deployment.image.name, docker_client_kw={"timeout": TIMEOUT_S})
        self.image = deployment.image.name  # without testcontainers' prefix for public registries
        self.with_name(f"rocketdiff-{deployment.run}-{node}").with_envs(**plan.environment)
        if plan.command:
            self.with_command(list(plan.command))
        shared: dict[str, Any] = {"labels": {**deployment.labels, NODE_LABEL: node}, **_confined(deployment.image)}
        if deployment.engine.cgroup_parent is not None:
            shared["cgroup_parent"] = deployment.engine.cgroup_parent
        if deployment.network is None:
            shared["network_mode"] = "host"
            shared["network"] = None  # otherwise testcontainers looks for one
        else:
            self.with_network(deployment.network).with_network_aliases(node)
        self.with_kwargs(**shared)
        # Address and port: testcontainers passes this value on to the engine's client unchanged.
        self.ports = {f"{port}/tcp": (LOOPBACK, port) for port in plan.ports}  # type: ignore[misc]
        for path, text in plan.files.items():
            self.with_copy_into_container(text.encode(), path)

    def launch(self) -> Container:
        with _without_reaper():
            self.start()
        return self.get_wrapped_container()

    def _transfer_into_container(self, transferable: Transferable, destination_in_container: str, mode: int) -> None:
        """Replaces testcontainers' own, whose files and folders are root's: servers write into all of theirs."""
        assert isinstance(transferable, bytes)
        place = PurePosixPath(destination_in_container)
        self.get_wrapped_container().put_archive("/", owned_tar(place, transferable, mode))


def owned_tar(place: PurePosixPath, content: bytes, mode: int) -> bytes:
    """Return a tar, to be unpacked at the root, with a file below HOME and the folders from HOME on, all of USER_ID."""
    packed = io.BytesIO()
    folders = [folder for folder in reversed(place.parents) if folder.is_relative_to(HOME)]
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, kind, rights in [
            *((folder, tarfile.DIRTYPE, 0o755) for folder in folders),
            (place, tarfile.REGTYPE, mode),
        ]:
            member = tarfile.TarInfo(str(path.relative_to("/")))
            member.type, member.mode, member.uid, member.gid = kind, rights, USER_ID, USER_ID
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            tar.addfile(member, io.BytesIO(content) if member.size else None)
    return packed.getvalue()


def _confined(image: ServerImage) -> dict[str, Any]:
    """
    A user without any rights, who owns the server's folder, and no way to gain some. Pauses and kills are the engine's work.

    Scripts of a foreign image may want capabilities of their own, so it keeps the engine's default ones.
    """
    confined = {"user": f"{USER_ID}:{USER_ID}", "security_opt": ["no-new-privileges"]}
    return confined if image.is_foreign else {**confined, "cap_drop": ["ALL"]}


@contextmanager
def _without_reaper() -> Iterator[None]:
    """
    Disable testcontainers' reaper: its image cannot be pulled everywhere, and ``cleanup`` does its work.

    The setting is global in the process, so it is restored afterwards.
    """
    with _SETTING_RYUK:
        before = testcontainers_config.ryuk_disabled
        testcontainers_config.ryuk_disabled = True
        try:
            yield
        finally:
            testcontainers_config.ryuk_disabled = before


def port_taken(name: str, error: ClusterError) -> ServerEnded | None:
    """Return the error for a port that the engine could not publish, so that other ports are chosen; None for any other error."""
    if not any(sign in error.seen.lower() for sign in _PORT_TAKEN):
        return None
    return ServerEnded(name, None, (f"{error.seen} (Address already in use)",))


def read_log(container: Container, lines: int | None = None) -> str:
    """
    Return the log of a server and its JVM, all or the last lines. It outlives the process.

    Raises ClusterError if the engine keeps no logs, EnvironmentMissing if it does not answer.
    """
    with engine_errors("the log of a container"):
        log: bytes = container.logs(tail="all" if lines is None else lines)
    return log.decode(errors="replace")


def read_settings(container: Container) -> str | None:
    """
    Return the current settings file, into which a broker writes all settings in effect; None if there is none.

    Raises EnvironmentMissing if the engine does not answer.
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


def keep_evidence(slot: NodeSlot, container: Container, security: ServerSecurity = UNSECURED) -> None:
    """
    Copy current log and settings into the node's folder, without secrets.

    Skips what the engine does not return or the disk does not accept, so that the cluster is still closed completely.
    """
    with suppress(HarnessError, OSError):
        log, settings = read_log(container), read_settings(container)
        slot.log.write_text(security.hidden(log))
        if settings is not None:
            slot.settings.write_text(security.hidden(settings))


def unread_inside(pid: int, container_id: str, ports: Collection[int], proc: Path = _PROC) -> int | None:
    """
    Bytes and connections pending in a container's own network, read through its first process.

    None if that process is not on this host or not in the running container. An engine on another host reports a process id of
    that host, which may be any process here; so the process must be in the container's control group. This is checked last: a
    process that is in the container now was in it before.
    """
    if pid <= 0:
        return None
    try:
        unread = unread_bytes(ports, proc / str(pid) / "net" / "tcp")
        return unread if container_id in (proc / str(pid) / "cgroup").read_text() else None
    except OSError:
        return None
