"""
Topics of a whole cluster: created on every broker and seen in every name server's route, or deleted from all.

Functions on the cluster raise ClusterError.
"""

from collections.abc import Mapping

from rocketdiff.cluster.interface import Node
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.operations.conditions import await_condition
from rocketdiff.core.errors import ClusterError, UsageError
from rocketmq_reference.host.channels import Channels

# Registration takes a few ms; a broker that did not reach its name server retries after 10 to 30 s.
_ROUTE_TIMEOUT_S = 40.0


def queues_by_broker(queues_per_broker: int | Mapping[str, int], brokers: tuple[Node, ...]) -> dict[str, int]:
    """
    Return the queues wanted on each broker, by name, from one number for all or one per letter.

    Raises UsageError for a letter without a broker and for less than one queue.
    """
    if isinstance(queues_per_broker, int):
        queues_per_broker = {broker.letter: queues_per_broker for broker in brokers}
    unknown = set(queues_per_broker) - {broker.letter for broker in brokers}
    if unknown:
        raise UsageError("queues for brokers of this topology", seen=f"broker {', '.join(sorted(unknown))}")
    if not queues_per_broker or min(queues_per_broker.values()) < 1:
        raise UsageError("at least one queue on each broker of the topic", seen=str(dict(queues_per_broker)))
    names = {broker.letter: broker.name for broker in brokers}
    return {names[letter]: queues for letter, queues in queues_per_broker.items()}


def create_everywhere(
    channels: Channels,
    name_servers: tuple[Node, ...],
    brokers: tuple[Node, ...],
    topic: str,
    wanted: Mapping[str, int],
    *,
    ordered: bool = False,
) -> None:
    """Create a topic on the brokers in ``wanted`` and wait until every name server has exactly that route."""
    for broker in brokers:
        if broker.name in wanted:
            try:
                admin.create_topic(channels, broker.address, topic, wanted[broker.name], ordered=ordered)
            except admin.ADMIN_ERRORS as error:
                raise ClusterError(f"topic {topic} to be created on {broker.name}", seen=str(error)) from error
    await_route(channels, name_servers, topic, wanted, _ROUTE_TIMEOUT_S)


def await_route(
    channels: Channels, name_servers: tuple[Node, ...], topic: str, wanted: Mapping[str, int], timeout_s: float
) -> None:
    """Wait until the route at every name server has exactly these queues."""
    for name_server in name_servers:
        await_condition(
            f"{name_server.name} to have the route of {topic}",
            lambda address=name_server.address: _missing(channels, address, topic, wanted),  # type: ignore[misc]  # default binds it
            timeout_s,
        )


def delete_everywhere(
    channels: Channels, name_servers: tuple[Node, ...], brokers: tuple[Node, ...], topic: str
) -> None:
    """Delete a topic on all brokers, then at all name servers. Idempotent."""
    try:
        for broker in brokers:
            admin.delete_topic(channels, broker.address, topic)
        for name_server in name_servers:
            admin.forget_topic(channels, name_server.address, topic)
    except admin.ADMIN_ERRORS as error:
        raise ClusterError(f"topic {topic} to be deleted everywhere", seen=str(error)) from error


def _missing(channels: Channels, address: str, topic: str, wanted: Mapping[str, int]) -> str | None:
    try:
        found = admin.queues_in_route(admin.route(channels, address, topic))
    except admin.ADMIN_ERRORS as error:
        return str(error)
    return admin.missing_queues(wanted, found)
