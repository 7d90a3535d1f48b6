"""Looking at somebody's cluster without changing anything: where its brokers are, what they run, whether they can be used."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rocketdiff.cluster.described import DescribedCluster, DescribedNode
from rocketdiff.cluster.faults.proof import SILENCE_MS
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import ClusterError, EnvironmentMissing
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.errors import MQBrokerException

_TRIES = 20
_BETWEEN_TRIES_S = 0.05
"""Each is a connection of its own, at somebody's broker."""

_FIGURES_WITHIN_S = 5.0
_FIGURES_POLL_S = 0.1
"""A 5.x broker that has just been started answers, but not yet that: SYSTEM_ERROR for half a second (seen with 5.3.3)."""

SLOWEST_ANSWER_MS = SILENCE_MS / 4
"""An answer that takes a quarter of the time after which silence is called a pause is too near to it."""

_SECRET = re.compile(r"password|secret|credential|accesskey|token|authenticationuser", re.IGNORECASE)

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class SeenBroker:
    """
    A broker as it answers.

    release: of RocketMQ, such as 5.3.3. booted: when its store came up, in its own words, so that a restart by somebody
    else is noticed. answer_ms: the quickest of a few answers, so that it tells of the network, not of load. settings: its configuration, secrets left out.
    """

    described: DescribedNode
    address: str
    release: str
    booted: str
    answer_ms: float
    settings: Mapping[str, str]


def survey(channels: Channels, described: DescribedCluster) -> tuple[SeenBroker, ...]:
    """
    Ask every name server and broker that the file names.

    Raises ClusterError for one that does not answer, is not known under that name or has two addresses, and
    EnvironmentMissing for one that answers too slowly to tell a pause from the network.
    """
    known = {address: _registered(channels, described, address) for address in described.name_server_addresses}
    return tuple(_seen(channels, node, _address(described, node, known)) for node in described.brokers)


def release_of(described: DescribedCluster, brokers: tuple[SeenBroker, ...]) -> str:
    """
    The release that the owner says, or that all brokers say.

    Raises ClusterError when they say different ones and the owner nothing.
    """
    if described.server_release is not None:
        return described.server_release
    releases = {broker.described.name: broker.release for broker in brokers}
    if len(set(releases.values())) > 1:
        said = ", ".join(f"{name} {release}" for name, release in releases.items())
        raise ClusterError(
            "brokers of one release", seen=said, hint=f"say server_release in {described.origin}, if you want it so"
        )
    return brokers[0].release


def booted(channels: Channels, address: str) -> str:
    """When a broker's store came up, as it says itself; raises admin.ADMIN_ERRORS."""
    return _runtime_info(channels, address).get("bootTimestamp", "")


def _runtime_info(channels: Channels, address: str) -> dict[str, str]:
    """As admin.runtime_info, with patience for a broker that answers with an error; one that does not answer is not waited for."""
    deadline = time.monotonic() + _FIGURES_WITHIN_S
    while True:
        try:
            return admin.runtime_info(channels, address)
        except MQBrokerException:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_FIGURES_POLL_S)


def _registered(channels: Channels, described: DescribedCluster, address: str) -> dict[str, str]:
    return _asked(
        lambda: admin.registered_brokers(channels, address),
        f"name server {address} to tell its brokers",
        f"check name_servers in {described.origin}, and that this machine reaches them",
    )


def _address(described: DescribedCluster, node: DescribedNode, known: Mapping[str, Mapping[str, str]]) -> str:
    """A broker's one address, as all name servers tell it."""
    found = {name_server: brokers.get(node.name) for name_server, brokers in known.items()}
    addresses = set(found.values())
    if None in addresses:
        name_server = next(server for server, address in found.items() if address is None)
        there = ", ".join(sorted(known[name_server])) or "no broker at all"
        raise ClusterError(
            f"a master broker {node.name} at name server {name_server}",
            seen=there,
            hint=f"brokers.{node.letter}.name in {described.origin} is the brokerName of its broker.conf",
        )
    if len(addresses) > 1:
        raise ClusterError(f"one address of {node.name}", seen=", ".join(sorted(map(str, addresses))))
    return str(addresses.pop())


def _seen(channels: Channels, node: DescribedNode, address: str) -> SeenBroker:
    hint = "this machine must reach the address that the broker registers (brokerIP1)"
    info = _asked(
        lambda: _runtime_info(channels, address), f"{node.name} at {address} to tell its runtime figures", hint
    )
    answer_ms = _asked(lambda: _answer_ms(address), f"{node.name} at {address} to answer", hint)
    if answer_ms > SLOWEST_ANSWER_MS:
        raise EnvironmentMissing(
            f"answers of {node.name} within {SLOWEST_ANSWER_MS:g} ms",
            seen=f"{answer_ms:.0f} ms at the least",
            hint="run nearer to the cluster: a pause could not be told from the network",
        )
    return SeenBroker(
        described=node,
        address=address,
        release=_release(info.get("brokerVersionDesc", "")),
        booted=info.get("bootTimestamp", ""),
        answer_ms=answer_ms,
        settings=_asked(lambda: _settings(channels, address), f"{node.name} to tell its settings", ""),
    )


def _asked(ask: Callable[[], _Answer], expected: str, hint: str) -> _Answer:
    try:
        return ask()
    except admin.ADMIN_ERRORS as error:
        raise ClusterError(expected, seen=str(error), hint=hint) from error


def _answer_ms(address: str) -> float:
    """
    Shortest time of connecting and an answer, as a probe of a pause does; a broker answers questions for name servers too.

    Asked for again until one is quick enough: a busy machine is slow now and then, a distant one always.
    """
    shortest_ms = float("inf")
    for _ in range(_TRIES):
        if shortest_ms <= SLOWEST_ANSWER_MS:
            break
        time.sleep(_BETWEEN_TRIES_S)
        begin_ns = time.monotonic_ns()
        admin.probe_name_server(address, admin.REQUEST_TIMEOUT_MS)
        shortest_ms = min(shortest_ms, (time.monotonic_ns() - begin_ns) / 1e6)
    return shortest_ms


def _release(version: str) -> str:
    """``5.3.3`` from ``V5_3_3``; what looks otherwise stays as it is."""
    match = re.match(r"V(\d+)_(\d+)_(\d+)", version)
    return ".".join(match.groups()) if match else version


def _settings(channels: Channels, address: str) -> dict[str, str]:
    """A broker's configuration; values that could be secrets are not even kept."""
    settings = admin.broker_settings(channels, address).items()
    return {name: "(left out)" if value and _SECRET.search(name) else value for name, value in settings}
