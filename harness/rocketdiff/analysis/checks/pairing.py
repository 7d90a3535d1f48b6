"""
Pair the two arms' values by outage, in one case and pooled over all comparable cases.

A case of the quick suite has one to six outages, which decides nothing. So the outages of all cases of all runs are
pooled, separately with fault latency on and off (two different clients). A ratio has no unit, so cases with different
timeouts may share a pool. Only the pool gates, and only with enough outages.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rocketdiff.analysis.checks.case_facts import INCOMPARABLE, CaseFacts
from rocketdiff.analysis.facts import OutageValue
from rocketdiff.core.answers.evidence import (
    GROUPS_POOL,
    Ending,
    Evidence,
    Margin,
    OutagePair,
    PairedSample,
    Standing,
    latency_pool,
    pool_name,
)
from rocketdiff.core.answers.verdict import Measure, Severity
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import PAUSES
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.traces.manifest import CaseStatus

MINIMUM_PAIRS = 4
MINIMUM_REASON = "fewer pairs are too few to estimate the spread: the t factor is 6.3 at two, 2.4 at four"


def has_pause(facts: CaseFacts) -> bool:
    """True if a server that clients send to was paused in this case."""
    return any(fault.kind in PAUSES for fault in facts.faults)


@dataclass(frozen=True, slots=True)
class Question:
    """
    A statistical question: its sample, and its margin unless the scenario declares another.

    is_asked: whether a case has spells at all; lacking: the reason if it has none; of: what the spells are spells of.
    """

    check: str
    sample: str
    margin: Margin
    is_asked: Callable[[CaseFacts], bool] = has_pause
    lacking: str = "no broker was paused in this case"
    of: str = "pauses"


def pairs_of(facts: CaseFacts, question: Question) -> tuple[OutagePair, ...]:
    """One pair per outage that at least one arm met, by episode."""
    values = {
        (value.episode, value.arm): value
        for value in facts.episodes
        if (value.check, value.sample) == (question.check, question.sample)
    }
    return tuple(
        _pair(facts, episode, values.get((episode, Arm.BASELINE)), values.get((episode, Arm.CANDIDATE)))
        for episode in sorted({episode for episode, _ in values})
    )


def _pair(facts: CaseFacts, episode: int, baseline: OutageValue | None, candidate: OutageValue | None) -> OutagePair:
    return OutagePair(
        run=facts.run,
        case=facts.entry.name,
        episode=episode,
        baseline_ns=None if baseline is None else baseline.value_ns,
        candidate_ns=None if candidate is None else candidate.value_ns,
        baseline_ended=Ending.OPEN if baseline is None else Ending(baseline.ended),
        candidate_ended=Ending.OPEN if candidate is None else Ending(candidate.ended),
    )


def margin_of(facts: Sequence[CaseFacts], question: Question) -> Margin:
    """The narrowest margin that scenarios declare for this check, else the question's own."""
    declared = [
        Margin(tolerance.ratio, tolerance.reason)
        for case in facts
        for tolerance in case.entry.tolerances
        if tolerance.check == question.check
    ]
    return min(declared, key=lambda margin: margin.ratio, default=question.margin)


def case_evidence(facts: CaseFacts, question: Question) -> Evidence:
    """Evidence of one case, for information only; decisive with enough outages of its own."""
    check, pairs = question.check, pairs_of(facts, question)
    measures = measures_of(pairs, question)
    if not question.is_asked(facts):
        return _informative(facts.evidence(check, Standing.NOT_APPLICABLE, question.lacking, measures=measures))
    sample = PairedSample(question.sample, margin_of([facts], question), pairs, MINIMUM_PAIRS, MINIMUM_REASON)
    if len(sample.complete()) < MINIMUM_PAIRS:
        complete = len(sample.complete())
        reason = (
            f"{complete} complete pair{'s' * (complete != 1)} of spells here; judged over all cases in {pool_of(facts)}"
        )
        return _informative(facts.evidence(check, Standing.INDECISIVE, reason, measures=measures))
    return _informative(facts.evidence(check, Standing.DECISIVE, measures=measures), sample)


def _informative(evidence: Evidence, *samples: PairedSample) -> Evidence:
    return Evidence(
        runs=evidence.runs,
        case=evidence.case,
        check=evidence.check,
        standing=evidence.standing,
        reason=evidence.reason,
        severity=Severity.INFO,
        decisions=sum(len(sample.pairs) for sample in samples),
        samples=samples,
        measures=evidence.measures,
    )


