"""Makes evidence from summaries: planned checks, unplanned checks with a finding, pooled checks."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import TypeVar

from rocketdiff.analysis.checks.case_facts import INCOMPARABLE, UNKNOWABLE, CaseFacts, TallyKey
from rocketdiff.analysis.facts import CaseFact, OutageValue, Tally
from rocketdiff.analysis.registry import CODES, POOLED, ROLE_ANALYSES
from rocketdiff.analysis.summaries import CaseKey, DifferenceCluster, Summaries
from rocketdiff.core.answers.evidence import Evidence, Standing, TraceCounts
from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.verdict import Divergence, Example, Severity
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.core.tables.checks import ABOUT_THE_RUN, implicit_for
from rocketdiff.core.tables.fault import FaultRecord, with_hits
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.manifest import RunManifest

Kind = TypeVar("Kind", OutageValue, FaultRecord)


def case_facts(manifests: Sequence[RunManifest], summaries: Summaries) -> tuple[CaseFacts, ...]:
    """Return the facts of each planned case, in the order of the runs and their plans."""
    divergences: defaultdict[CaseKey, defaultdict[str, list[DifferenceCluster]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for cluster in summaries.clusters:
        divergences[cluster.run, cluster.number][cluster.example.check].append(cluster)
    tallies: defaultdict[CaseKey, dict[TallyKey, tuple[int, float]]] = defaultdict(dict)
    for row in summaries.tallies:
        tally = row.fact
        assert isinstance(tally, Tally)
        tallies[row.run, row.number][tally.check, tally.arm, tally.phase, tally.key] = (tally.n, tally.total)
    episodes = _by_case(summaries.episodes, OutageValue)
    faults = _by_case(summaries.faults, FaultRecord)
    return tuple(
        CaseFacts(
            run=manifest.run,
            subjects=manifest.subjects,
            entry=entry,
            divergences={
                check: tuple(
                    _divergence(cluster, manifest.subjects, ROLE_ANALYSES[entry.role].place) for cluster in found
                )
                for check, found in divergences[manifest.run, entry.number].items()
            },
            tallies=tallies[manifest.run, entry.number],
            episodes=tuple(episodes[manifest.run, entry.number]),
            faults=tuple(with_hits(faults[manifest.run, entry.number], entry.hits)),
        )
        for manifest in manifests
        for entry in manifest.cases
    )


def all_evidence(cases: Sequence[CaseFacts]) -> tuple[Evidence, ...]:
    """
    Return the evidence of every check of every case, then of the pools.

    Raises TraceError for a planned check that is unknown here, because no check may be skipped silently.
    """
    return (
        *(answer for facts in cases for answer in _answers(facts)),
        *(evidence for ask in POOLED for evidence in ask(cases)),
    )


def trace_counts(manifests: Sequence[RunManifest], cases: Iterable[CaseFacts]) -> TraceCounts:
    """Return how much was read."""
    cases = tuple(cases)
    return TraceCounts(
        runs=len(manifests),
        cases=len(cases),
        sends=sum(facts.n("sends") for facts in cases),
        attempts=sum(facts.n("attempt") for facts in cases),
        stored=sum(facts.n("stored") for facts in cases),
        foreign=sum(facts.n("foreign") for facts in cases),
        faults=sum(len(facts.faults) for facts in cases),
        spells=tuple(spell for role, own in by_role(cases).items() for spell in ROLE_ANALYSES[role].outages(own)),
        calls=sum(facts.n("calls") for facts in cases),
    )


def plots_of(cases: Sequence[CaseFacts], lanes: Sequence[CaseFact]) -> Plots:
    """Return the tables of the pictures of each role, one after another."""
    parts = [ROLE_ANALYSES[role].plots(own, lanes) for role, own in by_role(cases).items()]
    return Plots(
        **{each.name: tuple(row for part in parts for row in getattr(part, each.name)) for each in fields(Plots)}
    )


def by_role(cases: Iterable[CaseFacts]) -> dict[ClientRole, tuple[CaseFacts, ...]]:
    """Return the cases of each role, in their order; a role without cases is left out."""
    found: defaultdict[ClientRole, list[CaseFacts]] = defaultdict(list)
    for facts in cases:
        found[facts.entry.role].append(facts)
    return {role: tuple(own) for role, own in found.items()}


def _answers(facts: CaseFacts) -> Iterable[Evidence]:
    """
    Yield evidence of each planned check, and of each unplanned check that found a difference.

    The facts already exclude everything unknowable (``core.sends.knowable``).
    """
    planned = dict.fromkeys((*facts.entry.checks, *implicit_for(facts.entry.role)))
    for check in planned:
        if check not in CODES:
            raise TraceError(
                f"checks among {', '.join(CODES)}",
                seen=f"{check!r} planned for {facts.entry.name}",
                hint="analyse the run with the rocketdiff that recorded it, or a newer one",
            )
        yield _as_comparable(facts, _as_knowable(facts, CODES[check].evaluate(facts)))
    for check in facts.divergences:
        if check not in planned:
            yield replace(CODES[check].evaluate(facts), severity=Severity.MUST)


def _as_knowable(facts: CaseFacts, evidence: Evidence) -> Evidence:
    """
    Mark a planned check without an answer as NOT_APPLICABLE.

    The scenario format refuses such a check, but a run may be older or lack a witness.
    """
    reasons = {why for arm in Arm for why in facts.keys(f"{UNKNOWABLE}{evidence.check}", str(arm))}
    if not reasons or evidence.standing is Standing.INVALID:
        return evidence
    return replace(evidence, standing=Standing.NOT_APPLICABLE, reason="; ".join(sorted(reasons)))


def _as_comparable(facts: CaseFacts, evidence: Evidence) -> Evidence:
    """Mark a check that would conform in an incomparable case as INVALID."""
    reasons = facts.keys(INCOMPARABLE, str(Arm.CANDIDATE))
    would_conform = evidence.standing is Standing.DECISIVE and not evidence.divergences
    if not reasons or not would_conform or evidence.check in ABOUT_THE_RUN:
        return evidence
    return replace(evidence, standing=Standing.INVALID, reason="; ".join(reasons))


def _by_case(rows: Iterable[CaseFact], kind: type[Kind]) -> defaultdict[CaseKey, list[Kind]]:
    found: defaultdict[CaseKey, list[Kind]] = defaultdict(list)
    for row in rows:
        if isinstance(row.fact, kind):
            found[row.run, row.number].append(row.fact)
    return found


def _divergence(cluster: DifferenceCluster, subjects: dict[Arm, str], place: Place) -> Divergence:
    return Divergence(
        signature=cluster.example.signature,
        subject=subjects[Arm(cluster.example.arm)],
        count=cluster.count,
        example=_example(cluster, place),
    )


def _example(cluster: DifferenceCluster, place: Place) -> Example:
    difference = cluster.example
    return Example(
        where=at(place, difference.send, difference.thread, difference.attempt),
        phase=difference.phase,
        expected=difference.expected,
        observed=difference.observed,
        figures=difference.figures,
        run=cluster.run if difference.sides else "",
        sides=difference.sides,
    )
