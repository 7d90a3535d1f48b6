"""What checks count of calm sends in columns, on literal sends."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, cast

import numpy as np
import pytest

from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.calm_counts import CalmSends
from rocketdiff.analysis.sending.checks.codes import SENDING_CODES
from rocketdiff.analysis.sending.checks.durations import failover_time
from rocketdiff.analysis.sending.checks.storage import order
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.units import NS_PER_S
from tests.analysis.builders import fault


@dataclass
class ThreeSends:
    """Before, during and after a fault; the first has no choice of a queue, and no wall clock is known for the last."""

    phases: Any = (0, 1, 2)
    in_period: Any = (False, True, False)
    either_in_period: Any = (False, True, True)
    queues: Any = (1, 2, 8)
    avoided: Any = (0, 1, 2)
    called_back: Any = (True, True, False)
    stored_ms: Any = (120, 121, 9_000)
    ended_ms: Any = (100.0, 100.0, inf)
    ended_ns: Any = (NS_PER_S - 1, 2 * NS_PER_S, 2 * NS_PER_S)
    brokers: Any = ("broker-a", "broker-a", "broker-b")
    is_one_way: Any = (False, False, False)
    follows: Any = (False, False, True)
    shows_content: Any = (True, False, True)
    faults: Sequence[FaultRecord] = ()

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if isinstance(values, tuple) and name != "faults":
                setattr(self, name, np.array(values))

    def tried_at(self, nodes: Collection[str]) -> Any:
        return np.isin(self.brokers, list(nodes))


ALL = {"calm": 1.0, "paused": 1.0, "after": 1.0}

COUNTS = {
    ("avoidance", "decision"): {"paused": 1.0, "after": 1.0},
    ("avoidance.legal", "decision"): {"paused": 0.5, "after": 0.125},
    ("callbacks", "once"): {"calm": 1.0, "paused": 1.0},
    ("content", "copy"): {"calm": 1.0, "after": 1.0},
    ("duplication", "accounted"): ALL,
    ("duplication", "message"): ALL,
    ("loss", "one-way judged"): ALL,
    ("loss", "one-way stored"): ALL,
    ("loss", "stored"): {},
    ("loss", "stored-late"): {"calm": 0.0, "paused": 1.0, "after": 0.0},
    ("order", "pair"): {"after": 1.0},
    ("outcomes", "sends"): {"calm": 1.0, "faults": 2.0},
    ("outcomes.crowded", "not failed"): {"calm": 2.0},
    ("queue-choice", "decision"): {"paused": 1.0, "after": 1.0},
    ("queue-choice.legal", "decision"): {"paused": 0.5, "after": 0.125},
    ("queue-choice.met", "choice"): {"paused": 1.0, "after": 1.0},
}
"""By tally: how often the sends count, or their share, by phase."""


@pytest.mark.parametrize(
    ("sends", "differs"),
    [
        (ThreeSends(), {("loss", "stored"): ALL, ("loss", "one-way stored"): {}, ("loss", "one-way judged"): {}}),
        (ThreeSends(is_one_way=(True, True, True)), {}),
        (
            ThreeSends(is_one_way=(True, True, True), faults=(fault(2 * NS_PER_S, None, FaultKind.PAUSE, "broker-a"),)),
            {("loss", "one-way judged"): {"calm": 1.0, "after": 1.0}},
        ),
        (
            ThreeSends(is_one_way=(True, True, True), faults=(fault(2 * NS_PER_S, None, FaultKind.KILL, "broker-a"),)),
            {("loss", "one-way judged"): {"calm": 1.0}},
        ),
    ],
    ids=["answered", "one-way", "one-way, broker-a paused", "one-way, broker-a killed"],
)
def test_counts_of_calm_sends(sends: ThreeSends, differs: dict[tuple[str, str], dict[str, float]]) -> None:
    """
    A message is late that was stored over 20 ms after its call; only one of two or eight queues is legal.

    Of one-way messages those that were sent a second before the first fault are judged, and those beside a paused broker.
    """
    found = {}
    for count in (each for code in SENDING_CODES for each in code.calm):
        calm = cast(CalmSends, sends)
        here = np.ones(3, dtype=np.bool_) if count.where is None else count.where(calm)
        amounts = (count.share or count.times or (lambda _: np.ones(3)))(calm)
        codes, phases = count.phased(calm)
        by_phase: dict[str, float] = {}
        for code, amount in zip(codes[here].tolist(), amounts[here].tolist(), strict=True):
            by_phase[str(phases[code])] = by_phase.get(str(phases[code]), 0.0) + amount
        found[count.check, count.key] = by_phase
    assert found == COUNTS | differs


def test_modules_of_a_check() -> None:
    """Those of its observers, its evidence and its pool, if it has one."""
    assert order.CODE.modules == {order.__name__}
    pooled: CheckCode[object, object] = CheckCode("order", evaluate=order.evaluate, pooled=failover_time.pooled)
    assert pooled.modules == {order.__name__, failover_time.__name__}
