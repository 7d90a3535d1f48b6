"""
The wire as a witness: a relay before each arm supplies the attempts that a client does not report.

Relays stand before both arms or before none, so that their cost (0.1 ms per request) affects both. They are needed if one
of the clients does not claim to report its attempts, and for faults on the wire. For any other pair they can be requested
as a second witness.
"""

import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from rocketdiff.cluster.interface import Cluster, nodes_of, security_of
from rocketdiff.cluster.launched.certificates import certificates
from rocketdiff.core.arm import Arm
from rocketdiff.core.files import private_file
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import UNSEEN_ROUTE, Attempt, Send
from rocketdiff.core.security import Security, Tls
from rocketdiff.core.sends.plan import Plan, SendMode
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.protocol.records import encode_record
from rocketdiff.relay.grpc.attempts import grpc_attempts_of
from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.proxy.program import RelayTls
from rocketdiff.relay.remoting.attempt_starts import with_ends
from rocketdiff.relay.remoting.attempts import attempts_of
from rocketdiff.relay.remoting.cross_check import disagreements, not_told, other_statuses
from rocketdiff.relay.remoting.exchanges import (
    blind_spots_of,
    exchanges_of,
    losses_of,
    past_the_relay,
    publish_lists_of,
    refusals_of,
    with_routes,
)
from rocketdiff.relay.remoting.record import WireRecord, read_wire
from rocketdiff.traces.journal import with_statuses
from rocketdiff.traces.run_directory import CaseDirectory


@dataclass(frozen=True, slots=True)
class ArmReport:
    """
    The plan of an arm, and what the arm reported of it.

    confuses_answers: an asynchronous send may, by rule, get another send's response. are_beginnings: the client reports
    only starts of attempts.
    """

    topic: str
    plan: Plan
    sends: Sequence[Send]
    attempts: Sequence[Attempt]
    timeout_ms: int
    confuses_answers: bool = False
    are_beginnings: bool = False


@dataclass(frozen=True, slots=True)
class WireStory:
    """
    What the wire showed of an arm.

    told: who saw the attempts; empty without a relay. unseen: frames that the relay could not see or read, as sentences;
    the record is incomplete then. against: where the client contradicts the wire.
    """

    told: str = ""
    unseen: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


