"""Which pictures a page shows: drawn case by case, the ones with new divergences first, until the page is full."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.core.plots import FailoverCurve, Plots
from harness.report.charts.ambiguity import draw_ambiguity
from harness.report.charts.failover import draw_failover, median_ms
from harness.report.charts.lanes import draw_lanes
from harness.report.charts.shares import draw_shares
from harness.report.words import plural

ROOM_BYTES = 4_000_000
"""For all pictures of a page; leaves a million bytes of its five for text and tables."""


@dataclass(frozen=True, slots=True)
class LanesPicture:
    """Swim lanes of one case in one run."""

    svg: str
    left_out: int


@dataclass(frozen=True, slots=True)
class CasePictures:
    """Everything drawn for one case; an empty string where there was nothing to draw."""

    lanes: tuple[LanesPicture, ...] = ()
    shares: str = ""
    ambiguity: str = ""
    no_room: bool = False

    def size(self) -> int:
        """Bytes they take in the page."""
        return sum(len(picture.svg) for picture in self.lanes) + len(self.shares) + len(self.ambiguity)


@dataclass(frozen=True, slots=True)
class PoolPicture:
    """Failover curves of one pool of episodes and what they say in words."""

    name: str
    text: str
    svg: str


def draw_cases(
    cases: Iterable[str], plots: Plots, subjects: dict[str, str], note: Callable[[str], None], room: int = ROOM_BYTES
) -> dict[str, CasePictures]:
    """Pictures by case, in the order given, until ``room`` bytes are used; ``note`` hears of every case done."""
    drawn: dict[str, CasePictures] = {}
    for case in cases:
        pictures = _draw_case(case, plots, subjects) if room > 0 else CasePictures(no_room=True)
        if pictures.size() > room:
            pictures = CasePictures(no_room=True)
        room -= pictures.size()
        drawn[case] = pictures
        note(case)
    return drawn


def _draw_case(case: str, plots: Plots, subjects: dict[str, str]) -> CasePictures:
    """Lanes of every run that has the case; shares and ambiguity of the first, which the lanes begin with."""
    lanes = [lanes for lanes in plots.lanes if lanes.case == case and lanes.attempts]
    shares = [share for share in plots.shares if share.case == case]
    curves = [curve for curve in plots.ambiguity if curve.case == case and curve.points]
    shares = [share for share in shares if share.run == shares[0].run]
    curves = [curve for curve in curves if curve.run == curves[0].run]
    return CasePictures(
        lanes=tuple(LanesPicture(draw_lanes(item, subjects), item.left_out) for item in lanes),
        shares=draw_shares(shares) if shares else "",
        ambiguity=draw_ambiguity(curves) if curves else "",
    )


def draw_pools(plots: Plots, subjects: dict[str, str]) -> tuple[PoolPicture, ...]:
    """One picture a pool of episodes, in the order they come."""
    pools: dict[str, list[FailoverCurve]] = {}
    for curve in plots.failover:
        pools.setdefault(curve.pool, []).append(curve)
    return tuple(
        PoolPicture(name, _in_words(curves, subjects), draw_failover(curves, subjects))
        for name, curves in pools.items()
    )


def _in_words(curves: Iterable[FailoverCurve], subjects: dict[str, str]) -> str:
    parts = []
    for curve in curves:
        median = median_ms(curve)
        half = "half never failed over" if median is None else f"half within {median:,.0f} ms"
        censored = f", {curve.censored} censored" if curve.censored else ""
        parts.append(f"{subjects.get(curve.arm, curve.arm)}: {plural(curve.episodes, 'episode')}, {half}{censored}")
    return "; ".join(parts)
