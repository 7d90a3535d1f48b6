"""A group's deliveries and figures in words."""

from collections.abc import Iterator, Sequence

from rocketdiff.core.answers.plots import AfterFault, GroupFigures, LaneAttempt, Work
from rocketdiff.report.charts.timelines import DURING
from rocketdiff.report.words.signs import number, plural

WORK_WORDS = {
    Work.OK: "finished",
    Work.FAILED: "failed",
    Work.AGAIN: "with a message given before",
    Work.OPEN: "not ended",
}
"""How calls ended, after their number."""


def delivery_text(delivery: LaneAttempt) -> str:
    """For example ``member 0, queue 3 of broker-b: success after 2 ms``."""
    took = number(delivery.end_ms - delivery.start_ms)
    ended = f"{delivery.reason} after {took} ms" if delivery.reason else "its call has not ended"
    return f"member {delivery.thread}, queue {delivery.queue_id} of {delivery.broker}: {ended}"


FIGURES_SHOWN = 20
"""Rows of figures in a text: a run of ten cases has as many."""

FIGURE_HEADS = ("Arm", "Stored", "Delivered", "Again", "Retried", "Median in calm", "99 % in calm")
"""Heads of the table of figures."""

FIGURE_NOTE = (
    "Again: further deliveries although the call before had not failed. Retried: those after a failed call."
    " In calm: from storing to delivery."
)


def figure_cells(figures: GroupFigures) -> tuple[str, ...]:
    """Return a row of the table of figures, without the arm."""
    counts = (figures.stored, figures.delivered, figures.again, figures.retried)
    return (*(f"{count:,}" for count in counts), _ms(figures.p50_ms), _ms(figures.p99_ms))


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{number(value)} ms"


SILENCE_HEAD = "Longest silence after each fault"


def silence_cell(figures: GroupFigures) -> str:
    """Return the longest time without a delivery after each fault, in order of the faults."""
    return ", ".join(_seconds(fault.silent_ms) for fault in figures.faults) or "–"


def figure_line(figures: GroupFigures) -> str:
    """Return the figures as one sentence for a narrow place."""
    parts = [f"{figures.delivered:,} of {plural(figures.stored, 'message')} delivered", f"{figures.again:,} again"]
    if figures.retried:
        parts.append(f"{figures.retried:,} retried")
    if figures.p50_ms is not None:
        slowest = "" if figures.p99_ms is None else f", 99 % within {_ms(figures.p99_ms)}"
        parts.append(f"after {_ms(figures.p50_ms)} in calm (median{slowest})")
    if figures.faults:
        worst = max(figures.faults, key=lambda fault: fault.silent_ms)
        parts.append(f"silent for {_seconds(worst.silent_ms)} at most after a fault")
    if resumed := [fault.resumed_ms for fault in figures.faults if fault.resumed_ms is not None]:
        parts.append(f"back on a healed broker's queues after {_seconds(max(resumed))} at most")
    return "; ".join(parts)


def after_lines(sides: Sequence[tuple[str, GroupFigures]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """
    Yield each fault in words, and what each subject's user saw of it.

    sides: subjects with their figures, which have the same faults.
    """
    if not sides:
        return
    for place, fault in enumerate(sides[0][1].faults):
        words = f"{fault.node} {fault.during or DURING.get(fault.kind, fault.kind)} at {fault.start_ms / 1e3:.1f} s"
        yield words, tuple(_after(figures.faults[place]) for _, figures in sides)


def _after(fault: AfterFault) -> str:
    resumed = "" if fault.resumed_ms is None else f"; {_seconds(fault.resumed_ms)} after the heal from its queues"
    return f"{_seconds(fault.silent_ms)} without a delivery{resumed}"


def _seconds(ms: float) -> str:
    return f"{ms / 1e3:.2f} s"
