"""
A client's requests with their responses, its publish lists and the blind spots, from the records of one relay.

Exchanges. Remoting multiplexes requests on a connection: the client gives each request a number (``opaque``), and the response
repeats it, in any order. So (connection, opaque) identifies a pending request, as in the client's own table:

    record                          pending request of that key
    ------------------------------  -----------------------------------------------------------------
    send request with our id        becomes pending; an earlier one under the same key ends without a response: up to 4.6.1
                                    a client may use a number twice, and its table then has only the later request
    response, forwarded             ends with this response
    response, swallowed or reset    stays pending: the client never received it
    closed connection               all pending requests of the connection end without a response
    end of the records              ends without response and without close

A response counts here even if the client had stopped waiting; ``attempts.py`` decides whether it had.

Blind spots. While a server's port is shut, refused connections leave no record. After the loss of a connection, requests
written before the client notices it never arrive. So a send at such a time may have unseen attempts.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rocketdiff.core.records.sending import UNSEEN_ROUTE, Attempt, RouteSeen, Send
from rocketdiff.relay.remoting.record import Closed, Opened, Passed, Refused, Shut, WireRecord
from rocketmq_reference.remoting.codes import RequestCode

END_OF_TIME_NS = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request. answer: None without a response. closed: set if the connection ended before a response."""

    request: Passed
    answer: Passed | None = None
    closed: Closed | None = None

    @property
    def identity(self) -> str:
        return self.request.identity or ""

    @property
    def node(self) -> str:
        return self.request.node


def exchanges_of(records: Iterable[WireRecord]) -> list[Exchange]:
    """Return all send requests with our id, ordered by arrival."""
    waiting: dict[tuple[int, int], Passed] = {}
    ended: list[Exchange] = []
    for record in records:
        match record:
            case Passed(to="server", response=False) if record.identity is not None:
                earlier = waiting.pop((record.connection, record.opaque), None)
                if earlier is not None:
                    ended.append(Exchange(earlier))
                waiting[record.connection, record.opaque] = record
            case Passed(to="client", response=True) if record.has_arrived:
                # Responses to other requests (routes, heartbeats) match no pending send request.
                request = waiting.pop((record.connection, record.opaque), None)
                if request is not None:
                    ended.append(Exchange(request, record))
            case Closed():
                # No later connection can deliver their responses, so the client fails all of them at once.
                lost = [key for key in waiting if key[0] == record.connection]
                ended += [Exchange(waiting.pop(key), closed=record) for key in lost]
            case _:
                pass
    ended += [Exchange(request) for request in waiting.values()]
    return sorted(ended, key=lambda exchange: exchange.request.in_ns)


def past_the_relay(records: Iterable[WireRecord]) -> list[str]:
    """Return the notes of frames that bypass the relay or could not be decoded; empty if the records are complete."""
    return [record.note for record in records if isinstance(record, Passed) and record.note is not None]


def publish_lists_of(records: Iterable[WireRecord], topic: str) -> list[RouteSeen]:
    """
    Return the client's publish lists: one per route response of the topic that differs from the previous one.

    Every remoting client builds the same list: writable brokers with a master, by name, each with its queues from 0. The wire
    does not show whether the client uses this order; that is judged.
    """
    asked: set[tuple[int, int]] = set()
    seen: list[RouteSeen] = []
    for record in records:
        if not isinstance(record, Passed):
            continue
        key = record.connection, record.opaque
        if record.to == "server" and record.code == RequestCode.GET_ROUTEINFO_BY_TOPIC and record.topic == topic:
            asked.add(key)
        elif record.to == "client" and record.response and record.has_arrived and key in asked:
            asked.discard(key)
            _append_changed(seen, record)
    return seen


def _append_changed(seen: list[RouteSeen], answer: Passed) -> None:
    queues = tuple((broker, queue) for broker, count in answer.queues or () for queue in range(count))
    if queues and (not seen or seen[-1].queues != queues):
        seen.append(RouteSeen(len(seen) + 1, answer.out_ns or answer.in_ns, queues))


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """Begin and end on the monotonic clock; equal if the relay accepted a client and the server refused."""

    begin_ns: int
    end_ns: int

    def meets(self, call: Send | Attempt, within_ns: int = 0) -> bool:
        """True if it overlaps a call or an attempt, extended by ``within_ns`` at both ends."""
        return call.start_ns - within_ns <= self.end_ns and self.begin_ns <= call.end_ns + within_ns


def blind_spots_of(records: Iterable[WireRecord]) -> list[BlindSpot]:
    """Return the times at which servers refused connections, ordered by begin; an open one never ends."""
    return sorted((spot for _, spot in _refusing(records)), key=lambda spot: spot.begin_ns)


def refusals_of(records: Iterable[WireRecord]) -> dict[str, list[BlindSpot]]:
    """Return for each server the times at which it refused connections."""
    refusals: defaultdict[str, list[BlindSpot]] = defaultdict(list)
    for node, spot in _refusing(records):
        refusals[node].append(spot)
    return dict(refusals)


def losses_of(records: Sequence[WireRecord]) -> dict[str, list[BlindSpot]]:
    """Return for each server the times of refused connections and of connections lost, not closed by the client."""
    losses = defaultdict(list, refusals_of(records))
    for record in records:
        if isinstance(record, Closed) and record.by != "client":
            losses[record.node].append(BlindSpot(record.at_ns, record.at_ns))
    return dict(losses)


def _refusing(records: Iterable[WireRecord]) -> Iterator[tuple[str, BlindSpot]]:
    shut: dict[str, int] = {}
    for record in records:
        match record:
            case Refused():
                yield record.node, BlindSpot(record.at_ns, record.at_ns)
            case Shut():
                shut.setdefault(record.node, record.at_ns)
            case Opened() if record.node in shut:
                yield record.node, BlindSpot(shut.pop(record.node), record.at_ns)
            case _:
                pass
    for node, begin_ns in shut.items():
        yield node, BlindSpot(begin_ns, END_OF_TIME_NS)


def with_routes(sends: Iterable[Send], routes: Sequence[RouteSeen], spots: Sequence[BlindSpot]) -> list[Send]:
    """
    Return the sends with the number of the publish list before and after the call.

    The first list also applies to a send that began before the route was requested. A send that overlaps a blind spot gets
    UNSEEN_ROUTE; the oracle leaves it undecided.
    """
    return [
        replace(send, route=UNSEEN_ROUTE, route_after=UNSEEN_ROUTE)
        if any(spot.meets(send) for spot in spots)
        else replace(send, route=_route_at(routes, send.start_ns), route_after=_route_at(routes, send.end_ns))
        for send in sends
    ]


def _route_at(routes: Sequence[RouteSeen], at_ns: int) -> int:
    by_then = [route.route for route in routes if route.at_ns <= at_ns]
    return by_then[-1] if by_then else min((route.route for route in routes), default=0)
