"""Selects the pictures of a page: case by case, new divergences first, until the page is full."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocketdiff.core.answers.plots import FailoverCurve, FailoverEndings, Overview, Plots, SwimLanes
from rocketdiff.core.extras import CHARTS
from rocketdiff.report.consuming.lag import draw_lag
from rocketdiff.report.consuming.ownership import draw_ownership
from rocketdiff.report.sending.ambiguity import draw_ambiguity
from rocketdiff.report.sending.failover import draw_failover, median_ms
from rocketdiff.report.sending.lanes import draw_lanes
from rocketdiff.report.sending.overview import draw_overview
from rocketdiff.report.sending.shares import draw_shares
from rocketdiff.report.words.signs import plural
from rocketdiff.statistics.significance import exact_mcnemar

ROOM_BYTES = 4_000_000
"""Limit for all pictures; leaves one of the page's five million bytes for text and tables."""


@dataclass(frozen=True, slots=True)
class LanesPicture:
    """
    One window of one case in one run.

    number: as in the case's overview. sends: the examples it shows, by arm.
    """

    svg: str
    left_out: int
    number: int
    title: str
    sends: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CasePictures:
    """All pictures of one case; empty strings for pictures without content. lags, ownerships: of consumers, one a run."""

    overviews: tuple[str, ...] = ()
    lanes: tuple[LanesPicture, ...] = ()
    shares: str = ""
    ambiguity: str = ""
    no_room: bool = False
    lags: tuple[str, ...] = ()
    ownerships: tuple[str, ...] = ()

    def size(self) -> int:
        lanes = (picture.svg for picture in self.lanes)
        drawn = (*self.lags, *self.ownerships, *self.overviews, *lanes, self.shares, self.ambiguity)
        return sum(map(len, drawn))


@dataclass(frozen=True, slots=True)
class CurvesPicture:
    """Failover curves of one sample, with a title and a summary in words; svg is empty without the packages that draw it."""

    title: str
    text: str
    svg: str


@dataclass(frozen=True, slots=True)
class PoolPicture:
    """All pictures of one pool's episodes, the judged one first."""

    name: str
    curves: tuple[CurvesPicture, ...]


NOT_JUDGED = (
    "What a user feels; not judged, because how many attempts run into the broker depends on where the client's counter"
    " happened to stand"
)


def draw_cases(
    cases: Iterable[str], plots: Plots, subjects: dict[str, str], room: int = ROOM_BYTES
) -> dict[str, CasePictures]:
    """Return pictures by case, in the given order, until ``room`` bytes are used."""
    drawn: dict[str, CasePictures] = {}
    for case in cases:
        pictures = _draw_case(case, plots, subjects) if room > 0 else CasePictures(no_room=True)
        if pictures.size() > room:
            pictures = CasePictures(no_room=True)
        room -= pictures.size()
        drawn[case] = pictures
    return drawn


def _draw_case(case: str, plots: Plots, subjects: dict[str, str]) -> CasePictures:
    """Shares and ambiguity are those of the first run."""
    lanes = [lanes for lanes in plots.lanes if lanes.case == case and lanes.attempts]
    overviews = [overview for overview in plots.overviews if overview.case == case]
    shares = [share for share in plots.shares if share.case == case]
    curves = [curve for curve in plots.ambiguity if curve.case == case and curve.points]
    shares = [share for share in shares if share.run == shares[0].run]
    curves = [curve for curve in curves if curve.run == curves[0].run]
    timelines = [timeline for timeline in plots.groups if timeline.case == case]
    has_charts = CHARTS.missing() is None
    return CasePictures(
        lags=tuple(draw_lag(timeline, subjects) for timeline in timelines if timeline.lags),
        ownerships=tuple(draw_ownership(timeline, subjects) for timeline in timelines if timeline.bars),
        overviews=tuple(_overview(overview, lanes, subjects) for overview in overviews),
        lanes=tuple(
            picture for run in dict.fromkeys(item.run for item in lanes) for picture in _windows(run, lanes, subjects)
        ),
        shares=draw_shares(shares) if shares and has_charts else "",
        ambiguity=draw_ambiguity(curves) if curves and has_charts else "",
    )


def _overview(overview: Overview, lanes: Iterable[SwimLanes], subjects: dict[str, str]) -> str:
    return draw_overview(overview, [item for item in lanes if item.run == overview.run], subjects)


def _windows(run: str, lanes: Iterable[SwimLanes], subjects: dict[str, str]) -> Iterator[LanesPicture]:
    for number, item in enumerate((item for item in lanes if item.run == run), start=1):
        sends = tuple(dict.fromkeys((mark.arm, mark.send) for mark in item.marks))
        yield LanesPicture(draw_lanes(item, subjects), item.left_out, number, _title(sends, item, subjects), sends)


def _title(sends: Iterable[tuple[str, int]], lanes: SwimLanes, subjects: dict[str, str]) -> str:
    around = [f"send {send} of {subjects.get(arm, arm)}" for arm, send in sends]
    if around:
        return f"Around {' and '.join(around)}"
    return "Around the first fault" if lanes.faults else "The first sends"


def draw_pools(plots: Plots, subjects: dict[str, str]) -> tuple[PoolPicture, ...]:
    """Return the pictures of each pool of episodes; in words alone without the packages that draw charts."""
    has_charts = CHARTS.missing() is None
    pools: dict[str, dict[str, list[FailoverCurve]]] = {}
    for curve in plots.failover:
        pools.setdefault(curve.pool, {}).setdefault(curve.sample, []).append(curve)
    met = {ending.pool: ending.episodes for ending in plots.endings}
    return tuple(
        PoolPicture(
            name,
            tuple(
                CurvesPicture(
                    _curves_title(curves, met.get(name)),
                    _in_words(curves, subjects),
                    draw_failover(curves, subjects) if has_charts else "",
                )
                for curves in samples.values()
            ),
        )
        for name, samples in pools.items()
    )


def _curves_title(curves: Sequence[FailoverCurve], met: int | None) -> str:
    if not all(curve.judged for curve in curves):
        return NOT_JUDGED
    if met is None:
        return "How long until the sends failed over"
    return f"What is judged: the {plural(curves[0].episodes, 'episode')} of {met} that both clients left for another broker"


def endings_text(ending: FailoverEndings, subjects: dict[str, str]) -> str:
    """Return how often each arm moved to another broker, with the p-value of McNemar's test."""
    arms = ((subjects["baseline"], ending.baseline), (subjects["candidate"], ending.candidate))
    arms_text = " : ".join(f"{subject} in {count} of {ending.episodes}" for subject, count in arms)
    p = exact_mcnemar(ending.baseline_only, ending.candidate_only)
    return (
        f"Failed over before the broker came back: {arms_text}"
        f" (only one of the two in {ending.baseline_only + ending.candidate_only}; exact McNemar test p = {p:.2g})"
    )


def _in_words(curves: Iterable[FailoverCurve], subjects: dict[str, str]) -> str:
    parts = []
    for curve in curves:
        median = median_ms(curve)
        half = "half never failed over" if median is None else f"half within {median:,.0f} ms"
        without = f", {curve.censored} without a failover" if curve.censored else ""
        parts.append(f"{subjects.get(curve.arm, curve.arm)}: {plural(curve.episodes, 'episode')}, {half}{without}")
    return "; ".join(parts)
