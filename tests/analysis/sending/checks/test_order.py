"""The check ``order`` on manually built sends."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.storage.order import Order
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import FaultKind
from tests.analysis.builders import S, fault, signatures
from tests.analysis.sending.checks.builders import BASELINE, CANDIDATE, SLOW, copied, examples, facts_alone, stored_send


def keyed(number: int, offset: int, *, arm: Arm = CANDIDATE, queue_id: int = 0, argument: int = 3, thread: int = 0, **row: Any) -> SendView:  # fmt: skip
    """A send with a selector's argument, stored at an offset."""
    reported: dict[str, Any] = {"kind": SendKind.SELECTOR, "argument": argument, "thread": thread} | row
    return stored_send(arm, copied(number, offset=offset, queue_id=queue_id), number=number, **reported)


REORDERED = ["order.stored-before-an-earlier-message 1"]


@pytest.mark.parametrize(
    ("later", "pairs", "wanted"),
    [
        (keyed(1, 6), 1, []),
        (keyed(1, 4), 1, REORDERED),
        (keyed(1, 5), 1, REORDERED),
        (keyed(1, 4, kind=SendKind.QUEUE), 1, REORDERED),
        (keyed(1, 4, kind=SendKind.GROUP), 1, REORDERED),
        (keyed(1, 4, kind=SendKind.PLAIN), 0, []),
        (keyed(1, 4, argument=4), 0, []),
        (keyed(1, 4, queue_id=1), 0, []),
        (keyed(1, 4, thread=1), 0, []),
        (keyed(1, 4, arm=BASELINE), 0, []),
        (keyed(1, 4, mode=SendMode.ASYNC), 0, []),
        (keyed(1, 4, error=SLOW), 0, []),
        (keyed(1, 4, delay_level=1), 0, []),
    ],
)
def test_messages_of_one_key_lie_in_order(later: SendView, pairs: int, wanted: list[str]) -> None:
    """A later acknowledged message of the same arm, thread, key and queue must come after offset 5."""
    found = facts_alone(Order, keyed(0, 5), later)
    assert (signatures(found), found.n("order", "pair")) == (wanted, pairs)
    if wanted:
        (shown,) = examples(found).values()
        offset = later.copies[0].queue_offset if later.copies else None
        assert shown == (
            "key 3 in broker-b queue 0 after offset 5, which send 0 has",
            f"send 1 at offset {offset}",
        )


def test_second_copies_are_ignored_and_a_low_offset_keeps_the_limit() -> None:
    """A second copy is ignored, and a message at a low offset does not lower the limit for later ones."""
    twice = replace(keyed(1, 9), copies=(copied(1, offset=9), copied(1, offset=2)))
    assert signatures(facts_alone(Order, keyed(0, 5), twice)) == []
    found = facts_alone(Order, keyed(0, 5), keyed(1, 3), keyed(2, 4), keyed(3, 6))
    assert signatures(found) == ["order.stored-before-an-earlier-message 2"]
    assert found.n("order", "pair") == 3


@pytest.mark.parametrize(
    ("later", "kinds", "is_found"),
    [
        ({"queue_id": 1}, (), True),
        ({"queue_id": 1, "thread": 1}, (), True),
        ({}, (), False),
        ({"queue_id": 1, "argument": 4}, (), False),
        ({"queue_id": 1, "arm": BASELINE}, (), False),
        ({"queue_id": 1, "kind": SendKind.SELECTOR}, (), False),
        ({"queue_id": 1}, (FaultKind.PAUSE,), True),
        ({"queue_id": 1}, (FaultKind.KILL,), False),
    ],
)
def test_messages_of_a_group_lie_in_one_queue(
    later: dict[str, Any], kinds: tuple[FaultKind, ...], is_found: bool
) -> None:
    """A group of one arm has one queue, unless a server was killed: then the route may have changed."""
    group = {"kind": SendKind.GROUP} | later
    faults = [fault(S, 2 * S, kind) for kind in kinds]
    found = facts_alone(Order, keyed(0, 5, kind=SendKind.GROUP), keyed(1, 6, **group), faults=faults)
    assert examples(found) == (
        {"group-in-two-queues": ("group 3 in broker-b queue 0, as its first message", "broker-b queue 1")}
        if is_found
        else {}
    )
    assert facts_alone(Order, replace(keyed(0, 5, **group), copies=None), faults=faults).tallies == {}
