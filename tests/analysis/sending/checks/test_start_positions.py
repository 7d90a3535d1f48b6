"""The first queues of threads, on manually built sends and counts."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.conclusions import all_evidence
from rocketdiff.analysis.sending.checks.by_rules.start_positions import STARTS, TOGETHER, StartPositions, pooled
from rocketdiff.core.answers.evidence import Concentration, Evidence, Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.verdict.counts import with_count_divergences
from tests.analysis.builders import ENTRY, MS, SUBJECTS, S, ended, facts_of, fault, made, pair, tried
from tests.analysis.sending.checks.builders import (
    ALL_QUEUES,
    BASELINE,
    CANDIDATE,
    PAUSE,
    SLOW,
    PublishList,
    trace_of_lists,
)


def starts(*sides: Any, lists: dict[int, PublishList] | None = None, faults: Any = ()) -> dict[str, int]:
    """The candidate's starts, by key."""
    known = trace_of_lists(lists if lists is not None else {1: ALL_QUEUES}, faults=faults)
    sends = [pair(None, side) for side in sides]
    found = facts_of(sends, lambda context: StartPositions(replace(context, trace=known)))
    return {
        key: found.n(name, key, arm=CANDIDATE) for name in (STARTS, TOGETHER) for key in found.keys(name, "candidate")
    }


def begun(queue_id: int = 3, thread: int = 0, end_ns: int = MS, attempt: int = 0, **row: Any) -> Any:
    each = tried(0, end_ns, broker="broker-a", queue_id=queue_id, attempt=attempt)
    return made(CANDIDATE, 0, each, thread=thread, **row)


def begun_again() -> Any:
    first = tried(0, MS, SLOW, broker="broker-a", queue_id=3)
    return made(CANDIDATE, 0, first, tried(2 * MS, 3 * MS, broker="broker-b", queue_id=1, attempt=1))


@pytest.mark.parametrize(
    ("side", "counts"),
    [
        (begun(), True),
        (begun(kind=SendKind.BATCH), True),
        (begun(mode=SendMode.ONEWAY), True),
        (begun(mode=SendMode.ASYNC), False),
        (begun(kind=SendKind.QUEUE), False),
        (begun(kind=SendKind.SELECTOR), False),
        (begun(attempt=1), False),
        (begun(end_ns=10 * S - 1), True),
        (begun(end_ns=10 * S), False),
        (made(CANDIDATE, 0), False),
        (begun_again(), True),
    ],
)
def test_which_send_shows_a_start(side: Any, counts: bool) -> None:
    """A thread's first send counts if its client chose on that thread, and it ended before the earliest fault."""
    assert starts(side, faults=(fault(50 * S, 51 * S), PAUSE)) == ({"2x4/broker-a/3": 1} if counts else {})


def test_only_the_first_send_of_a_thread_counts() -> None:
    """Only a thread's first send counts, even if it shows no start."""
    assert starts(begun(3), begun(2)) == {"2x4/broker-a/3": 1}
    assert starts(begun(3, kind=SendKind.QUEUE), begun(2)) == {}


def test_other_threads_are_held_against_the_first() -> None:
    """Threads are compared with the lowest-numbered one that has a start."""
    sides = begun(1, thread=1), begun(3, thread=0), begun(3, thread=2), begun(1, thread=3)
    assert starts(*sides) == {"2x4/broker-a/1": 2, "2x4/broker-a/3": 2, "2x4": 3, "2x4/together": 1}
    assert starts(begun(1, thread=1), begun(2, thread=0, kind=SendKind.QUEUE), begun(1, thread=2)) == {
        "2x4/broker-a/1": 2,
        "2x4": 1,
        "2x4/together": 1,
    }


@pytest.mark.parametrize(
    ("lists", "layout"),
    [
        ({1: ALL_QUEUES}, "2x4"),
        ({2: ALL_QUEUES[:4], 1: ALL_QUEUES}, "2x4"),
        ({1: ALL_QUEUES[:4]}, "1x4"),
        ({1: ALL_QUEUES[::2]}, "2x2"),
        ({1: ALL_QUEUES[:5]}, None),
        ({1: ()}, None),
        ({}, None),
    ],
)
def test_the_layout_is_that_of_the_first_list(lists: dict[int, PublishList], layout: str | None) -> None:
    """Unequal numbers of queues per broker in the first list give no layout."""
    assert starts(begun(), lists=lists) == ({f"{layout}/broker-a/3": 1} if layout else {})


def case(starts_of: dict[Arm, dict[str, int]], beside: tuple[int, int] = (0, 0), layout: str = "2x4") -> CaseFacts:
    tallies: dict[TallyKey, tuple[int, float]] = {
        (STARTS, arm, "", f"{layout}/{place}"): (n, 0.0) for arm, each in starts_of.items() for place, n in each.items()
    }
    tallies[TOGETHER, CANDIDATE, "", layout] = (beside[0], 0.0)
    tallies[TOGETHER, CANDIDATE, "", f"{layout}/together"] = (beside[1], 0.0)
    return CaseFacts("r1", SUBJECTS, ENTRY, tallies=tallies)


def asked(*cases: CaseFacts) -> dict[str, tuple[str, int, int, int, int]]:
    """By level: place, then most and all starts of each arm."""
    found = {}
    for evidence in pooled(cases):
        assert (evidence.case, evidence.check) == ("pooled/starts/java:5.3.3~python:5.3.3", "queue-choice")
        for one in evidence.counts:
            assert isinstance(one, Concentration)
            figures = one.baseline_most, one.baseline_total, one.candidate_most, one.candidate_total
            found[one.signature.rpartition("/")[2]] = (one.where, *figures)
    return found


