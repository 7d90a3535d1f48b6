"""Java's rules read the wall clock: what the oracle leaves undecided if that was stepped."""

import pytest

from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.replay import replay_for
from tests.oracle.histories import MS, history, routes

CLOCK = ClockAnchor(0, 0, ((0, 0), (30 * MS, 0), (50 * MS, 31 * MS)))
"""Stepped between 30 and 50 ms."""


def judged(text: str, *, on: bool) -> list[str]:
    """Return for each send "ok", "undecided" or a signature."""
    settings = ClientSettings(send_latency_fault_enable=on)
    judgements = replay_for("5.3.3", settings, routes("a4 b4"), clock=CLOCK).judge_all(history(text))
    return [
        "undecided" if one.undecided else one.difference.signature if one.difference else "ok" for one in judgements
    ]


@pytest.mark.parametrize(
    ("text", "on", "expected"),
    [
        ("0 a0 1 | 10 a1 1 | 40 a2 1 | 60 a3 1 | 80 b0 1", False, ["ok", "ok", "undecided", "ok", "ok"]),
        ("0 a0 1 | 10 a1 1 | 60 a2 1 | 80 b1 1", False, ["ok", "ok", "ok", "queue.out-of-turn/first"]),
        ("0 a0 1 | 10 a1 1 | 60 a2 1 | 80 b1 1", True, ["ok", "ok", "ok", "undecided"]),
        ("0 a0 1 | 10 a3 1 | 60 a0 1", True, ["ok", "queue.out-of-turn/first", "ok"]),
        ("t1 5 a0 1 | 0 a0 1 | 10 a1 1 | 60 a2 1 | 80 b1 1", True, ["ok", "ok", "ok", "ok", "undecided"]),
        (
            "t1 5 a0 1 | 0 a0 1 | 10 r0 b0 1 refused > a1 1 | 20 b3 1 | 60 a2 1",
            True,
            ["ok", "ok", "undecided", "undecided", "ok"],
        ),
        ("t1 5 a0 1 | 0 a0 1 | 10 a1 1 | 60 a2 1 | 80 b1 1", False, ["ok"] * 4 + ["queue.out-of-turn/first"]),
    ],
)
def test_a_step_leaves_its_calls_undecided_and_later_avoidances(text: str, on: bool, expected: list[str]) -> None:
    """A call that meets it; with fault latency whatever does not follow from the times without it; never what came before."""
    assert judged(text, on=on) == expected
