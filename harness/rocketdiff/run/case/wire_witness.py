"""
The wire as a witness of a case: a relay before each arm, and what it saw told in place of a client that tells nothing.

Relays stand before both arms or before none, so that what they cost (0.1 ms a request) meets both alike. They are needed
where one of the two clients does not claim in its hello to tell its attempts, and where faults happen on the wire; whoever wants the wire
as a second witness of any other pair can ask for them.
"""

import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from rocketdiff.cluster.interface import Cluster, Role, nodes_of, security_of
from rocketdiff.cluster.launched.certificates import certificates
from rocketdiff.core.events import Arm
from rocketdiff.core.files import private_file
from rocketdiff.core.security import Security, Tls
from rocketdiff.core.sends.plan import Plan, SendMode
from rocketdiff.core.sends.records import UNSEEN_ROUTE, Attempt, Record, Send
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
class Work:
    """
    What an arm was asked for and what it told of it.

    confuses_answers: an asynchronous send of one of the two releases may get another one's answer, by rule. are_beginnings: its
    attempts have no ends, because its client reports only when they begin.
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
    What the wire had to say about an arm.

    told: who saw the attempts, in words; empty without a relay. unseen: sentences about frames that the relay could not see
    or read: with any of them the story is not whole. against: where the client itself told another story.
    """

    told: str = ""
    unseen: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


class Witness:
    """
    Relays of one case, if it needs any or ``is_wanted``; a context manager that must outlive the subjects.

    silent: arms that do not tell their attempts.
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
        """All of them, in the order of arms; none where nobody wants the wire."""
        return tuple(self._relays.values())

    def require_alive(self) -> None:
        """Raise EnvironmentMissing once a relay has ended by itself."""
        for relay in self._relays.values():
            relay.require_alive()

    def name_servers(self, arm: Arm) -> tuple[str, ...]:
        """What the arm's client is to be configured with."""
        relay = self._relays.get(arm)
        is_direct = relay is None or bool(self._cluster.grpc_endpoints)  # a client that speaks gRPC has no use for them
        return self._cluster.name_server_addresses if relay is None or is_direct else relay.name_servers

    def endpoints(self, arm: Arm) -> tuple[str, ...]:
        """What the arm's client is to be configured with if it speaks gRPC; empty in a topology without proxies."""
        relay = self._relays.get(arm)
        served = self._cluster.grpc_endpoints
        return tuple(served.values()) if relay is None else tuple(relay.addresses[name] for name in served)

    def addresses(self, arm: Arm) -> Mapping[str, str]:
        """Where the arm's client finds each server, by the server's name."""
        relay = self._relays.get(arm)
        own = {node.name: node.address for node in nodes_of(self._cluster)}
        return own if relay is None else {**own, **relay.addresses}

    @property
    def security(self) -> Security:
        """
        How whom the clients connect to wants to be asked.

        A relay shows certificates made for the run, since nobody but its owner has the key of a server's; and it asks for none,
        since it shows the servers the one of the security file itself.
        """
        security = security_of(self._cluster)
        return security if self._authority is None else replace(security, tls=Tls(self._authority))

    def testify(self, arm: Arm, work: Work) -> WireStory:
        """
        What the wire saw of an arm, once its relay is closed.

        Of one that tells nothing itself it is written down; of one that tells beginnings both together are; with the story of any other it
        is compared. A status is put down as the
        wire saw it, whatever the client says, so that the rules judge what the client made of it; and so are requests that the client
        certainly did not tell, which are its fault.
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
            told = with_statuses(work.attempts, others)
            against = tuple(disagreements(told, attempts, losses_of(records), work.timeout_ms * 1_000_000))
            words = f"the client, and the wire: {len(attempts)} attempts"
            words += f"; {len(others)} statuses as the wire saw them" if others else ""
            words += f"; {len(hidden)} of them not reported by the client" if hidden else ""
            return WireStory(words, unseen, against)
        routes = publish_lists_of(records, work.topic)
        if work.are_beginnings:
            begun = [replace(start, oneway=start.send in oneway) for start in work.attempts]
            whole = with_ends(
                begun, attempts, sends, refusals_of(records), losses_of(records), work.timeout_ms * 1_000_000
            )
            self._record(arm, (*routes, *whole.attempts, *with_routes(work.sends, routes, ())))
            words = f"the client: {len(begun)} attempts' beginnings; the wire: {len(attempts)} of their ends, {len(routes)} routes"
            return WireStory(words, unseen, whole.against)
        placed = with_routes(work.sends, routes, blind_spots_of(records))
        self._record(arm, (*routes, *attempts, *placed))
        half_seen = sum(send.route == UNSEEN_ROUTE for send in placed)
        words = f"the wire: {len(attempts)} attempts, {len(routes)} routes; {half_seen} sends half seen"
        return WireStory(words, unseen)

    def _testify_of_calls(
        self, arm: Arm, work: Work, records: Sequence[WireRecord], attempts: Sequence[Attempt]
    ) -> WireStory:
        """A client that speaks gRPC tells no attempts, and no publish list of its own: the proxy chooses the queue."""
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
        """Files for relays: certificates made for the run to show to clients, those of the security file to ask servers by."""
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
        """End every relay, whatever the others say to that; their records are whole then."""
        self._ends.close()


def _other_statuses(work: Work, seen: Sequence[Attempt]) -> list[Attempt]:
    """
    Attempts of a client that tells another status of them than the broker gave; put down as the broker gave it.

    Not where the call itself returned that status: then the hook is at odds with its own client, which is for the guard.
    """
    confused = _confused(work)
    returned = {one.send: one.status for one in work.sends}
    return [
        one
        for one in other_statuses(work.attempts, seen)
        if one.send not in confused and returned.get(one.send) != one.status
    ]


def _not_told(work: Work, seen: Sequence[Attempt]) -> list[Attempt]:
    return not_told(work.attempts, seen, work.sends, _confused(work))


def _confused(work: Work) -> set[int]:
    """Sends that may have been given another one's answer."""
    return {one.send for one in work.plan.sends if work.confuses_answers and one.mode is SendMode.ASYNC}


def upstreams_of(cluster: Cluster) -> tuple[Upstream, ...]:
    """Every server of a cluster, as a relay is told of it; where clients speak gRPC, those that serve it."""
    if cluster.grpc_endpoints:
        served = cluster.grpc_endpoints.items()
        return tuple(Upstream(name, address, is_broker=False, is_grpc=True) for name, address in served)
    nodes = nodes_of(cluster)
    return tuple(Upstream(node.name, node.address, is_broker=node.role is not Role.NAME_SERVER) for node in nodes)
