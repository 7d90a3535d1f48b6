"""Checks of processes that are not children of the test."""

from collections.abc import Iterable

import psutil

from tests.live import await_that
from tests.subjects.processes import lives


def await_gone(pids: Iterable[int]) -> None:
    """Wait until each has ended or is a zombie: a container may have no init."""
    those = list(pids)
    await_that(lambda: not any(map(lives, those)), f"the end of {those}")


def listening_hosts(pid: int) -> list[str]:
    """Addresses of a process's listening TCP sockets."""
    connections = psutil.Process(pid).net_connections(kind="tcp")
    return [connection.laddr.ip for connection in connections if connection.status == psutil.CONN_LISTEN]
