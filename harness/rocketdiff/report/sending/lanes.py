"""
Swim lanes: to which queue of which broker did each attempt go, how long did it last, and which broker was paused meanwhile?

One window of a case: a lane per broker and arm, a row per queue, a bar per attempt.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from html import escape

from rocketdiff.core.answers.plots import LaneAttempt, LaneMark, SwimLanes
from rocketdiff.report.charts.lanes import Lane, box, panel, stacked
from rocketdiff.report.charts.palette import ARM_COLOURS, FAILED, INK, UNKNOWN
from rocketdiff.report.charts.timelines import GUTTER, Axis, fault_text, frame, lane_of, text, ticks
from rocketdiff.report.sending.words import attempt_text
from rocketdiff.report.words.signs import plural

TITLE, GAP, MARK = 20.0, 8.0, 15.0
"""Pixels above an arm's lanes, below them, and of one line of marks at the top."""

MARK_WIDTH = 210.0
"""Width of a mark's label in pixels; nearer marks go on another line."""

COLOURS = {"unknown": UNKNOWN, "failed": FAILED}


def draw_lanes(lanes: SwimLanes, subjects: dict[str, str]) -> str:
    """Return the SVG of one window; ``subjects`` names the arms."""
    axis = _axis(lanes.attempts)
    marks = _placed(lanes, axis)
    top = MARK * (1 + max((line for _, _, line in marks), default=-1)) + 4
    first, parts = top, []
    for arm, subject in subjects.items():
        rows = _rows(lanes, top + TITLE)
        bottom = rows[-1].bottom if rows else top + TITLE
        parts += [
            text(GUTTER, top + 13, f"{arm}: {subject}", bold=True),
            *panel(rows, lanes.faults, axis, partial(_bars, lanes, arm, axis)),
        ]
        top = bottom + GAP
    height = top - GAP
    over = [_mark(axis, lanes, mark, x, line, height, subjects) for mark, x, line in marks]
    return frame([*ticks(axis, first + TITLE, height), *parts, *over], height + 36, _described(lanes, subjects))


def _axis(attempts: Sequence[LaneAttempt]) -> Axis:
    start = min((attempt.start_ms for attempt in attempts), default=0.0)
    return Axis(start, max((attempt.end_ms for attempt in attempts), default=start + 1.0))


def _rows(lanes: SwimLanes, top: float) -> list[Lane]:
    """A broker with a fault has a lane even without attempts."""
    hit = {lane for fault in lanes.faults if (lane := lane_of(fault)) is not None}
    queues = {
        broker: sorted({attempt.queue_id for attempt in lanes.attempts if attempt.broker == broker})
        for broker in {attempt.broker for attempt in lanes.attempts} | hit
    }
    return stacked({broker: tuple(map(str, found)) for broker, found in queues.items()}, top)


def _bars(lanes: SwimLanes, arm: str, axis: Axis, lane: Lane) -> Iterator[str]:
    mine = [a for a in lanes.attempts if (a.arm, a.broker) == (arm, lane.broker)]
    for outcome, colour in (("ok", ARM_COLOURS[arm]), *COLOURS.items()):
        if bars := "".join(_bar(attempt, lane, axis) for attempt in mine if attempt.outcome == outcome):
            yield f'<g fill="{colour}">{bars}</g>'
    yield from (_outline(a, lane, axis) for a in mine if _is_marked(a, lanes.marks))


def _box(attempt: LaneAttempt, lane: Lane, axis: Axis) -> str:
    return box(lane, str(attempt.queue_id), axis, attempt.start_ms, attempt.end_ms)


def _bar(attempt: LaneAttempt, lane: Lane, axis: Axis) -> str:
    thread = f" of thread {attempt.thread}" if attempt.thread else ""
    words = f"send {attempt.send}{thread}, attempt {attempt.attempt + 1}: {attempt_text(attempt)}"
    return f"<rect {_box(attempt, lane, axis)}><title>{escape(words)}</title></rect>"


def _is_marked(attempt: LaneAttempt, marks: Iterable[LaneMark]) -> bool:
    """Both arms' attempts at an example's send are outlined, because they are compared."""
    return any((attempt.thread, attempt.send) == (mark.thread, mark.send) for mark in marks)


def _outline(attempt: LaneAttempt, lane: Lane, axis: Axis) -> str:
    return (
        f'<rect {_box(attempt, lane, axis)} fill="none" stroke="{INK}" stroke-width="1.4" pointer-events="none"></rect>'
    )


def _placed(lanes: SwimLanes, axis: Axis) -> list[tuple[LaneMark, float, int]]:
    """Marks by time, one per send, with x position and the first line with room for the label."""
    first: dict[tuple[str, int, int], tuple[float, LaneMark]] = {}
    for mark in lanes.marks:
        own = [a.start_ms for a in lanes.attempts if (a.arm, a.thread, a.send) == (mark.arm, mark.thread, mark.send)]
        if own:
            first.setdefault((mark.arm, mark.thread, mark.send), (min(own), mark))
    placed: list[tuple[LaneMark, float, int]] = []
    ends: list[float] = []
    for at_ms, mark in sorted(first.values(), key=lambda found: found[0]):
        x = axis.x(at_ms)
        line = next((n for n, end in enumerate(ends) if end <= x), len(ends))
        ends[line : line + 1] = [x + MARK_WIDTH]
        placed.append((mark, x, line))
    return placed


def _mark(
    axis: Axis, lanes: SwimLanes, mark: LaneMark, x: float, line: int, bottom: float, subjects: dict[str, str]
) -> str:
    """A vertical line through both arms at the example's send."""
    top = MARK * line
    title = ", ".join(dict.fromkeys(m.signature for m in lanes.marks if (m.arm, m.send) == (mark.arm, mark.send)))
    words = f"send {mark.send} of {subjects.get(mark.arm, mark.arm)}"
    fits = x + MARK_WIDTH < axis.x(axis.end_ms)
    label = text(x + 4 if fits else x - 4, top + 11, words, bold=True, anchor="" if fits else "end")
    return (
        f'<g class="mark"><title>{escape(title)}</title>'
        f'<path d="M{x:.1f},{top + 2:.1f}V{bottom:.1f}" stroke="{INK}" stroke-dasharray="3 3"/>{label}</g>'
    )


def _described(lanes: SwimLanes, subjects: dict[str, str]) -> str:
    faults = "; ".join(fault_text(fault) for fault in lanes.faults) or "no fault"
    counts = []
    for arm, subject in subjects.items():
        mine = [attempt for attempt in lanes.attempts if attempt.arm == arm]
        unanswered = sum(attempt.outcome != "ok" for attempt in mine)
        counts.append(f"{subject}: {plural(len(mine), 'attempt')}, {unanswered} of them not answered with success")
    marked = "".join(f" Marked: send {mark.send} of {subjects.get(mark.arm, mark.arm)}." for mark in lanes.marks)
    return f"Attempts over time by broker and queue. {faults}. {'. '.join(counts)}.{marked}"
