"""
Check that a slave holds what its master stores: a message is stored on the master and awaited on the slave.

A slave gets its master's replication port when it registers with a name server that knows the master. If the slave was first,
it registers again only after 30 s; so it is made to register whenever it is behind.
"""

import time

from rocketdiff.cluster.interface import Node
from rocketdiff.cluster.operations import admin
from rocketdiff.core.tables.topology import broker_id_of, master_of
from rocketmq_reference.host.channels import Channels

# Replication takes a millisecond; a slave that has lost its master reconnects within 5 s (HAClient). This is longer than a
# registration and shorter than the timeouts of all callers, which retry.
_COPY_TIMEOUT_S = 0.5

_POLL_S = 0.002


def identity(node: Node) -> tuple[str, int]:
    """Broker name and broker id of a node at name servers."""
    return master_of(node.name), broker_id_of(node.name)


def missing_copy(channels: Channels, master: Node, slave: Node) -> str | None:
    """
    Store one message on the master; return None if the slave gets it and the master answers SEND_OK, else what is missing.

    A SYNC_MASTER answers SEND_OK only after its slave has acknowledged the message.
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
