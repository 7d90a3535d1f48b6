"""The slot of a node: its ports and its folder, prepared before the server starts and kept over a restart."""

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocketdiff.cluster.interface import LOOPBACK
from rocketdiff.cluster.launched.ports import (
    BROKER_PORTS,
    LOCAL_PROXY_OFFSET,
    NAME_SERVER_PORTS,
    PROXY_PORTS,
    ReservedPort,
    reserve_free,
    reserve_given,
)
from rocketdiff.cluster.launched.security import UNSECURED, ServerSecurity
from rocketdiff.cluster.server_settings import (
    broker_settings,
    name_server_settings,
    properties_text,
    proxy_settings,
)
from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.core.files import private_file, require_nameable
from rocketdiff.core.tables.topology import NodeKind, Topology, letter_of

# Empty commit logs, queues and logs of one node; a run of the full suite also stays below this size.
SPACE_TO_START_BYTES = 64 * 1024 * 1024

# The next commit log file. A broker that cannot write a mapped page returns errors that no client should get.
SPACE_TO_CONTINUE_BYTES = 16 * 1024 * 1024

# Above 90 % a broker answers every send with SERVICE_NOT_AVAILABLE (DefaultMessageStore.CleanCommitLogService). One percent
# less, because a run writes to the disk.
_FULLEST = 0.89


@dataclass(frozen=True, slots=True)
class NodeSlot:
    """Name, ports and folder of one node. is_proxy: it serves gRPC, as a proxy or as a broker in mode LOCAL."""

    role: NodeKind
    letter: str
    name: str
    reserved: ReservedPort
    folder: Path
    is_proxy: bool = False

    @property
    def port(self) -> int:
        return self.reserved.port

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    @property
    def client_ports(self) -> tuple[int, ...]:
        """A broker has a second port, for old clients."""
        if self.role in (NodeKind.NAME_SERVER, NodeKind.PROXY):
            return (self.port,)
        ports = (self.port - 2, self.port)
        return (*ports, self.grpc_port) if self.is_proxy else ports

    @property
    def grpc_port(self) -> int:
        """For a slot with is_proxy."""
        return self.port if self.role is NodeKind.PROXY else self.port + LOCAL_PROXY_OFFSET

    @property
    def grpc_address(self) -> str:
        return f"{LOOPBACK}:{self.grpc_port}"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def settings(self) -> Path:
        return self.folder / "server.properties"

    @property
    def secret_settings(self) -> Path:
        """Settings with secrets, which the server reads instead; exists only with access control."""
        return self.folder / "conf" / "server.properties"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def scratch(self) -> tuple[Path, ...]:
        """Folders to remove when the server has ended."""
        return self.store, self.folder / "tmp", self.folder / "conf"


