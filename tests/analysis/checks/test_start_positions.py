"""Where threads begin, over all cases: random starts pass, others end the run with exit 1."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.checks.sending.by_rules.start_positions import STARTS, TOGETHER, pooled
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.events import Arm
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.counts import with_counts_told
from tests.analysis.synthetic import Story, Told, _entry, play
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]
Place = tuple[str, int]

SPOILT = "5.3.2"
"""Decides as 5.3.3 does in calm, so that it can stand for the candidate in a story."""


@dataclass(frozen=True)
class Begins(Story):
    """A calm case whose candidate begins where it should not be free to."""

    pauses: tuple[()] = ()
    sends: int = 40
    allowed: Callable[[Place], bool] = lambda _place: True

    def play(self, release: str, seed: int) -> Told:
        """Another seed until it begins so."""
        while True:
            told = play(self, release, seed)
            first = told.attempts[0]
            if release != SPOILT or self.allowed((first.broker, first.queue_id)):
                return told
            seed += 1


def found(new_run: NewRun, cases: int, allowed: Callable[[Place], bool], **named: object) -> tuple[ExitCode, list[str]]:
    """How a run of so many cases ends, and what is found about starts."""
    stories = [Begins(name=f"calm-{n}", allowed=allowed, **named) for n in range(cases)]  # type: ignore[arg-type]
    judgement = judged(new_run(stories, candidate=f"python:{SPOILT}"))
    signatures = [one.signature for result in judgement.results for one in result.divergences]
    return judgement.exit_code, [one for one in signatures if one.startswith("queue.begins-alike")]


@pytest.mark.parametrize(
    ("cases", "allowed", "signature"),
    [
        (6, lambda place: place == ("broker-a", 0), "queue"),
        (14, lambda place: place[0] == "broker-b", "broker"),
        (8, lambda place: place[1] == 3, "number"),
    ],
)
def test_a_client_that_begins_alike_diverges(
    new_run: NewRun, cases: int, allowed: Callable[[Place], bool], signature: str
) -> None:
    """At one queue of eight; at any of one broker; at the last queue of any broker."""
    code, signatures = found(new_run, cases, allowed)
    assert code is ExitCode.DIVERGES
    assert f"queue.begins-alike/{signature}" in signatures


def test_random_starts_conform(new_run: NewRun) -> None:
    """Sixteen cases of two faithful clients, two threads each."""
    assert found(new_run, 16, lambda _place: True, threads=2) == (ExitCode.CONFORMS, [])


def test_starts_that_both_clients_share_are_nobodys_fault(new_run: NewRun) -> None:
    """Something forces both: no divergence of the candidate's."""
    stories = [Begins(name=f"calm-{n}", allowed=lambda place: place == ("broker-a", 0)) for n in range(6)]
    judgement = judged(new_run(stories, baseline=f"java:{SPOILT}", candidate=f"python:{SPOILT}"))
    assert judgement.exit_code is ExitCode.CONFORMS


def case_of(number: int, starts: dict[str, int], beside: tuple[int, int] = (0, 0)) -> CaseFacts:
    """A sound case, the candidate's starts by place, and of its threads beside the first (all, together); the baseline's at many."""
    subjects = {Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "python:5.3.3"}
    tallies: dict[TallyKey, tuple[int, float]] = {
        (STARTS, "baseline", "", f"2x4/broker-a/{number % 4}"): (1, 0.0),
        (TOGETHER, "candidate", "", "2x4"): (beside[0], 0.0),
        (TOGETHER, "candidate", "", "2x4/together"): (beside[1], 0.0),
        **{(STARTS, "candidate", "", f"2x4/{place}"): (n, 0.0) for place, n in starts.items()},
    }
    entry = replace(_entry(number, Story(name=f"case-{number}"), subjects), status=CaseStatus.COMPLETE)
    return CaseFacts("run-1", subjects, entry, tallies=tallies)


def told(*cases: CaseFacts) -> list[str]:
    """Signatures of what the starts of the cases come to."""
    evidence: tuple[Evidence, ...] = with_counts_told(pooled(cases), baseline="java:5.3.3", candidate="python:5.3.3")
    return [one.signature for each in evidence for one in each.divergences]


def test_threads_that_begin_together_are_seen() -> None:
    """Three threads beside the first, at its place, in four cases: wherever that is, luck does so once in 8^12."""
    cases = [case_of(n, {f"broker-{'ab'[n % 2]}/{n % 4}": 4}, beside=(3, 3)) for n in range(4)]
    assert "queue.begins-alike/threads" in told(*cases)


@pytest.mark.parametrize(("cases", "asked"), [(4, 0), (5, 1)])
def test_few_starts_are_not_asked(cases: int, asked: int) -> None:
    """Eight times an eighth to the fourth is one in 512; to the fifth, one in 4,096."""
    evidence = pooled([case_of(n, {"broker-a/0": 1}) for n in range(cases)])
    assert len(evidence) == asked


def test_luck_of_once_in_a_thousand_is_let_pass() -> None:
    """Of ten starts three on one queue of eight happen all the time; nine of nine do not."""
    assert told(*[case_of(n, {f"broker-a/{n % 2}": 1, f"broker-b/{n % 3}": 1}) for n in range(5)]) == []
    assert told(*[case_of(n, {"broker-a/0": 2 if n else 1}) for n in range(5)]) != []


def test_a_case_that_broke_down_lends_no_starts() -> None:
    """A start of a case that did not come to its end shows nothing."""
    cases = [case_of(n, {"broker-a/0": 1}) for n in range(5)]
    broken = replace(cases[0], entry=replace(cases[0].entry, status=CaseStatus.ABORTED))
    assert pooled([broken, *cases[1:]]) == ()
