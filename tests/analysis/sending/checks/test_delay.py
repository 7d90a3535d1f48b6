"""The check ``delay`` on manually built messages: level, time and place."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.storage import delay
from rocketdiff.analysis.sending.checks.storage.delay import Delay
from rocketdiff.analysis.sending.send_view import Copy
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.errors import ExitCode
from tests.analysis.builders import ENTRY, MS, S, ended, signatures
from tests.analysis.sending.checks.builders import CANDIDATE, NO_CLOCK, SLOW, copied, examples, facts_alone, stored_send


def kept(queue_id: int = 0, delay_text: str = "1", to: str = "0", broker: str = "broker-b") -> Copy:
    """A copy kept back at 1,000 ms. delay_text: its DELAY. to: its target queue."""
    return copied(queue_id=queue_id, at_ms=1_000, broker=broker, DELAY=delay_text, REAL_QID=to)


@pytest.mark.parametrize(
    ("copies", "back", "level", "wanted"),
    [
        ([copied(at_ms=2_000)], [kept()], 1, {}),
        ([copied(at_ms=1_995)], [kept()], 1, {}),
        ([copied(at_ms=1_994)], [kept()], 1, {"delivered-early": ("not before 1 s have passed", "6 ms too early")}),
        ([], [kept()], 1, {"not-delivered": ("delivered 1 s after it was kept back", "not at all")}),
        ([], [kept(2, "3")], 3, {"not-delivered": ("delivered 10 s after it was kept back", "not at all")}),
        ([], [kept(3, "4")], 4, {}),
        ([copied(at_ms=2_000)], [], 1, {"not-kept-back": ("kept back under level 1", "in its topic at once")}),
        ([], [], 1, {"not-kept-back": ("kept back under level 1", "nowhere")}),
        ([copied(at_ms=2_000)], [kept(1)], 1, {"other-level": ("kept back under level 1", "level 2, DELAY 1")}),
        ([copied(at_ms=2_000)], [kept(0, "2")], 1, {"other-level": ("kept back under level 1", "level 1, DELAY 2")}),
        (
            [copied(queue_id=2, at_ms=2_000)],
            [kept()],
            1,
            {"delivered-to-another-queue": ("delivered to queue 0 of broker-b", "queue 2 of broker-b")},
        ),
        (
            [copied(broker="broker-a", at_ms=2_000)],
            [kept()],
            1,
            {"delivered-to-another-queue": ("delivered to queue 0 of broker-b", "queue 0 of broker-a")},
        ),
        ([copied(at_ms=2_000), copied(at_ms=2_100)], [kept()], 1, {}),
        ([copied(at_ms=2_000)], [kept(), kept(1)], 1, {}),
        (
            [copied(at_ms=2_000), copied(at_ms=2_100, queue_id=5)],
            [kept()],
            1,
            {"delivered-to-another-queue": ("delivered to queue 0 of broker-b", "queue 5 of broker-b")},
        ),
        (
            [copied(at_ms=2_000, queue_id=5)],
            [kept(), kept(to="3")],
            1,
            {"delivered-to-another-queue": ("delivered to queue 0 of broker-b", "queue 5 of broker-b")},
        ),
        (
            [copied(at_ms=2_100, queue_id=1), copied(at_ms=2_000)],
            [kept(), kept(to="3")],
            1,
            {"delivered-to-another-queue": ("delivered to queue 3 of broker-b", "queue 1 of broker-b")},
        ),
    ],
)
def test_a_delayed_message_is_kept_back_and_delivered(
    copies: list[Copy], back: list[Copy], level: int, wanted: dict[str, tuple[str, str]]
) -> None:
    """A message is kept back under its level and delivered when due; deliveries are awaited up to level 3."""
    side = stored_send(CANDIDATE, *copies, kept=tuple(back), delay_level=level)
    found = facts_alone(Delay, side)
    assert examples(found) == wanted
    assert found.n("delay", "message", arm=CANDIDATE) == 1
    theirs = replace(found, tallies={**found.tallies, ("delay", "baseline", "calm", "message"): (1, 0.0)})
    assert ended(delay.evaluate(theirs))[1] is (ExitCode.DIVERGES if wanted else ExitCode.CONFORMS)


def test_deliveries_are_paired_in_the_order_of_their_times() -> None:
    """Copies kept back at 1,000 and 1,500 ms, delivered at 2,003 and 2,510 ms, are 3 and 10 ms late."""
    first, second = kept(), replace(kept(), store_timestamp_ms=1_500)
    found = facts_alone(
        Delay, stored_send(CANDIDATE, copied(at_ms=2_510), copied(at_ms=2_003), kept=(second, first), delay_level=1)
    )
    assert (signatures(found), found.n("delay.lateness", "delivered"), found.mean("delay.lateness")) == ([], 2, 6.5)


@pytest.mark.parametrize("row", [{}, {"delay_level": 0}, {"delay_level": 1, "error": SLOW}])
def test_only_acknowledged_delayed_messages_are_judged(row: dict[str, Any]) -> None:
    """Only acknowledged delayed messages that were read back are judged."""
    assert facts_alone(Delay, stored_send(CANDIDATE, **row)).tallies == {}
    unread = replace(stored_send(CANDIDATE, delay_level=1), copies=None)
    assert facts_alone(Delay, unread).tallies == {}


@pytest.mark.parametrize(
    ("offsets", "at_ms", "is_early"),
    [
        ((), 1_994, True),
        (((0, 0), (S, 0)), 1_994, True),
        (((0, 0), (S + S // 2, -300 * MS)), 1_695, False),
        (((0, 0), (S + S // 2, -300 * MS)), 1_694, True),
        (((0, 0), (S + S // 2, 300 * MS)), 1_695, False),
        (((0, 0), (S + S // 4, 0), (S + S // 2, -300 * MS)), 1_695, False),
        (((0, 0), (S // 4, -300 * MS), (S // 2, -300 * MS)), 1_994, True),
    ],
)
def test_a_clock_set_meanwhile_makes_a_delivery_early(
    offsets: tuple[tuple[int, int], ...], at_ms: int, is_early: bool
) -> None:
    """A delivery may be as early as the wall clock was set between the send's start and a second after its end."""
    side = stored_send(CANDIDATE, copied(at_ms=at_ms), kept=(kept(),), delay_level=1)
    found = facts_alone(Delay, side, entry=replace(ENTRY, clock=ClockAnchor(0, 0, offsets)))
    assert bool(signatures(found)) is is_early
    assert bool(signatures(facts_alone(Delay, side, entry=NO_CLOCK))) is (at_ms < 1_995)
