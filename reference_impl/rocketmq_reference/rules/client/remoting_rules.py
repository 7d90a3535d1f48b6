"""
Differences between releases in connections, timeouts and name servers (NettyRemotingClient, MQClientInstance).

Decisions only; the sockets are in rocketmq_reference.host.
"""

from dataclasses import dataclass
from enum import StrEnum

from rocketmq_reference.rules.client.background import EXPIRY_GRACE_MS
from rocketmq_reference.rules.client.connection_steps import Kind


class CloseOnTimeout(StrEnum):
    """
    Whether a request that timed out closes its connection.

    IF_TIME_WAS_LEFT (from 5.1.4): only if more than 100 ms or more than a quarter of the timeout were left when the request
    was written. So a slow connect does not close a good connection.
    """

    NEVER = "never"
    ALWAYS = "always"
    IF_TIME_WAS_LEFT = "if-time-was-left"


class GoAway(StrEnum):
    """
    Effect on remoting of the answer GO_AWAY (1500), which a broker sends while it shuts down gracefully.

    NOTHING: an answer like any other (to 5.1.4). ONCE_A_MINUTE: the client reconnects, at most once in 60 s, and writes the
    request again; a second GO_AWAY is returned to the caller (5.2.0, 5.3.0). RECONNECTS: the same without the limit (5.3.1).
    FAILS: the same, but a request that cannot be written again or gets GO_AWAY twice ends in RemotingSendRequestException
    (from 5.3.2).
    """

    NOTHING = "nothing"
    ONCE_A_MINUTE = "once-a-minute"
    RECONNECTS = "reconnects"
    FAILS = "fails"


class LateClose(StrEnum):
    """
    Effect of closing a replaced connection on its successor, the current connection of the address.

    The close comes from a thread that shared the old connection, such as a heartbeat beside a send. SPARES: none (to 5.3.0).
    EVICTS_AFTER_FAILURE: if the old connection never opened, the successor is removed from the table, but stays open, unused
    and unwatched (5.3.1 to 5.3.3). EVICTS: the same for every old connection (from 5.4.0).
    """

    SPARES = "spares"
    EVICTS_AFTER_FAILURE = "evicts-after-failure"
    EVICTS = "evicts"

    def may_leave_open(self, error: str | None) -> bool:
        """
        True if a request with this end may have evicted one successor connection, which then stays open.

        Also true for an end that does not name its cause, as those of asynchronous requests.
        """
        if self is LateClose.SPARES or error in _ANSWERED:
            return False
        return self is LateClose.EVICTS or error not in _AFTER_CONNECTING


_ANSWERED = (None, "MQBrokerException")
_AFTER_CONNECTING = ("RemotingSendRequestException", "RemotingTimeoutException", "RemotingTooMuchRequestException")


@dataclass(frozen=True, slots=True)
class ScanTimes:
    """
    Times of the scan for expired requests: first_ms after the client's start, then every period_ms.

    From 5.1.1 a wheel timer with ticks of 100 ms runs it. A deadline is met at the end of its tick, so the period of 1 s
    became 1100 ms (observed with Netty's HashedWheelTimer on a real clock).
    """

    first_ms: int
    period_ms: int


class NameServerScan(StrEnum):
    """
    When a client connects to all name servers in advance (scanAvailableNameSrv).

    AT_ONCE: from its start on (5.0.0 and 5.1.0). BY_WHEEL: by the wheel timer (5.1.1 to 5.2.0). NEVER: all other releases.
    """

    NEVER = "never"
    AT_ONCE = "at-once"
    BY_WHEEL = "by-wheel"

    @property
    def times(self) -> ScanTimes | None:
        return _NAME_SERVER_SCANS.get(self)


_NAME_SERVER_SCANS = {NameServerScan.AT_ONCE: ScanTimes(0, 3_000), NameServerScan.BY_WHEEL: ScanTimes(100, 3_100)}


