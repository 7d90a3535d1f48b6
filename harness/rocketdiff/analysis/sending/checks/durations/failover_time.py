"""
How long until a thread that met a paused broker succeeds elsewhere: the same in both arms?

A thread's failover runs from its first blocked attempt of an outage to its next successful send. FAILOVER: that send
succeeded on another broker during the pause. RESUMED: the pause ended first, a competing cause (a client that merely
waits must not look recovered). OPEN: the case ended first. An arm fails over with its slowest thread; its ending is the
worst of its threads'.

``failover-time`` is what a user feels. With plain rotation the number of attempts on the broker depends on where the
counter stood, so it is only plotted and given as restricted means. ``failover-time-per-timeout`` is judged: the time
spent inside sends per timeout spent waiting for the paused broker. It is free of that luck and of the plan's pace, and
grows with everything a client does besides waiting (sleeps, route look-ups, futile attempts). ``attempts`` and
``timing`` check how often and how long it waits. Only calls that let the client choose the queue count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.checks.pairing import (
    Question,
    case_evidence,
    pooled_evidence,
    pooled_pairs,
    pools_of,
    seen_of,
)
from rocketdiff.analysis.facts import OutageValue
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver, SendCheck
from rocketdiff.analysis.sending.send_view import FaultContext, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.analysis.sending.steps.attempts_in_context import Outage
from rocketdiff.core.answers.evidence import Ending, Evidence, Margin, OutagePair
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.statistics.survival import restricted_mean

NAME = "failover-time"

PER_TIMEOUT = Question(
    check=NAME,
    sample="failover-time-per-timeout",
    margin=Margin(
        1.2,
        "a client that does nothing but wait and go on spends about one per cent more than it waits; a fifth of the"
        " shortest timeout in use (300 ms) is several times the scheduling noise of two busy cores",
    ),
)

WHOLE = replace(PER_TIMEOUT, sample="failover-time")
"""Never judged: it depends on where each counter stood."""

LEAST_WAIT = 0.5
"""
Share of a timeout that an arm's threads must have waited for a quotient: a refused or reset connection ends an attempt
within milliseconds, and everything else would be divided by almost nothing.
"""

_WORST_FIRST = (Ending.OPEN, Ending.RESUMED, Ending.FAILOVER)


@dataclass(slots=True)
class _Failover:
    outage: Outage
    began_ns: int
    ended_ns: int
    busy_ns: int = 0
    waited_ns: int = 0


@dataclass(frozen=True, slots=True)
class _Ended:
    failover: _Failover
    ending: Ending


class FailoverTime(CaseObserver):
    """Follows every thread of both arms from its first blocked attempt to its next success. One-way sends wait for none."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._timeout_ns = context.entry.settings.send_msg_timeout_ms * NS_PER_MS
        self._open: dict[tuple[str, int], _Failover] = {}
        self._ended: dict[tuple[str, int], dict[int, _Ended]] = {}

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            row = side.row
            if row is not None and row.kind in (SendKind.PLAIN, SendKind.BATCH) and row.mode is not SendMode.ONEWAY:
                self._follow(side)

    def finish(self) -> None:
        for (arm, thread), failover in self._open.items():
            self._close(arm, thread, failover, Ending.OPEN)
        for (arm, episode), by_thread in self._ended.items():
            ended = tuple(by_thread.values())
            worst = min((end.ending for end in ended), key=_WORST_FIRST.index)
            whole_ns = max(end.failover.ended_ns - end.failover.began_ns for end in ended)
            busy_ns = sum(end.failover.busy_ns for end in ended)
            waited_ns = sum(end.failover.waited_ns for end in ended)
            note = self._context.collector.note
            note(OutageValue(NAME, WHOLE.sample, arm, episode, whole_ns, len(ended), worst))
            if waited_ns >= LEAST_WAIT * self._timeout_ns:
                per_timeout_ns = busy_ns / waited_ns * self._timeout_ns
                note(OutageValue(NAME, PER_TIMEOUT.sample, arm, episode, per_timeout_ns, len(ended), worst))

    def _follow(self, side: SendView) -> None:
        row, key = side.row, (str(side.arm), side.thread)
        assert row is not None, "asked of sends that returned"
        failover = self._open.get(key)
        for context, attempt in zip(side.contexts, side.attempts, strict=True):
            outage = self._outage(context)
            if outage is None:
                continue
            if failover is None:
                failover = self._open[key] = _Failover(outage, attempt.start_ns, attempt.end_ns)
            failover.waited_ns += attempt.end_ns - attempt.start_ns
        if failover is None:
            return
        failover.busy_ns += row.end_ns - max(row.start_ns, failover.began_ns)
        failover.ended_ns = row.end_ns
        if row.outcome is Outcome.OK:
            del self._open[key]
            self._close(str(side.arm), side.thread, failover, _how(failover.outage, side))

    def _outage(self, context: FaultContext) -> Outage | None:
        return self._context.times.outage_of(context.hit) if context.blocked and context.hit is not None else None

    def _close(self, arm: str, thread: int, failover: _Failover, ending: Ending) -> None:
        """Keep a thread's first failover of an outage: with plain rotation it soon meets the broker again."""
        self._ended.setdefault((arm, failover.outage.episode), {}).setdefault(thread, _Ended(failover, ending))


def _how(outage: Outage, side: SendView) -> Ending:
    """FAILOVER if the send succeeded during the outage, on a broker that had not been resumed."""
    last = side.attempts[-1]
    resumed = any(
        pause.node == last.broker and pause.heal_ns is not None and last.end_ns >= pause.heal_ns
        for pause in outage.pauses
    )
    over = outage.end_ns is not None and last.end_ns >= outage.end_ns
    return Ending.RESUMED if resumed or over else Ending.FAILOVER


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence of paired outages, for information; the pool gates."""
    return case_evidence(facts, PER_TIMEOUT)


def pooled(cases: Sequence[CaseFacts]) -> tuple[Evidence, ...]:
    """Return one gating evidence per pool, with restricted mean failover times."""
    return tuple(
        pooled_evidence(name, pool, PER_TIMEOUT, restricted_means(pooled_pairs(pool, WHOLE)))
        for name, pool in pools_of(cases, NAME).items()
    )


def durations_of(pairs: Sequence[OutagePair], arm: Arm) -> tuple[tuple[float, ...], tuple[bool, ...]]:
    """An arm's failover times in ms, and whether each ended in a failover (else it is censored there)."""
    seen = (seen_of(pair, arm) for pair in pairs)
    met = [(value_ns / NS_PER_MS, ended is Ending.FAILOVER) for value_ns, ended in seen if value_ns is not None]
    return tuple(value for value, _ in met), tuple(observed for _, observed in met)


def restricted_means(pairs: Sequence[OutagePair]) -> tuple[Measure, ...]:
    """Restricted mean failover time of each arm, up to the shorter of the two longest observations."""
    by_arm = {arm: durations_of(pairs, arm) for arm in Arm}
    if not all(durations for durations, _ in by_arm.values()):
        return ()
    horizon = min(max(durations) for durations, _ in by_arm.values())
    measures = []
    for arm, (durations, observed) in by_arm.items():
        mean = restricted_mean(durations, observed, horizon=horizon)
        name = f"restricted-mean-failover-time {arm}"
        measures.append(Measure(name, mean.mean, "ms", len(durations), mean.low, mean.high, mean.confidence))
    return tuple(measures)


CODE: SendCheck = CheckCode(NAME, observers=(FailoverTime,), evaluate=evaluate, pooled=pooled)
