"""
Decides all paired samples of a run as one family with one error budget.

``must`` samples may fail a run: their differences are corrected by Holm. ``should`` samples are screened with
Benjamini–Hochberg. An ``info`` sample, one case's share of a pooled sample, never diverges by itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocketdiff.core.answers.evidence import Evidence, PairedSample, Standing
from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.statistics.significance import (
    MOST_PAIRS,
    IntervalDecision,
    RatioDecision,
    benjamini_hochberg,
    exact_mcnemar,
    holm,
    paired_ratio,
    pairs_needed,
)

ALPHA_DIFFERENCE = 0.01
"""Probability that statistics alone fail a whole run: the error budget of a gate run (README of `statistics`)."""

P_CAUSE_OPEN = 0.05
"""Below this, differing causes keep a question open (six spells to none): faithful clients leave the same spells."""

MOST_CUT_SHORT = 0.5
"""
If at least this share of an arm's spells was cut short before its failover, the others show no equivalence. They are
biased: the longer a failover takes, the likelier something else ends the spell first.
"""

ALPHA_EQUIVALENCE = 0.05
"""Probability that a run passes as equivalent although a sample lies at its margin: the usual TOST size."""

Q_SCREEN = 0.05
"""Expected share of false flags among ``should`` samples, which warn and do not gate (same section)."""


@dataclass(frozen=True, slots=True)
class SampleAnswer:
    """
    Answer of one sample.

    ratio: None with too few complete pairs. differs: by more than the margin. cause_differs: one arm failed over where
    the other waited for the broker. questions: size of its family, which shares the error budget.
    """

    sample: PairedSample
    ratio: RatioDecision | None
    p_cause: float
    equivalent: bool
    differs: bool
    cause_differs: bool
    questions: int

    @property
    def points_beyond(self) -> bool:
        """
        True if the estimate is beyond the margin or causes differ, significant or not.

        Then missing power is no excuse: the question stays open and gates.
        """
        return self.sample.points_beyond() or self.p_cause <= P_CAUSE_OPEN

    @property
    def is_mostly_unseen(self) -> bool:
        """True if too many of an arm's durations were cut short."""
        return max(self.sample.cut_short()) >= MOST_CUT_SHORT * max(1, len(self.sample.met()))

    @property
    def verdict(self) -> Verdict:
        if self.differs or self.cause_differs:
            return Verdict.DIVERGES
        return Verdict.EQUIVALENT if self.equivalent and not self.is_mostly_unseen else Verdict.INCONCLUSIVE

    @property
    def reason(self) -> str:
        """Why there is no answer, with the number of spells that would give one; else empty."""
        if self.verdict is not Verdict.INCONCLUSIVE:
            return ""
        complete = len(self.sample.complete())
        if self.is_mostly_unseen:
            (baseline, candidate), met = self.sample.cut_short(), len(self.sample.met())
            return (
                f"{self.sample.name}: of {met} spells {baseline} of the baseline's and {candidate} of the candidate's were cut short"
                " before a failover: at least half of a client's, so the rest is not representative"
            )
        if self.ratio is None:
            return (
                f"{self.sample.name}: {complete} of at least {self.sample.minimum_pairs} complete pairs of spells"
                f" ({self.sample.minimum_reason})"
            )
        return (
            f"{self.sample.name}: neither equivalent within ×{self.sample.margin.ratio:g} nor different beyond it:"
            f" ×{self.ratio.ratio:.3g} over {complete} spells; {self._needed(self.ratio)}"
        )

    def _needed(self, ratio: RatioDecision) -> str:
        """The number of pairs that would decide, with the family's correction, if the estimate were the truth."""
        margin = self.sample.margin.ratio
        is_beyond = self.sample.points_beyond()
        alpha = ALPHA_DIFFERENCE / (2 * self.questions) if is_beyond else ALPHA_EQUIVALENCE / self.questions
        needed = pairs_needed(ratio.log_sd, margin, alpha, ratio=ratio.ratio)
        if needed >= MOST_PAIRS:
            return "so near the margin that no number of spells would decide"
        return f"about {needed} would show the clients {'different' if is_beyond else 'equivalent'} at this ratio"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A sample with its uncorrected p-values."""

    severity: Severity
    sample: PairedSample
    ratio: RatioDecision | None
    p_cause: float


def decide_samples(evidence: Sequence[Evidence]) -> list[tuple[SampleAnswer, ...]]:
    """Return the answers to the samples of each evidence, in order; only DECISIVE evidence has any."""
    asked = [[_ask(item.severity, sample) for sample in _samples(item)] for item in evidence]
    family = [question for row in asked for question in row]
    answers = dict(zip(map(id, family), _answers(family), strict=True))
    return [tuple(answers[id(question)] for question in row) for row in asked]


def _samples(item: Evidence) -> Iterable[PairedSample]:
    return item.samples if item.standing is Standing.DECISIVE else ()


def _ask(severity: Severity, sample: PairedSample) -> _Asked:
    complete = sample.complete()
    ratio = None
    if len(complete) >= sample.minimum_pairs:
        ratio = paired_ratio(complete, margin_ratio=sample.margin.ratio, alpha=ALPHA_EQUIVALENCE)
    return _Asked(severity, sample, ratio, exact_mcnemar(*sample.discordant()))


def _answers(family: Sequence[_Asked]) -> list[SampleAnswer]:
    """Correct for multiple tests within each severity, then derive every answer."""
    different: dict[int, bool] = {}
    cause: dict[int, bool] = {}
    equivalent: dict[int, bool] = {}
    for severity in Severity:
        members = [place for place, question in enumerate(family) if question.severity is severity]
        same = [family[place].ratio for place in members]
        differences = [1.0 if ratio is None else ratio.p_difference for ratio in same]
        flags = _flag(severity, [*differences, *(family[place].p_cause for place in members)])
        different.update(zip(members, flags[: len(members)], strict=True))
        cause.update(zip(members, flags[len(members) :], strict=True))
        equivalent.update(zip(members, _equivalent(severity, same), strict=True))
    return [
        SampleAnswer(
            question.sample,
            question.ratio,
            question.p_cause,
            equivalent[place],
            different[place],
            cause[place],
            sum(other.severity is question.severity for other in family),
        )
        for place, question in enumerate(family)
    ]


def _flag(severity: Severity, p_values: Sequence[float]) -> tuple[bool, ...]:
    if severity is Severity.MUST:
        return holm(p_values, ALPHA_DIFFERENCE)
    if severity is Severity.SHOULD:
        return benjamini_hochberg(p_values, Q_SCREEN)
    return (False,) * len(p_values)


def _equivalent(severity: Severity, ratios: Sequence[RatioDecision | None]) -> tuple[bool, ...]:
    if severity is Severity.MUST:
        return holm([1.0 if ratio is None else ratio.p_equivalence for ratio in ratios], ALPHA_EQUIVALENCE)
    return tuple(ratio is not None and ratio.decision is IntervalDecision.EQUIVALENT for ratio in ratios)
