"""Client-side message ids, unique among all clients without coordination (MessageClientIDSetter, every release)."""

import os
import socket
import struct
import time
from itertools import count

_FIXED = struct.Struct(">4sHI")
_MOVING = struct.Struct(">IH")


class UniqueKeys:
    """
    Ids of 32 hex digits: address (4 bytes), process (2), random number per generator (4), ms of this month (4), counter (2).

    In place of the random number Java has its class loader's hash, and in place of loopback the machine's address. Thread-safe.
    """

    def __init__(self) -> None:
        seed = int.from_bytes(os.urandom(4), "big")
        self._fixed = _FIXED.pack(socket.inet_aton("127.0.0.1"), os.getpid() & 0xFFFF, seed).hex().upper()
        self._counter = count()
        self._month_ms = 0
        self._next_month_ms = 0

    def create(self) -> str:
        """Return a new id; those of one generator are unique up to 65536 ids per millisecond."""
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
    """Return local midnight of the first day, as in Java; month 13 is next January."""
    return round(time.mktime((year, month, 1, 0, 0, 0, 0, 0, -1)) * 1000)
