"""Lag: how many messages were stored and not yet finished by each group, over time?"""

from collections.abc import Iterator

from rocketdiff.core.answers.plots import GroupTimeline, LagCurve, MemberMark
from rocketdiff.report.charts.palette import ARM_COLOURS, INK, MUTED
from rocketdiff.report.charts.timelines import GUTTER, Axis, fault_text, frame, shade, text, ticks
from rocketdiff.report.words.signs import plural

HEIGHT, MARK = 96.0, 13.0
"""Pixels of the plot, and of the line above it that names members who join or leave."""

SINCE = "seconds since the first message was due"

_DASHES = {"baseline": "", "candidate": ' stroke-dasharray="6 3"'}


def draw_lag(timeline: GroupTimeline, subjects: dict[str, str]) -> str:
    """Return the SVG of one case: a line for each arm (solid: baseline; dashed: candidate), over shaded faults."""
    axis = Axis(0.0, timeline.end_ms)
    most = max((max(curve.lag, default=0) for curve in timeline.lags), default=0) or 1
    top, bottom = MARK, MARK + HEIGHT
    parts = [*ticks(axis, top, bottom, SINCE)]
    parts += [shade(axis, fault, top, HEIGHT, own=False) for fault in timeline.faults]
    parts += [
        text(GUTTER - 5, top + 8, f"{most:,}", fill=MUTED, anchor="end"),
        text(0, top + 8, "messages", fill=MUTED),
    ]
    parts += [text(GUTTER - 5, bottom, "0", fill=MUTED, anchor="end"), text(0, top + 20, "waiting", fill=MUTED)]
    parts += [_line(curve, axis, most, bottom) for curve in timeline.lags]
    parts += [_mark(mark, axis, bottom) for mark in _shown_marks(timeline)]
    return frame(parts, bottom + 36, _described(timeline, subjects))


def _line(curve: LagCurve, axis: Axis, most: int, bottom: float) -> str:
    """A step for each value, drawn over the time that it covers."""
    path = f"M{axis.x(0):.1f},{bottom:.1f}"
    for number, lag in enumerate(curve.lag):
        if number and lag == curve.lag[number - 1]:
            continue
        path += f"H{axis.x(number * curve.step_ms):.1f}V{bottom - lag / most * HEIGHT:.1f}"
    path += f"H{axis.x(len(curve.lag) * curve.step_ms):.1f}"
    look = f'fill="none" stroke="{ARM_COLOURS[curve.arm]}" stroke-width="1.8"{_DASHES[curve.arm]}'
    return f'<path d="{path}" {look}/>'


def _shown_marks(timeline: GroupTimeline) -> Iterator[MemberMark]:
    """Events within the picture; both arms carry out the same ones, so each is shown once."""
    seen: set[tuple[int, str, int]] = set()
    for mark in sorted(timeline.marks, key=lambda mark: mark.at_ms):
        key = (mark.member, mark.what, round(mark.at_ms / 500))
        if 0 < mark.at_ms < timeline.end_ms and key not in seen:
            seen.add(key)
            yield mark


def _mark(mark: MemberMark, axis: Axis, bottom: float) -> str:
    x = axis.x(mark.at_ms)
    line = f'<path d="M{x:.1f},{MARK - 2:.1f}V{bottom:.1f}" stroke="{INK}" stroke-dasharray="3 3"/>'
    fits = x < axis.x(axis.end_ms) - 120
    words = f"member {mark.member} {mark.what}"
    return line + text(x + 3 if fits else x - 3, MARK - 3, words, size=10, anchor="" if fits else "end")


def _described(timeline: GroupTimeline, subjects: dict[str, str]) -> str:
    faults = "; ".join(fault_text(fault) for fault in timeline.faults) or "no fault"
    arms = [
        f"{subjects.get(curve.arm, curve.arm)}: at most {plural(max(curve.lag, default=0), 'message')},"
        f" {plural(curve.lag[-1] if curve.lag else 0, 'message')} in the end"
        for curve in timeline.lags
    ]
    return f"Messages stored and not finished, over time. {faults}. {'. '.join(arms)}."