def pool_of(facts: CaseFacts) -> str:
    """Name of the pool of a case."""
    is_about_groups = facts.entry.role is ClientRole.CONSUMER
    pool = GROUPS_POOL if is_about_groups else latency_pool(facts.entry.settings.send_latency_fault_enable)
    return pool_name(facts.subjects[Arm.BASELINE], facts.subjects[Arm.CANDIDATE], pool)


def pools_of(
    cases: Iterable[CaseFacts], check: str, is_asked: Callable[[CaseFacts], bool] = has_pause
) -> dict[str, list[CaseFacts]]:
    """Cases that planned a check and had spells to ask about, by pool name."""
    pools: dict[str, list[CaseFacts]] = {}
    for facts in cases:
        if check in facts.entry.checks and is_asked(facts):
            pools.setdefault(pool_of(facts), []).append(facts)
    return dict(sorted(pools.items()))


def pools_by_pair(cases: Iterable[CaseFacts], joins: Callable[[CaseFacts], bool]) -> dict[str, list[CaseFacts]]:
    """Sound cases for which ``joins`` is true, by ``<baseline>~<candidate>``."""
    pools: dict[str, list[CaseFacts]] = {}
    for facts in cases:
        if is_sound(facts) and joins(facts):
            pools.setdefault(f"{facts.subjects[Arm.BASELINE]}~{facts.subjects[Arm.CANDIDATE]}", []).append(facts)
    return dict(sorted(pools.items()))


def pooled_pairs(cases: Iterable[CaseFacts], question: Question) -> tuple[OutagePair, ...]:
    """Pairs of all sound cases of a pool."""
    return tuple(pair for facts in cases if is_sound(facts) for pair in pairs_of(facts, question))


def pooled_evidence(
    name: str, cases: Sequence[CaseFacts], question: Question, measures: tuple[Measure, ...] = ()
) -> Evidence:
    """
    Evidence of one pool.

    It gates if enough outages are informative (both arms failed over, or only one did), or if fewer all point beyond
    the margin. An outage that neither arm could leave, or that one never met, is not informative.
    """
    pairs = pooled_pairs(cases, question)
    sample = PairedSample(question.sample, margin_of(cases, question), pairs, MINIMUM_PAIRS, MINIMUM_REASON)
    telling = len(sample.complete()) + sum(sample.discordant())
    enough = telling >= MINIMUM_PAIRS
    reason = (
        ""
        if enough
        else f"{telling} informative spell{'s' * (telling != 1)} of {question.of} in total, at least {MINIMUM_PAIRS} are needed"
    )
    return Evidence(
        runs=tuple(sorted({facts.run for facts in cases})),
        case=name,
        check=question.check,
        standing=Standing.DECISIVE if enough else Standing.INDECISIVE,
        reason=reason,
        severity=Severity.MUST if enough or sample.points_beyond() else Severity.SHOULD,
        decisions=telling,
        samples=(sample,),
        measures=(*measures_of(pairs, question), *measures),
    )


def is_sound(facts: CaseFacts) -> bool:
    """True if a case may enter a pool: complete, comparable, no subject broke off, every guard held."""
    entry = facts.entry
    is_whole = entry.status is CaseStatus.COMPLETE and not entry.breaches and not facts.n(INCOMPARABLE)
    return is_whole and all(guard.held for guard in entry.guards)


def measures_of(pairs: Sequence[OutagePair], question: Question) -> tuple[Measure, ...]:
    """Per arm, the mean in ms of outages ended by a failover, and the number of others."""
    measures: list[Measure] = []
    for arm in Arm:
        lived = [seen_of(pair, arm) for pair in pairs]
        done = [value for value, ended in lived if value is not None and ended is Ending.FAILOVER]
        if done:
            mean_ms = sum(done) / len(done) / NS_PER_MS
            measures.append(Measure(f"{question.sample} {arm}", mean_ms, "ms", len(done)))
        otherwise = sum(value is not None and ended is not Ending.FAILOVER for value, ended in lived)
        if otherwise:
            measures.append(Measure(f"{question.sample} without failover {arm}", otherwise, "count", len(pairs)))
    return tuple(measures)


def seen_of(pair: OutagePair, arm: Arm) -> tuple[float | None, Ending]:
    """One arm's value in ns (None if it did not meet the outage), and how the outage ended."""
    if arm is Arm.BASELINE:
        return pair.baseline_ns, pair.baseline_ended
    return pair.candidate_ns, pair.candidate_ended
