"""Limits of checks that compare instants, to the millisecond."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.analysis.planting import DELAYED, ONEWAY, PLAIN, Found, change_copies, signatures
from tests.analysis.synthetic import Stored, Told

CALM = replace(PLAIN, pauses=(), sends=60)
STRUCK = 40


def only(number: int, change: Callable[[Stored], Stored | None]) -> Callable[[Told], None]:
    return lambda told: change_copies(told, number, change)


@pytest.mark.parametrize(
    ("by_ms", "wrong"),
    [
        (-10, set()),
        (-11, {"content content.born-before-its-call"}),
        (11, set()),
        (12, {"content content.born-after-its-call"}),
    ],
)
def test_ten_milliseconds_outside_its_call_a_message_may_be_born(by_ms: int, wrong: set[str], found: Found) -> None:
    """A message may be born 10 ms outside its call, which begins at its birth and ends 1.02 ms later."""
    evidence = found(CALM, only(STRUCK, lambda one: replace(one, born_timestamp_ms=one.born_timestamp_ms + by_ms)))
    assert signatures(evidence) == wrong


@pytest.mark.parametrize(("by_ms", "wrong"), [(-7, set()), (-8, {"delay delay.delivered-early"})])
def test_five_milliseconds_early_a_message_may_be_delivered(by_ms: int, wrong: set[str], found: Found) -> None:
    """A message may be delivered 5 ms early; the scripted trace delivers it 2 ms late."""
    story = replace(DELAYED, pauses=(), sends=60)
    evidence = found(story, only(STRUCK, lambda one: replace(one, store_timestamp_ms=one.store_timestamp_ms + by_ms)))
    assert signatures(evidence) == wrong


@pytest.mark.parametrize(("send", "wrong"), [(74, {"loss loss.one-way-not-stored"}), (75, set())])
def test_a_one_way_message_is_missed_that_was_over_a_second_before_a_fault(
    send: int, wrong: set[str], found: Found
) -> None:
    """
    A one-way message is missed if its call ended over 1 s before the pause at 2.5 s: send 74 (1,480.12 ms), not 75 (1,500.12 ms).
    """
    assert signatures(found(replace(ONEWAY, sends=200), only(send, lambda _: None))) == wrong


@pytest.mark.parametrize(("by_ms", "late"), [(20, 0), (21, 1)])
def test_a_copy_is_late_by_more_than_twenty_milliseconds(by_ms: int, late: int, found: Found) -> None:
    """A copy stored over 20 ms after its call is only counted; the trace stores it 0.02 ms before the call ends."""
    evidence = found(CALM, only(STRUCK, lambda one: replace(one, store_timestamp_ms=one.store_timestamp_ms + by_ms)))
    measures = {one.name: one.value for one in evidence["loss"].measures}
    assert (measures["stored-late candidate"], measures["stored-late baseline"]) == (late, 0)
    assert signatures(evidence) == set()
