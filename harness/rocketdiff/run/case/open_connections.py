"""
Which connections each client holds to the servers, from the kernel's socket table and the owners of the sockets.

All clients are sampled in one reading of the table, which costs 10 ms of CPU (measured with 260 sockets): 2 % at this
interval.
"""

import re
import socket
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path

from rocketdiff.cluster.interface import Cluster, nodes_of
from rocketdiff.core.arm import Member
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.relay.proxy.listener import VIP_OFFSET
from rocketdiff.run.case.sampling import Watch
from rocketdiff.traces.manifest import ConnectionSample

SAMPLES_AT_REST = 3
AT_REST_EVERY_S = 0.2
"""A connection being closed or opened takes milliseconds, so it is not in all three samples."""

Endpoint = tuple[str, int]
"""Address and port. An IPv4 address mapped to IPv6 is written as IPv4."""

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_CONNECTING, _LISTENING = "02", "0A"
"""Kernel states of sockets without an established connection (``net/tcp_states.h``)."""

_SOCKET = re.compile(r"socket:\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class ObservedConnection:
    """A socket that is or was connected."""

    local: Endpoint
    remote: Endpoint


def endpoints_of(cluster: Cluster, addresses: Mapping[str, str]) -> dict[Endpoint, str]:
    """
    Addresses that a client may connect to, with the server's name. A broker has a second (VIP) port, used by old clients.

    addresses: ``host:port`` of each node as this client reaches it. A host that cannot be resolved here is left out.
    """
    named: dict[Endpoint, str] = {}
    for node in nodes_of(cluster):
        host, _, port = addresses[node.name].rpartition(":")
        for place in _resolved(host.strip("[]"), int(port)):
            named[place] = node.name
            if node.role not in (NodeKind.NAME_SERVER, NodeKind.PROXY):
                named[place[0], place[1] + VIP_OFFSET] = f"{node.name} vip"
    return named


def _resolved(host: str, port: int) -> set[Endpoint]:
    with suppress(OSError):
        return {(str(entry[4][0]), port) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    return set()


class ConnectionWatch(Watch):
    """
    Samples connections while the block is active, and finally a few times after ``rest``.

    clients: process id (descendants included) and endpoints by member.
    """

    def __init__(self, clients: Mapping[Member, tuple[int, Mapping[Endpoint, str]]]) -> None:
        super().__init__("connection-watch")
        self._clients = dict(clients)
        self._known: dict[Member, set[ObservedConnection]] = {member: set() for member in self._clients}
        self._samples: dict[Member, list[ConnectionSample]] = {member: [] for member in self._clients}

    def learn(self, member: Member, endpoints: Mapping[Endpoint, str]) -> None:
        """Know further addresses of servers."""
        pid, known = self._clients[member]
        self._clients[member] = pid, {**known, **endpoints}

    @property
    def seen(self) -> dict[Member, tuple[ConnectionSample, ...]]:
        """Each member's samples: those with a change, and all taken at rest."""
        return {member: tuple(_changes(samples)) for member, samples in self._samples.items()}

    def _look_at_rest(self) -> None:
        for _ in range(SAMPLES_AT_REST):
            time.sleep(AT_REST_EVERY_S)
            self._look(is_at_rest=True)

    def _look(self, *, is_at_rest: bool = False) -> None:
        at_ns, sockets = time.monotonic_ns(), open_sockets()
        for member, (pid, endpoints) in self._clients.items():
            held = None if sockets is None else held_by(pid, sockets)
            self._samples[member].append(self._sample(member, at_ns, held, endpoints, is_at_rest=is_at_rest))

    def _sample(
        self,
        member: Member,
        at_ns: int,
        held: set[ObservedConnection] | None,
        endpoints: Mapping[Endpoint, str],
        *,
        is_at_rest: bool,
    ) -> ConnectionSample:
        if held is None:
            return ConnectionSample(at_ns, None, {}, is_at_rest)
        ours = {connection for connection in held if connection.remote in endpoints}
        new = ours - self._known[member]
        self._known[member] |= new
        return ConnectionSample(at_ns, _by_server(ours, endpoints), _by_server(new, endpoints), is_at_rest)


def _by_server(connections: Iterable[ObservedConnection], endpoints: Mapping[Endpoint, str]) -> dict[str, int]:
    return dict(sorted(Counter(endpoints[connection.remote] for connection in connections).items()))


def _changes(samples: Sequence[ConnectionSample]) -> Iterator[ConnectionSample]:
    last: ConnectionSample | None = None
    for sample in samples:
        if last is None or sample.is_at_rest or sample.opened or sample.held != last.held:
            yield sample
        last = sample


def open_sockets() -> dict[int, ObservedConnection] | None:
    """Every TCP connection on this machine that a process holds, by socket inode. None without /proc."""
    found: dict[int, ObservedConnection] = {}
    try:
        for table in _TABLES:
            if Path(table).exists():  # a kernel without IPv6 has only the first
                _, *lines = Path(table).read_text(encoding="ascii").splitlines()
                found.update(_connections(lines))
    except (OSError, ValueError):
        return None
    return found


def _connections(lines: Sequence[str]) -> Iterator[tuple[int, ObservedConnection]]:
    """Columns of /proc/net/tcp: slot, local and remote address, state, six more, then the socket's inode."""
    for line in lines:
        _, local, remote, state, *rest = line.split()
        number = int(rest[5])
        if number and state not in (_CONNECTING, _LISTENING):
            yield number, ObservedConnection(_endpoint(local), _endpoint(remote))


def _endpoint(written: str) -> Endpoint:
    """``0100007F:1F90``: 32-bit words of the address in host byte order, then the port."""
    address, _, port = written.partition(":")
    words = [int(address[at : at + 8], 16) for at in range(0, len(address), 8)]
    place = ip_address(b"".join(word.to_bytes(4, "little") for word in words))
    if isinstance(place, IPv6Address) and place.ipv4_mapped is not None:
        place = place.ipv4_mapped
    return str(place), int(port, 16)


def held_by(pid: int, sockets: Mapping[int, ObservedConnection]) -> set[ObservedConnection] | None:
    """Connections of a process and its descendants. None if the process is gone or not readable."""
    try:
        numbers = {*_sockets_of(pid), *(number for each in below(pid) for number in _sockets_of(each))}
    except (OSError, ValueError):
        return None
    return {sockets[number] for number in numbers if number in sockets}


def below(pid: int) -> Iterator[int]:
    """All descendants of a process, whichever of its threads started them."""
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # ended since it was listed
            for child in map(int, thread.read_text(encoding="ascii").split()):
                if Path(f"/proc/{child}/fd").exists():
                    yield child
                    yield from below(child)


def _sockets_of(pid: int) -> Iterator[int]:
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            if shown := _SOCKET.match(str(descriptor.readlink())):
                yield int(shown[1])
