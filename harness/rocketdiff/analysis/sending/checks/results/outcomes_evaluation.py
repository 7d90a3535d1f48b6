"""Evidence from the counts of ``outcomes``, per case and pooled; the verdict decides which differ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rocketdiff.analysis.checks.case_facts import CaseFacts, counted
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.checks.pairing import pools_by_pair
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount, CalmSends, Phased
from rocketdiff.analysis.sending.checks.context import SendCheck
from rocketdiff.analysis.sending.checks.results import other_servers
from rocketdiff.analysis.sending.checks.results.connections_left import LeftByRule, divergences_of, measures_of, paired
from rocketdiff.analysis.sending.checks.results.outcomes import (
    AFTER_FAILURE,
    CALM,
    COMPARED,
    CROWDED,
    ENDED,
    FAILED,
    FAULTS,
    GONE,
    HELD_UP,
    MET,
    MORE,
    NAME,
    NOT_FAILED,
    REFUSED_BY_BROKER,
    REFUSED_UNSEEN,
    RESERVE,
    Outcomes,
)
from rocketdiff.analysis.sending.checks.results.recovery import Recovery, recovery_measures
from rocketdiff.analysis.sending.checks.results.refusals import Refusals
from rocketdiff.analysis.sending.checks.results.slower_sends import IN_A_HUNDRED, SlowerSends
from rocketdiff.analysis.sending.checks.results.unequal_failures import UnequalFailures
from rocketdiff.analysis.sending.steps.causes import LEISURELY_MS
from rocketdiff.core.answers.evidence import ComparedShares, Evidence, PairedCounts, Standing
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.knowable import nothing_got_through

SITUATIONS = {
    AFTER_FAILURE: ("where the first attempt met a fault and failed", "failed"),
    RESERVE: ("at a broker whose slave or disk was at fault", "returned a status other than SEND_OK"),
}
"""Name of a compared share, without the kind of its fault, to words for the situation and its end."""

FAR_APART = 0.5
"""
Least difference of compared shares. Sends of one fault period share their cause, so shares scatter more than the test
assumes; all against less than half, or none against more than half, is no scatter.
"""

MANY = 0.25
"""
Share of one client's sends in calm that load cannot explain if the other, at the same time and on the same brokers, has
none. Stalls do not fill a quarter of a case, so moments need not be counted; they do fill what is calm of one with long faults,
so sends held up must be a quarter of all (seen at load 25: a JVM slow for 0.8 s, the 0.9 s of calm before a pause).
"""

A_CALL_IN_200 = 0.005
"""
Share of the candidate's sends in calm that must be held up before moments count: its 99th percentile shows one in a hundred.
Of some 40 stored cases of two clients, load and garbage collection held up fewer of one client alone.
"""

A_CALL_IN_TEN = 0.1
"""Share of the baseline's sends in calm that are held up where calm is none."""

CROWDED_SHARE = 0.01
CROWDED_LEAST = 2
"""
Share of the baseline's sends in calm that the machine may fail, and the number that is luck at any share. A machine
that fails over one in a hundred of a correct client fails any other's too, indistinguishably.
"""


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with exact differences, and counts for the run's family of tests."""
    measures = tuple(
        measure
        for what in COMPARED[CALM]
        if facts.n(NAME, what)
        for measure in counted(facts, f"sends-{what}", NAME, what)
    )
    measures = (*measures, *_slowest(facts), *measures_of(facts), *recovery_measures(facts))
    compared = facts.n(NAME, "sends", arm=str(Arm.CANDIDATE))
    standing, reason = _standing(facts, compared)
    evidence = facts.evidence(NAME, standing, reason, decisions=compared, measures=measures)
    connections = (*divergences_of(facts), *other_servers.divergences_of(facts))
    evidence = replace(evidence, divergences=(*evidence.divergences, *connections))
    if _is_hasty(facts):
        return evidence
    return replace(evidence, counts=(*_paired([facts]), *_shares(facts)))


def _slowest(facts: CaseFacts) -> Iterator[Measure]:
    for arm in map(str, Arm):
        slowest_ms, sends = facts.mean(IN_A_HUNDRED, arm=arm), facts.n(NAME, "sends", arm=arm, phase=CALM)
        if slowest_ms is not None:
            yield Measure(f"99th-percentile-in-calm {arm}", slowest_ms, "ms", sends)


