"""From all evidence of a run to every answer and one verdict. Pure: no clock, no files."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.answers.policy import Inconclusive, Policy
from rocketdiff.core.answers.verdict import DECISIVE, CheckResult, Severity, Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.tables.checks import ABOUT_THE_RUN
from rocketdiff.core.text import machine_line as text
from rocketdiff.ledger.apply import Applied, EntryOutcome, apply_ledger
from rocketdiff.ledger.model import Ledger
from rocketdiff.verdict.answer import answer
from rocketdiff.verdict.counts import with_count_divergences
from rocketdiff.verdict.decide_samples import decide_samples


class RunVerdict(StrEnum):
    """The verdict word of the machine line."""

    CONFORMS = "conforms"
    DIVERGES = "diverges"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"
    STALE = "stale"
    NOTHING_DECISIVE = "nothing-decisive"
    ERROR = "error"


EXIT_CODE = {
    RunVerdict.CONFORMS: ExitCode.CONFORMS,
    RunVerdict.DIVERGES: ExitCode.DIVERGES,
    RunVerdict.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    RunVerdict.INVALID: ExitCode.INCONCLUSIVE,
    RunVerdict.STALE: ExitCode.STALE_LEDGER,
    RunVerdict.NOTHING_DECISIVE: ExitCode.NOTHING_DECISIVE,
    RunVerdict.ERROR: ExitCode.INTERNAL,
}


@dataclass(frozen=True, slots=True)
class Counts:
    """
    Numbers of checks. new, declared, stale, inconclusive: of gating checks, so that ``new=0`` means no failure.

    inconclusive: gating checks without an answer, including INVALID. ungated: unanswered checks that would gate if
    answered (``should``). gating: checks whose answer can gate, without ``info``. answered: those with a decisive
    answer. checks: all executed, planned or not. planned: all planned. unanswered: planned but never executed.
    """

    new: int = 0
    declared: int = 0
    stale: int = 0
    inconclusive: int = 0
    checks: int = 0
    planned: int = 0
    unanswered: int = 0
    answered: int = 0
    gating: int = 0
    ungated: int = 0


@dataclass(frozen=True, slots=True)
class RunJudgement:
    """Every answer of a run and its verdict under a policy; ledger: outcomes of the entries that apply."""

    results: tuple[CheckResult, ...]
    verdict: RunVerdict
    exit_code: ExitCode
    counts: Counts
    policy: Policy
    machine_line: str
    ledger: tuple[EntryOutcome, ...] = ()


def machine_line(verdict: RunVerdict, counts: Counts, *, seed: int | None, run: str) -> str:
    """Return the last line of every run's output, also after an internal error (with the counts so far)."""
    return text.machine_line(
        "VERDICT",
        verdict,
        new=counts.new,
        declared=counts.declared,
        stale=counts.stale,
        inconclusive=counts.inconclusive,
        answered=f"{counts.answered}/{counts.gating}",
        checks=counts.checks,
        seed=seed,
        run=run,
    )


def unanswered(planned: Iterable[tuple[str, str]], results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """Return one INVALID ``must`` result per planned (case, check) without a result, in plan order."""
    answered = Counter((result.case, result.check) for result in results)
    missing = Counter(planned) - answered
    return tuple(
        CheckResult(
            case=case,
            check=check,
            verdict=Verdict.INVALID,
            severity=Severity.MUST,
            reason="planned but never answered: the run or its analysis ended before this check",
        )
        for (case, check), times in missing.items()
        for _ in range(times)
    )


WITHOUT_ANSWER = frozenset({Verdict.INCONCLUSIVE, Verdict.INVALID})
"""Verdicts that leave a question open."""


def conclude(
    results: Sequence[CheckResult], policy: Policy, *, planned: int = 0, unanswered: int = 0
) -> tuple[RunVerdict, Counts]:
    """
    Return verdict and counts of a run; ``unanswered``: results that stand for planned checks that never ran.

    Precedence: ERROR, then DIVERGES. STALE requires that every gating check has an answer: its exit code promises that
    repairing the ledger is enough.
    """
    gating = [result for result in results if policy.gates(result)]
    seen = Counter(result.verdict for result in gating)
    asked = [result for result in results if result.severity is not Severity.INFO or policy.gates(result)]
    counts = Counts(
        new=seen[Verdict.DIVERGES],
        declared=seen[Verdict.DECLARED],
        stale=seen[Verdict.STALE],
        inconclusive=seen[Verdict.INCONCLUSIVE] + seen[Verdict.INVALID],
        checks=len(results) - unanswered,
        planned=planned,
        unanswered=unanswered,
        answered=sum(result.verdict in DECISIVE for result in asked),
        gating=len(asked),
        ungated=sum(result.verdict in WITHOUT_ANSWER and not policy.gates(result) for result in asked),
    )
    return _word(gating, seen, policy), counts


def _word(gating: Sequence[CheckResult], seen: Counter[Verdict], policy: Policy) -> RunVerdict:
    inconclusive_fails = policy.inconclusive is Inconclusive.FAIL
    decisive = any(result.verdict in DECISIVE and result.check not in ABOUT_THE_RUN for result in gating)
    reasons = (
        (bool(seen[Verdict.ERROR]), RunVerdict.ERROR),
        (bool(seen[Verdict.DIVERGES]), RunVerdict.DIVERGES),
        (bool(seen[Verdict.INVALID]), RunVerdict.INVALID),
        (bool(seen[Verdict.INCONCLUSIVE]) and inconclusive_fails, RunVerdict.INCONCLUSIVE),
        (bool(seen[Verdict.STALE]), RunVerdict.STALE),
        (not decisive, RunVerdict.NOTHING_DECISIVE),
    )
    return next((word for holds, word in reasons if holds), RunVerdict.CONFORMS)


def judge(
    evidence: Sequence[Evidence], run_info: RunInfo, policy: Policy | None = None, ledger: Ledger | None = None
) -> RunJudgement:
    """
    Answer every check, apply the ledger, add the unanswered planned checks as INVALID, and conclude.

    The statistical samples of a run are one family with one error budget, so parts must not be judged separately and
    merged.
    """
    chosen = policy or Policy()
    applied = apply_ledger(ledger or Ledger(), answers(evidence, run_info), run_info, chosen)
    return judged(applied, run_info, chosen)


def answers(evidence: Sequence[Evidence], run_info: RunInfo) -> tuple[CheckResult, ...]:
    """Return one result per evidence, in its order."""
    baseline, candidate = run_info.baseline.subject, run_info.candidate.subject
    evidence = with_count_divergences(evidence, baseline=baseline, candidate=candidate)
    return tuple(
        answer(item, samples, baseline=baseline, candidate=candidate)
        for item, samples in zip(evidence, decide_samples(evidence), strict=True)
    )


def judged(applied: Applied, run_info: RunInfo, policy: Policy) -> RunJudgement:
    """Conclude from the executed results, after the ledger, and the plan."""
    missing = unanswered(run_info.planned, applied.results)
    everything = (*applied.results, *missing)
    verdict, counts = conclude(everything, policy, planned=len(run_info.planned), unanswered=len(missing))
    line = machine_line(verdict, counts, seed=run_info.seed, run=run_info.run)
    return RunJudgement(everything, verdict, EXIT_CODE[verdict], counts, policy, line, applied.outcomes)
