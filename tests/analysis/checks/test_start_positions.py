"""Where threads start, over all cases: random starts conform, others diverge."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.checks.sending.by_rules.start_positions import STARTS, TOGETHER, pooled
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.counts import with_counts_told
from tests.analysis.synthetic import Story, Told, _entry, play
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]
Place = tuple[str, int]

SPOILT = "5.3.2"
"""Decides as 5.3.3 in calm, so it can stand for the candidate."""


@dataclass(frozen=True)
class Begins(Story):
    """A calm case whose candidate starts only at allowed queues."""

    pauses: tuple[()] = ()
    sends: int = 40
    allowed: Callable[[Place], bool] = lambda _place: True

    def play(self, release: str, seed: int) -> Told:
        """Try seeds until the candidate does so."""
        while True:
            told = play(self, release, seed)
            first = told.attempts[0]
            if release != SPOILT or self.allowed((first.broker, first.queue_id)):
                return told
            seed += 1


def found(new_run: NewRun, cases: int, allowed: Callable[[Place], bool], **named: object) -> tuple[ExitCode, list[str]]:
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
    """Starts at one queue of eight, one broker, or every broker's last queue diverge."""
    code, signatures = found(new_run, cases, allowed)
    assert code is ExitCode.DIVERGES
    assert f"queue.begins-alike/{signature}" in signatures


def test_random_starts_conform(new_run: NewRun) -> None:
    """Sixteen cases of faithful clients, two threads each, conform."""
    assert found(new_run, 16, lambda _place: True, threads=2) == (ExitCode.CONFORMS, [])


def test_starts_that_both_clients_share_are_nobodys_fault(new_run: NewRun) -> None:
    """Starts that both clients share conform: something forces both."""
    stories = [Begins(name=f"calm-{n}", allowed=lambda place: place == ("broker-a", 0)) for n in range(6)]
    judgement = judged(new_run(stories, baseline=f"java:{SPOILT}", candidate=f"python:{SPOILT}"))
    assert judgement.exit_code is ExitCode.CONFORMS


def case_of(number: int, starts: dict[str, int], beside: tuple[int, int] = (0, 0)) -> CaseFacts:
    """
    The candidate's starts by place; the baseline's vary.

    beside: threads after the first, and those that start with it.
    """
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
    evidence: tuple[Evidence, ...] = with_counts_told(pooled(cases), baseline="java:5.3.3", candidate="python:5.3.3")
    return [one.signature for each in evidence for one in each.divergences]


def test_threads_that_begin_together_are_seen() -> None:
    """Twelve threads at their first thread's place diverge: luck does so once in 8^12."""
    cases = [case_of(n, {f"broker-{'ab'[n % 2]}/{n % 4}": 4}, beside=(3, 3)) for n in range(4)]
    assert "queue.begins-alike/threads" in told(*cases)


@pytest.mark.parametrize(("cases", "asked"), [(4, 0), (5, 1)])
def test_few_starts_are_not_asked(cases: int, asked: int) -> None:
    """Four starts are not compared, five are: 8 × (1/8)^4 is one in 512, 8 × (1/8)^5 one in 4,096."""
    evidence = pooled([case_of(n, {"broker-a/0": 1}) for n in range(cases)])
    assert len(evidence) == asked


def test_luck_of_once_in_a_thousand_is_let_pass() -> None:
    """Three of ten starts at one queue of eight conform, nine of nine do not."""
    assert told(*[case_of(n, {f"broker-a/{n % 2}": 1, f"broker-b/{n % 3}": 1}) for n in range(5)]) == []
    assert told(*[case_of(n, {"broker-a/0": 2 if n else 1}) for n in range(5)]) != []


def test_a_case_that_broke_down_lends_no_starts() -> None:
    """An incomplete case adds no starts."""
    cases = [case_of(n, {"broker-a/0": 1}) for n in range(5)]
    broken = replace(cases[0], entry=replace(cases[0].entry, status=CaseStatus.ABORTED))
    assert pooled([broken, *cases[1:]]) == ()