@dataclass(frozen=True, slots=True)
class RemotingRules:
    """Connection and name server behaviour of a release."""

    budgeted: bool
    """Connecting and hooks count against the timeout of a request (from 4.3.0)."""
    writes_without_time_left: bool
    """A request with exactly no time left is still written (to 5.1.3)."""
    close_on_timeout: CloseOnTimeout
    """Whether a request that timed out closes its connection (from 4.9.1)."""
    fails_fast_on_close: bool
    """
    A close by the client fails all requests pending on the connection at once, with RemotingSendRequestException
    (from 4.3.0).
    """
    fin_fails_pending: bool
    """A clean close by the broker also fails them at once (from 5.1.3)."""
    name_server_failure_is_illegal_state: bool
    """
    An unreachable name server surfaces as IllegalStateException from send (from 4.6.0) instead of MQClientException
    10005.
    """
    tries_every_name_server: bool
    """One call goes through the list of name servers until one can be reached (to 5.2.0)."""
    vip_channel: bool
    """Requests to brokers go to the port two below the advertised one (default to 4.5.0)."""
    heartbeat_on_connect: bool
    """A new connection to a broker gets a heartbeat at once (from 5.2.0)."""
    names_compression: bool
    """The system flag of a compressed body names the compression (from 4.9.4)."""
    scan: ScanTimes
    """When expired requests are ended."""
    name_server_scan: NameServerScan
    """When the client connects to name servers in advance (5.0.0 to 5.2.0)."""
    futures: bool
    """
    Requests are completable futures (from 5.2.0), so answers of synchronous requests pass through the callback
    executor, every failure of these is RemotingSendRequestException, and the failure of an asynchronous request is
    the cause of the exception that its callback gets.
    """
    connects_in_background: bool
    """Asynchronous and one-way requests do not wait for their connection, and throw nothing (from 5.3.0)."""
    late_async_fails_twice: bool
    """
    An asynchronous request whose connect took all its time fails, and is still sent, which fails again (5.3.0 to
    5.3.3).
    """
    go_away: GoAway
    """Effect of GO_AWAY."""
    retry_takes_next_number: bool
    """
    A repeated asynchronous request gets the same number as the next new request (to 4.6.1); the later of the two
    replaces the earlier one among the pending requests, which then never ends.
    """
    late_close: LateClose
    """Effect of closing a replaced connection on the one in its place."""
    unregisters_between_heartbeats: bool
    """
    No heartbeat goes out while a group is unregistered, and one that is under way puts that off, or after LOCK_TIMEOUT_MS
    prevents it (to 4.9.0).
    """

    def leaves_to_event_loop(self, kind: Kind) -> bool:
        """True if a request of this kind does not block its caller while it connects; the event loop writes it, or fails it."""
        return self.connects_in_background and kind is not Kind.SYNC

    def time_left_ms(self, timeout_ms: int, spent_ms: int) -> int | None:
        """
        Return the time to wait for the answer after connecting; None: RemotingTimeoutException without writing.

        Before 4.3.0 this is the whole timeout, then the rest of it, which may be exactly 0 up to 5.1.3.
        """
        if not self.budgeted:
            return timeout_ms
        left_ms = timeout_ms - spent_ms
        if left_ms < 0 or (left_ms == 0 and not self.writes_without_time_left):
            return None
        return left_ms

    def async_time_left_ms(self, timeout_ms: int, spent_ms: int) -> int | None:
        """Like time_left_ms, for an asynchronous request; every release writes it with exactly 0 ms left."""
        if not self.budgeted:
            return timeout_ms
        return None if timeout_ms < spent_ms else timeout_ms - spent_ms

    def is_expired(self, written_ms: int, left_ms: int, now_ms: int) -> bool:
        """True if a scan ends a request written with this much time left (ResponseFuture.isTimeout plus EXPIRY_GRACE_MS)."""
        return written_ms + left_ms + EXPIRY_GRACE_MS <= now_ms

    def closes_connection(self, timeout_ms: int, left_ms: int) -> bool:
        """True if a timed-out request closes its connection; left_ms: time left when it was written."""
        if self.close_on_timeout is CloseOnTimeout.IF_TIME_WAS_LEFT:
            return left_ms > 100 or left_ms > timeout_ms // 4
        return self.close_on_timeout is CloseOnTimeout.ALWAYS
