"""The requests of a client that wait for their answers, known by their numbers (responseTable, RemotingCommand.requestId)."""

from rocketmq_reference.rules.client.connection_steps import Connection, Kind, Request
from rocketmq_reference.rules.client.remoting_rules import RemotingRules

_BINS = 512


class PendingRequests:
    """
    A table by number: what is put in takes the place of what had the same number.

    That happens to 4.6.1, where a request that is made again counts before it takes its number, and others after. Java
    goes through its ConcurrentHashMap by bins, and there are 512, so that the oldest is not always the first.
    """

    def __init__(self, rules: RemotingRules) -> None:
        self._rules = rules
        self._table: dict[int, Request] = {}
        self._numbers = 0

    def number(self, *, is_retry: bool = False) -> int:
        """The number of a new command of whatever kind; answers that arrive have taken one each, too."""
        self._numbers += 1
        return self._numbers if is_retry and self._rules.retry_takes_next_number else self._numbers - 1

    def put(self, request: Request) -> None:
        """It has been written and waits."""
        self._table[request.number] = request

    def known_as(self, number: int) -> Request | None:
        """The one that an answer of this number would be taken for."""
        return self._table.get(number)

    def take(self, number: int) -> Request | None:
        """It waits no more."""
        return self._table.pop(number, None)

    def has_unattended(self, connection: Connection) -> bool:
        """Whether one on a connection is asynchronous, or was written there by another thread than its own."""
        return any(
            request.connection is connection and (request.kind is Kind.ASYNC or request.redirected)
            for request in self._table.values()
        )

    def take_all(self, connection: Connection) -> list[Request]:
        """Those that were written on a connection."""
        return self._taken([request for request in self._table.values() if request.connection is connection])

    def take_expired(self, now_ms: int) -> list[Request]:
        """Those whose time was up a while ago."""
        is_expired = self._rules.is_expired
        return self._taken(
            [request for request in self._table.values() if is_expired(request.written_ms, request.left_ms, now_ms)]
        )

    def _taken(self, requests: list[Request]) -> list[Request]:
        for request in requests:
            del self._table[request.number]
        return sorted(requests, key=lambda request: (request.number ^ request.number >> 16) % _BINS)
