"""Makes the tables of a report's pictures from the facts."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.pairing import pooled_pairs, pools_of
from rocketdiff.analysis.facts import CaseFact, LaneBar
from rocketdiff.analysis.sending.checks.durations import failover_time
from rocketdiff.analysis.sending.pictures.tallies import (
    AMBIGUITY,
    BIN_NS,
    ELAPSED,
    OTHER,
    OVER_TIME,
    STORED,
    middle_of,
)
from rocketdiff.core.answers.evidence import Ending, OutagePair
from rocketdiff.core.answers.plots import (
    AmbiguityCurve,
    BrokerShare,
    ElapsedQuantiles,
    FailoverCurve,
    FailoverEndings,
    FaultWindow,
    LaneAttempt,
    LaneMark,
    Overview,
    OverviewRow,
    Plots,
    SwimLanes,
)
from rocketdiff.core.arm import Arm
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.statistics.survival import kaplan_meier

CASES_DRAWN = 8
"""Swim lanes in a report: the cases with most signatures, then one case of each other scenario, in plan order."""

CASES_CURVED = 40
"""Cases whose shares, ambiguity and durations are listed. A year of runs has more cases than a reader can use."""

OVERVIEW_STEPS = 240
"""Maximum number of steps of a case overview: one per four pixels of a page."""

SENDS_FOR_P99 = 100


def plots_of(cases: Sequence[CaseFacts], lanes: Sequence[CaseFact]) -> Plots:
    """Return the tables of every picture."""
    shown = cases[:CASES_CURVED]
    return Plots(
        lanes=tuple(_lanes(cases, lanes)),
        failover=tuple(_failover(cases)),
        shares=tuple(share for facts in shown for share in _shares(facts)),
        ambiguity=tuple(curve for facts in shown for curve in _ambiguity(facts)),
        elapsed=tuple(row for facts in shown for row in _elapsed(facts)),
        overviews=tuple(overview for facts in shown for overview in _overview(facts)),
        endings=tuple(_endings(cases)),
    )


def _lanes(cases: Sequence[CaseFacts], lanes: Sequence[CaseFact]) -> Iterator[SwimLanes]:
    windows: defaultdict[tuple[str, int], defaultdict[int, list[LaneBar]]] = defaultdict(lambda: defaultdict(list))
    for row in lanes:
        if isinstance(row.fact, LaneBar):
            windows[row.run, row.number][row.fact.window].append(row.fact)
    for facts in _drawn(cases):
        origin_ns = facts.entry.origin_ns or 0
        for _, bars in sorted(windows[facts.run, facts.entry.number].items()):
            yield SwimLanes(
                run=facts.run,
                case=facts.entry.name,
                attempts=tuple(_lane_attempt(bar, origin_ns) for bar in bars),
                faults=tuple(FaultWindow.of(fault, origin_ns) for fault in facts.faults),
                left_out=facts.n("attempt") - len(bars),
                marks=tuple(_marks(facts, bars)),
            )


def _marks(facts: CaseFacts, bars: Sequence[LaneBar]) -> Iterator[LaneMark]:
    seen = {(bar.arm, bar.thread, bar.send) for bar in bars}
    arms = {subject: str(arm) for arm, subject in reversed(list(facts.subjects.items()))}
    for found in facts.divergences.values():
        for shown in found:
            where = shown.example.where
            mark = LaneMark(arms.get(shown.subject, ""), where.thread, where.number, shown.signature)
            if (mark.arm, mark.thread, mark.send) in seen:
                yield mark


def _overview(facts: CaseFacts) -> Iterator[Overview]:
    """Yield a case's attempts over time, by arm and broker, in steps of a quarter of a second or wider."""
    steps: defaultdict[tuple[str, str], dict[str, dict[int, int]]] = defaultdict(lambda: {STORED: {}, OTHER: {}})
    for arm, ended, key, (n, _) in facts.tallies_of(OVER_TIME):
        at_step, _, broker = key.partition(" ")
        steps[arm, broker][ended][int(at_step)] = n
    if not steps:
        return
    last = max(step for row in steps.values() for counts in row.values() for step in counts)
    width = last // OVERVIEW_STEPS + 1
    origin_ns = facts.entry.origin_ns or 0
    rows = tuple(
        OverviewRow(arm, broker, *(_by_step(row[ended], width, last) for ended in (STORED, OTHER)))
        for (arm, broker), row in sorted(steps.items())
    )
    faults = tuple(FaultWindow.of(fault, origin_ns) for fault in facts.faults)
    yield Overview(facts.run, facts.entry.name, width * BIN_NS / NS_PER_MS, rows, faults)


