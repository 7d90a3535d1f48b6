"""Read-only inspection of an existing cluster: addresses, releases, settings and response times of its brokers."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rocketdiff.cluster.access import is_denied, remedy, require_tls
from rocketdiff.cluster.external.described import DescribedCluster, DescribedNode
from rocketdiff.cluster.faults.proof import SILENCE_MS
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import ClusterError, EnvironmentMissing
from rocketdiff.core.security import Security
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.errors import MQBrokerException

_TRIES = 60
_BETWEEN_TRIES_S = 0.1
"""
Each try is a new connection to the owner's broker.

All take at least 6 s, because a busy machine may be slow for a whole second.
"""

_RUNTIME_INFO_WITHIN_S = 5.0
_RUNTIME_INFO_POLL_S = 0.1
"""A 5.x broker answers SYSTEM_ERROR to this request for half a second after its start (seen with 5.3.3)."""

SLOWEST_ANSWER_MS = SILENCE_MS / 4
"""A quarter of the silence that proves a pause. Slower answers could be mistaken for a pause."""

_SECRET = re.compile(r"password|secret|credential|accesskey|token|authenticationuser", re.IGNORECASE)

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class BrokerInfo:
    """
    A broker as it answered.

    release: of RocketMQ, such as 5.3.3. booted: the reported start time of its store; a change shows an external restart.
    answer_ms: the shortest of a few, so that it measures the network, not load. settings: without secrets.
    """

    described: DescribedNode
    address: str
    release: str
    booted: str
    answer_ms: float
    settings: Mapping[str, str]


def inspect_brokers(channels: Channels, described: DescribedCluster) -> tuple[BrokerInfo, ...]:
    """
    Query all name servers and brokers of the file.

    Raises ClusterError for one that does not answer, is not registered under that name or has two addresses, and
    EnvironmentMissing for one that is so slow that a pause would be indistinguishable from the network.
    """
    known = {address: _registered(channels, described, address) for address in described.name_server_addresses}
    return tuple(_inspect(channels, described, node, _address(described, node, known)) for node in described.brokers)


def release_of(described: DescribedCluster, brokers: tuple[BrokerInfo, ...]) -> str:
    """
    Return the release in the file, else the one that all brokers report.

    Raises ClusterError if the file gives none and the brokers report different ones.
    """
    if described.server_release is not None:
        return described.server_release
    releases = {broker.described.name: broker.release for broker in brokers}
    if len(set(releases.values())) > 1:
        reported = ", ".join(f"{name} {release}" for name, release in releases.items())
        raise ClusterError(
            "brokers of one release",
            seen=reported,
            hint=f"set server_release in {described.origin}, if this is intended",
        )
    return brokers[0].release


def boot_time(channels: Channels, address: str) -> str:
    """Start time of a broker's store as it reports it. Raises admin.ADMIN_ERRORS."""
    return _runtime_info(channels, address).get("bootTimestamp", "")


def _runtime_info(channels: Channels, address: str) -> dict[str, str]:
    """As admin.runtime_info, retried after an error response, but not after no response."""
    deadline = time.monotonic() + _RUNTIME_INFO_WITHIN_S
    while True:
        try:
            return admin.runtime_info(channels, address)
        except MQBrokerException as error:
            if is_denied(error) or time.monotonic() >= deadline:
                raise
            time.sleep(_RUNTIME_INFO_POLL_S)


def _registered(channels: Channels, described: DescribedCluster, address: str) -> dict[str, str]:
    require_tls("name server", address, described.security, described.security_file)
    return _ask(
        lambda: admin.registered_brokers(channels, address),
        f"name server {address} to report its brokers",
        f"check name_servers in {described.origin}, and that this machine reaches them",
        described,
    )


def _address(described: DescribedCluster, node: DescribedNode, known: Mapping[str, Mapping[str, str]]) -> str:
    """Return a broker's address, which must be the same at all name servers."""
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


def _inspect(channels: Channels, described: DescribedCluster, node: DescribedNode, address: str) -> BrokerInfo:
    security = described.security
    require_tls(node.name, address, security, described.security_file)
    hint = "this machine must reach the address that the broker registers (brokerIP1)"
    figures = f"{node.name} at {address} to report its runtime figures"
    info = _ask(lambda: _runtime_info(channels, address), figures, hint, described)
    answer_ms = _ask(lambda: _answer_ms(address, security), f"{node.name} at {address} to answer", hint, described)
    if answer_ms > SLOWEST_ANSWER_MS:
        raise EnvironmentMissing(
            f"answers of {node.name} within {SLOWEST_ANSWER_MS:g} ms",
            seen=f"{answer_ms:.0f} ms at the least",
            hint="run nearer to the cluster: a pause would be indistinguishable from network delay",
        )
    return BrokerInfo(
        described=node,
        address=address,
        release=_release(info.get("brokerVersionDesc", "")),
        booted=info.get("bootTimestamp", ""),
        answer_ms=answer_ms,
        settings=_ask(lambda: _settings(channels, address), f"{node.name} to report its settings", "", described),
    )


def _ask(request: Callable[[], _Answer], expected: str, hint: str, described: DescribedCluster) -> _Answer:
    try:
        return request()
    except admin.ADMIN_ERRORS as error:
        raise ClusterError(expected, seen=str(error), hint=remedy_for(error, described) or hint) from error


def remedy_for(error: BaseException, described: DescribedCluster) -> str:
    """Return what to try if access control or TLS caused the error; otherwise empty."""
    return remedy(error, described.security, described.security_file)


def _answer_ms(address: str, security: Security) -> float:
    """
    Shortest time of a connection and an answer, as in the probe of a pause. Brokers answer this name server request too.

    Repeated until one is fast enough: a busy machine is slow now and then, a distant one always.
    """
    shortest_ms = float("inf")
    for _ in range(_TRIES):
        if shortest_ms <= SLOWEST_ANSWER_MS:
            break
        time.sleep(_BETWEEN_TRIES_S)
        begin_ns = time.monotonic_ns()
        admin.probe_name_server(address, admin.REQUEST_TIMEOUT_MS, security=security)
        shortest_ms = min(shortest_ms, (time.monotonic_ns() - begin_ns) / 1e6)
    return shortest_ms


def _release(version: str) -> str:
    """Return ``5.3.3`` for ``V5_3_3``, any other text unchanged."""
    match = re.match(r"V(\d+)_(\d+)_(\d+)", version)
    return ".".join(match.groups()) if match else version


def _settings(channels: Channels, address: str) -> dict[str, str]:
    """A broker's configuration; possible secrets are not even kept in memory."""
    settings = admin.broker_settings(channels, address).items()
    return {name: "(left out)" if value and _SECRET.search(name) else value for name, value in settings}
