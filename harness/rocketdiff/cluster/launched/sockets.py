"""Bytes and connections that the kernel holds for a server, from /proc/net/tcp."""

from collections.abc import Collection
from pathlib import Path

_TABLE = Path("/proc/net/tcp")
_LOCAL, _STATE, _QUEUES = 1, 3, 4

# ESTABLISHED, CLOSE_WAIT (closed by the client only), LISTEN. Bytes on a connection that the server closed are lost.
_READABLE = {"01", "08", "0A"}


def unread_bytes(ports: Collection[int], table: Path = _TABLE) -> int:
    """
    Bytes received on connections to local ``ports`` and not read, plus connections not accepted yet.

    A listening socket's receive queue counts connections. A connection that the client has closed still holds its bytes. This
    is the important case: the server reads and stores them when it runs again.
    """
    total = 0
    for line in table.read_text().splitlines()[1:]:
        fields = line.split()
        if fields[_STATE] in _READABLE and int(fields[_LOCAL].rpartition(":")[2], 16) in ports:
            total += int(fields[_QUEUES].rpartition(":")[2], 16)
    return total
