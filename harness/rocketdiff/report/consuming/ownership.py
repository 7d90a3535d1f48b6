"""
Ownership: which member worked on which queue, how did its calls end, and which broker was faulty meanwhile?

A lane per broker and arm, a row per queue (``r``: the group's retry topic). A band behind: a member owns the queue. A bar: calls.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from html import escape

from rocketdiff.core.answers.plots import GroupTimeline, Work, WorkBar
from rocketdiff.report.charts.lanes import Lane, box, panel, stacked
from rocketdiff.report.charts.palette import ARM_COLOURS, FAILED, INK, MUTED, UNKNOWN
from rocketdiff.report.charts.timelines import GUTTER, Axis, fault_text, frame, lane_of, text, ticks
from rocketdiff.report.consuming.lag import SINCE
from rocketdiff.report.consuming.words import WORK_WORDS
from rocketdiff.report.words.signs import plural

TITLE, GAP = 20.0, 8.0
"""Pixels above an arm's lanes, and below them."""

RETRY_ROW = "r"

_INSET = 2.0
"""Pixels of a band above and below the bars in front of it."""

_NAMED_FROM = 22.0
"""Width of a band from which on its member is named, in pixels."""


def draw_ownership(timeline: GroupTimeline, subjects: dict[str, str]) -> str:
    """Return the SVG of one case; ``subjects`` names the arms."""
    axis, top, parts = Axis(0.0, timeline.end_ms), 0.0, []
    rows = _rows(timeline)
    for arm, subject in subjects.items():
        lanes = stacked(rows, top + TITLE)
        parts.append(text(GUTTER, top + 13, f"{arm}: {subject}", bold=True))
        parts += panel(lanes, timeline.faults, axis, partial(_bars, timeline, arm, axis))
        top = (lanes[-1].bottom if lanes else top + TITLE) + GAP
    height = top - GAP
    return frame([*ticks(axis, TITLE, height, SINCE), *parts], height + 36, _described(timeline, subjects))


def _rows(timeline: GroupTimeline) -> Mapping[str, tuple[str, ...]]:
    """Queues of both arms by broker, numbers in order; retry queues are one row, which only calls need."""
    found: defaultdict[str, set[tuple[bool, int, str]]] = defaultdict(set)
    for bar in timeline.bars:
        if bar.topic == "fed" or bar.work is not Work.OWNED:
            found[bar.broker].add((bar.topic != "fed", bar.queue_id, _row(bar)))
    for fault in timeline.faults:
        if (lane := lane_of(fault)) is not None:
            found.setdefault(lane, set())
    return {broker: tuple(dict.fromkeys(name for _, _, name in sorted(rows))) for broker, rows in found.items()}


def _row(bar: WorkBar) -> str:
    return str(bar.queue_id) if bar.topic == "fed" else RETRY_ROW


def _bars(timeline: GroupTimeline, arm: str, axis: Axis, lane: Lane) -> Iterator[str]:
    mine = [bar for bar in timeline.bars if (bar.arm, bar.broker) == (arm, lane.broker) and _row(bar) in lane.rows]
    members = {bar.member for bar in timeline.bars}
    colours = {Work.OK: ARM_COLOURS[arm], Work.FAILED: FAILED, Work.AGAIN: UNKNOWN, Work.OPEN: MUTED}
    bands = [bar for bar in mine if bar.work is Work.OWNED]
    if bands:
        shown = "".join(_rectangle(bar, lane, axis, 0.0) for bar in bands)
        yield f'<g fill="{ARM_COLOURS[arm]}" opacity="0.22">{shown}</g>'
    for work, colour in colours.items():
        if bars := "".join(_rectangle(bar, lane, axis, _INSET) for bar in mine if bar.work is work):
            yield f'<g fill="{colour}">{bars}</g>'
    if len(members) > 1:
        yield from (_name(bar, lane, axis) for bar in bands)


def _rectangle(bar: WorkBar, lane: Lane, axis: Axis, inset: float) -> str:
    shape = box(lane, _row(bar), axis, max(0.0, bar.start_ms), bar.end_ms, inset)
    return f"<rect {shape}><title>{escape(_words(bar))}</title></rect>"


def _name(bar: WorkBar, lane: Lane, axis: Axis) -> str:
    left, right = axis.x(max(0.0, bar.start_ms)), axis.x(bar.end_ms)
    if right - left < _NAMED_FROM:
        return ""
    return text(left + 2, lane.y(_row(bar)) + lane.row - 2, f"m{bar.member}", fill=INK, size=8, bold=True)


def _words(bar: WorkBar) -> str:
    queue = f"queue {bar.queue_id} of {bar.broker}" + ("" if bar.topic == "fed" else f" ({bar.topic})")
    spell = f"from {bar.start_ms / 1e3:.2f} s to {bar.end_ms / 1e3:.2f} s"
    if bar.work is Work.OWNED:
        return f"member {bar.member} owns {queue} {spell}"
    first = f", first message {bar.send}" if bar.send >= 0 else ""
    return f"member {bar.member}, {queue}: {plural(bar.calls, 'call')} {WORK_WORDS[bar.work]}, {spell}{first}"


def _described(timeline: GroupTimeline, subjects: dict[str, str]) -> str:
    faults = "; ".join(fault_text(fault) for fault in timeline.faults) or "no fault"
    arms = []
    for arm, subject in subjects.items():
        calls = {
            work: sum(bar.calls for bar in timeline.bars if (bar.arm, bar.work) == (arm, work)) for work in WORK_WORDS
        }
        shown = ", ".join(f"{n:,} {WORK_WORDS[work]}" for work, n in calls.items() if n) or "none"
        arms.append(f"{subject}, calls: {shown}")
    return f"Who worked on which queue over time, and how calls ended. {faults}. {'. '.join(arms)}."
