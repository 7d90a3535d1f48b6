"""
When the wire cannot have seen everything a client tried.

While a server's port was shut, connections to it were refused by the kernel and left no trace; a send that fell into such
a time may have had attempts that nobody saw.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.core.records import UNSEEN_ROUTE, RouteSeen, SendEnded
from harness.relay.wire import Opened, Refused, Shut, WireRecord

END_OF_TIME_NS = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """From when to when, on the monotonic clock; an instant where a client was accepted and its server was gone."""

    begin_ns: int
    end_ns: int

    def meets(self, send: SendEnded) -> bool:
        """Whether any of it fell into the call."""
        return send.start_ns <= self.end_ns and self.begin_ns <= send.end_ns


def blind_spots_of(records: Iterable[WireRecord]) -> list[BlindSpot]:
    """By when they began; one that did not end lasts for ever."""
    spots: list[BlindSpot] = []
    shut: dict[str, int] = {}
    for record in records:
        match record:
            case Refused():
                spots.append(BlindSpot(record.at_ns, record.at_ns))
            case Shut():
                shut.setdefault(record.node, record.at_ns)
            case Opened() if record.node in shut:
                spots.append(BlindSpot(shut.pop(record.node), record.at_ns))
            case _:
                pass
    spots += [BlindSpot(begin_ns, END_OF_TIME_NS) for begin_ns in shut.values()]
    return sorted(spots, key=lambda spot: spot.begin_ns)


def with_routes(sends: Iterable[SendEnded], routes: Sequence[RouteSeen], spots: Sequence[BlindSpot]) -> list[SendEnded]:
    """
    The sends with the number of the publish list before and after, as far as the wire knows.

    The first list also stands for a send that began before it was asked for. A send that meets a blind spot says so.
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
