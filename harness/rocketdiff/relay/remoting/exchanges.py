"""
Send requests with their responses.

Theory of operation. Remoting multiplexes requests on a connection: a request carries a number (``opaque``) that its client
chooses, and the response repeats it, in any order. Numbers are unique among the pending requests of a client, and a
connection belongs to one client, so (connection, opaque) identifies a pending request:

    record                          pending request of that key
    ------------------------------  -----------------------------------------------------------------
    send request with our id        becomes pending
    response, forwarded             ends with this response
    response, swallowed or reset    stays pending: the client never received it
    closed connection               all pending requests of the connection end without a response
    end of the records              ends without response and without close

In: the records of one relay, in the order they were written. Out: one exchange per send request with our id, ordered by the
arrival of the request. A response that came after the client stopped waiting counts here: whether the client was still
waiting is decided in ``attempts.py``.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rocketdiff.relay.remoting.wire import Closed, Passed, WireRecord


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request; ``answer`` is None without a response, ``closed`` is set if the connection ended before one came."""

    request: Passed
    answer: Passed | None = None
    closed: Closed | None = None

    @property
    def identity(self) -> str:
        """``RUN/TOPIC/SEND``."""
        return self.request.identity or ""

    @property
    def node(self) -> str:
        """The broker the request was sent to."""
        return self.request.node


def exchanges_of(records: Iterable[WireRecord]) -> list[Exchange]:
    """All send requests with our id, ordered by arrival."""
    waiting: dict[tuple[int, int], Passed] = {}
    ended: list[Exchange] = []
    for record in records:
        match record:
            case Passed(to="server", response=False) if record.identity is not None:
                # Up to 4.6.1 two requests may have one number: the later one takes the key, as in the client's own
                # table, and the earlier one has no exchange.
                waiting[record.connection, record.opaque] = record
            case Passed(to="client", response=True) if record.has_arrived:
                # Responses to other requests (routes, heartbeats) have no pending send request here.
                asked = waiting.pop((record.connection, record.opaque), None)
                if asked is not None:
                    ended.append(Exchange(asked, record))
            case Closed():
                # The client fails all of them at once: no later connection can deliver their responses.
                lost = [key for key in waiting if key[0] == record.connection]
                ended += [Exchange(waiting.pop(key), closed=record) for key in lost]
            case _:
                pass
    ended += [Exchange(asked) for asked in waiting.values()]
    return sorted(ended, key=lambda exchange: exchange.request.in_ns)


def past_the_relay(records: Iterable[WireRecord]) -> list[str]:
    """Notes of frames that lead past the relay or could not be decoded; empty if the records are complete."""
    return [record.note for record in records if isinstance(record, Passed) and record.note is not None]
