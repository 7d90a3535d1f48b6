"""
Times at which the wire may have missed attempts of a client.

While a server's port is shut, the kernel refuses connections without a record, so a send in that time may have had unseen
attempts. The loss of a connection is another such time: requests that the client writes before it notices never arrive.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rocketdiff.core.records import UNSEEN_ROUTE, Attempt, RouteSeen, Send
from rocketdiff.relay.remoting.wire import Closed, Opened, Refused, Shut, WireRecord

END_OF_TIME_NS = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """Begin and end on the monotonic clock; equal where a client was accepted and its server refused."""

    begin_ns: int
    end_ns: int

    def meets(self, told: Send | Attempt, within_ns: int = 0) -> bool:
        """Whether it overlaps a call or an attempt, extended by ``within_ns`` at both ends."""
        return told.start_ns - within_ns <= self.end_ns and self.begin_ns <= told.end_ns + within_ns


def blind_spots_of(records: Iterable[WireRecord]) -> list[BlindSpot]:
    """Ordered by begin; one without an end lasts for ever."""
    return sorted((spot for _, spot in _refusing(records)), key=lambda spot: spot.begin_ns)


def losses_of(records: Sequence[WireRecord]) -> dict[str, list[BlindSpot]]:
    """By server: when it refused connections, and when a connection was lost that the client did not close."""
    losses: defaultdict[str, list[BlindSpot]] = defaultdict(list)
    for node, spot in _refusing(records):
        losses[node].append(spot)
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
    The sends with the number of the publish list before and after the call.

    The first list also counts for a send that began before the route was requested. A send that overlaps a blind spot gets
    UNSEEN_ROUTE, which the oracle leaves undecided.
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
