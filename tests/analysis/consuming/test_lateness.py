"""How late messages are by the second, what a process that others starve explains of it, and which group is later."""

from types import SimpleNamespace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.lateness import LateSeconds, Starvation, later_group
from rocketdiff.core.arm import Arm
from rocketdiff.core.units import NS_PER_S
from rocketdiff.traces.manifest import ResourceSample


def explained_s(*samples: ResourceSample, member: str = "baseline-m1", at_s: int = 1, for_s: int = 1) -> float:
    entry = SimpleNamespace(resources={member: samples})
    story: Any = SimpleNamespace(trace=SimpleNamespace(entry=entry))
    group: Any = SimpleNamespace(arm=Arm.BASELINE)
    at_ns = at_s * NS_PER_S
    return Starvation(story, group).explains_ns(at_ns, at_ns + for_s * NS_PER_S) / NS_PER_S


def sample(at_s: float, waited_s: float | None, cpu_s: float | None = 0.0) -> ResourceSample:
    waited_ns, cpu_ns = (None if each_s is None else round(each_s * NS_PER_S) for each_s in (waited_s, cpu_s))
    return ResourceSample(round(at_s * NS_PER_S), cpu_ns=cpu_ns, waited_ns=waited_ns)


@pytest.mark.parametrize(
    ("samples", "explained"),
    [
        pytest.param((sample(0, 0), sample(2, 16)), 2.0, id="a fourth of eight waiting threads"),
        pytest.param((sample(0, 0), sample(2, 0)), 0.0, id="no thread waited"),
        pytest.param((sample(0, 0), sample(2, 16, cpu_s=1.5)), 0.0, id="it used the cores itself"),
        pytest.param((sample(0, None), sample(2, None)), 0.0, id="a kernel that does not count"),
        pytest.param((sample(0, 0),), 0.0, id="one sample"),
        pytest.param((sample(0, 0), sample(2, 16, cpu_s=1)), 2.0, id="half of a core"),
        pytest.param((sample(0, None), sample(2, 16)), 0.0, id="not counted before"),
        pytest.param((sample(0, 0), sample(2, None)), 0.0, id="not counted after"),
        pytest.param((sample(0, 0, None), sample(2, 16)), 0.0, id="its own use not counted before"),
        pytest.param((sample(0, 0), sample(2, 16, None)), 0.0, id="its own use not counted after"),
        pytest.param((sample(0, 8, 3), sample(2, 24, 3.5)), 2.0, id="what was counted between the two"),
        pytest.param((sample(1, 0), sample(1.5, 4)), 2.0, id="within a second"),
        pytest.param((sample(2, 0), sample(4, 16)), 2.0, id="from the second at which it is delivered"),
        pytest.param((sample(2.5, 0), sample(4.5, 16)), 2.0, id="in the course of that"),
        pytest.param((sample(3, 0), sample(5, 16)), 0.0, id="after that"),
        pytest.param((sample(-1, 0), sample(1.5, 20)), 2.0, id="until the second in which it is stored"),
        pytest.param((sample(-1, 0), sample(0.5, 20)), 0.0, id="before that"),
        pytest.param((sample(0, 0), sample(2, 16), sample(4, 20)), 2.0, id="the longest of two"),
        pytest.param((sample(0, 0), sample(2, 4), sample(4, 20)), 2.0, id="the longest of two, in the other order"),
        pytest.param((sample(0, 0), sample(2, 0.000_000_006)), 0.0, id="less than a nanosecond"),
        pytest.param((sample(1, 0), sample(1, 0.000_000_004)), 1.0, id="at one instant"),
    ],
)
def test_waiting_for_a_core_explains_lateness(samples: tuple[ResourceSample, ...], explained: float) -> None:
    """By the second, of the members of the group alone."""
    assert explained_s(*samples) == explained
    assert explained_s(*samples, member="candidate-m1") == 0
    assert explained_s(*samples, at_s=9) == 0
    assert explained_s(*samples, for_s=-1) == 0


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


def test_a_second_has_its_latest_message() -> None:
    """As it was seen, and without what is explained of it; nothing is earlier than in time."""
    found = LateSeconds()
    for seen_ms, explained_ms in ((200, 150), (120, 10), (90, 0)):
        found.take_longest(3, seen_ms, explained_ms)
    found.take_longest(4, -5, 0)
    found.take_longest(5, 5, 50)
    found.take_longest(6, 0.5, 0)
    assert found == LateSeconds({3: 200, 4: 0, 5: 5, 6: 0.5}, {3: 110, 4: 0, 5: 0, 6: 0.5})


@pytest.mark.parametrize(
    ("slow", "of", "share", "is_later"),
    [(14, 28, 0.5, False), (14, 27, 0.5, True), (11, 40, 0.0, True), (10, 40, 0.0, False)],
)
def test_more_than_a_share_of_the_seconds_is_later(slow: int, of: int, share: float, is_later: bool) -> None:
    """Of those that are compared; each way of naming them is the same."""
    both = {Arm.BASELINE: late(*[QUICK] * of), Arm.CANDIDATE: late(*[SLOW] * slow, *[QUICK] * (of - slow))}
    for seconds in (None, tuple(range(of))):
        found = later_group(both, lambda own_ms, other_ms: own_ms > other_ms + 50, share, seconds)
        seen = found and (found.arm, found.other, list(found.seconds), found.against, found.of)
        assert seen == ((Arm.CANDIDATE, Arm.BASELINE, list(range(slow)), 0, of) if is_later else None)


def test_seconds_that_one_group_has_alone_are_not_compared() -> None:
    """It has no message there that could be late."""
    both = {Arm.BASELINE: late(*[QUICK] * 14), Arm.CANDIDATE: late(*[SLOW] * 10)}
    assert later_group(both, lambda own_ms, other_ms: own_ms > other_ms) is None
    both = {Arm.BASELINE: late(*[QUICK] * 10), Arm.CANDIDATE: late(*[SLOW] * 14)}
    assert later_group(both, lambda own_ms, other_ms: own_ms > other_ms) is None
    both[Arm.BASELINE].take_longest(13, 0, 0)
    found = later_group(both, lambda own_ms, other_ms: own_ms > other_ms)
    assert found is not None
    assert (list(found.seconds), found.of) == ([*range(10), 13], 11)
