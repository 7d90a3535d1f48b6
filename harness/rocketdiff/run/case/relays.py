"""
The recording relays of a case: one before each client under test, or none.

They stand before both arms or before none, so that their cost (0.1 ms per request) affects both. They are needed if one
of the clients reports less than the checks need, and for faults on the wire. For any other pair they can be requested as
a second witness.
"""

import tempfile
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Self

from rocketdiff.cluster.interface import Cluster, nodes_of, security_of
from rocketdiff.cluster.launched.certificates import certificates
from rocketdiff.core.arm import Member
from rocketdiff.core.files import private_file
from rocketdiff.core.security import Security, Tls
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.proxy.program import RelayTls
from rocketdiff.traces.run_directory import CaseDirectory


class CaseRelays:
    """
    The relays of one case, if it needs any or ``is_wanted``: one before each member, whose program they must outlive.

    members: the clients under test. silent: those that report less than the checks need.
    """

    def __init__(
        self,
        cluster: Cluster,
        directory: CaseDirectory,
        members: Collection[Member],
        silent: Collection[Member],
        *,
        is_wanted: bool = False,
    ) -> None:
        self._is_wanted = is_wanted
        self._cluster = cluster
        self._directory = directory
        self._members = members
        self.silent = silent
        self._relays: dict[Member, Relay] = {}
        self._ends = ExitStack()
        self._authority: Path | None = None

    @property
    def all(self) -> tuple[Relay, ...]:
        return tuple(self._relays.values())

    def journal(self, member: Member) -> Path | None:
        """What the relay before a member recorded; None without a relay."""
        relay = self._relays.get(member)
        return None if relay is None else relay.journal

    def require_alive(self) -> None:
        """Raise EnvironmentMissing if a relay has ended by itself."""
        for relay in self._relays.values():
            relay.require_alive()

    def name_servers(self, member: Member) -> tuple[str, ...]:
        relay = self._relays.get(member)
        is_direct = relay is None or bool(self._cluster.grpc_endpoints)  # a gRPC client does not use them
        return self._cluster.name_server_addresses if relay is None or is_direct else relay.name_servers

    def endpoints(self, member: Member) -> tuple[str, ...]:
        """The gRPC endpoints for a member; empty in a topology without proxies."""
        relay = self._relays.get(member)
        served = self._cluster.grpc_endpoints
        return tuple(served.values()) if relay is None else tuple(relay.addresses[name] for name in served)

    def addresses(self, member: Member) -> Mapping[str, str]:
        """Where a member reaches each server, by name."""
        relay = self._relays.get(member)
        own = {node.name: node.address for node in nodes_of(self._cluster)}
        return own if relay is None else {**own, **relay.addresses}

    @property
    def security(self) -> Security:
        """
        Security settings of the servers, or of the relay, that the clients connect to.

        A relay presents certificates made for the run, because it lacks the servers' keys. It requests no client
        certificate; it presents the one of the security file to the servers itself.
        """
        security = security_of(self._cluster)
        return security if self._authority is None else replace(security, tls=Tls(self._authority))

    def __enter__(self) -> Self:
        if not (self.silent or self._is_wanted):
            return self
        with ExitStack() as undo:
            tls = self._tls(undo)
            for member in self._members:
                relay = Relay(upstreams_of(self._cluster), self._directory.wire_file(member), tls)
                self._relays[member] = undo.enter_context(relay)
            if tls is not None:
                Path(tls.key).unlink()  # read by now
            self._ends = undo.pop_all()
        return self

    def _tls(self, undo: ExitStack) -> RelayTls | None:
        """Certificates to show to clients are made for the run; the servers see those of the security file."""
        asked = security_of(self._cluster).tls
        if asked is None:
            return None
        made = certificates()
        folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="rocketdiff-relay-")))
        self._authority = private_file(folder / "authority.pem", made.authority)
        shown = private_file(folder / "relay.pem", made.certificate), private_file(folder / "relay.key", made.key)
        ca, own, key = (None if each is None else str(each) for each in (asked.ca, asked.certificate, asked.key))
        certificate, shown_key = map(str, shown)
        return RelayTls(certificate, shown_key, ca, own, key, asked.key_password)

    def __exit__(self, *_error: object) -> None:
        """Close every relay, even if another fails to close."""
        self._ends.close()


def upstreams_of(cluster: Cluster) -> tuple[Upstream, ...]:
    """Every server of a cluster as a relay's upstream; for gRPC clients only the servers with a gRPC endpoint."""
    if cluster.grpc_endpoints:
        served = cluster.grpc_endpoints.items()
        return tuple(Upstream(name, address, is_broker=False, is_grpc=True) for name, address in served)
    nodes = nodes_of(cluster)
    return tuple(Upstream(node.name, node.address, is_broker=node.role is not NodeKind.NAME_SERVER) for node in nodes)
