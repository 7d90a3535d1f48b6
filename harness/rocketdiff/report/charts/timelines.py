"""
Common parts of pictures over time: frame, axis of seconds, shaded faults.

Hand-written SVG, because Altair's has no element per mark for a tooltip, and no rows of queues inside a broker's row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from rocketdiff.core.answers.plots import FaultWindow
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.topology import master_of
from rocketdiff.report.charts.palette import GRID, INK, MUTED, PAUSE, PAUSED_LANE

WIDTH = 940
GUTTER = 96
"""Pixels left of the axis, for broker names and queue numbers."""

_TICKS = 10

DURING: dict[str, str] = {kind: kind.traits.during for kind in FaultKind}
"""State of a node during a fault; a document of a newer rocketdiff may contain other kinds."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Time in ms to pixels from the left edge."""

    start_ms: float
    end_ms: float

    def x(self, at_ms: float) -> float:
        share = (at_ms - self.start_ms) / max(self.end_ms - self.start_ms, 1e-9)
        return GUTTER + (WIDTH - GUTTER - 4) * min(1.0, max(0.0, share))


def frame(parts: Sequence[str], height: float, label: str) -> str:
    """Return a complete SVG with its text alternative."""
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" font-size="11"'
        f' style="max-width:{WIDTH}px" aria-label="{escape(label)}">'
    )
    return opening + "".join(parts) + "</svg>"


def text(
    x: float, y: float, words: str, *, fill: str = INK, size: float = 11, anchor: str = "", bold: bool = False
) -> str:
    """Return a line of text."""
    extra = (f' text-anchor="{anchor}"' if anchor else "") + (' font-weight="600"' if bold else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-size="{size:g}"{extra}>{escape(words)}</text>'


def ticks(axis: Axis, top: float, bottom: float, since: str = "seconds since the first send was due") -> Iterator[str]:
    """Yield grid lines with their seconds below, and what they count from."""
    step = _step((axis.end_ms - axis.start_ms) / 1e3 / _TICKS)
    digits = 0 if step >= 1 else 1 if step >= 0.1 else 2 if step >= 0.01 else 3
    number = int(axis.start_ms / 1e3 / step) - 1
    while (at := number * step) * 1e3 <= axis.end_ms:
        if at * 1e3 >= axis.start_ms:
            x = axis.x(at * 1e3)
            yield f'<path d="M{x:.1f},{top:.0f}V{bottom:.0f}" stroke="{GRID}"/>'
            anchor = "middle" if x < WIDTH - 12 else "end"
            yield text(x, bottom + 14, f"{at:.{digits}f}", fill=MUTED, anchor=anchor)
        number += 1
    yield text((GUTTER + WIDTH) / 2, bottom + 29, since, fill=MUTED, anchor="middle")


def _step(raw: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least ``raw``; 1 for a case that ended before it began."""
    if raw <= 0:
        return 1.0
    power = 10.0 ** len(str(int(raw))) if raw >= 1 else 1.0
    while power / 10 >= raw:
        power /= 10
    return next(power * part for part in (0.1, 0.2, 0.5, 1.0) if power * part >= raw)


def shade(axis: Axis, fault: FaultWindow, top: float, height: float, *, own: bool) -> str:
    """Return the shading of a fault within the picture; darker in the lane of the faulty node."""
    until = axis.end_ms if fault.end_ms is None else fault.end_ms
    if fault.start_ms >= axis.end_ms or until <= axis.start_ms:
        return ""
    left, right = axis.x(fault.start_ms), axis.x(until)
    look = f'fill="{PAUSED_LANE}" opacity="0.45"' if own else f'fill="{PAUSE}" opacity="0.35"'
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 1):.1f}" height="{height:.1f}" {look}>'
        f"<title>{escape(fault_text(fault))}</title></rect>"
    )


def lane_of(fault: FaultWindow) -> str | None:
    """Return the broker whose lane shows a fault: a slave's master; None for a name server, which shades all lanes."""
    if fault.kind == FaultKind.PAUSE_NAME_SERVER:
        return None
    return master_of(fault.node)


def fault_text(fault: FaultWindow) -> str:
    """For example ``broker-b paused from 1.5 s to 3.0 s``."""
    until = "the end" if fault.end_ms is None else f"{fault.end_ms / 1e3:.1f} s"
    return f"{fault.node} {fault.during or DURING.get(fault.kind, fault.kind)} from {fault.start_ms / 1e3:.1f} s to {until}"
