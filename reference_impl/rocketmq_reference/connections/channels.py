"""
One connection an address, opened when first needed and closed by the rules of the release (NettyRemotingClient.invokeSync).
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol, Self

from rocketmq_reference.connections.async_channel import AsyncChannel
from rocketmq_reference.connections.wire import CONNECT_TIMEOUT_MS
from rocketmq_reference.remoting.errors import RemotingSendRequestException, RemotingTimeoutException
from rocketmq_reference.remoting.frames import Command, encode

_NS_PER_MS = 1_000_000
_WORTH_CLOSING_MS = 100  # MIN_CLOSE_TIMEOUT_MILLIS of NettyRemotingClient, 5.1.4


class ConnectionRules(Protocol):
    """What a release decides about its connections; a dialect's remoting rules are such a value. Times in milliseconds."""

    @property
    def fails_fast_on_close(self) -> bool:
        """Whether closing a connection from this side fails the calls under way on it at once."""
        ...

    @property
    def fin_fails_pending(self) -> bool:
        """Whether an orderly close by the peer does."""
        ...

    def time_left_ms(self, timeout_ms: int, spent_ms: int, /) -> int | None:
        """Time to wait for the answer once the connection is there; None: time out without writing."""
        ...

    def closes_connection(self, timeout_ms: int, left_ms: int, /) -> bool:
        """Whether a call that timed out closes its connection; left_ms: time it had left when it was written."""
        ...


class PlainConnections:
    """Rules for callers that speak for no release, such as tools: fail fast, and a call that times out costs nothing else."""

    fails_fast_on_close = True
    fin_fails_pending = True

    def time_left_ms(self, timeout_ms: int, spent_ms: int, /) -> int | None:
        """The rest of the timeout, if there is any."""
        return timeout_ms - spent_ms if spent_ms < timeout_ms else None

    def closes_connection(self, _timeout_ms: int, _left_ms: int, /) -> bool:
        """Never: answers that come late are dropped by their number."""
        return False


class Channels:
    """
    All connections of one client, by address; safe for threads.

    connect_timeout_ms: longest wait for a connection. on_connected is called with the address, in the thread that
    connected, after every new connection.
    """

    def __init__(
        self,
        rules: ConnectionRules | None = None,
        *,
        connect_timeout_ms: int = CONNECT_TIMEOUT_MS,
        on_connected: Callable[[str], None] | None = None,
    ) -> None:
        self._rules: ConnectionRules = rules or PlainConnections()
        self._connect_timeout_ms = connect_timeout_ms
        self._on_connected = on_connected
        self._lock = threading.Lock()
        self._channels: dict[str, AsyncChannel] = {}
        self._connecting: dict[str, threading.Lock] = {}
        self._is_closed = False

    def invoke(self, address: str, command: Command, timeout_ms: int) -> Command:
        """
        Send a request to an address, connecting first where needed, and wait for its answer; times in milliseconds.

        Raises RemotingConnectException, RemotingSendRequestException and RemotingTimeoutException as the Java client
        does, and closes the connection after the last two where the release does
        (NettyRemotingClient.invokeSync, 4.0.0-incubating to 5.3.3).
        """
        return self.invoke_frame(address, command.opaque, encode(command), timeout_ms)

    def invoke_frame(self, address: str, opaque: int, frame: bytes, timeout_ms: int) -> Command:
        """As invoke, for a request that is encoded already; ``opaque`` is the number inside the frame."""
        begin_ms = time.monotonic_ns() // _NS_PER_MS
        channel = self.open(address)
        spent_ms = time.monotonic_ns() // _NS_PER_MS - begin_ms
        left_ms = self._rules.time_left_ms(timeout_ms, spent_ms)
        try:
            if left_ms is None:
                raise RemotingTimeoutException(address, timeout_ms, written=False)
            return channel.invoke_frame(opaque, frame, left_ms)
        except RemotingSendRequestException:
            self.drop(address, channel)
            raise
        except RemotingTimeoutException:
            if self._rules.closes_connection(timeout_ms, timeout_ms - spent_ms if left_ms is None else left_ms):
                self.drop(address, channel)
            raise

    def open(self, address: str) -> AsyncChannel:
        """The channel to an address, connected if it is not. Raises as connect() does."""
        return self.current(address) or self.connect(address)

    def current(self, address: str) -> AsyncChannel | None:
        """The channel to an address if there is one that can still be used."""
        channel = self._channels.get(address)
        return channel if channel is not None and channel.is_usable() else None

    def connect(self, address: str) -> AsyncChannel:
        """
        The open channel to an address, made if there is none; threads that want the same one wait for each other.

        Raises RemotingConnectException, and RemotingSendRequestException after close().
        """
        with self._lock:
            connecting = self._connecting.setdefault(address, threading.Lock())
        with connecting:
            channel = self._channels.get(address)
            if channel is not None and channel.is_usable():
                return channel
            channel = AsyncChannel.connect(
                address,
                self._connect_timeout_ms,
                fails_pending_on_close=self._rules.fails_fast_on_close,
                fails_pending_on_fin=self._rules.fin_fails_pending,
            )
            with self._lock:
                if self._is_closed:
                    channel.close()
                    raise RemotingSendRequestException(address)
                self._channels[address] = channel
        if self._on_connected is not None:
            self._on_connected(address)
        return channel

    def drop(self, address: str, channel: AsyncChannel) -> None:
        """Close one connection; a newer one to the same address stays (NettyRemotingClient.closeChannel)."""
        with self._lock:
            if self._channels.get(address) is channel:
                del self._channels[address]
        channel.close()

    def is_open(self, address: str) -> bool:
        """Whether there is a connection to the address that can still be used."""
        return self.current(address) is not None

    def addresses(self) -> tuple[str, ...]:
        """Addresses there is a connection to."""
        with self._lock:
            return tuple(self._channels)

    def close(self) -> None:
        """Close every connection, for good; calls under way fail where the release fails them."""
        with self._lock:
            self._is_closed = True
            channels = list(self._channels.values())
            self._channels.clear()
        for channel in channels:
            channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
