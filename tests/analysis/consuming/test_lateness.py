"""How late messages are by the second, what a process that others starve explains of it, and which group is later."""

from types import SimpleNamespace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.lateness import LateSeconds, Starvation, later_group
from rocketdiff.core.arm import Arm
from rocketdiff.core.units import NS_PER_S
from rocketdiff.traces.manifest import ResourceSample


def explained_s(*samples: ResourceSample, member: str = "baseline-m1", at_s: int = 1) -> float:
    entry = SimpleNamespace(resources={member: samples})
    story: Any = SimpleNamespace(trace=SimpleNamespace(entry=entry))
    group: Any = SimpleNamespace(arm=Arm.BASELINE)
    at_ns = at_s * NS_PER_S
    return Starvation(story, group).explains_ns(at_ns, at_ns + NS_PER_S) / NS_PER_S


def sample(at_s: float, waited_s: float | None, cpu_s: float = 0.0) -> ResourceSample:
    waited_ns = None if waited_s is None else round(waited_s * NS_PER_S)
    return ResourceSample(round(at_s * NS_PER_S), cpu_ns=round(cpu_s * NS_PER_S), waited_ns=waited_ns)


@pytest.mark.parametrize(
    ("samples", "explained"),
    [
        pytest.param((sample(0, 0), sample(2, 16)), 2.0, id="a fourth of eight waiting threads"),
        pytest.param((sample(0, 0), sample(2, 0)), 0.0, id="no thread waited"),
        pytest.param((sample(0, 0), sample(2, 16, cpu_s=1.5)), 0.0, id="it used the cores itself"),
        pytest.param((sample(0, None), sample(2, None)), 0.0, id="a kernel that does not count"),
        pytest.param((sample(0, 0),), 0.0, id="one sample"),
    ],
)
def test_waiting_for_a_core_explains_lateness(samples: tuple[ResourceSample, ...], explained: float) -> None:
    """By the second, of the members of the group alone."""
    assert explained_s(*samples) == explained
    assert explained_s(*samples, member="candidate-m1") == 0
    assert explained_s(*samples, at_s=9) == 0


def late(*seconds: tuple[float, float]) -> LateSeconds:
    """Seen and explained lateness in ms, by second."""
    found = LateSeconds()
    for second, (seen_ms, explained_ms) in enumerate(seconds):
        found.take_longest(second, seen_ms, explained_ms)
    return found


SLOW, QUICK, STARVED = (200, 0), (10, 0), (200, 190)


@pytest.mark.parametrize(
    ("baseline", "candidate", "later"),
    [
        pytest.param([QUICK] * 14, [SLOW] * 14, (Arm.CANDIDATE, 14, 0), id="slow in every second"),
        pytest.param([SLOW] * 14, [QUICK] * 14, (Arm.BASELINE, 14, 0), id="of both groups"),
        pytest.param([QUICK] * 10, [SLOW] * 10, None, id="ten seconds are too few"),
        pytest.param([QUICK] * 14, [STARVED] * 14, None, id="others had the cores"),
        pytest.param([STARVED] * 14, [SLOW] * 14, None, id="a starved group is no quicker than it was seen"),
        pytest.param([QUICK] * 14 + [SLOW] * 14, [SLOW] * 14 + [QUICK] * 14, None, id="as often the other"),
        pytest.param([QUICK] * 30, [SLOW] * 14 + [QUICK] * 16, None, id="in less than half of the seconds"),
    ],
)
def test_a_group_is_later_in_nearly_all_seconds(
    baseline: list[tuple[float, float]],
    candidate: list[tuple[float, float]],
    later: tuple[Arm, int, int] | None,
) -> None:
    """In both directions; what may be explained speaks for the accused alone."""
    both = {Arm.BASELINE: late(*baseline), Arm.CANDIDATE: late(*candidate)}
    found = later_group(both, lambda own_ms, other_ms: own_ms > other_ms + 50, 0.5)
    assert (found and (found.arm, len(found.seconds), found.against)) == later
