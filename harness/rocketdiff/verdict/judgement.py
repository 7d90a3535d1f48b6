"""The verdict of a run: one word, its exit code, the counts behind it, and the last line for machines."""

from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.policy import Policy
from rocketdiff.core.verdict import CheckResult
from rocketdiff.ledger.apply import EntryOutcome


class RunVerdict(StrEnum):
    """The word of the machine line."""

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
    Checks by answer: new, declared, stale and inconclusive are of gating checks only, so that ``new=0`` means no failure.

    inconclusive: gating checks without an answer, INVALID ones included. ungated: checks without an answer that would have
    gated had they been answered (``should``). gating: every check whose answer can gate, ``info`` ones left out; answered:
    those of them with a decisive answer. checks: all that were executed, gating or not and planned or not. planned: all
    that had to be; unanswered: those of them that never were.
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
class Judgement:
    """Every answer of a run and what they add up to under a policy; ledger: its entries that speak about the run."""

    results: tuple[CheckResult, ...]
    verdict: RunVerdict
    exit_code: ExitCode
    counts: Counts
    policy: Policy
    machine_line: str
    ledger: tuple[EntryOutcome, ...] = ()


def machine_line(verdict: RunVerdict, counts: Counts, *, seed: int | None, run: str) -> str:
    """
    Last line of every run's output, also of one that ended in an error of ours (then with the counts so far).

    Values never contain a blank: a run id that does is written with underscores.
    """
    return (
        f"VERDICT {verdict} new={counts.new} declared={counts.declared} stale={counts.stale}"
        f" inconclusive={counts.inconclusive} answered={counts.answered}/{counts.gating} checks={counts.checks}"
        f" seed={'-' if seed is None else seed} run={'_'.join(run.split()) or '-'}"
    )
