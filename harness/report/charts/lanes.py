"""
Swim lanes: which broker did each attempt go to, how long did it last, and who was paused meanwhile?

One lane an arm and broker. A lane is one broken line per outcome rather than a mark per attempt: a case with thousands
of attempts stays a picture of some ten kilobytes.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import altair as alt

from harness.core.fault import OF_SLAVES, FaultKind
from harness.core.plots import FaultWindow, LaneAttempt, SwimLanes
from harness.report.charts.drawing import Rows, draw
from harness.report.charts.palette import ARM_COLOURS, FAILED, PAUSE, PAUSED_LANE, UNKNOWN

WIDTH = 940
LANE_HEIGHT = 26
THIN, THICK = 10, 18
"""Pixels: answered attempts are thin, the others thick, so that colour is not the only difference."""

OUTCOMES = {"ok": THIN, "unknown": THICK, "failed": THICK}


def draw_lanes(lanes: SwimLanes, subjects: dict[str, str]) -> str:
    """SVG of one case; ``subjects`` names the arms."""
    brokers = sorted(
        {attempt.broker for attempt in lanes.attempts} | {_lane(f) for f in lanes.faults if _is_of_broker(f)}
    )
    start, end = _span(lanes)
    seen = [fault for fault in lanes.faults if _is_seen(fault, start, end)]
    datasets: dict[str, Rows] = {
        "faults": [_shade(fault, start, end) for fault in seen],
        "broker-faults": [_shade(fault, start, end) for fault in seen if _is_of_broker(fault)],
    }
    panels = []
    for arm, subject in subjects.items():
        mine = [attempt for attempt in lanes.attempts if attempt.arm == arm]
        for outcome in OUTCOMES:
            datasets[f"{arm}-{outcome}"] = _segments(mine, outcome, (end - start) / WIDTH)
        panels.append(_panel(arm, f"{arm}: {subject}", brokers, (start / 1e3, end / 1e3), last=arm == [*subjects][-1]))
    chart = alt.vconcat(*panels, spacing=10)
    return draw(chart, datasets, label=_described(lanes, subjects))


def _span(lanes: SwimLanes) -> tuple[float, float]:
    starts = [attempt.start_ms for attempt in lanes.attempts]
    ends = [attempt.end_ms for attempt in lanes.attempts]
    return min(starts, default=0.0), max(ends, default=1.0)


def _is_seen(fault: FaultWindow, start_ms: float, end_ms: float) -> bool:
    return fault.start_ms < end_ms and (fault.end_ms is None or fault.end_ms > start_ms)


def _is_of_broker(fault: FaultWindow) -> bool:
    """A name server has no lane: its pause shades all of them."""
    return fault.kind != FaultKind.PAUSE_NAME_SERVER


def _lane(fault: FaultWindow) -> str:
    """A slave has no lane of its own: clients feel its fault at its master."""
    return fault.node.partition("-slave-")[0] if fault.kind in OF_SLAVES else fault.node


def _shade(fault: FaultWindow, start_ms: float, end_ms: float) -> dict[str, object]:
    """A fault as far as it lies in the picture, whose scale it must not stretch."""
    until = end_ms if fault.end_ms is None else min(fault.end_ms, end_ms)
    return {"from": max(fault.start_ms, start_ms) / 1e3, "to": until / 1e3, "broker": _lane(fault)}


def _past(fault: FaultWindow) -> str:
    return _PAST.get(fault.kind, "paused")


_PAST: dict[str, str] = {
    FaultKind.KILL: "killed",
    FaultKind.KILL_SLAVE: "killed",
    FaultKind.READ_ONLY: "read-only",
    FaultKind.FLOW_CONTROL: "busy",
    FaultKind.FLUSH_TIMEOUT: "not flushing in time",
    FaultKind.WIRE_DELAY: "delayed",
    FaultKind.WIRE_RESET: "reset",
    FaultKind.WIRE_SWALLOW: "cut off",
}


def _segments(attempts: Iterable[LaneAttempt], outcome: str, pixel_ms: float) -> list[dict[str, object]]:
    """
    Ends of every bar with a gap after it.

    An answered attempt lasts a millisecond and would be a fraction of a pixel: it is drawn one pixel wide, and
    neighbours closer than half a pixel become one bar. Others keep a pixel of distance, so that they can be counted.
    """
    spans: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for attempt in sorted(attempts, key=lambda a: a.start_ms):
        if attempt.outcome != outcome:
            continue
        shorter = 0 if outcome == "ok" else pixel_ms
        start, end = attempt.start_ms, max(attempt.end_ms - shorter, attempt.start_ms + pixel_ms)
        mine = spans[attempt.broker]
        if outcome == "ok" and mine and start - mine[-1][1] < pixel_ms / 2:
            mine[-1] = (mine[-1][0], max(end, mine[-1][1]))
        else:
            mine.append((start, end))
    rows: list[dict[str, object]] = []
    for broker, bars in spans.items():
        for start, end in bars:
            rows += [
                {"broker": broker, "at": start / 1e3},
                {"broker": broker, "at": end / 1e3},
                {"broker": broker, "at": None},
            ]
    return rows


def _panel(
    arm: str, title: str, brokers: Sequence[str], span: tuple[float, float], *, last: bool
) -> alt.LayerChart | alt.FacetChart:
    words = (
        {"title": "seconds since the first send was due"} if last else {"title": None, "labels": False, "ticks": False}
    )
    axis = alt.Axis(tickCount=10, **words)
    scale = alt.Scale(domain=list(span), nice=False, zero=False)
    x, since = alt.X("at:Q", scale=scale, axis=axis), alt.X("from:Q", scale=scale, axis=axis)
    y = alt.Y("broker:N", scale=alt.Scale(domain=list(brokers)), axis=alt.Axis(title=None, domain=False, ticks=False))
    whole = alt.Chart(alt.NamedData("faults")).mark_rect(color=PAUSE, opacity=0.35).encode(x=since, x2="to:Q")
    lane = (
        alt.Chart(alt.NamedData("broker-faults"))
        .mark_rect(color=PAUSED_LANE, opacity=0.45)
        .encode(x=since, x2="to:Q", y="broker:N")
    )
    colours = {"ok": ARM_COLOURS[arm], "unknown": UNKNOWN, "failed": FAILED}
    bars = [
        alt.Chart(alt.NamedData(f"{arm}-{outcome}"))
        .mark_line(strokeWidth=thickness, strokeCap="butt", color=colours[outcome], opacity=0.9)
        .encode(x=x, y=y, order=alt.value(0))
        for outcome, thickness in OUTCOMES.items()
    ]
    size = {"width": WIDTH, "height": LANE_HEIGHT * len(brokers)}
    return alt.layer(whole, lane, *bars).properties(title=title, **size)


def _described(lanes: SwimLanes, subjects: dict[str, str]) -> str:
    faults = "; ".join(_sentence(fault) for fault in lanes.faults) or "no fault"
    counts = []
    for arm, subject in subjects.items():
        mine = [attempt for attempt in lanes.attempts if attempt.arm == arm]
        unanswered = sum(attempt.outcome != "ok" for attempt in mine)
        counts.append(f"{subject}: {len(mine)} attempts, {unanswered} of them not answered with success")
    return f"Attempts over time by broker. {faults}. {'. '.join(counts)}."


def _sentence(fault: FaultWindow) -> str:
    until = "the end" if fault.end_ms is None else f"{fault.end_ms / 1e3:.1f} s"
    return f"{fault.node} {_past(fault)} from {fault.start_ms / 1e3:.1f} s to {until}"
