"""Offsets of a group that subscribes to some tags, by hand."""

import pytest

from rocketdiff.oracle.consumer.subscription import Subscribed

TAGS = (None, "paid", "sent", "paid", None)
"""Of the messages at offsets 0 to 4; None for a message without one."""

HELD = [("a", offset, None if tag is None else f'{{"TAGS": "{tag}"}}') for offset, tag in enumerate(TAGS)]


@pytest.mark.parametrize(
    ("tags", "offsets", "places"),
    [
        ((), range(-1, 6), [-1, 0, 1, 2, 3, 4, 5]),
        (("paid",), range(-1, 6), [-1, 0, 0, 1, 1, 2, 2]),
        (("paid", "sent"), range(-1, 6), [-1, 0, 0, 1, 2, 3, 3]),
        (("other",), range(-1, 6), [-1, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_an_offset_counts_the_subscribed_messages_below_it(
    tags: tuple[str, ...], offsets: range, places: list[int]
) -> None:
    """Of a retry topic, which has messages of the group alone, offsets stay."""
    subscribed = Subscribed(HELD, tags)
    assert [subscribed.place("a", offset) for offset in offsets] == places
    assert [subscribed.place("retry", offset) for offset in offsets] == list(offsets)
    taken = [tag for offset, tag in enumerate(TAGS) if subscribed.takes("a", offset)]
    assert taken == [tag for tag in TAGS if not tags or tag in tags]
    assert subscribed.has_everything is (not tags)