def _by_step(counts: dict[int, int], width: int, last: int) -> tuple[int, ...]:
    sums = [0] * (last // width + 1)
    for step, n in counts.items():
        sums[step // width] += n
    return tuple(sums)


def _drawn(cases: Sequence[CaseFacts]) -> list[CaseFacts]:
    by_signatures = sorted(cases, key=lambda facts: -sum(len(found) for found in facts.divergences.values()))
    chosen = [facts for facts in by_signatures if any(facts.divergences.values())][:CASES_DRAWN]
    for facts in cases:
        scenarios = {other.entry.scenario for other in chosen}
        if len(chosen) < CASES_DRAWN and facts.faults and facts.entry.scenario not in scenarios:
            chosen.append(facts)
    return [facts for facts in cases if any(facts is drawn for drawn in chosen)]


def _lane_attempt(bar: LaneBar, origin_ns: int) -> LaneAttempt:
    return LaneAttempt(
        arm=bar.arm,
        thread=bar.thread,
        send=bar.send,
        attempt=bar.attempt,
        broker=bar.broker,
        queue_id=bar.queue_id,
        start_ms=(bar.start_ns - origin_ns) / NS_PER_MS,
        end_ms=(bar.end_ns - origin_ns) / NS_PER_MS,
        outcome=bar.outcome,
        reason=bar.reason,
    )


def _failover(cases: Sequence[CaseFacts]) -> Iterator[FailoverCurve]:
    """Yield the curve of the judged sample, from the pairs that decide; then that of whole failovers, from all episodes."""
    for pool, members in pools_of(cases, failover_time.NAME).items():
        judged = [pair for pair in pooled_pairs(members, failover_time.PER_TIMEOUT) if _both_failed_over(pair)]
        yield from _curves(pool, judged, failover_time.PER_TIMEOUT.sample, judged=True)
        yield from _curves(pool, pooled_pairs(members, failover_time.WHOLE), failover_time.WHOLE.sample, judged=False)


def _both_failed_over(pair: OutagePair) -> bool:
    return pair.baseline_ended is Ending.FAILOVER and pair.candidate_ended is Ending.FAILOVER


def _curves(pool: str, pairs: Sequence[OutagePair], sample: str, *, judged: bool) -> Iterator[FailoverCurve]:
    for arm in Arm:
        durations, observed = failover_time.durations_of(pairs, arm)
        if durations:
            points = tuple((step.time, 1 - step.survival) for step in kaplan_meier(durations, observed))
            yield FailoverCurve(pool, str(arm), points, len(durations), observed.count(False), sample, judged)


def _endings(cases: Sequence[CaseFacts]) -> Iterator[FailoverEndings]:
    """Yield how often each arm ended an episode that both met by failover."""
    for pool, members in pools_of(cases, failover_time.NAME).items():
        pairs = pooled_pairs(members, failover_time.PER_TIMEOUT)
        met = [
            (pair.baseline_ended is Ending.FAILOVER, pair.candidate_ended is Ending.FAILOVER)
            for pair in pairs
            if pair.baseline_ns is not None and pair.candidate_ns is not None
        ]
        if met:
            yield FailoverEndings(
                pool=pool,
                check=failover_time.NAME,
                episodes=len(met),
                baseline=sum(baseline for baseline, _ in met),
                candidate=sum(candidate for _, candidate in met),
                baseline_only=met.count((True, False)),
                candidate_only=met.count((False, True)),
            )


def _shares(facts: CaseFacts) -> Iterator[BrokerShare]:
    counts = {(arm, phase, broker): n for arm, phase, broker, (n, _) in facts.tallies_of("attempt")}
    for (arm, phase, broker), n in sorted(counts.items()):
        share = n / facts.n("attempt", arm=arm, phase=phase)
        yield BrokerShare(facts.run, facts.entry.name, arm, phase, broker, n, share)


def _ambiguity(facts: CaseFacts) -> Iterator[AmbiguityCurve]:
    for arm in map(str, Arm):
        bins = sorted((int(key), value) for side, _, key, value in facts.tallies_of(AMBIGUITY) if side == arm)
        points = tuple((at_bin * BIN_NS / NS_PER_MS, total / n) for at_bin, (n, total) in bins)
        if points:
            yield AmbiguityCurve(facts.run, facts.entry.name, arm, points)


def _elapsed(facts: CaseFacts) -> Iterator[ElapsedQuantiles]:
    buckets: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for arm, phase, key, (n, _) in facts.tallies_of(ELAPSED):
        buckets[arm, phase][int(key)] = n
    for (arm, phase), histogram in sorted(buckets.items()):
        sends = sum(histogram.values())
        yield ElapsedQuantiles(
            run=facts.run,
            case=facts.entry.name,
            arm=arm,
            phase=phase,
            sends=sends,
            p50_ms=quantile_ms(histogram, 0.50),
            p95_ms=quantile_ms(histogram, 0.95),
            p99_ms=quantile_ms(histogram, 0.99) if sends >= SENDS_FOR_P99 else None,
            max_ms=quantile_ms(histogram, 1.0),
        )


def quantile_ms(histogram: dict[int, int], share: float) -> float:
    """Return the smallest duration that at least ``share`` of the sends did not exceed, to the width of a bucket."""
    wanted = share * sum(histogram.values())
    seen = 0
    for bucket, n in sorted(histogram.items()):
        seen += n
        if seen >= wanted:
            return middle_of(bucket) / NS_PER_MS
    raise ValueError("a quantile of no sends")