def take_folder(folder: Path, topology: Topology) -> None:
    """
    Create a cluster's folder, and check that it has no files of another cluster.

    Raises EnvironmentMissing for a folder that cannot be created or read, UsageError for one in use.
    """
    require_nameable(folder, "a cluster's folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        in_use = [folder / name for name in topology.node_names if (folder / name).exists()]
    except OSError as error:
        raise unwritable(folder, error) from error
    if in_use:
        raise UsageError("a folder without an earlier cluster's files", seen=str(in_use[0]), hint="give another folder")


def reserve_slots(topology: Topology, folder: Path, name_server_port: int | None) -> list[NodeSlot]:
    """
    Reserve ports for all nodes, name servers first, proxies last.

    name_server_port: of the first name server, if the user fixed it. Raises as reserve_free and reserve_given.
    """
    slots: list[NodeSlot] = []
    try:
        for number, name in enumerate(topology.name_server_names, start=1):
            if number == 1 and name_server_port is not None:
                reserved = reserve_given(name_server_port, NAME_SERVER_PORTS, name)
            else:
                reserved = reserve_free(NAME_SERVER_PORTS)
            slots.append(NodeSlot(NodeKind.NAME_SERVER, str(number), name, reserved, folder / name))
        brokers = [(NodeKind.BROKER, name) for name in topology.broker_names]
        local = topology.has_local_proxies
        for role, name in (*brokers, *((NodeKind.SLAVE, name) for name in topology.slave_names)):
            is_proxy = local and role is NodeKind.BROKER
            ports = reserve_free((*BROKER_PORTS, LOCAL_PROXY_OFFSET) if is_proxy else BROKER_PORTS)
            slots.append(NodeSlot(role, letter_of(name), name, ports, folder / name, is_proxy))
        for number, name in enumerate(topology.proxy_names, start=1):
            slots.append(NodeSlot(NodeKind.PROXY, str(number), name, reserve_free(PROXY_PORTS), folder / name, True))
    except BaseException:
        for slot in slots:
            slot.reserved.release()
        raise
    return slots


def prepare(
    slot: NodeSlot, topology: Topology, name_servers: Sequence[str], security: ServerSecurity = UNSECURED
) -> None:
    """
    Write the settings of a server into its folder; secrets into files that are removed with it.

    Raises OSError; see unwritable.
    """
    (slot.folder / "conf").mkdir(parents=True, exist_ok=True)
    (slot.folder / "tmp").mkdir(exist_ok=True)
    if slot.is_proxy:
        text = proxy_settings(slot.name, slot.grpc_port, name_servers, is_local=slot.role is NodeKind.BROKER)
        (slot.folder / "proxy.json").write_text(text)
    if slot.role is NodeKind.NAME_SERVER:
        slot.settings.write_text(name_server_settings(slot.port, slot.folder))
    elif slot.role is not NodeKind.PROXY:
        more = security.broker_settings()
        text = broker_settings(topology, slot.name, slot.port, name_servers, slot.store, more)
        if more:
            private_file(slot.secret_settings, text)
        slot.settings.write_text(security.hidden(text))
    for name, text in security.files(slot.folder).items():
        private_file(slot.folder / name, text)
    # 5.x reads the file that a flag names; 4.9.x reads a fixed name per kind of server in its home.
    for name in ("logback.xml", "logback_namesrv.xml", "logback_broker.xml"):
        private_file(slot.folder / "conf" / name, security.logging())


def moved(slot: NodeSlot) -> NodeSlot:
    """
    Return a broker's slot on other free ports, and change its settings accordingly; the old ports stay reserved.

    The ports are appended, because the last line takes effect: a broker that changed a setting has rewritten its file.
    """
    reserved = reserve_free(BROKER_PORTS)
    ports = properties_text({"listenPort": reserved.port, "haListenPort": reserved.port + 1})
    for file in (slot.settings, slot.secret_settings):
        if file.exists():
            with file.open("a", encoding="utf-8") as settings:
                settings.write(f"\n{ports}")
    return replace(slot, reserved=reserved)


def keep_settings(slot: NodeSlot, security: ServerSecurity) -> None:
    """Copy the secret settings, as the broker has rewritten them, to the file that is kept, without secrets."""
    with contextlib.suppress(FileNotFoundError):
        slot.settings.write_text(security.hidden(slot.secret_settings.read_text()))


def clear(slot: NodeSlot) -> None:
    """Remove the store and temporary files; keep logs and settings."""
    for folder in slot.scratch:
        shutil.rmtree(folder, ignore_errors=True)


def require_disk_space(folder: Path, nodes: int, bytes_each: int = SPACE_TO_START_BYTES) -> None:
    """
    Check the disk of ``folder`` for a number of nodes.

    Raises EnvironmentMissing for too little space, for a disk so full that brokers would refuse to write, and for one that
    cannot be examined.
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
    """Return the error for a folder that is not writable."""
    return EnvironmentMissing(
        f"to be able to write the cluster's files to {folder}",
        seen=error.strerror or str(error),
        hint="free some space there, or give a folder that can be written",
    )
