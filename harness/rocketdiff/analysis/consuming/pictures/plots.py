"""Makes the tables of a report's pictures and figures of groups from the facts."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.consuming.pictures import figures as counted
from rocketdiff.analysis.consuming.pictures.timeline import LAG, MERGED
from rocketdiff.analysis.facts import CaseFact, LaneBar
from rocketdiff.core.answers.plots import (
    AfterFault,
    FaultWindow,
    GroupFigures,
    GroupTimeline,
    LagCurve,
    MemberMark,
    Plots,
    Work,
    WorkBar,
)
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.units import NS_PER_MS

CASES_DRAWN = 8
"""Timelines in a report: cases with a difference first, then others in plan order."""

CASES_COUNTED = 40
"""Cases whose figures are listed."""


def plots_of(cases: Sequence[CaseFacts], lanes: Sequence[CaseFact]) -> Plots:
    """Return the tables of every picture of groups."""
    bars: defaultdict[tuple[str, int], list[LaneBar]] = defaultdict(list)
    for row in lanes:
        if isinstance(row.fact, LaneBar):
            bars[row.run, row.number].append(row.fact)
    drawn = sorted(cases, key=lambda facts: not any(facts.divergences.values()))[:CASES_DRAWN]
    return Plots(
        groups=tuple(
            _timeline(facts, bars[facts.run, facts.entry.number])
            for facts in cases
            if any(facts is each for each in drawn)
        ),
        figures=tuple(row for facts in cases[:CASES_COUNTED] for row in _figures(facts)),
    )


def _timeline(facts: CaseFacts, bars: Sequence[LaneBar]) -> GroupTimeline:
    origin_ns = facts.entry.origin_ns or 0
    lags = tuple(_lags(facts))
    ends_ms = [(bar.end_ns - origin_ns) / NS_PER_MS for bar in bars if bar.attempt]
    return GroupTimeline(
        run=facts.run,
        case=facts.entry.name,
        end_ms=max((*ends_ms, *(curve.step_ms * (len(curve.lag) - 1) for curve in lags)), default=0.0),
        merged_ms=max((total for *_, (_, total) in facts.tallies_of(MERGED)), default=0.0),
        lags=lags,
        bars=tuple(_bar(bar, origin_ns) for bar in bars if bar.broker),
        marks=tuple(
            MemberMark(bar.arm, bar.thread, (bar.start_ns - origin_ns) / NS_PER_MS, bar.outcome)
            for bar in bars
            if not bar.broker
        ),
        faults=tuple(FaultWindow.of(fault, origin_ns) for fault in facts.faults),
    )


def _lags(facts: CaseFacts) -> Iterator[LagCurve]:
    for arm in map(str, Arm):
        steps = sorted((float(key), n) for side, _, key, (n, _) in facts.tallies_of(LAG) if side == arm)
        if steps:
            yield LagCurve(arm, steps[0][0], tuple(n for _, n in steps))


def _bar(bar: LaneBar, origin_ns: int) -> WorkBar:
    return WorkBar(
        arm=bar.arm,
        member=bar.thread,
        topic=bar.reason,
        broker=bar.broker,
        queue_id=bar.queue_id,
        start_ms=(bar.start_ns - origin_ns) / NS_PER_MS,
        end_ms=(bar.end_ns - origin_ns) / NS_PER_MS,
        work=Work(bar.outcome),
        calls=bar.attempt,
        send=bar.send,
    )


def _figures(facts: CaseFacts) -> Iterator[GroupFigures]:
    for arm in map(str, Arm):
        rows = {key: row for side, _, key, row in facts.tallies_of(counted.FIGURES) if side == arm}
        if not rows:
            continue
        n = {key: count for key, (count, _) in rows.items()}
        ms = {key: total for key, (_, total) in rows.items()}
        yield GroupFigures(
            run=facts.run,
            case=facts.entry.name,
            arm=arm,
            stored=n[counted.STORED],
            delivered=n[counted.DELIVERED],
            again=n[counted.AGAIN],
            retried=n[counted.RETRIED],
            in_calm=n[counted.IN_CALM],
            p50_ms=ms.get(counted.P50_MS),
            p99_ms=ms.get(counted.P99_MS),
            faults=tuple(_after(facts, fault, ms, number) for number, fault in enumerate(facts.faults)),
        )


def _after(facts: CaseFacts, fault: FaultRecord, ms: dict[str, float], number: int) -> AfterFault:
    return AfterFault(
        kind=str(fault.kind),
        node=fault.node,
        start_ms=(fault.inject_ns - (facts.entry.origin_ns or 0)) / NS_PER_MS,
        silent_ms=ms[f"{counted.SILENT_MS} {number}"],
        resumed_ms=ms.get(f"{counted.RESUMED_MS} {number}"),
        during=fault.during,
    )
