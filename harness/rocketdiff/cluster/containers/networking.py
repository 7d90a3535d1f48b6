"""
Networks of containers: the modes, the topologies they support, and the plan of each container.

bridge: the containers have their own network, in which they address each other by node name. Each client port is published on
loopback under the same number and advertised with 127.0.0.1. It works wherever the engine runs. The engine's forwarder between
client and broker costs about 0.1 ms per request. While a restarted server does not listen yet, the forwarder accepts and closes
a connection instead of refusing it.

host: the servers share this host's network and listen on loopback only, as with the backend ``processes``. It needs an engine
on this Linux host.

Nothing here connects to an engine or imports its client, so that selection can check what is supported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rocketdiff.cluster.launched.command_line import LAUNCHER_CLASS, Installation, java_command
from rocketdiff.cluster.launched.node_slot import NodeSlot
from rocketdiff.cluster.launched.security import UNSECURED, ServerSecurity
from rocketdiff.cluster.server_settings import (
    broker_settings,
    name_server_settings,
    properties_text,
)
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.topology import NodeKind, Topology

if TYPE_CHECKING:
    from rocketdiff.cluster.containers.images import ServerImage  # imports the engine's client

HOME = PurePosixPath("/var/lib/rocketdiff")
"""A server's folder inside its container."""

SETTINGS = HOME / "server.properties"

_EVERYWHERE = "0.0.0.0"  # noqa: S104  # inside the containers' network; only loopback ports are published


class NetworkMode(StrEnum):
    """``--cluster containers`` and ``--cluster containers:host``."""

    BRIDGE = "bridge"
    HOST = "host"


def network_mode_named(text: str) -> NetworkMode:
    """
    Return the mode written after ``containers:``; bridge if empty.

    Raises UsageError for an unknown mode.
    """
    try:
        return NetworkMode(text) if text else NetworkMode.BRIDGE
    except ValueError as error:
        known = ", ".join(f"containers:{mode}" for mode in NetworkMode)
        raise UsageError("a known network mode of containers", seen=repr(text), hint=f"one of {known}") from error


def why_not(mode: NetworkMode, topology: Topology) -> str | None:
    """Return why a mode does not support a topology, and an alternative; None if it does."""
    if topology.has_proxies:
        return "the image has no proxy; use --cluster processes"
    if mode is NetworkMode.HOST or not topology.slaves_per_master:
        return None
    return (
        "a slave copies topics from the address that clients use, which is not its master's inside a container; "
        "use --cluster containers:host, or processes"
    )


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """The parts of a server's container. files: by path inside it. ports: to publish."""

    files: Mapping[str, str]
    command: tuple[str, ...]
    environment: Mapping[str, str]
    ports: tuple[int, ...]


def require_topology(mode: NetworkMode, topology: Topology) -> None:
    """Raise UsageError if the mode does not support the topology."""
    reason = why_not(mode, topology)
    if reason is not None:
        raise UsageError(f"a topology that containers in network mode {mode} support", seen=topology.name, hint=reason)


def require_image(mode: NetworkMode, image: "ServerImage") -> None:
    """Raise UsageError if the image must not run in the mode."""
    if mode is NetworkMode.HOST and image.is_foreign:
        raise UsageError(
            "an image of ours for --cluster containers:host",
            seen=image.name,
            hint="others listen on every address of this machine; use --cluster containers",
        )


def plan_server(
    mode: NetworkMode,
    topology: Topology,
    slot: NodeSlot,
    slots: Sequence[NodeSlot],
    image: "ServerImage",
    security: ServerSecurity = UNSECURED,
) -> ServerPlan:
    """Return the plan of one server's container. Secrets are only in its files, not in command or environment."""
    flags = security.flags(HOME)
    return ServerPlan(
        files=_files(settings_of(mode, topology, slot, slots, security), security),
        command=_command(mode, slot.role, image, flags),
        environment={"JAVA_OPT_EXT": " ".join((*_FOREIGN_FLAGS, *flags))} if image.is_foreign else {},
        # Replication ports stay inside the network.
        ports=slot.client_ports if mode is NetworkMode.BRIDGE else (),
    )


def settings_of(
    mode: NetworkMode,
    topology: Topology,
    slot: NodeSlot,
    slots: Sequence[NodeSlot],
    security: ServerSecurity = UNSECURED,
) -> str:
    """Settings as for the backend processes; a bridge's differences are appended, because the last line takes effect."""
    home = Path(HOME)
    name_servers = [_address(mode, other) for other in slots if other.role is NodeKind.NAME_SERVER]
    if slot.role is NodeKind.NAME_SERVER:
        text = name_server_settings(slot.port, home)
    else:
        more = security.broker_settings()
        text = broker_settings(topology, slot.name, slot.port, name_servers, home / "store", more)
    if mode is NetworkMode.HOST:
        return text
    inside: dict[str, object] = {"bindAddress": _EVERYWHERE}
    if slot.role is not NodeKind.NAME_SERVER:
        inside["brokerIP2"] = slot.name
    return text + properties_text(inside)


def _address(mode: NetworkMode, slot: NodeSlot) -> str:
    return slot.address if mode is NetworkMode.HOST else f"{slot.name}:{slot.port}"


def _files(settings: str, security: ServerSecurity) -> dict[str, str]:
    # 5.x reads the file that a flag names; 4.9.x reads a fixed name per kind of server in its home.
    logging = {
        f"conf/{name}": security.logging() for name in ("logback.xml", "logback_namesrv.xml", "logback_broker.xml")
    }
    # A file creates its folder.
    files = {SETTINGS.name: settings, "tmp/.keep": "", **logging, **security.files(HOME)}
    return {str(HOME / name): text for name, text in files.items()}


def _command(mode: NetworkMode, role: NodeKind, image: "ServerImage", flags: Sequence[str]) -> tuple[str, ...]:
    if image.is_foreign:
        return ("sh", _SCRIPTS[role], "-c", str(SETTINGS))
    java = Installation(image.release, Path("java"), tuple(Path(path) for path in image.class_path))
    words = java_command(java, role, Path(HOME), flags)
    # The launcher binds the wildcard address to loopback; in a bridge, servers must be reachable from outside the container.
    return tuple(words if mode is NetworkMode.HOST else (word for word in words if word != LAUNCHER_CLASS))


_SCRIPTS = {NodeKind.NAME_SERVER: "mqnamesrv", NodeKind.BROKER: "mqbroker", NodeKind.SLAVE: "mqbroker"}
"""Start scripts of the official image. They use the image's Java, with its flags and then ours."""

_FOREIGN_FLAGS = (
    "-Xms128m",
    "-Xmx256m",
    "-Xmn64m",
    f"-Duser.home={HOME}",
    f"-Djava.io.tmpdir={HOME / 'tmp'}",
    f"-Drmq.logback.configurationFile={HOME / 'conf' / 'logback.xml'}",
    "-Djava.net.preferIPv4Stack=true",
    "-Dtls.server.mode=disabled",
)