def _is_hasty(facts: CaseFacts) -> bool:
    """True if timeouts are so short that this machine's speed decides what fails: only exact questions are asked."""
    return facts.entry.settings.send_msg_timeout_ms < LEISURELY_MS


def _standing(facts: CaseFacts, compared: int) -> tuple[Standing, str]:
    if not compared:
        return Standing.INDECISIVE, "no send returned in both arms"
    if _is_hasty(facts):
        return Standing.DECISIVE, ""
    baseline, subject = str(Arm.BASELINE), facts.subjects[Arm.BASELINE]
    if refused := _refused_by_brokers(facts):
        return Standing.INVALID, refused
    calm = facts.n(CROWDED, arm=baseline)
    ends = {end: facts.n(CROWDED, end, arm=baseline) for end in facts.keys(CROWDED, baseline) if end != NOT_FAILED}
    crowded = sum(ends.values())
    if crowded > max(CROWDED_LEAST, CROWDED_SHARE * calm):
        found = ", ".join(f"{n} by {end}" for end, n in sorted(ends.items()))
        return Standing.INVALID, f"no calm baseline: {crowded} of {calm} sends of {subject} failed ({found})"
    held_up, sends = _held_up_in_calm([facts], Arm.BASELINE), facts.n(NAME, "sends", arm=baseline, phase=CALM)
    if _is_baseline_slower([facts]) and held_up >= A_CALL_IN_TEN * sends:
        return Standing.INDECISIVE, f"no calm baseline: {held_up} of {sends} sends of {subject} were held up"
    return Standing.DECISIVE, ""


def _refused_by_brokers(facts: CaseFacts) -> str:
    """Why a case shows nothing whose sends in calm all failed in both arms by a broker's answer; else an empty text."""
    calm = {arm: facts.n(NAME, "sends", arm=str(arm), phase=CALM) for arm in Arm}
    if not all(n and facts.n(REFUSED_BY_BROKER, arm=str(arm), phase=CALM) == n for arm, n in calm.items()):
        return ""
    codes = dict.fromkeys(code for arm in Arm for code in facts.keys(REFUSED_BY_BROKER, str(arm)))
    return nothing_got_through("the brokers refused", calm[Arm.BASELINE], ", ".join(codes))


def _held_up_in_calm(pool: Sequence[CaseFacts], arm: Arm) -> int:
    return sum(facts.n(NAME, HELD_UP, arm=str(arm), phase=CALM) for facts in pool)


def _is_baseline_slower(pool: Sequence[CaseFacts]) -> bool:
    """True if more of the baseline's sends in calm were held up: it was not scheduled, which shows nothing of the candidate."""
    return _held_up_in_calm(pool, Arm.BASELINE) > _held_up_in_calm(pool, Arm.CANDIDATE)


def pooled(cases: Sequence[CaseFacts]) -> tuple[Evidence, ...]:
    """Return the counts of all sound cases together, if there are any."""
    pools = pools_by_pair(cases, lambda facts: not _is_hasty(facts) and _standing(facts, 1)[0] is Standing.DECISIVE)
    return tuple(evidence for pair, pool in pools.items() for evidence in _pool(pair, pool))


MINIMUM_UNITS = 11
"""Fewer units that differ decide nothing: ten to none has p = 0.002, above a run's error budget."""


def _pool(pair: str, pool: Sequence[CaseFacts]) -> Iterator[Evidence]:
    asked = (*_paired(pool), *paired(pool))
    counts = tuple(count for count in asked if count.baseline_more + count.candidate_more >= MINIMUM_UNITS)
    if len(pool) > 1 and counts:
        yield Evidence(
            runs=tuple(sorted({facts.run for facts in pool})),
            case=f"pooled/sends/{pair}",
            check=NAME,
            standing=Standing.DECISIVE,
            decisions=sum(count.baseline_more + count.candidate_more for count in counts),
            counts=counts,
        )


