"""Turns one evidence, with the answers of its samples, into the answer of its check."""

from collections.abc import Sequence
from math import isfinite, log
from operator import itemgetter

from rocketdiff.core.answers.evidence import Evidence, OutagePair, Standing
from rocketdiff.core.answers.verdict import (
    CheckResult,
    Divergence,
    Example,
    Measure,
    Severity,
    Verdict,
    dominant,
)
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.verdict.decide_samples import SampleAnswer

_WITHOUT_ANSWER = {
    Standing.INDECISIVE: Verdict.INCONCLUSIVE,
    Standing.NOT_APPLICABLE: Verdict.NOT_APPLICABLE,
}


def answer(evidence: Evidence, samples: Sequence[SampleAnswer], *, baseline: str, candidate: str) -> CheckResult:
    """
    Judge one evidence, given the answers of its samples.

    An INVALID standing wins: a broken set-up proves nothing, so divergences are listed and do not count. Otherwise an
    exact divergence is certain: ``must`` and DIVERGES, whatever severity was declared.
    """
    divergences = (*evidence.divergences, *statistical(evidence.check, samples, baseline, candidate))
    verdict = _verdict(evidence, divergences, samples)
    return CheckResult(
        case=evidence.case,
        check=evidence.check,
        verdict=verdict,
        severity=_severity(evidence, verdict, samples),
        reason=_reason(evidence, divergences, samples, baseline),
        divergences=divergences,
        measures=tuple(filter(_is_finite, (*evidence.measures, *_legal_share(evidence), *_ratios(samples)))),
    )


def _verdict(evidence: Evidence, divergences: Sequence[Divergence], samples: Sequence[SampleAnswer]) -> Verdict:
    if evidence.standing is Standing.INVALID:
        return Verdict.INVALID
    if divergences:
        return Verdict.DIVERGES
    if evidence.standing is not Standing.DECISIVE:
        return _WITHOUT_ANSWER[evidence.standing]
    return dominant([sample.verdict for sample in samples]) if samples else Verdict.CONFORMS


def _severity(evidence: Evidence, verdict: Verdict, samples: Sequence[SampleAnswer]) -> Severity:
    """
    An exact divergence gates; a statistical question without the power to answer is ``should``.

    The machine determines how much a few episodes scatter. An estimate beyond the margin is no such excuse and gates.
    """
    if evidence.divergences and verdict is Verdict.DIVERGES:
        return Severity.MUST
    is_open = verdict is Verdict.INCONCLUSIVE and evidence.severity is Severity.MUST
    if is_open and samples and not any(sample.points_beyond for sample in samples):
        return Severity.SHOULD
    return evidence.severity


def _reason(
    evidence: Evidence, divergences: Sequence[Divergence], samples: Sequence[SampleAnswer], baseline: str
) -> str:
    # A divergence was found, so the check was applicable despite its standing.
    arose = divergences and evidence.standing is Standing.NOT_APPLICABLE
    reasons = ["" if arose else evidence.reason, *(sample.reason for sample in samples)]
    if any(item.subject == baseline and item.signature.startswith("rules/") for item in divergences):
        reasons.append(
            f"the rules do not explain the baseline {baseline} itself: suspect its dialect or the witness first"
        )
    return "; ".join(filter(None, reasons))


def statistical(check: str, samples: Sequence[SampleAnswer], baseline: str, candidate: str) -> tuple[Divergence, ...]:
    """Return one divergence per duration beyond the margin and one per difference in the causes of episode ends."""
    found = []
    for item in samples:
        if item.differs:
            found.append(_duration_differs(check, item, candidate))
        if item.cause_differs:
            found.append(_cause_differs(check, item, baseline, candidate))
    return tuple(found)


def _duration_differs(check: str, item: SampleAnswer, candidate: str) -> Divergence:
    ratio, margin = item.ratio, item.sample.margin
    assert ratio is not None, "a sample differs only after its ratio was asked"
    apart = [
        (abs(log(pair.candidate_ns / pair.baseline_ns)), place)
        for place, pair in enumerate(item.sample.pairs)
        if pair.baseline_ns and pair.candidate_ns
    ]
    _, place = max(apart, key=itemgetter(0))
    worst = item.sample.pairs[place]
    return Divergence(
        signature=f"{check}.{item.sample.name}-differs",
        subject=candidate,
        count=ratio.n,
        example=Example(
            where=NOWHERE,
            phase="episodes",
            expected=f"{item.sample.name} within ×{margin.ratio:g} of the baseline's ({margin.reason})",
            observed=(
                f"×{ratio.ratio:.3g} of the baseline's over {ratio.n} spells"
                f" ({ratio.confidence:.0%} interval ×{ratio.low:.3g} to ×{ratio.high:.3g})"
            ),
            figures={"p_difference": ratio.p_difference, "farthest_episode": _episode(worst)},
        ),
    )


def _cause_differs(check: str, item: SampleAnswer, baseline: str, candidate: str) -> Divergence:
    baseline_only, candidate_only = item.sample.discordant()
    example = next(pair for pair in item.sample.pairs if pair.baseline_ended is not pair.candidate_ended)
    return Divergence(
        signature=f"{check}.failover-cause-differs",
        subject=candidate,
        count=baseline_only + candidate_only,
        example=Example(
            where=NOWHERE,
            phase="episodes",
            expected="both clients fail over in the same spells, or both wait for the broker",
            observed=f"only {baseline} failed over in {baseline_only} spells, only {candidate} in {candidate_only}",
            figures={"p_mcnemar": item.p_cause, "one_episode": _episode(example)},
        ),
    )


def _episode(pair: OutagePair) -> dict[str, object]:
    return {
        "case": pair.case,
        "episode": pair.episode,
        "baseline_ns": pair.baseline_ns,
        "candidate_ns": pair.candidate_ns,
        "baseline_ended": pair.baseline_ended.value,
        "candidate_ended": pair.candidate_ended.value,
    }


def _legal_share(evidence: Evidence) -> tuple[Measure, ...]:
    if evidence.legal_share is None:
        return ()
    return (Measure("legal-share", evidence.legal_share, "share", evidence.decisions),)


def _ratios(samples: Sequence[SampleAnswer]) -> tuple[Measure, ...]:
    return tuple(
        Measure(f"{item.sample.name} ratio (candidate ÷ baseline)", r.ratio, "ratio", r.n, r.low, r.high, r.confidence)
        for item in samples
        if (r := item.ratio) is not None
    )


def _is_finite(measure: Measure) -> bool:
    """False for a figure without a bound (two episodes or fewer), which is omitted: JSON has no infinity."""
    return all(isfinite(figure) for figure in (measure.value, measure.low or 0.0, measure.high or 0.0))
