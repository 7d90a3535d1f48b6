"""
Whether a slave holds what its master stores: a message is stored on the one and awaited on the other.

A slave learns its master's replication port when it registers with a name server that knows the master already; if it
was first, it asks again 30 s later. Here it is told to register whenever it is found behind.
"""

import time

from rocketdiff.cluster.interface import Node
from rocketdiff.cluster.operations import admin
from rocketdiff.core.topology import broker_id_of, master_of
from rocketmq_reference.connections.channels import Channels

# Replication takes a millisecond; a slave that has lost its master connects again within 5 s (HAClient). Longer than a
# registration takes, shorter than any wait that asks again and again.
_COPY_TIMEOUT_S = 0.5

_POLL_S = 0.002


def identity(node: Node) -> tuple[str, int]:
    """Broker name and broker id by which name servers know a node."""
    return master_of(node.name), broker_id_of(node.name)


def missing_copy(channels: Channels, master: Node, slave: Node) -> str | None:
    """
    Store one message on the master; None once the slave has it, and the master says what it promises.

    A SYNC_MASTER must say SEND_OK, which it does only after its slave has told to have the message.
    """
    body = f"{slave.name}/{time.monotonic_ns()}".encode()
    stored = admin.send_probe(channels, master.address, 0, body)
    deadline = time.monotonic() + _COPY_TIMEOUT_S
    while (end := admin.queue_end(channels, slave.address, admin.PROBE_TOPIC, 0)) <= stored.queue_offset:
        if time.monotonic() >= deadline:
            admin.register_now(channels, slave.address)
            return f"it ends at {end}, and offset {stored.queue_offset} was stored on {master.name}"
        time.sleep(_POLL_S)
    return None if stored.status == "SEND_OK" else f"{master.name} answers {stored.status}"
