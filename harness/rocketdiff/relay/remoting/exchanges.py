"""
Send requests with what became of them: the answer of the same number on the same connection, or how it ended without.

In: the records of one relay, in the order they were written. Out: one exchange for each send request with our id, by the
time the relay had it. An answer after its client stopped to wait is an answer here; who waited is not the wire's to say.
One that a switch of the relay swallowed, or in whose place it reset the connection, is none: no client ever had it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rocketdiff.relay.remoting.wire import Closed, Passed, WireRecord


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request; ``answer`` None if none came, ``closed`` if its connection ended before one did."""

    request: Passed
    answer: Passed | None = None
    closed: Closed | None = None

    @property
    def identity(self) -> str:
        """``RUN/TOPIC/SEND``."""
        return self.request.identity or ""

    @property
    def node(self) -> str:
        """Broker the request was for."""
        return self.request.node


def exchanges_of(records: Iterable[WireRecord]) -> list[Exchange]:
    """Every send request with our id, in order."""
    waiting: dict[tuple[int, int], Passed] = {}
    ended: list[Exchange] = []
    for record in records:
        match record:
            case Passed(to="server", response=False) if record.identity is not None:
                waiting[record.connection, record.opaque] = record
            case Passed(to="client", response=True) if record.has_arrived:
                asked = waiting.pop((record.connection, record.opaque), None)
                if asked is not None:
                    ended.append(Exchange(asked, record))
            case Closed():
                lost = [key for key in waiting if key[0] == record.connection]
                ended += [Exchange(waiting.pop(key), closed=record) for key in lost]
            case _:
                pass
    ended += [Exchange(asked) for asked in waiting.values()]
    return sorted(ended, key=lambda exchange: exchange.request.in_ns)


def past_the_relay(records: Iterable[WireRecord]) -> list[str]:
    """What a client did where the relay could not see it, or what it could not read; empty for a whole story."""
    return [record.note for record in records if isinstance(record, Passed) and record.note is not None]
