"""
Does a message get through as soon after it is due as the other client's?

A user feels the time from when a message is due until it is through: a slow call, and the calls that start late behind
it. A one-way message is through when its broker has stored it. Both arms carry out one plan at the same time on the same brokers, so a busy machine or broker delays both.
They are compared by moments: a moment is slow for a client if the median of its sends is far above the other's. A
median leaves out single stalls, and no stall fills a quarter of a case.

In calm the whole delay counts. In a period of faults a thread may be late because it was blocked, so what counts is the
duration of sends to brokers without a fault, and how late calls start that wait for nothing. A pause of a name server is
calm here: a client that knows its topic needs no route.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.fault_windows import FaultPeriods
from rocketdiff.analysis.sending.checks.context import SendCheck, TableObserver
from rocketdiff.analysis.sending.checks.results.moments import (
    FEWEST_SLOW,
    SlowMoments,
    Timed,
    beside_faults,
    limit_ns,
    limit_of,
    moment_ns,
    slow_moments,
)
from rocketdiff.analysis.sending.checks.results.one_way import stored_after_ns
from rocketdiff.analysis.sending.checks.results.same_faults import SameFaults
from rocketdiff.analysis.sending.send_arrays import Sends
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.signatures import SLOWER
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.traces.manifest import ResourceSample

NAME = "pace"

DELAY, DURATION, START, STORED, ALL = "delay", "duration", "start", "stored", "all-sends"
"""Due to end, start to end, due to start, due to storing: compared by moments, and phases of their tallies. Once a case: all its sends."""

TIMES = {
    DELAY: "from when a message was due until it was through",
    DURATION: "for a send to a broker without a fault, while or after another had one",
    START: "from when a message was due until the call began, which waits for nothing",
    STORED: "from when a one-way message was due until its broker had stored it",
}

LONGER = 2
"""How many moments are one for durations: the slower a send, the fewer begin in one."""

FAR_LONGER = 1.5
"""
How much longer one client may need for all sends of a case. A faithful one differs by the luck of its last sends, which are
allowed for besides: they may last as long as a call with all its retries.
"""

SPAN, MOMENTS, SLOW, LOST, SINCE, UNTIL = "span-s", "moments", "slow", "lost-ms", "since-ns", "until-ns"
"""Keys of tallies; totals are seconds, medians in ms, the ms that the slower candidate lost, and when it lost them."""

OF_THE_LOST = 0.5
"""
Share of the lost time in which the candidate's threads could run but had no core, from which on the machine may be the cause:
threads that wait for a core one after another lose all of it, threads of other tasks none.
"""


class Pace(TableObserver):
    """Compares the arms by moments."""

    def finish(self) -> None:
        """Count the moments, and note at most one difference for each time."""
        arms = {arm: self._context.sends(arm) for arm in Arm}
        if not all(sends.number.size for sends in arms.values()):
            return
        self._compare_all(arms)
        settings = self._context.entry.settings
        faults = [fault for fault in self._context.times.faults if fault.kind is not FaultKind.PAUSE_NAME_SERVER]
        periods = FaultPeriods.of(faults, settings)
        calm = {arm: ~periods.hold_many(sends.due, sends.due + 1) for arm, sends in arms.items()}
        baseline = arms[Arm.BASELINE]
        limit, length = limit_ns(baseline, calm[Arm.BASELINE]), moment_ns(baseline)
        compared: dict[str, dict[Arm, Timed]] = {time: {} for time in TIMES}
        stored_ns = stored_after_ns(self._context.trace, arms)
        for arm, of in arms.items():
            is_known = calm[arm] & (stored_ns[arm] >= 0) & ~periods.hold_many(of.start, of.start + stored_ns[arm])
            compared[STORED][arm] = of.due, of.start - of.due + stored_ns[arm], is_known
            beside = beside_faults(of, faults)
            compared[DELAY][arm] = of.due, of.end - of.due, calm[arm] & of.went_well
            compared[DURATION][arm] = of.start, of.end - of.start, ~calm[arm] & of.went_well & beside
            compared[START][arm] = of.due, of.start - of.due, ~calm[arm] & ~of.waits
        _, stored, is_known = compared[STORED][Arm.BASELINE]
        limits = dict.fromkeys(TIMES, limit) | {STORED: limit_of(baseline, stored[is_known])}
        for time, timed in compared.items():
            lasting = length * LONGER if time is DURATION else length
            found = slow_moments(timed, limits[time], lasting, int(baseline.due.min()))
            self._compare(time, arms, timed, found, limits[time])

    def _compare_all(self, arms: Mapping[Arm, Sends]) -> None:
        """Compare the time from when the first send was due until the last was through. Callbacks that never came are another check's."""
        if not all(sends.ended.any() for sends in arms.values()):
            return
        spans = {arm: int(sends.end[sends.ended].max()) - int(sends.due.min()) for arm, sends in arms.items()}
        for arm, span in spans.items():
            self._collector.count(NAME, str(arm), "", SPAN, total=span / NS_PER_S)
        settings, candidate = self._context.entry.settings, arms[Arm.CANDIDATE]
        attempts = 1 + max(settings.retry_times_when_send_failed, settings.retry_times_when_send_async_failed)
        last_ns = attempts * settings.send_msg_timeout_ms * NS_PER_MS
        if spans[Arm.CANDIDATE] > FAR_LONGER * spans[Arm.BASELINE] + last_ns:
            took = {arm: int((sends.end - sends.start)[sends.ended].sum()) for arm, sends in arms.items()}
            lost_ns = max(each[Arm.CANDIDATE] - each[Arm.BASELINE] for each in (spans, took))
            self._lose(ALL, lost_ns, int(candidate.due.min()), int(candidate.end[candidate.ended].max()))
            self._differ(
                ALL,
                candidate,
                (candidate.due, candidate.end - candidate.due, candidate.ended),
                expected=f"all sends through in little more than the baseline's {spans[Arm.BASELINE] / NS_PER_S:,.1f} s",
                observed=f"{spans[Arm.CANDIDATE] / NS_PER_S:,.1f} s",
            )

    def _compare(
        self, time: str, arms: Mapping[Arm, Sends], timed: Mapping[Arm, Timed], found: SlowMoments, limit: float
    ) -> None:
        moments = len(found.medians[Arm.BASELINE])
        for arm in Arm if moments else ():
            self._collector.count(NAME, str(arm), time, MOMENTS, n=moments, total=sum(found.medians[arm]) / NS_PER_MS)
            self._collector.count(NAME, str(arm), time, SLOW, n=len(found.slow[arm]))
        if found.is_candidate_slower:
            since_ns, until_ns = found.slow_span_ns
            if time is not DURATION:  # calls are late by what was lost before
                since_ns = int(arms[Arm.CANDIDATE].due.min())
            self._lose(time, _lost_ns(arms, timed, found), since_ns, until_ns)
            usual_ms, worst_ms = (each / NS_PER_MS for each in found.worst)
            self._differ(
                time,
                arms[Arm.CANDIDATE],
                timed[Arm.CANDIDATE],
                expected=f"little more time than the baseline's {TIMES[time]}: in the worst moment a median of"
                f" {usual_ms:,.1f} ms, three times that and {limit / NS_PER_MS:.0f} ms are allowed",
                observed=f"more in {len(found.slow[Arm.CANDIDATE])} of {moments} moments (the baseline in"
                f" {len(found.slow[Arm.BASELINE])}), a median of {worst_ms:,.1f} ms in the worst",
            )

    def _lose(self, time: str, lost_ns: float, since_ns: int, until_ns: int) -> None:
        for key, total in ((LOST, lost_ns / NS_PER_MS), (SINCE, float(since_ns)), (UNTIL, float(until_ns))):
            self._collector.count(NAME, str(Arm.CANDIDATE), time, key, total=total)

    def _differ(self, time: str, sends: Sends, timed: Timed, *, expected: str, observed: str) -> None:
        """Note a difference at the candidate's send that took longest."""
        _, took, counts = timed
        place = int(np.argmax(np.where(counts, took, -1)))
        self._collector.differ_at(
            SLOWER,
            Arm.CANDIDATE,
            place=time,
            thread=int(sends.thread[place]),
            send=int(sends.number[place]),
            phase=str(self._context.times.phase_at(int(sends.start[place]))),
            at_ns=int(sends.start[place]),
            expected=expected,
            observed=observed,
        )