def _paired(pool: Sequence[CaseFacts]) -> Iterator[PairedCounts]:
    for phase, unit in ((CALM, "moments"), (FAULTS, "spells of faults")):
        for what in COMPARED[phase]:
            more = [sum(facts.n(MORE, what, arm=str(arm), phase=phase) for facts in pool) for arm in Arm]
            if any(more) and ((what, phase) != (HELD_UP, CALM) or _is_noticed(pool, more)):
                yield PairedCounts(f"{what}/{phase}", unit, *more)


def _is_noticed(pool: Sequence[CaseFacts], moments: Sequence[int]) -> bool:
    """True if the candidate was held up in calm often enough to be noticed, and the baseline not more."""
    sends = sum(facts.n(NAME, "sends", arm=str(Arm.CANDIDATE), phase=CALM) for facts in pool)
    is_slower = _is_baseline_slower(pool) or moments[0] > moments[1]
    return not is_slower and _held_up_in_calm(pool, Arm.CANDIDATE) >= A_CALL_IN_200 * sends > 0


def _shares(facts: CaseFacts) -> Iterator[ComparedShares]:
    """Situations that both arms met, and that ended all alike in one arm and mostly otherwise in the other."""
    yield from _calm_shares(facts)
    yield from _gone_shares(facts)
    for name in facts.keys(MET, str(Arm.BASELINE)):
        met = (facts.n(MET, name, arm=str(Arm.BASELINE)), facts.n(MET, name, arm=str(Arm.CANDIDATE)))
        ended = (facts.n(ENDED, name, arm=str(Arm.BASELINE)), facts.n(ENDED, name, arm=str(Arm.CANDIDATE)))
        if not all(met):
            continue
        shares = [some / total for some, total in zip(ended, met, strict=True)]
        if {0.0, 1.0} & set(shares) and abs(shares[0] - shares[1]) > FAR_APART:
            situation, end = SITUATIONS[name.rpartition("/")[0]]
            yield ComparedShares(name, situation, end, met, ended)


def _calm_shares(facts: CaseFacts) -> Iterator[ComparedShares]:
    """What happened to many of one arm's sends in calm and none of the other's; sends of the baseline held up do not count."""
    met = (facts.n(NAME, "sends", arm="baseline", phase=CALM), facts.n(NAME, "sends", arm="candidate", phase=CALM))
    for what in COMPARED[CALM] if all(met) else ():
        befell = (facts.n(NAME, what, arm="baseline", phase=CALM), facts.n(NAME, what, arm="candidate", phase=CALM))
        is_told = what != HELD_UP or befell[1]
        beside_faults = facts.n(NAME, "sends", arm=str(Arm.CANDIDATE), phase=FAULTS)
        of = max(met) + (beside_faults if what == HELD_UP else 0)
        if is_told and not min(befell) and max(befell) > MANY * of:
            yield ComparedShares(f"{what}/most-of-calm", "in calm", f"were {what}", met, befell)


def _gone_shares(facts: CaseFacts) -> Iterator[ComparedShares]:
    """Sends that a killed broker refused unseen: many of one arm's in fault periods, while none of the other's failed."""
    met = (facts.n(NAME, "sends", arm="baseline", phase=FAULTS), facts.n(NAME, "sends", arm="candidate", phase=FAULTS))
    failed = (facts.n(GONE, FAILED, arm="baseline"), facts.n(GONE, FAILED, arm="candidate"))
    unseen = (facts.n(REFUSED_UNSEEN, FAILED, arm=arm) for arm in ("baseline", "candidate"))
    if all(met) and not min(failed) and max(unseen) > MANY * max(met):
        yield ComparedShares("failed/while-a-broker-is-gone", "while a broker was gone", "failed", met, failed)


def _by_period(sends: CalmSends) -> Phased:
    return sends.either_in_period.astype(np.int64), (CALM, FAULTS)


def _in_calm(sends: CalmSends) -> Phased:
    return np.zeros(sends.in_period.size, dtype=np.int64), (CALM,)


CODE: SendCheck = CheckCode(
    NAME,
    observers=(Outcomes, Refusals, SlowerSends, Recovery, LeftByRule, UnequalFailures),
    evaluate=evaluate,
    pooled=pooled,
    calm=(
        CalmCount(CROWDED, NOT_FAILED, lambda sends: ~sends.in_period, phased=_in_calm),
        CalmCount(NAME, "sends", phased=_by_period),
    ),
)
