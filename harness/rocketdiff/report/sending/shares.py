"""Shares: to which brokers did each arm's attempts go before, during and after the faults?"""

from collections.abc import Sequence

from rocketdiff.core.answers.plots import BrokerShare
from rocketdiff.report.charts.drawing import draw
from rocketdiff.report.charts.palette import BROKERS
from rocketdiff.report.words.signs import PHASES, phase_word

WIDTH, ROW_HEIGHT = 330, 17


def draw_shares(shares: Sequence[BrokerShare]) -> str:
    """Return the SVG of one case: one bar per arm and phase, divided by broker."""
    import altair as alt

    brokers = sorted({share.broker for share in shares})
    phases = [phase_word(phase) for phase in phases_of(shares)]
    rows: list[dict[str, object]] = [
        {
            "arm": s.arm,
            "phase": phase_word(s.phase),
            "broker": s.broker,
            "share": s.share,
            "rank": brokers.index(s.broker),
        }
        for s in shares
    ]
    colour = alt.Color("broker:N", scale=alt.Scale(domain=brokers, range=list(BROKERS[: len(brokers)])))
    chart = (
        alt.Chart(alt.NamedData("shares"))
        .mark_bar(height=11)
        .encode(
            x=alt.X(
                "share:Q",
                title="share of attempts",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            y=alt.Y("arm:N", title=None, axis=alt.Axis(domain=False, ticks=False)),
            row=alt.Row(
                "phase:N",
                title=None,
                sort=phases,
                spacing=6,
                header=alt.Header(labelAngle=0, labelAlign="left", labelFontWeight="bold"),
            ),
            color=colour,
            order="rank:Q",
        )
        .properties(width=WIDTH, height=ROW_HEIGHT * len({share.arm for share in shares}))
    )
    return draw(chart, {"shares": rows}, label=_described(shares))


def phases_of(shares: Sequence[BrokerShare]) -> list[str]:
    """Return the phases that occur, in order of time; unknown ones last."""
    seen = dict.fromkeys(share.phase for share in shares)
    return [*(phase for phase in PHASES if phase in seen), *(phase for phase in seen if phase not in PHASES)]


def _described(shares: Sequence[BrokerShare]) -> str:
    parts = [f"{s.arm}, {phase_word(s.phase)}, {s.broker}: {s.share:.0%} of attempts ({s.attempts})" for s in shares]
    return f"Share of attempts by broker. {'. '.join(parts)}."
