"""
Counts what totals and pictures need; judges nothing.

Durations are counted in logarithmic buckets of 2 % width, so quantiles over any number of runs need a few hundred rows and are
accurate to 1 %.
"""

from math import floor, log

from rocketdiff.analysis.sending.checks.by_rules.replay_checks import JUDGED, RULES
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.outages import MET
from rocketdiff.analysis.sending.send_view import FaultContext
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.outcome import Outcome

BUCKET_RATIO = 1.02
BIN_NS = 250_000_000
"""Width of a time step: a quarter of a second, about a dozen sends at the usual rates."""

STORED, OTHER = "stored", "other"

ELAPSED, OVER_TIME, AMBIGUITY = "elapsed", "over-time", "ambiguity"


class Totals(CaseObserver):
    """Counts sends, judgements and attempts."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._times = context.times

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            arm, phase, row, judgement = str(side.arm), str(side.phase), side.row, side.judgement
            if row is None:
                self._collector.count("unfinished", arm, phase, "send")
            else:
                self._collector.count("sends", arm, phase, str(row.outcome))
            if judgement is not None:
                self._collector.count(RULES, arm, "", JUDGED if judgement.undecided is None else judgement.undecided)
            for attempt, context in zip(side.attempts, side.contexts, strict=True):
                self._count_attempt(arm, attempt, context)

    def _count_attempt(self, arm: str, attempt: Attempt, context: FaultContext) -> None:
        phase = str(context.phase)
        self._collector.count("attempt", arm, phase, attempt.broker)
        if context.blocked:
            self._collector.count("blocked", arm, phase, attempt.broker)
        outage = None if context.hit is None else self._times.outage_of(context.hit)
        if outage is not None:
            self._collector.count(MET, arm, phase, str(outage.episode))


class Pictures(CaseObserver):
    """Counts what only pictures read, four in five tallies of real runs; ``lanes`` chooses single attempts."""

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            arm, row = str(side.arm), side.row
            if row is not None:
                self._collector.count(ELAPSED, arm, str(side.phase), str(bucket_of(row.end_ns - row.start_ns)))
            for decision in () if side.judgement is None else side.judgement.decisions:
                legal = decision.queues_legal / decision.queues_total
                self._collector.count(AMBIGUITY, arm, "", str(self._step_of(side.began_ns)), total=legal)
            for attempt in side.attempts:
                ended = STORED if attempt.outcome is Outcome.OK else OTHER
                self._collector.count(OVER_TIME, arm, ended, f"{self._step_of(attempt.start_ns)} {attempt.broker}")

    def _step_of(self, instant_ns: int) -> int:
        return max(0, instant_ns - self._collector.origin_ns) // BIN_NS


def bucket_of(duration_ns: int) -> int:
    """Return the number of the logarithmic bucket of a duration."""
    return floor(log(max(1, duration_ns)) / log(BUCKET_RATIO))


def middle_of(bucket: int) -> float:
    """Return the geometric middle of a bucket, in ns."""
    return float(BUCKET_RATIO ** (bucket + 0.5))
