"""Connections for tools, which imitate no release: the client's own code with the mildest rules."""

from collections.abc import Callable
from functools import partial
from typing import Self

from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.host.access import OPEN, Access
from rocketmq_reference.host.host import LiveHost
from rocketmq_reference.host.network import Network
from rocketmq_reference.remoting.errors import RemotingSendRequestException
from rocketmq_reference.remoting.frames import Command, encode
from rocketmq_reference.remoting.signing import Credentials, signed
from rocketmq_reference.rules.client.background import CONNECT_TIMEOUT_MS
from rocketmq_reference.rules.client.remoting_rules import (
    CloseOnTimeout,
    GoAway,
    LateClose,
    NameServerScan,
    RemotingRules,
    ScanTimes,
)

Question = Callable[[int], bytes]
"""Returns the frame of a request, given its number."""

PLAIN = RemotingRules(
    budgeted=True,
    writes_without_time_left=False,
    close_on_timeout=CloseOnTimeout.NEVER,
    fails_fast_on_close=True,
    fin_fails_pending=True,
    name_server_failure_is_illegal_state=False,
    tries_every_name_server=False,
    vip_channel=False,
    heartbeat_on_connect=False,
    names_compression=False,
    scan=ScanTimes(1_000, 1_000),
    name_server_scan=NameServerScan.NEVER,
    futures=False,
    connects_in_background=False,
    late_async_fails_twice=False,
    go_away=GoAway.NOTHING,
    retry_takes_next_number=False,
    late_close=LateClose.SPARES,
    unregisters_between_heartbeats=False,
)
"""Fail fast; a timeout has no side effects: late answers are dropped by their number."""


def question_of(command: Command, credentials: Credentials | None = None) -> Question:
    """Return a command as a question, which the connections number; signed if there are credentials."""
    return partial(_encoded, command if credentials is None else signed(command, credentials))


class Channels:
    """Connections, one per address, opened on first use; thread-safe. connect_timeout_ms: timeout of a connect."""

    def __init__(self, access: Access = OPEN, *, connect_timeout_ms: int = CONNECT_TIMEOUT_MS) -> None:
        self._credentials = access.credentials
        self._host = LiveHost("channels")
        self._network = Network(self._host, connect_timeout_ms, access.tls)
        self._remoting: Remoting[Question, Command] = Remoting(self._host, PLAIN, self._network)
        self._network.remoting = self._remoting

    def invoke(self, address: str, command: Command, timeout_ms: int) -> Command:
        """
        Send a request to an address, connecting first if necessary, and wait for its answer; times in milliseconds.

        Raises RemotingConnectException, RemotingTimeoutException and, if the connection is lost, RemotingSendRequestException.
        After the last two the request may still have been served.
        """
        if self._host.is_closed:
            raise RemotingSendRequestException(address)
        return self._host.run(self._remoting.invoke(address, timeout_ms, question_of(command, self._credentials)))

    def close(self) -> None:
        """Close every connection permanently; calls under way fail."""
        self._host.post(self._host.close)
        self._host.post(self._network.shut_down)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def _encoded(command: Command, number: int) -> bytes:
    return encode(command, number)
