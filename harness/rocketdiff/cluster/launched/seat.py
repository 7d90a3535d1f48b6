"""Where a server sits: its ports and its folder, prepared before it starts and kept over a restart."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.cluster.interface import LOOPBACK, Role
from rocketdiff.cluster.launched.ports import BROKER_PORTS, NAME_SERVER_PORTS, ReservedPort, reserve_free, reserve_given
from rocketdiff.cluster.server_settings import broker_settings, logging_settings, name_server_settings
from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.core.files import require_nameable
from rocketdiff.core.topology import Topology, letter_of

# Empty commit logs, queues and logs of one node; a run of the full suite stays below it as well.
ROOM_TO_START_BYTES = 64 * 1024 * 1024

# The next commit log file. A broker that cannot write a page it has mapped answers with errors no client should see.
ROOM_TO_GO_ON_BYTES = 16 * 1024 * 1024

# Above 90 % a broker answers every send with SERVICE_NOT_AVAILABLE (DefaultMessageStore.CleanCommitLogService); one
# percent less, because the disk fills a little while we look.
_FULLEST = 0.89


@dataclass(frozen=True, slots=True)
class Seat:
    """One server's place: what it is called, where it listens, where its files are."""

    role: Role
    letter: str
    name: str
    reserved: ReservedPort
    folder: Path

    @property
    def port(self) -> int:
        """Port that clients use."""
        return self.reserved.port

    @property
    def address(self) -> str:
        """``host:port`` for clients."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def client_ports(self) -> tuple[int, ...]:
        """Ports on which clients' bytes may wait: a broker has a second one for old clients."""
        return (self.port,) if self.role is Role.NAME_SERVER else (self.port - 2, self.port)

    @property
    def log(self) -> Path:
        """Everything the server and its JVM say."""
        return self.folder / "server.log"

    @property
    def settings(self) -> Path:
        """The server's settings file."""
        return self.folder / "server.properties"

    @property
    def store(self) -> Path:
        """A broker's data."""
        return self.folder / "store"

    @property
    def scratch(self) -> tuple[Path, ...]:
        """What nobody needs when the server has ended."""
        return self.store, self.folder / "tmp"


def take_folder(folder: Path, topology: Topology) -> None:
    """
    See that a cluster's folder is there and holds no other one's files.

    Raises EnvironmentMissing for a folder that cannot be made or read, UsageError for one in use.
    """
    require_nameable(folder, "a cluster's folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        in_use = [folder / name for name in topology.node_names if (folder / name).exists()]
    except OSError as error:
        raise unwritable(folder, error) from error
    if in_use:
        raise UsageError("a folder without an earlier cluster's files", seen=str(in_use[0]), hint="give another folder")


def take_seats(topology: Topology, folder: Path, name_server_port: int | None) -> list[Seat]:
    """
    Reserve ports for all nodes, name servers first, slaves last.

    name_server_port: port of the first name server if the user fixed it. Raises as reserve_free and reserve_given do.
    """
    seats: list[Seat] = []
    try:
        for number, name in enumerate(topology.name_server_names, start=1):
            if number == 1 and name_server_port is not None:
                reserved = reserve_given(name_server_port, NAME_SERVER_PORTS, name)
            else:
                reserved = reserve_free(NAME_SERVER_PORTS)
            seats.append(Seat(Role.NAME_SERVER, str(number), name, reserved, folder / name))
        brokers = [(Role.BROKER, name) for name in topology.broker_names]
        for role, name in (*brokers, *((Role.SLAVE, name) for name in topology.slave_names)):
            seats.append(Seat(role, letter_of(name), name, reserve_free(BROKER_PORTS), folder / name))
    except BaseException:
        for seat in seats:
            seat.reserved.release()
        raise
    return seats


def prepare(seat: Seat, topology: Topology, name_servers: Sequence[str]) -> None:
    """
    Write the settings of a server into its own folder.

    Raises OSError, which the caller turns into one message for all.
    """
    (seat.folder / "conf").mkdir(parents=True, exist_ok=True)
    (seat.folder / "tmp").mkdir(exist_ok=True)
    if seat.role is Role.NAME_SERVER:
        seat.settings.write_text(name_server_settings(seat.port, seat.folder))
    else:
        seat.settings.write_text(broker_settings(topology, seat.name, seat.port, name_servers, seat.store))
    # 5.x is told the file by a flag; 4.9.x looks for one name per kind of server in its home.
    for name in ("logback.xml", "logback_namesrv.xml", "logback_broker.xml"):
        (seat.folder / "conf" / name).write_text(logging_settings())


def clear(seat: Seat) -> None:
    """Remove the store and temporary files; logs and settings stay."""
    for folder in seat.scratch:
        shutil.rmtree(folder, ignore_errors=True)


def require_room(folder: Path, nodes: int, bytes_each: int = ROOM_TO_START_BYTES) -> None:
    """
    See that the disk under ``folder`` can hold so many nodes.

    Raises EnvironmentMissing for too little space, and for a disk so full that brokers would refuse to write, or that cannot
    be looked at.
    """
    try:
        usage = shutil.disk_usage(folder)
    except OSError as error:
        raise unwritable(folder, error) from error
    needed = nodes * bytes_each
    hint = "free some space, or give another folder"
    if usage.free < needed:
        raise EnvironmentMissing(
            f"{needed // 2**20} MiB free for a cluster in {folder}", seen=f"{usage.free // 2**20} MiB", hint=hint
        )
    full = usage.used / (usage.used + usage.free)
    if full > _FULLEST:
        raise EnvironmentMissing(
            f"a disk less than {_FULLEST:.0%} full under {folder}, because brokers refuse to write above 90 %",
            seen=f"{full:.1%}",
            hint=hint,
        )


def unwritable(folder: Path, error: OSError) -> EnvironmentMissing:
    """The one message for a folder that does not take the cluster's files."""
    return EnvironmentMissing(
        f"to be able to write the cluster's files to {folder}",
        seen=error.strerror or str(error),
        hint="free some space there, or give a folder that can be written",
    )
