"""From 5.2.0 the thread that sends heartbeats on new connections also wakes up when a connection ends."""

import pytest

from rocketmq_reference.rules.client.connection_steps import Kind, Noted
from tests.reference_impl.rules.connecting import client, kinds, written


@pytest.mark.parametrize(("release", "noted"), [("5.1.4", 0), ("5.2.0", 1)])
def test_the_end_of_a_connection_is_noted_where_new_ones_are_greeted(release: str, noted: int) -> None:
    """From 5.2.0 every end of a connection is noted once, as the last step."""
    for end in ("close", "reset", "fin"):
        made = client(release)
        one = written(made, Kind.SYNC)
        steps = made.wait_expired(one)[:-1] if end == "close" else made.peer_closed(one.made_on, reset=end == "reset")
        assert kinds(steps).count(Noted) == noted
        assert not noted or kinds(steps)[-1] is Noted


def test_a_second_close_is_noted_until_the_handlers_are_gone() -> None:
    """A second close is noted until the handlers are gone: one event after a reset, at once after a FIN."""
    for reset, steps in ((True, [Noted]), (False, [])):
        made = client("5.3.3")
        one = written(made, Kind.SYNC)
        made.peer_closed(one.made_on, reset=reset)
        assert kinds(made.woken(one, failed=True)) == steps
        made.taken_down(one.made_on)
        assert made.woken(one, failed=True) == ()


def test_a_connection_that_is_known_no_more_is_noted_if_it_is_reset() -> None:
    """A reset of a connection without an entry is noted, a FIN is not, and neither fails a request."""
    for reset, steps in ((True, [Noted]), (False, [])):
        made = client("5.4.0")
        old = written(made, Kind.SYNC)
        made.peer_closed(old.made_on, reset=True)
        successor = written(made, Kind.SYNC)
        made.woken(old, failed=True)  # removes the successor from the table
        assert kinds(made.peer_closed(successor.made_on, reset=reset)) == steps
