"""Pending requests of a client by number (NettyRemotingAbstract.responseTable, RemotingCommand.requestId)."""

from rocketmq_reference.rules.client.connection_steps import Connection, Kind, Request
from rocketmq_reference.rules.client.remoting_rules import RemotingRules

_BINS = 512


class PendingRequests:
    """
    Table of requests by number; a new request replaces the one with the same number.

    Up to 4.6.1 two requests can share a number: a retry increments the counter before it takes its number, other requests
    after. Requests are listed by the 512 bins of Java's ConcurrentHashMap, so the oldest is not always the first.
    """

    def __init__(self, rules: RemotingRules) -> None:
        self._rules = rules
        self._table: dict[int, Request] = {}
        self._numbers = 0

    def number(self, *, is_retry: bool = False) -> int:
        """Return the number of a new command of any kind; each response that arrives also takes one."""
        self._numbers += 1
        # Up to 4.6.1 the retry returns the incremented counter, which the next command gets as well.
        return self._numbers if is_retry and self._rules.retry_takes_next_number else self._numbers - 1

    def put(self, request: Request) -> None:
        # A request that is replaced here is lost: no answer and no scan ends it, only a synchronous caller's own
        # timeout.
        self._table[request.number] = request

    def known_as(self, number: int) -> Request | None:
        """Return the request that an answer with this number is matched to, or None."""
        return self._table.get(number)

    def take(self, number: int) -> Request | None:
        return self._table.pop(number, None)

    def has_unattended(self, connection: Connection) -> bool:
        """True if a request on the connection is asynchronous, or was written there by another thread than its caller's."""
        return any(
            request.connection is connection and (request.kind is Kind.ASYNC or request.redirected)
            for request in self._table.values()
        )

    def take_all(self, connection: Connection) -> list[Request]:
        return self._taken([request for request in self._table.values() if request.connection is connection])

    def take_expired(self, now_ms: int) -> list[Request]:
        """Remove and return the requests whose timeout passed EXPIRY_GRACE_MS ago."""
        is_expired = self._rules.is_expired
        return self._taken(
            [request for request in self._table.values() if is_expired(request.written_ms, request.left_ms, now_ms)]
        )

    def _taken(self, requests: list[Request]) -> list[Request]:
        for request in requests:
            del self._table[request.number]
        # ConcurrentHashMap.spread of the number; within a bin the order of insertion.
        return sorted(requests, key=lambda request: (request.number ^ request.number >> 16) % _BINS)
