"""Lanes of a picture over time: one for each broker, a row for each of its queues, shaded while the broker is faulty."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.core.answers.plots import FaultWindow
from rocketdiff.report.charts.palette import GRID, MUTED
from rocketdiff.report.charts.timelines import GUTTER, WIDTH, Axis, lane_of, shade, text

ROW, MOST_ROWS_HEIGHT = 9.0, 72.0
"""Pixels of a row; more than eight rows of a broker share the height of eight."""

LEAST_ROWS = 2
"""Minimum rows of a lane, so that the broker's name fits."""

NARROWEST = 1.6
"""Minimum width of a bar, in pixels."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A broker's lane; top in pixels, rows by name."""

    broker: str
    top: float
    rows: tuple[str, ...]

    @property
    def row(self) -> float:
        return self.height / max(len(self.rows), LEAST_ROWS)

    @property
    def height(self) -> float:
        return min(ROW * max(len(self.rows), LEAST_ROWS), MOST_ROWS_HEIGHT)

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def y(self, row: str) -> float:
        return self.top + self.rows.index(row) * self.row


def stacked(rows: Mapping[str, Sequence[str]], top: float) -> list[Lane]:
    """Return a lane for each broker, in order of names, one below the other."""
    found: list[Lane] = []
    for broker in sorted(rows):
        found.append(Lane(broker, top, tuple(rows[broker])))
        top += found[-1].height + 5
    return found


def panel(
    lanes: Sequence[Lane], faults: Sequence[FaultWindow], axis: Axis, bars: Callable[[Lane], Iterator[str]]
) -> Iterator[str]:
    """Yield the lanes of one arm: faults over all of them, and each with its own faults, its names and its bars."""
    if not lanes:
        return
    top, bottom = lanes[0].top, lanes[-1].bottom
    yield from (shade(axis, fault, top, bottom - top, own=False) for fault in faults)
    for lane in lanes:
        own = (fault for fault in faults if lane_of(fault) == lane.broker)
        yield from (shade(axis, fault, lane.top, lane.height, own=True) for fault in own)
        yield from _names(lane)
        yield from bars(lane)


def _names(lane: Lane) -> Iterator[str]:
    yield text(0, lane.top + min(lane.height, 18) / 2 + 4, lane.broker, size=11)
    if lane.row >= ROW:
        for row in lane.rows:
            yield text(GUTTER - 5, lane.y(row) + ROW - 1.5, row, fill=MUTED, size=8, anchor="end")
    under = lane.top + lane.height + 2
    yield f'<path d="M{GUTTER},{under:.1f}H{WIDTH}" stroke="{GRID}"/>'


def box(lane: Lane, row: str, axis: Axis, start_ms: float, end_ms: float, inset: float = 0.0) -> str:
    """Return the attributes of a bar's rectangle. inset: pixels left free above and below, in a row as high as ROW."""
    left = axis.x(start_ms)
    width = max(axis.x(end_ms) - left, NARROWEST)
    free = inset * lane.row / ROW
    top, height = lane.y(row) + 0.5 + free, lane.row - 1 - 2 * free
    return f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
