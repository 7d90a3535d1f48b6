"""Shared by the four checks based on the replay: noting differences, and whether the rules applied."""

import math
from collections.abc import Callable
from dataclasses import replace

from rocketdiff.analysis.checks.case_facts import LEGAL_SHARE_BOUND, UNDECIDED_BOUND, CaseFacts
from rocketdiff.analysis.sending.checks.results.refusals import refusal_of
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.send_view import Phase, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Measure, Severity
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import NOT_MET_BY_SENDS
from rocketdiff.core.tables.signatures import SIGNATURES, without_place
from rocketdiff.oracle.producer.judgement import DifferenceKind

RULES = "rules"
"""Tally of sends that could be judged, and reasons for the others."""

JUDGED = "judged"
UNAVAILABLE = "unavailable: "


Remark = Callable[[SendView, int | None], str]
"""Text that a check appends to ``observed``."""


def note_differences(
    check: str, send: AlignedSend, collector: SendFacts, remark: Remark = lambda _side, _n: ""
) -> None:
    """
    Note each side's difference of the kind this check asks about.

    Both arms are replayed against the baseline's release. If that does not explain even the baseline, the rules are
    wrong: signature ``rules/…``.
    """
    for side in send.sides:
        judgement = side.judgement
        if refusal_of(side) is not None:
            continue  # ``results.refusals`` compares it
        if judgement is None or judgement.difference is None or judgement.difference.kind != KIND_OF_CHECK[check]:
            continue
        found = judgement.difference
        name, place = without_place(found.signature)
        collector.differ(
            SIGNATURES[name],
            send,
            side,
            expected=found.expected,
            observed=found.observed + remark(side, found.attempt),
            attempt=found.attempt,
            rules=found.detail,
            place=place,
            of_rules=side.arm is Arm.BASELINE,
        )


KIND_OF_CHECK = {"queue-choice": "queue", "avoidance": "avoidance", "attempts": "attempts", "error-kind": "error"}
"""Check to the oracle's kind of difference; every kind has exactly one check."""


def is_judged(side: SendView) -> bool:
    """True if the rules could judge a send; otherwise its lack of a difference shows nothing."""
    judgement = side.judgement
    return judgement is not None and judgement.undecided is None


def judged_before(side: SendView) -> float:
    """
    Attempts with a smaller number were judged to their end; infinity if all were, and the result too.

    After a wrong queue or attempt the rules say nothing more about a send.
    """
    if not is_judged(side):
        return 0
    judgement = side.judgement
    found = None if judgement is None else judgement.difference
    if found is None or found.kind is DifferenceKind.ERROR:
        return math.inf
    return found.attempt or 0


def why_unjudged(facts: CaseFacts) -> tuple[Standing, str] | None:
    """Standing and reason of a case that the rules could not judge; else None."""
    for arm in Arm:
        for key in facts.keys(RULES, str(arm)):
            if key.startswith(UNAVAILABLE):
                return Standing.INDECISIVE, key.removeprefix(UNAVAILABLE)
        if not facts.n("attempt", arm=str(arm)):
            return Standing.INDECISIVE, f"no attempt of {facts.subjects[arm]} was witnessed"
        judged, returned = facts.n(RULES, JUDGED, arm=str(arm)), facts.n(RULES, arm=str(arm))
        if not returned:
            return Standing.INDECISIVE, f"no send of {facts.subjects[arm]} returned"
        if returned - judged > UNDECIDED_BOUND * returned:
            why = ", ".join(key for key in facts.keys(RULES, str(arm)) if key != JUDGED)
            reason = f"{returned - judged} of {returned} sends of {facts.subjects[arm]} could not be judged: {why}"
            return Standing.INDECISIVE, reason
    return None


