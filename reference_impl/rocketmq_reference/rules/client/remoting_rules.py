"""
What releases do differently with a connection and with name servers (NettyRemotingClient, MQClientInstance).

Decisions only; the sockets are rocketmq_reference.remoting's.
"""

from dataclasses import dataclass
from enum import StrEnum

from rocketmq_reference.rules.client.background import EXPIRY_GRACE_MS


class CloseOnTimeout(StrEnum):
    """
    Whether a request that got no answer in time costs its connection.

    IF_TIME_WAS_LEFT (from 5.1.4): only if, when the request was written, more than 100 ms or more than a quarter of the
    timeout were left, so that a slow connect does not close a good connection.
    """

    NEVER = "never"
    ALWAYS = "always"
    IF_TIME_WAS_LEFT = "if-time-was-left"


class GoAway(StrEnum):
    """
    What the answer GO_AWAY (1500) of a broker that is shutting down gracefully does below the send.

    NOTHING: it is an answer like any other (to 5.1.4). ONCE_A_MINUTE: a new connection is made, but not twice within 60 s,
    and the request is written there again; a second GO_AWAY is handed up (5.2.0, 5.3.0). RECONNECTS: without the limit
    (5.3.1). FAILS: as before, but what cannot be written again, or is answered so twice, ends in
    RemotingSendRequestException (from 5.3.2).
    """

    NOTHING = "nothing"
    ONCE_A_MINUTE = "once-a-minute"
    RECONNECTS = "reconnects"
    FAILS = "fails"


class LateClose(StrEnum):
    """
    What happens to the connection of an address when one is closed that was there before it.

    By a thread that shared the old one, say a heartbeat beside a send. SPARES: nothing (to 5.3.0). EVICTS_AFTER_FAILURE:
    if the old one had never come about, the new one is thrown out of the table, where it stays open, unused and unwatched
    (5.3.1 to 5.3.3). EVICTS: always (from 5.4.0).
    """

    SPARES = "spares"
    EVICTS_AFTER_FAILURE = "evicts-after-failure"
    EVICTS = "evicts"

    def may_leave_open(self, error: str | None) -> bool:
        """
        Whether a request that ended so may cost the connection made since its place, so that it stays open: one at most.

        Of an end that does not name its cause it may (an asynchronous one's).
        """
        if self is LateClose.SPARES or error in _ANSWERED:
            return False
        return self is LateClose.EVICTS or error not in _AFTER_CONNECTING


_ANSWERED = (None, "MQBrokerException")
_AFTER_CONNECTING = ("RemotingSendRequestException", "RemotingTimeoutException", "RemotingTooMuchRequestException")


@dataclass(frozen=True, slots=True)
class ScanTimes:
    """
    When requests without an answer are looked for: first_ms after the client's start, then every period_ms.

    From 5.1.1 a wheel timer with ticks of 100 ms does it: a deadline is met at the end of its tick, so that the second
    between two scans became 1100 ms (seen with Netty's HashedWheelTimer on a real clock).
    """

    first_ms: int
    period_ms: int


class NameServerScan(StrEnum):
    """
    When a client makes sure of its connection to name servers, needed or not (scanAvailableNameSrv).

    From its start on (5.0.0 and 5.1.0), by the wheel timer (5.1.1 to 5.2.0), or not at all.
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
    """
    Connection and name server behaviour of a release.

    budgeted: connecting and hooks eat into the timeout of a request (from 4.3.0). writes_without_time_left: a request
    with exactly no time left is still written (to 5.1.3). fails_fast_on_close: closing a connection ourselves fails all
    requests pending on it at once, with RemotingSendRequestException (from 4.3.0). fin_fails_pending: so does a clean
    close by the broker (from 5.1.3). name_server_failure_is_illegal_state: an unreachable name server surfaces as
    IllegalStateException from send (from 4.6.0) instead of MQClientException 10005. tries_every_name_server: one call
    goes through the list of name servers until one can be reached (to 5.2.0). vip_channel: requests to brokers go to
    the port two below the advertised one (default to 4.5.0). heartbeat_on_connect: a new connection to a broker gets a
    heartbeat at once (from 5.2.0). names_compression: the system flag of a compressed body says which compression it is (from 4.9.4).
    scan: when expired asynchronous requests are noticed. name_server_scan: when connections to name servers are made sure
    of, needed or not (5.0.0 to 5.2.0). futures: requests are completable futures (from 5.2.0), so that
    answers of synchronous requests come through the callback executor, whatever fails those is
    RemotingSendRequestException, and the failure of an asynchronous one is the cause of what its callback gets.
    connects_in_background: asynchronous and one-way requests do not wait for their connection, and throw nothing (from
    5.3.0). late_async_fails_twice: one whose connection took all its time fails, and is sent all the same, which fails
    again (to 5.3.3). go_away: what GO_AWAY does. retry_takes_next_number: an asynchronous request that is made again gets the number
    that the next new request gets too (to 4.6.1): the later of the two takes the place of the earlier one among those that
    wait, which is then never heard of again. late_close: what closing a connection that was replaced already does to the
    one in its place.
    """

    budgeted: bool
    writes_without_time_left: bool
    close_on_timeout: CloseOnTimeout
    fails_fast_on_close: bool
    fin_fails_pending: bool
    name_server_failure_is_illegal_state: bool
    tries_every_name_server: bool
    vip_channel: bool
    heartbeat_on_connect: bool
    names_compression: bool
    scan: ScanTimes
    name_server_scan: NameServerScan
    futures: bool
    connects_in_background: bool
    late_async_fails_twice: bool
    go_away: GoAway
    retry_takes_next_number: bool
    late_close: LateClose

    def time_left_ms(self, timeout_ms: int, spent_ms: int) -> int | None:
        """
        Time to wait for the answer once the connection is there; None: RemotingTimeoutException without writing.

        Before 4.3.0 connecting was not counted. Otherwise the rest of the timeout, which may be exactly 0 to 5.1.3.
        """
        if not self.budgeted:
            return timeout_ms
        left_ms = timeout_ms - spent_ms
        if left_ms < 0 or (left_ms == 0 and not self.writes_without_time_left):
            return None
        return left_ms

    def async_time_left_ms(self, timeout_ms: int, spent_ms: int) -> int | None:
        """As time_left_ms for an asynchronous request, which is written with exactly no time left in every release."""
        if not self.budgeted:
            return timeout_ms
        return None if timeout_ms < spent_ms else timeout_ms - spent_ms

    def is_expired(self, written_ms: int, left_ms: int, now_ms: int) -> bool:
        """Whether a scan ends a request that was written with so much time left (ResponseFuture.isTimeout and a grace)."""
        return written_ms + left_ms + EXPIRY_GRACE_MS <= now_ms

    def closes_connection(self, timeout_ms: int, left_ms: int) -> bool:
        """Whether a request that timed out closes its connection; left_ms: time it had left when it was written."""
        if self.close_on_timeout is CloseOnTimeout.IF_TIME_WAS_LEFT:
            return left_ms > 100 or left_ms > timeout_ms // 4
        return self.close_on_timeout is CloseOnTimeout.ALWAYS
