"""Evidence of an imagined run of java:5.3.3 against python:5.3.3, and the answers to it."""

from rocketdiff.core.answers.evidence import (
    ComparedShares,
    Concentration,
    Ending,
    Evidence,
    Margin,
    OutagePair,
    PairedCounts,
    PairedSample,
    Standing,
)
from rocketdiff.core.answers.verdict import CheckResult, Divergence, Example, Measure, Severity
from rocketdiff.core.answers.where import Place, at
from rocketdiff.core.run_info import CaseInfo, Machine, RunInfo, SubjectInfo
from rocketdiff.verdict.answer import answer
from rocketdiff.verdict.counts import with_count_divergences
from rocketdiff.verdict.decide_samples import decide_samples

OLD, NEW = "java:5.3.3", "python:5.3.3"

RUN = RunInfo(
    run="r1",
    seed=7,
    suite="quick",
    baseline=SubjectInfo(OLD, "java", "5.3.3"),
    candidate=SubjectInfo(NEW, "python", "0.1.0"),
    server_release="5.3.3",
    backend="processes",
    started_at="2026-11-21T12:00:00+00:00",
    took_s=1.0,
    machine=Machine("Linux", "", 2, 0, "3.11.7", "17"),
    cases=(CaseInfo(1, "a", ("loss", "attempts")), CaseInfo(2, "b", ("loss",))),
    reproduce="rocketdiff run",
    rocketdiff="0.1.0",
)


def decided(case: str, check: str, *found: Divergence) -> Evidence:
    """Return decisive evidence of one check of a case."""
    return Evidence(("r1",), case, check, Standing.DECISIVE, divergences=found)


COMPLETE = [decided("a", "loss"), decided("a", "attempts"), decided("b", "loss")]
"""An answer to each planned check of RUN."""


def divergence(signature: str = "retry/stays", subject: str = NEW) -> Divergence:
    return Divergence(signature, subject, 3, Example(at(Place.SEND, 7, 0, 1), "paused", "broker-a", "broker-b"))


def evidence(
    standing: Standing = Standing.DECISIVE,
    *found: Divergence,
    samples: tuple[PairedSample, ...] = (),
    measures: tuple[Measure, ...] = (),
    severity: Severity = Severity.MUST,
) -> Evidence:
    return Evidence(
        runs=("r",),
        case="c",
        check="failover-time",
        standing=standing,
        reason="as measured",
        severity=severity,
        divergences=found,
        samples=samples,
        measures=measures,
    )


def sample_of(*pairs: OutagePair) -> PairedSample:
    return PairedSample("failover", Margin(1.2, "a fifth of a timeout"), pairs, 6, "no interval below")


def sample(ratio: float, n: int = 12, ended: Ending = Ending.FAILOVER) -> PairedSample:
    """Candidate over baseline is ``ratio`` with a spread of about 2 %."""
    return sample_of(
        *(
            OutagePair("r", "c", number, 5e8, 5e8 * ratio * (1 + 0.02 * (number % 3 - 1)), Ending.FAILOVER, ended)
            for number in range(n)
        )
    )


def ratios(*each: float, ended: Ending = Ending.FAILOVER, minimum: int = 4) -> PairedSample:
    """Pairs in which the candidate took each ratio times the baseline's 500 ms."""
    pairs = (OutagePair("r1", "c", n, 5e8, 5e8 * ratio, Ending.FAILOVER, ended) for n, ratio in enumerate(each))
    return PairedSample("wait", Margin(1.2, "a fifth of a timeout"), tuple(pairs), minimum, "too few for an interval")


def answered(item: Evidence) -> CheckResult:
    (samples,) = decide_samples([item])
    return answer(item, samples, baseline=OLD, candidate=NEW)


def counted(*counts: PairedCounts | ComparedShares | Concentration, standing: Standing = Standing.DECISIVE) -> Evidence:
    return Evidence(("r1",), "a", "outcomes", standing, counts=counts)


def differing(*items: Evidence) -> list[Evidence]:
    return list(with_count_divergences(items, baseline=OLD, candidate=NEW))


def signatures(*items: Evidence) -> list[set[str]]:
    """Return the signatures of the divergences of counts, for each evidence."""
    return [{one.signature for one in item.divergences} for item in differing(*items)]


def paired(baseline: int, candidate: int) -> PairedCounts:
    return PairedCounts("failed/calm", "half seconds", baseline, candidate)


def shares(met: tuple[int, int], ended: tuple[int, int]) -> ComparedShares:
    return ComparedShares("failed/after-a-failed-attempt/kill", "where it failed first", "failed", met, ended)


def drawn(most: int, *, baseline_most: int = 4) -> Concentration:
    """``most`` of twenty starts on one queue of eight."""
    return Concentration("queue.begins-alike/queue", "broker-a/0", 1 / 8, 8, baseline_most, 20, most, 20)
