"""
What releases do differently with a connection and with name servers (NettyRemotingClient, MQClientInstance).

Decisions only; the sockets are reference_impl.remoting's.
"""

from dataclasses import dataclass
from enum import StrEnum


class CloseOnTimeout(StrEnum):
    """
    Whether a request that got no answer in time costs its connection.

    IF_TIME_WAS_LEFT (from 5.1.4): only if, when the request was written, more than 100 ms or more than a quarter of the
    timeout were left, so that a slow connect does not close a good connection.
    """

    NEVER = "never"
    ALWAYS = "always"
    IF_TIME_WAS_LEFT = "if-time-was-left"


@dataclass(frozen=True, slots=True)
class RemotingRules:
    """
    Connection and name server behaviour of a release; section 3.9 of the behaviour notes.

    budgeted: connecting and hooks eat into the timeout of a request (from 4.3.0). writes_without_time_left: a request
    with exactly no time left is still written (to 5.1.3). fails_fast_on_close: closing a connection ourselves fails all
    requests pending on it at once, with RemotingSendRequestException (from 4.3.0). fin_fails_pending: so does a clean
    close by the broker (from 5.1.3). name_server_failure_is_illegal_state: an unreachable name server surfaces as
    IllegalStateException from send (from 4.6.0) instead of MQClientException 10005. tries_every_name_server: one call
    goes through the list of name servers until one can be reached (to 5.2.0). vip_channel: requests to brokers go to
    the port two below the advertised one (default to 4.5.0). heartbeat_on_connect: a new connection to a broker gets a
    heartbeat at once (from 5.2.0). names_compression: the system flag of a compressed body says which compression it is (from 4.9.4).
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

    def closes_connection(self, timeout_ms: int, left_ms: int) -> bool:
        """Whether a request that timed out closes its connection; left_ms: time it had left when it was written."""
        if self.close_on_timeout is CloseOnTimeout.IF_TIME_WAS_LEFT:
            return left_ms > 100 or left_ms > timeout_ms // 4
        return self.close_on_timeout is CloseOnTimeout.ALWAYS
