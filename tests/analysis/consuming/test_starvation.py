"""What a process that others starve explains of its messages' lateness."""

from types import SimpleNamespace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.starvation import Starvation
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
