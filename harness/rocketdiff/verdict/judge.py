"""The judge: all evidence of a run in, every answer and the one verdict out. Pure: no clock, no files."""

from collections.abc import Sequence

from rocketdiff.core.evidence import Evidence
from rocketdiff.core.policy import Policy
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.verdict import CheckResult
from rocketdiff.ledger.apply import Applied, apply_ledger
from rocketdiff.ledger.model import Ledger
from rocketdiff.verdict.answer import answer
from rocketdiff.verdict.completeness import unanswered
from rocketdiff.verdict.conclude import conclude
from rocketdiff.verdict.counts import with_counts_told
from rocketdiff.verdict.judgement import EXIT_CODE, Judgement, machine_line
from rocketdiff.verdict.samples import decide_samples


def judge(
    evidence: Sequence[Evidence], run_info: RunInfo, policy: Policy | None = None, ledger: Ledger | None = None
) -> Judgement:
    """
    Answer every check, look divergences up in the ledger, add what was planned and never answered, and conclude.

    The statistical samples of all evidence are one family (their error budget is the run's), so a part of a run must
    not be judged by itself and merged afterwards.
    """
    chosen = policy or Policy()
    applied = apply_ledger(ledger or Ledger(), answers(evidence, run_info), run_info, chosen)
    return judged(applied, run_info, chosen)


def answers(evidence: Sequence[Evidence], run_info: RunInfo) -> tuple[CheckResult, ...]:
    """One result for each evidence, in its order."""
    baseline, candidate = run_info.baseline.subject, run_info.candidate.subject
    evidence = with_counts_told(evidence, baseline=baseline, candidate=candidate)
    return tuple(
        answer(item, samples, baseline=baseline, candidate=candidate)
        for item, samples in zip(evidence, decide_samples(evidence), strict=True)
    )


def judged(applied: Applied, run_info: RunInfo, policy: Policy) -> Judgement:
    """What executed results, to which the ledger has been applied, add up to against the plan."""
    missing = unanswered(run_info.planned, applied.results)
    everything = (*applied.results, *missing)
    verdict, counts = conclude(everything, policy, planned=len(run_info.planned), unanswered=len(missing))
    line = machine_line(verdict, counts, seed=run_info.seed, run=run_info.run)
    return Judgement(everything, verdict, EXIT_CODE[verdict], counts, policy, line, applied.outcomes)
