"""
What pictures and totals need of every send, counted while it goes by; no question is asked here.

Durations are counted in logarithmic buckets two per cent wide, so that quantiles of any number of runs cost a few
hundred rows and are right to one per cent.
"""

from collections import Counter
from math import floor, log

from harness.analysis.checks.by_rules import JUDGED, RULES
from harness.analysis.checks.scene import Scene
from harness.analysis.facts import LaneBar
from harness.analysis.steps.aligned import AlignedSend
from harness.analysis.steps.attempts_in_context import Context, FaultTimes
from harness.analysis.steps.reconciled import ReconciledSend
from harness.core.outcome import Outcome
from harness.traces.rows import AttemptRow

BUCKET_RATIO = 1.02
BIN_NS = 250_000_000
"""Width of a step of the ambiguity curve: a quarter of a second, a dozen sends at the usual rates."""

BEFORE_NS = 500_000_000
AFTER_NS = 1_500_000_000
"""A swim lane shows this much before and after the first fault (or starts at the first send where there is none)."""

PLAIN_BARS = 200
ALL_BARS = 400
"""Bars an arm: the eye takes in no more, and a page stays small; failed attempts and retries come first."""


class Pictures:
    """Counts sends, attempts, durations and ambiguity; keeps the bars of a swim lane."""

    def __init__(self, scene: Scene) -> None:
        self._notebook = scene.notebook
        self._window = lane_window(scene.times, scene.notebook.origin_ns)
        self._plain: Counter[str] = Counter()
        self._bars: Counter[str] = Counter()

    def see(self, send: AlignedSend) -> None:
        """Look at both sides."""
        for side in send.sides:
            self._count_send(side)
            self._count_ambiguity(side)
            for attempt, context in zip(side.attempts, side.contexts, strict=True):
                self._count_attempt(side, attempt, context)

    def end(self) -> None:
        """Everything has been written down."""

    def _count_send(self, side: ReconciledSend) -> None:
        arm, phase, row = str(side.arm), str(side.phase), side.row
        if row is None:
            self._notebook.count("unfinished", arm, phase, "send")
            return
        self._notebook.count("sends", arm, phase, str(row.outcome))
        self._notebook.count("elapsed", arm, phase, str(bucket_of(row.end_ns - row.start_ns)))

    def _count_ambiguity(self, side: ReconciledSend) -> None:
        judgement, arm = side.judged.judgement, str(side.arm)
        if judgement is None:
            return
        self._notebook.count(RULES, arm, "", JUDGED if judgement.undecided is None else judgement.undecided)
        at_bin = max(0, side.began_ns - self._notebook.origin_ns) // BIN_NS
        for decision in judgement.decisions:
            legal = decision.queues_legal / decision.queues_total
            self._notebook.count("ambiguity", arm, "", str(at_bin), total=legal)

    def _count_attempt(self, side: ReconciledSend, attempt: AttemptRow, context: Context) -> None:
        arm, phase = str(side.arm), str(context.phase)
        self._notebook.count("attempt", arm, phase, attempt.broker)
        if context.blocked:
            self._notebook.count("blocked", arm, phase, attempt.broker)
        if self._is_drawn(arm, attempt):
            self._notebook.note(_bar(side, attempt))

    def _is_drawn(self, arm: str, attempt: AttemptRow) -> bool:
        start_ns, end_ns = self._window
        if self._bars[arm] >= ALL_BARS or not start_ns <= attempt.start_ns <= end_ns:
            return False
        if attempt.outcome is Outcome.OK and attempt.attempt == 0:
            if self._plain[arm] >= PLAIN_BARS:
                return False
            self._plain[arm] += 1
        self._bars[arm] += 1
        return True


def lane_window(times: FaultTimes, origin_ns: int) -> tuple[int, int]:
    """Stretch of time a swim lane shows: around the first fault, from the first send where there is none."""
    if not times.faults:
        return origin_ns, origin_ns + BEFORE_NS + AFTER_NS
    first = times.faults[0]
    healed_ns = first.injected_ns if first.healed_ns is None else first.healed_ns
    return first.inject_ns - BEFORE_NS, healed_ns + AFTER_NS


def bucket_of(duration_ns: int) -> int:
    """Number of the logarithmic bucket of a duration."""
    return floor(log(max(1, duration_ns)) / log(BUCKET_RATIO))


def middle_of(bucket: int) -> float:
    """Duration in ns that stands for a bucket: its geometric middle."""
    return float(BUCKET_RATIO ** (bucket + 0.5))


def _bar(side: ReconciledSend, attempt: AttemptRow) -> LaneBar:
    return LaneBar(
        arm=str(side.arm),
        thread=side.thread,
        send=side.send,
        attempt=attempt.attempt,
        broker=attempt.broker,
        queue_id=attempt.queue_id,
        start_ns=attempt.start_ns,
        end_ns=attempt.end_ns,
        outcome=str(attempt.outcome),
        reason=str(attempt.reason),
    )
