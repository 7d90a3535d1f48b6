"""
Publish lists of a client that does not report them, derived from the route responses it received.

Every remoting client builds the same list from a route: writable brokers that have a master, by name, and the queues of each
from 0. That the client uses the list in this order is a rule it is judged by; the wire cannot show it.
"""

from collections.abc import Iterable

from rocketdiff.core.records import RouteSeen
from rocketdiff.relay.remoting.wire import Passed, WireRecord
from rocketmq_reference.remoting.codes import RequestCode


def publish_lists_of(records: Iterable[WireRecord], topic: str) -> list[RouteSeen]:
    """One list per route response of the topic that differs from the previous one, with the time the response was forwarded."""
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
            _take(seen, record)
    return seen


def _take(seen: list[RouteSeen], answer: Passed) -> None:
    queues = tuple((broker, queue) for broker, count in answer.queues or () for queue in range(count))
    if queues and (not seen or seen[-1].queues != queues):
        seen.append(RouteSeen(len(seen) + 1, answer.out_ns or answer.in_ns, queues))
