"""How long one-way messages took until they were stored, on literal tables."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.results.one_way import UNKNOWN_NS, stored_after_ns
from rocketdiff.analysis.sending.send_arrays import sends_of_arm
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.sends.plan import SendMode
from tests.analysis.builders import MS, S
from tests.analysis.trace_builders import SMALL, trace

HOUR_MS = 3_600_000


def sent(number: int, at_ms: int, **others: Any) -> dict[str, Any]:
    return {"send": number, "start_ns": at_ms * MS, "end_ns": at_ms * MS, "mode": SendMode.ONEWAY} | others


def stored(number: int | None, at_ms: int, broker: str = "broker-a", offset: int = 0) -> dict[str, Any]:
    return {"send": number, "store_timestamp_ms": at_ms, "broker": broker, "queue_offset": offset}


def took_ms(clock: ClockAnchor | None = None, **tables: Any) -> dict[str, list[float]]:
    """The times of both arms in ms."""
    case = trace(replace(SMALL, clock=clock or ClockAnchor(0, 0)), **{"attempts": []} | tables)
    arms = {arm: sends_of_arm(case, arm) for arm in Arm}
    return {
        str(arm): [ns if ns == UNKNOWN_NS else ns / MS for ns in each.tolist()]
        for arm, each in stored_after_ns(case, arms).items()
    }


def test_times_count_from_the_quickest_message_of_a_broker_in_both_arms() -> None:
    """One broker's clock is an hour ahead; the candidate's messages come 300 ms after they were sent, the baseline's after 2."""
    sends = [sent(0, 1_000), sent(1, 2_000)]
    ahead = HOUR_MS + 2_000
    found = took_ms(
        sends=sends,
        stored_baseline=[stored(0, 1_002), stored(1, ahead + 2, "broker-b")],
        stored_candidate=[stored(1, ahead + 300, "broker-b"), stored(0, 1_300)],
    )
    assert found == {"baseline": [0, 0], "candidate": [298, 298]}


@pytest.mark.parametrize(
    ("send", "copies"),
    [
        ({"mode": SendMode.SYNC}, [stored(1, 2_300)]),
        ({"delay_level": 1}, [stored(1, 2_300)]),
        ({}, []),
        ({}, [stored(1, 2_300), stored(1, 2_300, offset=1)]),
        ({}, [stored(None, 2_300)]),
    ],
)
def test_of_these_no_time_is_known(send: dict[str, Any], copies: list[dict[str, Any]]) -> None:
    """An answered or a delayed send, one that is stored nowhere or twice, and a message of another."""
    found = took_ms(sends=[sent(0, 1_000), sent(1, 2_000, **send)], stored=[stored(0, 1_000), *copies])
    assert found["candidate"] == [0, UNKNOWN_NS]


def test_no_time_is_known_while_the_wall_clock_is_stepped() -> None:
    """The clock was set an hour back at some time between two and three seconds."""
    clock = ClockAnchor(0, 0, ((0, 0), (2 * S, 0), (3 * S, -HOUR_MS * MS)))
    sends = [sent(0, 1_000), sent(1, 2_500), sent(2, 4_000)]
    copies = [stored(0, 1_001), stored(1, 2_501), stored(2, 4_001 - HOUR_MS)]
    assert took_ms(clock, sends=sends, stored=copies)["candidate"] == [0, UNKNOWN_NS, 0]


def test_without_a_clock_or_a_one_way_send_no_time_is_known() -> None:
    """A run of an early format has no clock."""
    sends = [sent(0, 1_000)]
    case = trace(replace(SMALL, clock=None), sends=sends, attempts=[], stored=[stored(0, 1_000)])
    arms = {arm: sends_of_arm(case, arm) for arm in Arm}
    assert [each.tolist() for each in stored_after_ns(case, arms).values()] == [[UNKNOWN_NS]] * 2
