"""Since when a broker's list of ids may have been in force, by the rounds in which it was asked."""

import pytest

from rocketdiff.analysis.consuming.membership import LISTED_EVERY_NS, lists_in_force
from rocketdiff.analysis.consuming.story import Listing
from rocketdiff.core.consuming.watched import IDS_EVERY
from rocketdiff.core.units import NS_PER_S


@pytest.mark.parametrize(
    ("rounds", "apart_s", "before_s"),
    [
        pytest.param(IDS_EVERY, 8, 8, id="asked next after eight seconds"),
        pytest.param(IDS_EVERY, 1, 3, id="asked next in time"),
        pytest.param(3 * IDS_EVERY, 8, 3, id="asked between without news"),
    ],
)
def test_a_list_may_be_as_old_as_the_last_question(rounds: int, apart_s: int, before_s: int) -> None:
    """A starved machine asks rarely; then a change may be as old as the question before, which had the former list."""
    first = Listing(0, "broker-a", 0, 1, ("m0", "m1"))
    second = Listing(rounds, "broker-a", apart_s * NS_PER_S, apart_s * NS_PER_S + 1, ("m1",))
    *_, (since_ns, _, ids) = lists_in_force([first, second])
    assert ids == ("m1",)
    assert second.asked_ns - since_ns == before_s * NS_PER_S
    assert LISTED_EVERY_NS == 3 * NS_PER_S