class Witness:
    """
    Relays of one case, if it needs any or ``is_wanted``. A context manager that must outlive the subjects.

    silent: arms that do not report their attempts.
    """

    def __init__(
        self, cluster: Cluster, directory: CaseDirectory, silent: Collection[Arm], *, is_wanted: bool = False
    ) -> None:
        self._is_wanted = is_wanted
        self._cluster = cluster
        self._directory = directory
        self._silent = silent
        self._relays: dict[Arm, Relay] = {}
        self._ends = ExitStack()
        self._authority: Path | None = None

    @property
    def relays(self) -> tuple[Relay, ...]:
        return tuple(self._relays.values())

    def require_alive(self) -> None:
        """Raise EnvironmentMissing if a relay has ended by itself."""
        for relay in self._relays.values():
            relay.require_alive()

    def name_servers(self, arm: Arm) -> tuple[str, ...]:
        relay = self._relays.get(arm)
        is_direct = relay is None or bool(self._cluster.grpc_endpoints)  # a gRPC client does not use them
        return self._cluster.name_server_addresses if relay is None or is_direct else relay.name_servers

    def endpoints(self, arm: Arm) -> tuple[str, ...]:
        """The gRPC endpoints for the arm's client; empty in a topology without proxies."""
        relay = self._relays.get(arm)
        served = self._cluster.grpc_endpoints
        return tuple(served.values()) if relay is None else tuple(relay.addresses[name] for name in served)

    def addresses(self, arm: Arm) -> Mapping[str, str]:
        """Where the arm's client reaches each server, by name."""
        relay = self._relays.get(arm)
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

    def testify(self, arm: Arm, work: ArmReport) -> WireStory:
        """
        What the wire saw of an arm, once its relay is closed.

        If the client reports nothing, the relay's attempts are recorded; if only starts, both are combined; otherwise
        they are compared. A status is recorded as the wire saw it, so that the rules judge what the client made of it.
        Requests that the client certainly failed to report are recorded too.
        """
        relay = self._relays.get(arm)
        if relay is None:
            return WireStory()
        records = list(read_wire(relay.journal))
        sends = {send.send: send for send in work.sends}
        threads = {send.send: send.thread for send in work.plan.sends}
        if self._cluster.grpc_endpoints:
            return self._testify_of_calls(arm, work, records, grpc_attempts_of(records, work.topic, sends, threads))
        oneway = {send.send for send in work.plan.sends if send.mode is SendMode.ONEWAY}
        attempts = attempts_of(exchanges_of(records), work.topic, sends, threads, work.timeout_ms, oneway)
        unseen = tuple(past_the_relay(records))
        if arm not in self._silent:
            others, hidden = _other_statuses(work, attempts), _not_told(work, attempts)
            if others or hidden:
                self._record(arm, (*others, *hidden))
            reported = with_statuses(work.attempts, others)
            against = tuple(disagreements(reported, attempts, losses_of(records), work.timeout_ms * 1_000_000))
            words = f"the client, and the wire: {len(attempts)} attempts"
            words += f"; {len(others)} statuses as the wire saw them" if others else ""
            words += f"; {len(hidden)} of them not reported by the client" if hidden else ""
            return WireStory(words, unseen, against)
        routes = publish_lists_of(records, work.topic)
        if work.are_beginnings:
            begun = [replace(start, oneway=start.send in oneway) for start in work.attempts]
            completed = with_ends(
                begun, attempts, sends, refusals_of(records), losses_of(records), work.timeout_ms * 1_000_000
            )
            self._record(arm, (*routes, *completed.attempts, *with_routes(work.sends, routes, ())))
            words = f"the client: {len(begun)} attempts' beginnings; the wire: {len(attempts)} of their ends, {len(routes)} routes"
            return WireStory(words, unseen, completed.against)
        placed = with_routes(work.sends, routes, blind_spots_of(records))
        self._record(arm, (*routes, *attempts, *placed))
        half_seen = sum(send.route == UNSEEN_ROUTE for send in placed)
        words = f"the wire: {len(attempts)} attempts, {len(routes)} routes; {half_seen} sends half seen"
        return WireStory(words, unseen)

    def _testify_of_calls(
        self, arm: Arm, work: ArmReport, records: Sequence[WireRecord], attempts: Sequence[Attempt]
    ) -> WireStory:
        """A gRPC client reports no attempts and has no publish list, because the proxy chooses the queue."""
        placed = with_routes(work.sends, (), blind_spots_of(records))
        self._record(arm, (*attempts, *placed))
        half_seen = sum(send.route == UNSEEN_ROUTE for send in placed)
        words = f"the wire: {len(attempts)} attempts; {half_seen} sends half seen"
        return WireStory(words, tuple(past_the_relay(records)))

    def _record(self, arm: Arm, records: Iterable[Record]) -> None:
        with self._directory.witnessed(arm) as recorder:
            for record in records:
                recorder.line(encode_record(record))

    def __enter__(self) -> Self:
        if not (self._silent or self._is_wanted):
            return self
        with ExitStack() as undo:
            tls = self._tls(undo)
            for arm in Arm:
                relay = Relay(upstreams_of(self._cluster), self._directory.wire_file(arm), tls)
                self._relays[arm] = undo.enter_context(relay)
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every relay, even if another fails to close."""
        self._ends.close()


def _other_statuses(work: ArmReport, seen: Sequence[Attempt]) -> list[Attempt]:
    """
    Attempts whose status differs between client and broker, with the broker's status.

    Except where the call itself returned the broker's status: then the client's hook contradicts its own client, which
    the guard reports.
    """
    confused = _confused(work)
    returned = {send.send: send.status for send in work.sends}
    return [
        attempt
        for attempt in other_statuses(work.attempts, seen)
        if attempt.send not in confused and returned.get(attempt.send) != attempt.status
    ]


def _not_told(work: ArmReport, seen: Sequence[Attempt]) -> list[Attempt]:
    return not_told(work.attempts, seen, work.sends, _confused(work))


def _confused(work: ArmReport) -> set[int]:
    return {send.send for send in work.plan.sends if work.confuses_answers and send.mode is SendMode.ASYNC}


def upstreams_of(cluster: Cluster) -> tuple[Upstream, ...]:
    """Every server of a cluster as a relay's upstream; for gRPC clients only the servers with a gRPC endpoint."""
    if cluster.grpc_endpoints:
        served = cluster.grpc_endpoints.items()
        return tuple(Upstream(name, address, is_broker=False, is_grpc=True) for name, address in served)
    nodes = nodes_of(cluster)
    return tuple(Upstream(node.name, node.address, is_broker=node.role is not NodeKind.NAME_SERVER) for node in nodes)
