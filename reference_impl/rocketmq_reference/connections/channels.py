"""Requests of callers that speak for no release, such as tools: the client's own connections, with the mildest rules."""

from collections.abc import Callable
from functools import partial
from typing import Self

from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.connections.access import OPEN, Access
from rocketmq_reference.connections.host import LiveHost
from rocketmq_reference.connections.network import Network
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
"""The frame of a request, once its number is known."""

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
)
"""Fail fast, and a call that times out costs nothing else: answers that come late are dropped by their number."""


def question_of(command: Command, credentials: Credentials | None = None) -> Question:
    """A command as the connections ask it, under a number of theirs; signed, if there are credentials."""
    return partial(_encoded, command if credentials is None else signed(command, credentials))


class Channels:
    """Connections, one an address, opened when first needed; safe for threads. connect_timeout_ms: longest wait for one."""

    def __init__(self, access: Access = OPEN, *, connect_timeout_ms: int = CONNECT_TIMEOUT_MS) -> None:
        self._credentials = access.credentials
        self._host = LiveHost("channels")
        self._network = Network(self._host, connect_timeout_ms, access.tls)
        self._remoting: Remoting[Question, Command] = Remoting(self._host, PLAIN, self._network)
        self._network.remoting = self._remoting

    def invoke(self, address: str, command: Command, timeout_ms: int) -> Command:
        """
        Send a request to an address, connecting first where needed, and wait for its answer; times in milliseconds.

        Raises RemotingConnectException, RemotingTimeoutException and, where the connection is or gets lost,
        RemotingSendRequestException. The last two do not say that the request was not served.
        """
        if self._host.is_closed:
            raise RemotingSendRequestException(address)
        return self._host.run(self._remoting.invoke(address, timeout_ms, question_of(command, self._credentials)))

    def close(self) -> None:
        """Close every connection, for good; calls under way fail."""
        self._host.tell(self._host.close)
        self._host.tell(self._network.shut_down)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def _encoded(command: Command, number: int) -> bytes:
    return encode(command, number)
