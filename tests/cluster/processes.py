"""Looking at processes that are nobody's children here."""

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

# Far more than the kernel needs; a test that waits this long has failed.
DEADLINE_S = 20.0


def await_gone(pids: Iterable[int]) -> None:
    """Wait until each has ended; a zombie has: in a container there may be no init that waits for orphans."""
    deadline = time.monotonic() + DEADLINE_S
    while left := [pid for pid in pids if _lives(pid)]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.01)


def listening_hosts(pid: int) -> list[str]:
    """Address of every listening TCP socket of a process."""
    connections = psutil.Process(pid).net_connections(kind="tcp")
    return [connection.laddr.ip for connection in connections if connection.status == psutil.CONN_LISTEN]


def _lives(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
