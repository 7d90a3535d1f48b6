"""Overview of a case: attempts per broker over time, with the windows that are drawn in full below."""

from collections.abc import Iterator, Sequence
from html import escape

from rocketdiff.core.answers.plots import Overview, OverviewRow, SwimLanes
from rocketdiff.report.charts.palette import ARM_COLOURS, GRID, INK, MUTED, UNKNOWN
from rocketdiff.report.charts.timelines import GUTTER, WIDTH, Axis, fault_text, frame, lane_of, shade, text, ticks

LANE, GAP, TOP = 20.0, 4.0, 15.0
"""Pixels: a broker's row, the gap between rows, and the space above for window numbers."""

LEAST = 1.5
"""Minimum height of a step in pixels, so that a single attempt is visible."""


def draw_overview(overview: Overview, windows: Sequence[SwimLanes], subjects: dict[str, str]) -> str:
    """Return the SVG of one case; ``windows`` are outlined with their numbers."""
    steps = max((len(row.stored) for row in overview.rows), default=1)
    axis = Axis(0.0, steps * overview.step_ms)
    most = max((max(map(sum, zip(row.stored, row.other, strict=True))) for row in overview.rows), default=1) or 1
    parts: list[str] = []
    top = TOP
    for arm, subject in subjects.items():
        for row in (row for row in overview.rows if row.arm == arm):
            parts += _lane(overview, row, subject, axis, top, most)
            top += LANE + GAP
        top += GAP
    bottom = top - GAP
    outlines = [_window(axis, lanes, number, bottom) for number, lanes in enumerate(windows, start=1)]
    return frame([*ticks(axis, TOP, bottom), *parts, *outlines], bottom + 36, _described(overview, subjects))


def _lane(overview: Overview, row: OverviewRow, subject: str, axis: Axis, top: float, most: int) -> Iterator[str]:
    yield text(0, top + 9, subject, fill=MUTED, size=9)
    yield text(0, top + 19, row.broker, size=10)
    for fault in overview.faults:
        yield shade(axis, fault, top, LANE, own=lane_of(fault) == row.broker)
    answered = _bars(row.stored, [0] * len(row.stored), overview.step_ms, axis, top, most)
    others = _bars(row.other, row.stored, overview.step_ms, axis, top, most)
    title = f"<title>{escape(row.broker)}: {sum(row.stored):,} attempts stored, {sum(row.other):,} others</title>"
    yield f'<path d="{answered}" fill="{ARM_COLOURS[row.arm]}">{title}</path>' if answered else ""
    yield f'<path d="{others}" fill="{UNKNOWN}">{title}</path>' if others else ""
    yield f'<path d="M{GUTTER},{top + LANE:.1f}H{WIDTH}" stroke="{GRID}"/>'


def _bars(counts: Sequence[int], below: Sequence[int], step_ms: float, axis: Axis, top: float, most: int) -> str:
    """One path, stacked on the series below."""
    parts = []
    for step, (count, under) in enumerate(zip(counts, below, strict=True)):
        if count:
            left, right = axis.x(step * step_ms), axis.x((step + 1) * step_ms)
            height = max(count / most * LANE, LEAST)
            base = min(top + LANE - under / most * LANE, top + LANE)
            parts.append(f"M{left:.1f},{base:.1f}h{right - left:.1f}v{-height:.1f}h{left - right:.1f}Z")
    return "".join(parts)


def _window(axis: Axis, lanes: SwimLanes, number: int, bottom: float) -> str:
    left = axis.x(min(attempt.start_ms for attempt in lanes.attempts))
    width = max(axis.x(max(attempt.end_ms for attempt in lanes.attempts)) - left, 4.0)
    return (
        f'<rect x="{left:.1f}" y="{TOP - 1:.0f}" width="{width:.1f}" height="{bottom - TOP:.1f}" fill="none" stroke="{INK}"/>'
        + text(left + width / 2, TOP - 4, f"{number}", anchor="middle", bold=True)
    )


def _described(overview: Overview, subjects: dict[str, str]) -> str:
    faults = "; ".join(fault_text(fault) for fault in overview.faults) or "no fault"
    rows = [
        f"{subjects.get(row.arm, row.arm)}, {row.broker}: {sum(row.stored)} attempts stored, {sum(row.other)} others"
        for row in overview.rows
    ]
    return f"The whole case, attempts over time by broker. {faults}. {'. '.join(rows)}."
