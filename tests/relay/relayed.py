"""A relay before the in-memory cluster, and a reference producer behind the relay."""

import errno
import socket
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.remoting.record import Passed, WireRecord, read_wire
from rocketmq_reference.api.producer import Producer
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.client.message import Message
from rocketmq_reference.dialects import dialect_of
from tests import live
from tests.live import PLENTY_MS
from tests.reference_impl.fake_broker import FakeCluster
from tests.reference_impl.producers import NEVER_MS, Remembered, StartAt

# Far more than one turn of the event loop; a test that waits this long has failed.
DEADLINE_S = 60.0


def upstreams_of(cluster: FakeCluster, name_servers: int) -> tuple[Upstream, ...]:
    brokers = tuple(Upstream(name, broker.address, is_broker=True) for name, broker in cluster.brokers.items())
    names = (f"name-server-{number}" for number in range(1, name_servers + 1))
    return (*(Upstream(name, cluster.name_server.address, is_broker=False) for name in names), *brokers)


@dataclass
class Relayed:
    """Cluster, relay, and the events of a producer."""

    cluster: FakeCluster
    relay: Relay
    heard: Remembered

    def producer(self, release: str = "5.3.3", *, timeout_ms: int = PLENTY_MS, retries: int = 2) -> Producer:
        settings = ProducerSettings(
            send_msg_timeout_ms=timeout_ms,
            retry_times_when_send_failed=retries,
            poll_name_server_interval_ms=NEVER_MS,
            heartbeat_broker_interval_ms=NEVER_MS,
        )
        tape = lambda: StartAt(-1)  # noqa: E731 - a name for one expression
        return Producer(self.relay.name_servers, "G", dialect_of(release), settings, self.heard, tapes=tape)

    def records(self) -> list[WireRecord]:
        """Close the relay and return its records."""
        self.relay.close()
        return list(read_wire(self.relay.journal))

    def await_connections(self, letter: str, count: int) -> None:
        await_that(lambda: self.cluster[letter].connections >= count)


def message(number: int) -> Message:
    identity = f"run/T/{number}"
    return Message("T", identity.encode(), {"rocketdiff.id": identity})


def passed(records: list[WireRecord], to: str = "server") -> list[Passed]:
    """Return one direction's frames with our id, or answers to them."""
    frames = [record for record in records if isinstance(record, Passed) and record.to == to]
    return [frame for frame in frames if frame.identity is not None or frame.queue_offset is not None]


def start_relay(cluster: FakeCluster, folder: Path, name_servers: int = 1) -> Relay:
    """Several name servers are one server behind several ports."""
    return Relay(upstreams_of(cluster, name_servers), folder / "wire.ndjson")


def refuses(address: str) -> bool:
    host, _, port = address.partition(":")
    with socket.socket() as client:
        client.settimeout(5)
        return client.connect_ex((host, int(port))) == errno.ECONNREFUSED


await_that = partial(live.await_that, within_s=DEADLINE_S)