def test_a_baseline_without_a_start_has_none_anywhere() -> None:
    """As where it is a client without attempts."""
    alone = case({CANDIDATE: {"broker-b/1": 50}})
    assert {figures[1:3] for figures in asked(alone, alone).values()} == {(0, 0)}


ALIKE = case({BASELINE: {"broker-a/0": 1, "broker-b/0": 2}, CANDIDATE: {"broker-a/1": 2, "broker-b/1": 5}}, (9, 4))


def test_where_starts_fell_over_all_cases() -> None:
    """
    In two cases, ten of 14 starts are at one queue, all at queue 1 of a broker, and 8 of 18 at the first thread's place.
    """
    assert asked(ALIKE, ALIKE) == {
        "queue": ("broker-b/1", 4, 6, 10, 14),
        "broker": ("broker-b", 4, 6, 10, 14),
        "number": ("queue 1 of any broker", 6, 6, 14, 14),
        "threads": ("the place of the first thread of the case", 0, 0, 8, 18),
    }
    (evidence,) = pooled([ALIKE, replace(ALIKE, run="r0")])
    assert (evidence.decisions, evidence.runs, evidence.standing) == (18, ("r0", "r1"), Standing.DECISIVE)
    assert [(one.chance, one.places) for one in evidence.counts if isinstance(one, Concentration)] == [
        (1 / 8, 8),
        (1 / 2, 2),
        (1 / 4, 4),
        (1 / 8, 1),
    ]
    assert evidence in all_evidence([ALIKE, replace(ALIKE, run="r0")])
    (reported,) = with_count_divergences(pooled([ALIKE] * 2), baseline="java:5.3.3", candidate="python:5.3.3")
    assert ended(reported)[1] is ExitCode.DIVERGES


def test_one_case_or_none_of_the_candidates_starts_is_no_question() -> None:
    """One case, or starts of the baseline alone, are not compared."""
    assert asked(ALIKE) == {}
    assert asked(*[case({BASELINE: {"broker-a/1": 50}})] * 2) == {}


def test_the_layout_with_most_of_the_candidates_starts_is_asked() -> None:
    """The layout with most of the candidate's starts counts: nine of 3x2 against five of 2x4."""
    other = case({BASELINE: {"broker-a/1": 3}, CANDIDATE: {"broker-c/1": 9}}, layout="3x2")
    found = asked(other, case({BASELINE: {"broker-a/1": 90}, CANDIDATE: {"broker-a/1": 5}}))
    assert found["queue"] == ("broker-c/1", 3, 3, 9, 9)
    assert "number" not in found, "twice a half to the ninth is one in 256"


def test_a_layout_of_one_broker_has_no_brokers_to_choose() -> None:
    """With one broker only queues are compared."""
    one = case({CANDIDATE: {"broker-a/1": 9}}, layout="1x4")
    assert sorted(asked(one, one)) == ["number", "queue"]
    assert asked(*[case({CANDIDATE: {"broker-a/0": 20}}, layout="1x1")] * 2) == {}


def case_of(number: int, places: dict[str, int], beside: tuple[int, int] = (0, 0)) -> CaseFacts:
    """The candidate's starts by place; the baseline's vary. beside: threads after the first, and those that start with it."""
    return case({BASELINE: {f"broker-a/{number % 4}": 1}, CANDIDATE: places}, beside)


def signatures_of(*cases: CaseFacts) -> list[str]:
    evidence: tuple[Evidence, ...] = with_count_divergences(
        pooled(cases), baseline="java:5.3.3", candidate="python:5.3.3"
    )
    return [divergence.signature for each in evidence for divergence in each.divergences]


def test_threads_that_begin_together_are_seen() -> None:
    """Twelve threads at their first thread's place diverge: luck does so once in 8^12."""
    cases = [case_of(n, {f"broker-{'ab'[n % 2]}/{n % 4}": 4}, beside=(3, 3)) for n in range(4)]
    assert "queue.begins-alike/threads" in signatures_of(*cases)


@pytest.mark.parametrize(("cases", "asked"), [(4, 0), (5, 1)])
def test_few_starts_are_not_asked(cases: int, asked: int) -> None:
    """Four starts are not compared, five are: 8 × (1/8)^4 is one in 512, 8 × (1/8)^5 one in 4,096."""
    evidence = pooled([case_of(n, {"broker-a/0": 1}) for n in range(cases)])
    assert len(evidence) == asked


def test_a_chance_of_exactly_one_in_a_thousand_is_not_asked() -> None:
    """Two starts at one queue of a thousand, and one at the place of the first thread."""
    assert asked(*(case({CANDIDATE: {"broker-a/7": 1}}, (n, n), layout="2x500") for n in range(2))) == {}


def test_luck_of_once_in_a_thousand_is_let_pass() -> None:
    """Three of ten starts at one queue of eight conform, nine of nine do not."""
    assert signatures_of(*[case_of(n, {f"broker-a/{n % 2}": 1, f"broker-b/{n % 3}": 1}) for n in range(5)]) == []
    assert signatures_of(*[case_of(n, {"broker-a/0": 2 if n else 1}) for n in range(5)]) != []


def test_a_case_that_broke_down_lends_no_starts() -> None:
    """An incomplete case adds no starts."""
    cases = [case_of(n, {"broker-a/0": 1}) for n in range(5)]
    broken = replace(cases[0], entry=replace(cases[0].entry, status=CaseStatus.ABORTED))
    assert pooled([broken, *cases[1:]]) == ()
