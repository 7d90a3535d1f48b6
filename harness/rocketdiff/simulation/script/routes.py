"""How a script writes a route, in both directions: brokers in the order of the name server's answer, or null."""

from typing import Annotated, Any

from msgspec import Meta

from rocketdiff.simulation.script.fields import Place, convert, members, read
from rocketdiff.simulation.script.vocabulary import BrokerName, BrokerRoute, Route

MOST_BROKERS = 1_000
MOST_QUEUES = 16_384
"""Queues of a route over all its brokers: a dump prints the whole list."""

_READ_AND_WRITE = 6

_Queues = Annotated[int, Meta(ge=0, le=4_096)]


def read_route(raw: object, place: Place) -> Route:
    """A route; the empty one is refused, because a name server that has no brokers for a topic does not know it."""
    if raw is None:
        return None
    if not isinstance(raw, dict):
        place.refuse("an object of brokers, or null when the name server does not know the topic", seen=raw)
    if not 0 < len(raw) <= MOST_BROKERS:
        place.refuse(f"1 to {MOST_BROKERS} brokers", seen=len(raw), hint="null is the route of an unknown topic")
    route = tuple(_broker(name, value, place) for name, value in raw.items())
    queues = sum(broker.queues for broker in route)
    if queues > MOST_QUEUES:
        place.refuse(f"at most {MOST_QUEUES} queues in all", seen=queues)
    return route


def _broker(name: str, raw: Any, place: Place) -> BrokerRoute:
    convert(BrokerName, name, place)
    at = place / name
    if not isinstance(raw, dict):
        return BrokerRoute(name, convert(_Queues, raw, at))
    return read(BrokerRoute, {"name": name, **members(raw, at, ("queues", "perm", "master"))}, at)


def route_data(route: Route) -> dict[str, Any] | None:
    """A route as the script writes it; a broker of which nothing is special is the number of its queues."""
    return None if route is None else {broker.name: _broker_data(broker) for broker in route}


def _broker_data(broker: BrokerRoute) -> int | dict[str, int | bool]:
    if broker == BrokerRoute(broker.name, broker.queues):
        return broker.queues
    data: dict[str, int | bool] = {"queues": broker.queues}
    if broker.perm != _READ_AND_WRITE:
        data["perm"] = broker.perm
    if not broker.master:
        data["master"] = False
    return data
