"""
How the containers of a cluster reach each other and are reached: what is pure about it.

bridge: the containers have a network of their own, in which they call each other by node name; the port of each is published
on loopback under the same number, and advertised with 127.0.0.1. It works wherever the engine runs. Between client and broker
stands the engine's forwarder, which costs some 0.1 ms a request; and while a server that was started again does not listen yet,
a connection to it is taken and closed instead of refused.

host: the servers share this host's network and listen on loopback only, exactly as the backend ``processes`` does it. It wants
an engine on this very Linux.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rocketdiff.cluster.containers.images import ServerImage
from rocketdiff.cluster.containers.shapes import Wiring, why_not
from rocketdiff.cluster.interface import Role
from rocketdiff.cluster.launched.command_line import LAUNCHER_CLASS, Installation, java_command
from rocketdiff.cluster.launched.seat import Seat
from rocketdiff.cluster.server_settings import broker_settings, logging_settings, name_server_settings, properties_text
from rocketdiff.core.errors import UsageError
from rocketdiff.core.topology import Topology

HOME = PurePosixPath("/var/lib/rocketdiff")
"""A server's folder inside its container."""

SETTINGS = HOME / "server.properties"

_EVERYWHERE = "0.0.0.0"  # noqa: S104  # inside a container of its own network; only loopback ports are published


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """What a server's container is made with: files by their place in it, its command, the ports to publish."""

    files: Mapping[str, str]
    command: tuple[str, ...]
    environment: Mapping[str, str]
    ports: tuple[int, ...]


def require_possible(wiring: Wiring, topology: Topology) -> None:
    """
    See that such a cluster can work.

    Raises UsageError.
    """
    reason = why_not(wiring, topology)
    if reason is not None:
        raise UsageError(f"a topology that containers wired by {wiring} can have", seen=topology.name, hint=reason)


def require_fitting(wiring: Wiring, image: ServerImage) -> None:
    """
    See that the image may run so.

    Raises UsageError.
    """
    if wiring is Wiring.HOST and image.is_foreign:
        raise UsageError(
            "an image of ours for --cluster containers:host",
            seen=image.name,
            hint="others listen on every address of this machine; use --cluster containers",
        )


def plan_server(
    wiring: Wiring, topology: Topology, seat: Seat, seats: Sequence[Seat], image: ServerImage
) -> ServerPlan:
    """Everything that makes one server's container."""
    return ServerPlan(
        files=_files(settings_of(wiring, topology, seat, seats)),
        command=_command(wiring, seat.role, image),
        environment={"JAVA_OPT_EXT": " ".join(_FOREIGN_FLAGS)} if image.is_foreign else {},
        ports=_ports(seat) if wiring is Wiring.BRIDGE else (),
    )


def settings_of(wiring: Wiring, topology: Topology, seat: Seat, seats: Sequence[Seat]) -> str:
    """A server's settings: those of processes, and for a network of their own what differs in it (the last line counts)."""
    home = Path(HOME)
    name_servers = [_address(wiring, other) for other in seats if other.role is Role.NAME_SERVER]
    if seat.role is Role.NAME_SERVER:
        text = name_server_settings(seat.port, home)
    else:
        text = broker_settings(topology, seat.name, seat.port, name_servers, home / "store")
    if wiring is Wiring.HOST:
        return text
    inside: dict[str, object] = {"bindAddress": _EVERYWHERE}
    if seat.role is not Role.NAME_SERVER:
        inside["brokerIP2"] = seat.name
    return text + properties_text(inside)


def _address(wiring: Wiring, seat: Seat) -> str:
    return seat.address if wiring is Wiring.HOST else f"{seat.name}:{seat.port}"


def _ports(seat: Seat) -> tuple[int, ...]:
    """What clients connect to; replication stays inside."""
    return seat.client_ports


def _files(settings: str) -> dict[str, str]:
    # 5.x is told the file by a flag; 4.9.x looks for one name per kind of server in its home.
    logging = {
        f"conf/{name}": logging_settings() for name in ("logback.xml", "logback_namesrv.xml", "logback_broker.xml")
    }
    # A folder comes to be with a file in it.
    files = {SETTINGS.name: settings, "tmp/.keep": "", **logging}
    return {str(HOME / name): text for name, text in files.items()}


def _command(wiring: Wiring, role: Role, image: ServerImage) -> tuple[str, ...]:
    if image.is_foreign:
        return ("sh", _SCRIPTS[role], "-c", str(SETTINGS))
    java = Installation(image.release, Path("java"), tuple(Path(path) for path in image.class_path))
    words = java_command(java, role, Path(HOME))
    # What makes "any address" mean loopback has no place where a server must be reached from outside its network.
    return tuple(words if wiring is Wiring.HOST else (word for word in words if word != LAUNCHER_CLASS))


_SCRIPTS = {Role.NAME_SERVER: "mqnamesrv", Role.BROKER: "mqbroker", Role.SLAVE: "mqbroker"}
"""What the official image starts its servers with; it runs them on its own Java, with its own flags and ours after them."""

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
