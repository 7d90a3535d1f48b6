"""
The wire as a witness of sends: it supplies the attempts that a client does not report, and contradicts wrong ones.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.arm import Member
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import UNSEEN_ROUTE, Attempt, Send
from rocketdiff.core.sends.plan import Plan, SendMode
from rocketdiff.protocol.records import encode_record
from rocketdiff.relay.grpc.attempts import grpc_attempts_of
from rocketdiff.relay.remoting.attempt_starts import with_ends
from rocketdiff.relay.remoting.attempts import attempts_of
from rocketdiff.relay.remoting.cross_check import disagreements, other_statuses, unreported_attempts
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
from rocketdiff.run.case.guards import WireReport
from rocketdiff.run.case.relays import CaseRelays
from rocketdiff.traces.journal import with_statuses
from rocketdiff.traces.run_directory import CaseDirectory


@dataclass(frozen=True, slots=True)
class ClientReport:
    """
    The plan of an arm, and what its client reported of it.

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


class WireWitness:
    """Reads what the relays of a case recorded, and adds to the journals what their clients did not report."""

    def __init__(self, cluster: Cluster, directory: CaseDirectory, relays: CaseRelays) -> None:
        self._cluster = cluster
        self._directory = directory
        self._relays = relays

    def report_of(self, member: Member, work: ClientReport) -> WireReport:
        """
        Return what the wire saw of a client, once its relay is closed.

        If the client reports nothing, the relay's attempts are recorded; if only starts, both are combined; otherwise
        they are compared. A status is recorded as the wire saw it, so that the rules judge what the client made of it.
        Requests that the client certainly failed to report are recorded too.
        """
        journal = self._relays.journal(member)
        if journal is None:
            return WireReport()
        records = list(read_wire(journal))
        sends = {send.send: send for send in work.sends}
        threads = {send.send: send.thread for send in work.plan.sends}
        if self._cluster.grpc_endpoints:
            return self._report_of_calls(member, work, records, grpc_attempts_of(records, work.topic, sends, threads))
        oneway = {send.send for send in work.plan.sends if send.mode is SendMode.ONEWAY}
        attempts = attempts_of(exchanges_of(records), work.topic, sends, threads, work.timeout_ms, oneway)
        unseen = tuple(past_the_relay(records))
        if member not in self._relays.silent:
            others, hidden = _other_statuses(work, attempts), _unreported(work, attempts)
            if others or hidden:
                self._record(member, (*others, *hidden))
            reported = with_statuses(work.attempts, others)
            against = tuple(disagreements(reported, attempts, losses_of(records), work.timeout_ms * 1_000_000))
            words = f"the client, and the wire: {len(attempts)} attempts"
            words += f"; {len(others)} statuses as the wire saw them" if others else ""
            words += f"; {len(hidden)} of them not reported by the client" if hidden else ""
            return WireReport(words, unseen, against)
        routes = publish_lists_of(records, work.topic)
        if work.are_beginnings:
            begun = [replace(start, oneway=start.send in oneway) for start in work.attempts]
            completed = with_ends(
                begun, attempts, sends, refusals_of(records), losses_of(records), work.timeout_ms * 1_000_000
            )
            self._record(member, (*routes, *completed.attempts, *with_routes(work.sends, routes, ())))
            words = f"the client: {len(begun)} attempts' beginnings; the wire: {len(attempts)} of their ends, {len(routes)} routes"
            return WireReport(words, unseen, completed.against)
        placed = with_routes(work.sends, routes, blind_spots_of(records))
        self._record(member, (*routes, *attempts, *placed))
        half_seen = sum(send.route == UNSEEN_ROUTE for send in placed)
        words = f"the wire: {len(attempts)} attempts, {len(routes)} routes; {half_seen} sends half seen"
        return WireReport(words, unseen)

    def _report_of_calls(
        self, member: Member, work: ClientReport, records: Sequence[WireRecord], attempts: Sequence[Attempt]
    ) -> WireReport:
        """A gRPC client reports no attempts and has no publish list, because the proxy chooses the queue."""
        placed = with_routes(work.sends, (), blind_spots_of(records))
        self._record(member, (*attempts, *placed))
        half_seen = sum(send.route == UNSEEN_ROUTE for send in placed)
        words = f"the wire: {len(attempts)} attempts; {half_seen} sends half seen"
        return WireReport(words, tuple(past_the_relay(records)))

    def _record(self, member: Member, records: Iterable[Record]) -> None:
        with self._directory.witnessed(member) as recorder:
            for record in records:
                recorder.line(encode_record(record))


def _other_statuses(work: ClientReport, seen: Sequence[Attempt]) -> list[Attempt]:
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


def _unreported(work: ClientReport, seen: Sequence[Attempt]) -> list[Attempt]:
    return unreported_attempts(work.attempts, seen, work.sends, _confused(work))


def _confused(work: ClientReport) -> set[int]:
    return {send.send for send in work.plan.sends if work.confuses_answers and send.mode is SendMode.ASYNC}
