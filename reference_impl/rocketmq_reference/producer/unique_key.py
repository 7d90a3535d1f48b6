"""The client's own message ids, unique among all clients without asking anyone (MessageClientIDSetter, every release)."""

import os
import socket
import struct
import time
from itertools import count

_FIXED = struct.Struct(">4sHI")
_MOVING = struct.Struct(">IH")


class UniqueKeys:
    """
    32 hex digits a message: address (4 bytes), process (2), a random number a generator (4), ms of this month (4), counter (2).

    Java has its class loader's hash where the random number is, and the machine's address where this one has loopback.
    Safe for threads.
    """

    def __init__(self) -> None:
        seed = int.from_bytes(os.urandom(4), "big")
        self._fixed = _FIXED.pack(socket.inet_aton("127.0.0.1"), os.getpid() & 0xFFFF, seed).hex().upper()
        self._counter = count()
        self._month_ms = 0
        self._next_month_ms = 0

    def create(self) -> str:
        """A new id; two of one generator differ for 65536 ids a millisecond."""
        now_ms = time.time_ns() // 1_000_000
        if now_ms >= self._next_month_ms:
            self._begin_month(now_ms)
        since_ms = max(0, now_ms - self._month_ms) & 0xFFFFFFFF
        return self._fixed + _MOVING.pack(since_ms, next(self._counter) & 0xFFFF).hex().upper()

    def _begin_month(self, now_ms: int) -> None:
        year, month = time.localtime(now_ms / 1000)[:2]
        self._month_ms = _first_of_month_ms(year, month)
        self._next_month_ms = _first_of_month_ms(year, month + 1)


def _first_of_month_ms(year: int, month: int) -> int:
    """Local midnight, as in Java; month 13 is next January."""
    return round(time.mktime((year, month, 1, 0, 0, 0, 0, 0, -1)) * 1000)
