"""Pending requests: their numbers, and the order in which they end."""

from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.connection_steps import Connection, Kind, Request
from rocketmq_reference.rules.client.pending_requests import PendingRequests


def pending(release: str) -> PendingRequests:
    return PendingRequests(dialect_of(release).client.remoting)


def request(number: int, connection: Connection, left_ms: int = 3_000) -> Request:
    return Request(number, Kind.ASYNC, 3_000, 0, connection, connection, left_ms)


def test_the_later_of_two_with_one_number_is_the_one() -> None:
    """A request replaces an earlier one with the same number."""
    made, connection = pending("4.6.1"), Connection("a")
    earlier, later = request(2, connection), request(2, connection)
    made.put(earlier)
    made.put(later)
    assert made.known_as(2) is later
    assert made.take(2) is later and made.take(2) is None


def test_the_order_is_that_of_a_java_map_of_512_bins() -> None:
    """Requests end in the order of 512 bins: number 512 is in the bin of 0, before 511."""
    made, connection = pending("4.7.0"), Connection("a")
    for number in (511, 512, 1_023, 513):
        made.put(request(number, connection))
    assert [one.number for one in made.take_all(connection)] == [512, 513, 511, 1_023]
    assert made.take_all(connection) == []


def test_requests_expire_a_second_late() -> None:
    """Requests on every connection expire one second after their timeout."""
    made = pending("4.7.0")
    made.put(request(0, Connection("a"), 1))
    made.put(request(1, Connection("b"), 0))
    assert [one.number for one in made.take_expired(1_000)] == [1]
    assert [one.number for one in made.take_expired(1_001)] == [0]
