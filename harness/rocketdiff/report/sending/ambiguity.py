"""Ambiguity: how many queues did the rules still allow, as the oracle learned the client's hidden state?"""

from collections.abc import Sequence

from rocketdiff.core.answers.plots import AmbiguityCurve
from rocketdiff.report.charts.drawing import draw
from rocketdiff.report.charts.palette import ARM_COLOURS

WIDTH, HEIGHT = 330, 120


def draw_ambiguity(curves: Sequence[AmbiguityCurve]) -> str:
    """
    Return the SVG of one case: the legal share of queues over time, one line per arm. Low is decisive; 1 excludes nothing.
    """
    import altair as alt

    rows: list[dict[str, object]] = [
        {"at": at_ms / 1e3, "share": share, "arm": curve.arm} for curve in curves for at_ms, share in curve.points
    ]
    arms = [arm for arm in ARM_COLOURS if any(curve.arm == arm for curve in curves)]
    chart = (
        alt.Chart(alt.NamedData("curves"))
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=alt.X("at:Q", title="seconds since the first send was due", axis=alt.Axis(tickCount=6)),
            y=alt.Y(
                "share:Q",
                title="queues allowed",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            color=alt.Color("arm:N", scale=alt.Scale(domain=arms, range=[ARM_COLOURS[arm] for arm in arms])),
            strokeDash=alt.StrokeDash("arm:N", scale=alt.Scale(domain=arms, range=[[1, 0], [6, 3]][: len(arms)])),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return draw(chart, {"curves": rows}, label=_described(curves))


def mean_share(curve: AmbiguityCurve) -> float:
    """Return the mean of the curve's points; 1 without points, because nothing was excluded."""
    return sum(share for _, share in curve.points) / len(curve.points) if curve.points else 1.0


def _described(curves: Sequence[AmbiguityCurve]) -> str:
    parts = [f"{curve.arm}: {mean_share(curve):.0%} on average" for curve in curves]
    return f"Share of queues that the rules allowed, over time. {'. '.join(parts)}."