def _lost_ns(arms: Mapping[Arm, Sends], timed: Mapping[Arm, Timed], found: SlowMoments) -> float:
    """How far the candidate was behind in the worst moment, or how much longer its sends took in all, if that is more."""
    took = {arm: float((sends.end - sends.start)[timed[arm][2]].sum()) for arm, sends in arms.items()}
    return max(found.worst[1] - found.worst[0], took[Arm.CANDIDATE] - took[Arm.BASELINE])


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with at most one difference for each compared time."""
    moments = facts.n(NAME, MOMENTS, arm=str(Arm.CANDIDATE))
    standing, reason = Standing.DECISIVE, _starved(facts)
    if reason:
        standing = Standing.INVALID
    elif moments < FEWEST_SLOW:
        standing, reason = Standing.NOT_APPLICABLE, f"the clients can be compared in {moments} moments only"
    return facts.evidence(NAME, standing, reason, decisions=moments, measures=tuple(_measures(facts)))


def _starved(facts: CaseFacts) -> str:
    """Why the machine may have made the candidate slow; empty if it did not, or if nothing is known of it."""
    arm = str(Arm.CANDIDATE)
    for time in (*TIMES, ALL):
        lost_ms, since_ns, until_ns = (facts.mean(NAME, key, arm=arm, phase=time) for key in (LOST, SINCE, UNTIL))
        if lost_ms is None or since_ns is None or until_ns is None:
            continue
        waited_ms = _waited_ns(facts.entry.resources.get(arm, ()), since_ns, until_ns) / NS_PER_MS
        if waited_ms >= OF_THE_LOST * lost_ms:
            return (
                f"{facts.subjects[Arm.CANDIDATE]} lost {lost_ms / 1e3:,.1f} s, but its threads had no core for"
                f" {waited_ms / 1e3:,.1f} s meanwhile: the machine may be the cause"
            )
    return ""


def _waited_ns(samples: Sequence[ResourceSample], since_ns: float, until_ns: float) -> int:
    """Time that threads waited for a core, from the last sample before an interval to the first one after it."""
    known = [(sample.at_ns, sample.waited_ns) for sample in samples if sample.waited_ns is not None]
    before = [waited_ns for at_ns, waited_ns in known if at_ns <= since_ns]
    after = [waited_ns for at_ns, waited_ns in known if at_ns >= until_ns]
    all_of_it = [waited_ns for _, waited_ns in known]
    return (after or all_of_it[-1:])[0] - (before or all_of_it[:1])[-1] if known else 0


def _measures(facts: CaseFacts) -> Iterator[Measure]:
    for arm in Arm:
        sends = facts.n("sends", arm=str(arm))
        span_s = facts.mean(NAME, SPAN, arm=str(arm))
        if span_s is not None:
            yield Measure(f"time-for-all-sends {arm}", span_s, "s", sends)
        delay_ms = facts.mean(NAME, MOMENTS, arm=str(arm), phase=DELAY)
        if delay_ms is not None:
            yield Measure(f"median-delay-in-calm {arm}", delay_ms, "ms", sends)


CODE: SendCheck = CheckCode(NAME, observers=(Pace, SameFaults), evaluate=evaluate)
