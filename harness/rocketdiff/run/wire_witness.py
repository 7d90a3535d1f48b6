"""
The wire as a witness of a case: a relay before each arm, and what it saw told in place of a client that tells nothing.

Relays stand before both arms or before none, so that what they cost (0.1 ms a request) meets both alike. They are needed
where one of the two clients does not claim in its hello to tell its attempts, and where faults happen on the wire; whoever wants the wire
as a second witness of any other pair can ask for them.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rocketdiff.cluster.interface import Cluster, Role, nodes_of
from rocketdiff.core.events import Arm
from rocketdiff.core.plan import Plan, SendMode
from rocketdiff.core.records import UNSEEN_ROUTE, Attempt, Record, Send
from rocketdiff.protocol.records import encode_record
from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.remoting.attempts import attempts_of
from rocketdiff.relay.remoting.cross_check import disagreements, other_statuses
from rocketdiff.relay.remoting.exchanges import (
    blind_spots_of,
    exchanges_of,
    losses_of,
    past_the_relay,
    publish_lists_of,
    with_routes,
)
from rocketdiff.relay.remoting.record import read_wire
from rocketdiff.traces.case_directory import CaseDirectory
from rocketdiff.traces.journal import with_statuses


@dataclass(frozen=True, slots=True)
class Work:
    """
    What an arm was asked for and what it told of it.

    confuses_answers: an asynchronous send of one of the two releases may get another one's answer, by rule.
    """

    topic: str
    plan: Plan
    sends: Sequence[Send]
    attempts: Sequence[Attempt]
    timeout_ms: int
    confuses_answers: bool = False


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
        return self._cluster.name_server_addresses if relay is None else relay.name_servers

    def addresses(self, arm: Arm) -> Mapping[str, str]:
        """Where the arm's client finds each server, by the server's name."""
        relay = self._relays.get(arm)
        return {node.name: node.address for node in nodes_of(self._cluster)} if relay is None else relay.addresses

    def testify(self, arm: Arm, work: Work) -> WireStory:
        """
        What the wire saw of an arm, once its relay is closed.

        Of one that tells nothing itself it is written down; with the story of any other it is compared. A status is put down as the
        wire saw it, whatever the client says, so that the rules judge what the client made of it.
        """
        relay = self._relays.get(arm)
        if relay is None:
            return WireStory()
        records = list(read_wire(relay.journal))
        sends = {send.send: send for send in work.sends}
        threads = {send.send: send.thread for send in work.plan.sends}
        oneway = {send.send for send in work.plan.sends if send.mode is SendMode.ONEWAY}
        attempts = attempts_of(exchanges_of(records), work.topic, sends, threads, work.timeout_ms, oneway)
        unseen = tuple(past_the_relay(records))
        if arm not in self._silent:
            others = self._other_statuses(arm, work, attempts)
            told = with_statuses(work.attempts, others)
            against = tuple(disagreements(told, attempts, losses_of(records), work.timeout_ms * 1_000_000))
            words = f"the client, and the wire: {len(attempts)} attempts"
            words += f"; {len(others)} statuses as the wire saw them" if others else ""
            return WireStory(words, unseen, against)
        routes = publish_lists_of(records, work.topic)
        placed = with_routes(work.sends, routes, blind_spots_of(records))
        whole: tuple[Record, ...] = (*routes, *attempts, *placed)
        with self._directory.witnessed(arm) as recorder:
            for seen in whole:
                recorder.line(encode_record(seen))
        half_seen = sum(send.route == UNSEEN_ROUTE for send in placed)
        words = f"the wire: {len(attempts)} attempts, {len(routes)} routes; {half_seen} sends half seen"
        return WireStory(words, unseen)

    def _other_statuses(self, arm: Arm, work: Work, seen: Sequence[Attempt]) -> list[Attempt]:
        """
        Attempts of a client that tells another status of them than the broker gave; put down as the broker gave it.

        Not where the call itself returned that status: then the hook is at odds with its own client, which is for the guard.
        """
        confused = {one.send for one in work.plan.sends if work.confuses_answers and one.mode is SendMode.ASYNC}
        returned = {one.send: one.status for one in work.sends}
        others = [
            one
            for one in other_statuses(work.attempts, seen)
            if one.send not in confused and returned.get(one.send) != one.status
        ]
        if others:
            with self._directory.witnessed(arm) as recorder:
                for one in others:
                    recorder.line(encode_record(one))
        return others

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            for arm in Arm if self._silent or self._is_wanted else ():
                relay = Relay(upstreams_of(self._cluster), self._directory.wire_file(arm))
                self._relays[arm] = undo.enter_context(relay)
            self._ends = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every relay, whatever the others say to that; their records are whole then."""
        self._ends.close()


def upstreams_of(cluster: Cluster) -> tuple[Upstream, ...]:
    """Every server of a cluster, as a relay is told of it."""
    nodes = nodes_of(cluster)
    return tuple(Upstream(node.name, node.address, is_broker=node.role is not Role.NAME_SERVER) for node in nodes)