def judged_evidence(
    facts: CaseFacts, check: str, *keys: str, never: str, measures: tuple[Measure, ...] = ()
) -> Evidence:
    """
    Evidence of a check that counted its relevant observations under ``keys``, with legal shares as totals.

    The candidate must have made one, and the legal queues must have excluded something, if shares were counted at all
    (there was a choice among queues). ``never`` is the reason if neither arm made one. A situation that one arm alone
    met may be luck (a connection reset or merely closed, the phase of a pause), worth ``should``; beyond luck it is an
    open question that gates.
    """
    unjudged = why_unjudged(facts)
    if unjudged is not None:
        return facts.evidence(check, *unjudged, measures=measures)
    made = {arm: facts.n(check, *keys, arm=str(arm)) for arm in Arm}
    shares = [share for arm in Arm if (share := facts.mean(f"{check}.legal", arm=str(arm))) is not None]
    share = max(shares, default=None)
    standing, reason, severity = Standing.DECISIVE, "", Severity.MUST
    if facts.divergences.get(check):
        pass  # A divergence is certain, however little else could be judged.
    elif lopsided := _met_by_one_only(facts, check):
        standing, reason = Standing.INDECISIVE, lopsided
    elif not any(made.values()):
        return facts.evidence(check, Standing.NOT_APPLICABLE, never, measures=measures)
    elif not made[Arm.CANDIDATE]:
        standing, severity = Standing.INDECISIVE, Severity.SHOULD
        reason = f"{facts.subjects[Arm.CANDIDATE]} never came into the situation this check asks about"
    elif share is not None and share > LEGAL_SHARE_BOUND:
        standing = Standing.INDECISIVE
        reason = f"{share:.0%} of the queues were legal on average, so nearly any choice would have passed"
    evidence = facts.evidence(
        check, standing, reason, decisions=sum(made.values()), legal_share=share, measures=measures
    )
    return replace(evidence, severity=severity) if evidence.standing is Standing.INDECISIVE else evidence


LUCK_BOUND = 0.001
"""
Probability below which a situation that one arm alone met is no luck: eleven to none with equal numbers of sends. A run
asks about fifty such questions, and sends of one spell share their cause, so 5 % would be far too much.
"""


def note_met(check: str, side: SendView, collector: SendFacts, situation: str) -> None:
    """Count that a send met a situation, once per send; the other arm may never have met it."""
    collector.count(f"{check}.met", str(side.arm), str(side.phase), situation)


def chance_of_one_arm_only(met: int, opportunities: int, others: int) -> float:
    """
    Two-sided Fisher test: ``met`` among an arm's ``opportunities`` against none among the other's ``others``.

    All fall into this arm with probability C(opportunities, met) / C(opportunities + others, met).
    """
    here, there = (math.comb(mine, met) / math.comb(opportunities + others, met) for mine in (opportunities, others))
    return here + (there if there <= here else 0.0)


def _met_by_one_only(facts: CaseFacts, check: str) -> str | None:
    name = f"{check}.met"
    for situation in dict.fromkeys(key for arm in Arm for key in facts.keys(name, str(arm))):
        met = {arm: facts.n(name, situation, arm=str(arm)) for arm in Arm}
        if all(met.values()):
            continue
        much, none = sorted(Arm, key=met.__getitem__, reverse=True)
        phases = [phase for phase in Phase if facts.n(name, situation, phase=phase)]
        sends = {arm: sum(facts.n("sends", arm=str(arm), phase=phase) for phase in phases) for arm in Arm}
        # Both have one plan: an arm that waits for a silent broker begins fewer sends, but no fewer were due.
        due = max(sends[much], sends[none], met[much])
        chance = chance_of_one_arm_only(met[much], due, sends[none])
        if chance <= LUCK_BOUND:
            return (
                f"{met[much]} of {sends[much]} sends of {facts.subjects[much]} came into the situation {situation!r},"
                f" none of {sends[none]} of {facts.subjects[none]} in the same phases: by chance that happens once in"
                f" {1 / chance:,.0f} cases"
            )
    return None


def or_missed(facts: CaseFacts, evidence: Evidence) -> Evidence:
    """
    Evidence that did not apply only because both arms missed every faulty broker becomes INDECISIVE, ``should``.

    That is luck of the schedule, not a case without faults.
    """
    is_broker_faulty = any(fault.kind not in NOT_MET_BY_SENDS for fault in facts.faults)
    if evidence.standing is not Standing.NOT_APPLICABLE:
        return evidence
    if not is_broker_faulty or facts.n("blocked"):
        return evidence
    reason = "no attempt of either arm met a faulty broker"
    return replace(evidence, standing=Standing.INDECISIVE, reason=reason, severity=Severity.SHOULD)
