"""Failover: the share of episodes that had moved to another broker, by time since the pause took effect."""

from collections.abc import Sequence

from rocketdiff.core.answers.plots import FailoverCurve
from rocketdiff.report.charts.drawing import draw
from rocketdiff.report.charts.palette import ARM_COLOURS

WIDTH, HEIGHT = 420, 170

AXIS = {"failover-time-per-timeout": "ms inside sends, for every timeout waited"}
"""Axis titles of samples whose durations are not simply times."""


def draw_failover(curves: Sequence[FailoverCurve], subjects: dict[str, str]) -> str:
    """Return the SVG of one pool's curves, one per arm (solid: baseline; dashed: candidate), from Kaplan–Meier points."""
    import altair as alt

    end_ms = 1.04 * max((at_ms for curve in curves for at_ms, _ in curve.points), default=0.0)
    rows: list[dict[str, object]] = [
        {"after": at_ms, "share": share, "subject": _name(curve.arm, subjects), "rank": rank}
        for curve in curves
        for rank, (at_ms, share) in enumerate(_from_start_to(end_ms, curve))
    ]
    names = [_name(arm, subjects) for arm in subjects]
    colour = alt.Color("subject:N", scale=alt.Scale(domain=names, range=[ARM_COLOURS[arm] for arm in subjects]))
    dash = alt.StrokeDash("subject:N", scale=alt.Scale(domain=names, range=[[1, 0], [6, 3]]))
    chart = (
        alt.Chart(alt.NamedData("curves"))
        .mark_line(interpolate="step-after", strokeWidth=2.2)
        .encode(
            x=alt.X(
                "after:Q",
                title=AXIS.get(curves[0].sample, "milliseconds since the pause was first met"),
                axis=alt.Axis(tickCount=6),
            ),
            y=alt.Y(
                "share:Q",
                title="episodes both left" if curves[0].judged and curves[0].sample else "episodes failed over",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            color=colour,
            strokeDash=dash,
            order="rank:Q",
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return draw(chart, {"curves": rows}, label=_described(curves, subjects))


def _from_start_to(end_ms: float, curve: FailoverCurve) -> tuple[tuple[float, float], ...]:
    last = curve.points[-1][1] if curve.points else 0.0
    return ((0.0, 0.0), *curve.points, (end_ms, last))


def _name(arm: str, subjects: dict[str, str]) -> str:
    return f"{arm} {subjects.get(arm, '')}".strip()


def median_ms(curve: FailoverCurve) -> float | None:
    """Return the time by which half of the episodes had failed over; None if fewer did."""
    return next((at_ms for at_ms, share in curve.points if share >= 0.5), None)


def _described(curves: Sequence[FailoverCurve], subjects: dict[str, str]) -> str:
    parts = []
    for curve in curves:
        median = median_ms(curve)
        half = "half of them never failed over" if median is None else f"half of them within {median:.0f} ms"
        parts.append(f"{_name(curve.arm, subjects)}: {curve.episodes} episodes, {half}, {curve.censored} censored")
    return f"Share of episodes that had failed over, by time. {'. '.join(parts)}."
