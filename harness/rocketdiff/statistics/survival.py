"""Right-censored durations: Kaplan–Meier curve and restricted mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class SurvivalStep:
    """From ``time`` on (unit of the durations) the share ``survival`` is still running."""

    time: float
    survival: float


@dataclass(frozen=True, slots=True)
class RestrictedMean:
    """Mean duration up to a horizon, with an asymptotically normal interval (too narrow for few episodes)."""

    mean: float
    low: float
    high: float
    confidence: float


def kaplan_meier(durations: Sequence[float], observed: Sequence[bool]) -> tuple[SurvivalStep, ...]:
    """
    Return the product-limit estimate (Kaplan and Meier, JASA 53, 1958): one step per distinct observed time.

    ``observed`` False: censored, at risk until its time. Of equal durations the observed one comes first, as in the
        original.

    Raises ValueError if the lengths differ.
    """
    rows = sorted(zip(durations, observed, strict=True))
    steps: list[SurvivalStep] = []
    survival = 1.0
    for time in sorted({duration for duration, seen in rows if seen}):
        at_risk = sum(duration >= time for duration, _ in rows)
        ended = sum(seen and duration == time for duration, seen in rows)
        survival *= 1 - ended / at_risk
        steps.append(SurvivalStep(time, survival))
    return tuple(steps)


def restricted_mean(
    durations: Sequence[float], observed: Sequence[bool], *, horizon: float, confidence: float = 0.95
) -> RestrictedMean:
    """
    Return the area under the Kaplan–Meier curve up to ``horizon`` (Irwin 1949; Royston and Parmar 2013).

    Means are comparable only with the same horizon in both arms, at most the shortest observation window. Variance:
    sum over steps of (area beyond the step)² · d / (r·(r−d)).

    Raises ValueError without durations or for a horizon that is not positive.
    """
    if not durations or horizon <= 0:
        raise ValueError("a restricted mean needs at least one duration and a positive horizon")
    steps = [step for step in kaplan_meier(durations, observed) if step.time < horizon]
    edges = [0.0, *(step.time for step in steps), horizon]
    levels = [1.0, *(step.survival for step in steps)]
    areas = [(right - left) * level for left, right, level in zip(edges[:-1], edges[1:], levels, strict=True)]
    variance = 0.0
    for number, step in enumerate(steps):
        beyond = sum(areas[number + 1 :])
        at_risk = sum(duration >= step.time for duration in durations)
        ended = sum(seen and duration == step.time for duration, seen in zip(durations, observed, strict=True))
        if at_risk > ended:
            variance += beyond * beyond * ended / (at_risk * (at_risk - ended))
    mean = sum(areas)
    spread = NormalDist().inv_cdf(0.5 + confidence / 2) * sqrt(variance)
    return RestrictedMean(mean, max(0.0, mean - spread), min(horizon, mean + spread), confidence)
