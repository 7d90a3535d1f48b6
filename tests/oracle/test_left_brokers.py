"""A broker that has left the publish list, but is in another list of the trace, may be in the route."""

import pytest

from tests.oracle.judging import judged, legal, signatures

LISTS = ("a2 b2", "a2")
BOTH_KNOWN = "0 a0 700 | 800 b0 1"
"""a is avoided until 30,700 ms; b, which answered at once, is the best known."""


def test_all_choices_of_the_fallback_are_two_queues_of_each_broker() -> None:
    """Legal are two queues of each broker, because a new list has a new index."""
    judgements = judged("4.7.1", f"{BOTH_KNOWN} | 1000 r2 b0 1", *LISTS, on=True, retries=0)
    assert legal(judgements) == [[4], [1], [4]]


@pytest.mark.parametrize(
    ("releases", "then", "found"),
    [
        # b, which has left the list a0 a1, replaces a1, and later sends find it
        (("4.3.2", "4.7.1", "4.9.7"), "1000 r2 b0 1 | 1100 r2 b0 1 | 1200 r2 b0 1", []),
        # if b was unregistered, its item is dropped, and a's queues follow in rotation
        (("4.7.1",), "1000 r2 a0 1 | 1100 r2 a1 1", []),
        (("4.7.1",), "1000 r2 a1 1 | 1100 r2 a0 1", []),
        # b had two queues
        (("4.3.2", "4.9.7"), "1000 r2 b2 1", ["queue.mutated-list/first"]),
        # after b0 replaced a1, b1 is never next, and a is still avoided
        (("4.7.1",), "1000 r2 b0 1 | 1100 r2 b1 1", ["queue.mutated-list/first"]),
        (("4.7.1",), "1000 r2 b0 1 | 1100 r2 a0 1", ["avoidance.used-avoided-broker/first"]),
        # from 5.1.4 on there is no fallback
        (("5.3.3",), "1000 r2 b0 1", ["queue.out-of-turn/first"]),
    ],
)
def test_the_fallback_may_know_a_broker_that_has_left_the_list(
    releases: tuple[str, ...], then: str, found: list[str]
) -> None:
    """
    The fallback may use a broker that has left the list.

    TopicPublishInfo.getQueueIdByBroker reads topicRouteData, which has the write queues of a broker without write
    permission.
    """
    for release in releases:
        assert signatures(release, f"{BOTH_KNOWN} | {then}", *LISTS, on=True, retries=0) == found
