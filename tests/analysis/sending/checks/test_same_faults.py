"""When a case shows nothing because its arms met other faults."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rocketdiff.analysis.checks.case_facts import INCOMPARABLE
from rocketdiff.analysis.checks.pairing import is_sound
from rocketdiff.analysis.conclusions import all_evidence, case_facts
from rocketdiff.analysis.facts import Tally
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.checks.results.same_faults import SameFaults, own_lateness
from rocketdiff.analysis.sending.send_arrays import sends_of_arm
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.rulebook import Rulebook
from rocketdiff.analysis.summaries import summarise
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.verdict.judge import answers, judge
from tests.analysis.builders import ENTRY, MS, SUBJECTS
from tests.analysis.sending.checks.test_pace import Took, closed_loop, pause, usual
from tests.analysis.synthetic import MANIFEST
from tests.analysis.trace_builders import SLOW, trace
from tests.verdict.builders import COMPLETE, RUN

SLAVE = {"kind": "pause-slave", "node": "broker-b-slave-1"}
"""Its master answers as usual, so the sends of ``closed_loop`` may go to it."""

OF_A_SECOND = (pause(1.0, 2.0, **SLAVE),)
LATER = (pause(2.0, 3.0, **SLAVE),)
FOUR = tuple(pause(0.5 + n, 0.7 + n, episode=n + 1, **SLAVE) for n in range(4))

Faults = tuple[dict[str, Any], ...]
Rows = Mapping[str, list[dict[str, Any]]]


def judged(baseline: Rows, candidate: Rows, faults: Faults) -> tuple[dict[str, Verdict], ExitCode, bool]:
    """Verdicts of ``outcomes`` and ``pace``, the exit code of a run with them, and whether the case enters pools."""
    entry = replace(ENTRY, sends_planned=400, origin_ns=0, checks=("outcomes",))
    tables: dict[str, Any] = {
        f"{name}_{arm}": rows
        for arm, each in (("baseline", baseline), ("candidate", candidate))
        for name, rows in each.items()
    }
    manifest = replace(MANIFEST, run="r1", subjects=SUBJECTS, cases=(entry,))
    (facts,) = case_facts([manifest], summarise(judge_case(trace(entry, **tables, faults=list(faults)))))
    found = [each for each in all_evidence([facts]) if each.check in ("outcomes", "pace")]
    verdicts = {one.check: one.verdict for one in answers(found, RUN)}
    return verdicts, judge([*COMPLETE, *found], RUN).exit_code, is_sound(facts)


def stalls(at: int, for_ms: int) -> Took:
    return lambda n: for_ms * MS if n == at else usual(n)


def one_thread(took_ms: int) -> Took:
    """Of four threads the first is slow."""
    return lambda n: took_ms * MS if n % 4 == 0 else usual(n)


def scattered(seed: int) -> Took:
    """A busy machine: every send may wait up to 12 ms, one in forty up to 150 ms."""
    drawn = random.Random(seed)
    waits = [drawn.randrange(12) + (drawn.randrange(150) if drawn.randrange(40) == 0 else 0) for _ in range(400)]
    return lambda n: waits[n] * MS


OTHERS: dict[str, tuple[Callable[[], Rows], Faults]] = {
    "stands still before a pause": (lambda: closed_loop(stalls(90, 700)), OF_A_SECOND),
    "one of four threads is slow": (lambda: closed_loop(one_thread(60), threads=4), LATER),
    "the first call lasts until the pause": (lambda: closed_loop(stalls(0, 1_600)), OF_A_SECOND),
    "asynchronous calls of one thread wait": (lambda: closed_loop(one_thread(60), threads=4, mode="async"), LATER),
    "late for two of four pauses": (
        lambda: closed_loop(lambda n: 180 * MS if n in (46, 146) else usual(n)), FOUR,
    ),
}  # fmt: skip
"""Clients that come to a fault with other sends, but for which ``pace`` has too little to go by."""


@pytest.mark.parametrize("defect", OTHERS)
def test_a_client_behind_its_plan_meets_other_faults(defect: str) -> None:
    """The case is invalid, exit code 2, and enters no pool."""
    make, faults = OTHERS[defect]
    threads = len({row["thread"] for row in make()["sends"]})
    mode = make()["sends"][0].get("mode", "sync")
    verdicts, code, sound = judged(closed_loop(usual, threads=threads, mode=mode), make(), faults)
    assert (set(verdicts.values()), code, sound) == ({Verdict.INVALID}, ExitCode.INCONCLUSIVE, False)


def test_a_client_slow_all_the_time_diverges() -> None:
    """Of a client that sends fifty a second instead of a hundred, nothing conforms, and pace diverges, exit code 1."""
    verdicts, code, _ = judged(closed_loop(usual), closed_loop(lambda _: 20 * MS), (pause(2.0, 2.5, **SLAVE),))
    assert (verdicts, code) == ({"pace": Verdict.DIVERGES, "outcomes": Verdict.INVALID}, ExitCode.DIVERGES)


SAME: dict[str, tuple[Took, Took, Faults]] = {
    "equal": (usual, usual, OF_A_SECOND),
    "a stall of both": (stalls(90, 700), stalls(90, 700), OF_A_SECOND),
    "a short stall": (usual, stalls(90, 500), OF_A_SECOND),
    "late for one of four pauses": (usual, stalls(46, 180), FOUR),
    "a busy machine": (scattered(1), scattered(2), FOUR),
    "blocked by an earlier pause": (usual, stalls(101, 900), (*OF_A_SECOND, pause(2.1, 2.3, episode=2, **SLAVE))),
    "late after the last pause": (usual, stalls(250, 700), OF_A_SECOND),
    "late for a name server": (usual, stalls(90, 700), (pause(1.0, 2.0, kind="pause-name-server", node="ns-1"),)),
}  # fmt: skip
"""What a machine, or the luck of a queue, does to a faithful client."""


@pytest.mark.parametrize("story", SAME)
def test_faithful_clients_meet_the_same_faults(story: str) -> None:
    """Neither what both arms suffer nor what a fault itself costs makes the case invalid."""
    baseline, candidate, faults = SAME[story]
    verdicts, code, sound = judged(closed_loop(baseline), closed_loop(candidate), faults)
    assert (Verdict.INVALID in verdicts.values(), code, sound) == (False, ExitCode.CONFORMS, True)


@pytest.mark.parametrize("turned", [False, True])
def test_the_reason_names_the_worst_spell(turned: bool) -> None:
    """It gives how far both arms were behind where one was furthest."""
    arms = [closed_loop(usual), closed_loop(lambda n: {46: 180, 146: 250, 246: 150}.get(n, 2) * MS)]
    entry = replace(ENTRY, sends_planned=400, origin_ns=0)
    both = zip(("baseline", "candidate"), reversed(arms) if turned else arms, strict=True)
    tables: dict[str, Any] = {f"{name}_{arm}": rows for arm, each in both for name, rows in each.items()}
    items = judge_case(trace(entry, **tables, faults=list(FOUR)), wanted=["pace"])
    (reason,) = [
        fact.key for fact in (item.fact for item in items) if isinstance(fact, Tally) and fact.check == INCOMPARABLE
    ]
    behind = (
        ("java:5.3.3 0.00 s", "python:5.3.3 0.21 s") if not turned else ("java:5.3.3 0.21 s", "python:5.3.3 0.00 s")
    )
    assert reason == (
        "the arms did not meet the same faults: when 3 of 4 spells began they were unequally behind their plan, "
        + " and ".join(behind)
    )


Calls = Sequence[tuple[int, int]]
"""When each call of a thread is due and how long it takes, in ns."""


def calls(*threads: Calls, **others: Any) -> list[dict[str, Any]]:
    """The sends of threads that wait for each call; all go to broker-a."""
    rows: list[dict[str, Any]] = []
    for thread, each in enumerate(threads):
        free = 0
        for due, took in each:
            start = max(due, free)
            free = start + took
            times = {"due_ns": due, "start_ns": start, "end_ns": free}
            rows.append({"send": len(rows), "thread": thread} | times | others)
    return rows


def nanoseconds(begin: int, end: int | None, **others: Any) -> dict[str, Any]:
    began = dict.fromkeys(("inject_ns", "injected_ns", "proven_ns"), begin)
    return began | dict.fromkeys(("heal_ns", "healed_ns", "heal_proven_ns"), end) | others


def behind(ns: int) -> Calls:
    """A thread that is so late when a fault begins at 1 us."""
    return [(0, 0), (900, 100 + ns), (1_000, 0), (9_000, 0)]


A_US = nanoseconds(1_000, 2_000)
FAILED = {"error": SLOW, "outcome": "unknown", "status": None}
IN_TIME = calls(behind(0))
LOST, *LATER_ONES = calls([(0, 950), (100, 650), (1_000, 0)])
A_FAULT = nanoseconds(905, 950)
BESIDE_A_FAULT = calls([(0, 0), (910, 591), (1_000, 0)], broker="broker-b")


@pytest.mark.parametrize(
    ("baseline", "candidate", "faults", "is_apart"),
    [
        (IN_TIME, calls(behind(501)), (A_US,), True),
        (IN_TIME, calls(behind(500)), (A_US,), False),
        (calls(behind(501)), IN_TIME, (A_US,), True),
        (calls(behind(501)), calls(behind(501)), (A_US,), False),
        (IN_TIME, calls(behind(501)), (A_US | {"kind": "kill"},), True),
        (IN_TIME, calls(behind(501)), (nanoseconds(1_000, None),), False),
        (IN_TIME, [LOST | FAILED, *LATER_ONES], (A_US,), True),
        (IN_TIME, BESIDE_A_FAULT, (A_FAULT, A_US | {"episode": 2}), False),
        (IN_TIME, [row | {"mode": "async"} for row in BESIDE_A_FAULT], (A_FAULT, A_US | {"episode": 2}), True),
        (IN_TIME, calls(behind(301)), tuple(nanoseconds(1_000 + at, 1_400 + at, episode=at) for at in (0, 500, 9_000, 9_500)), False),
        (IN_TIME, calls(behind(501), behind(501)), (A_US,), True),
        (calls(behind(501), behind(501)), IN_TIME, (A_US,), True),
        (calls(behind(600), behind(0)), calls(behind(600), behind(550)), (A_US,), True),
        (IN_TIME, calls([(0, 0), (900, 0)]), (nanoseconds(9_000, 9_001),), False),
    ],
)  # fmt: skip
def test_by_how_much_arms_are_apart(
    baseline: list[dict[str, Any]], candidate: list[dict[str, Any]], faults: Faults, is_apart: bool
) -> None:
    """By over half of a spell that ends, for the thread with the largest difference, in over a quarter of the spells."""
    tables: dict[str, Any] = {
        f"{name}_{arm}": rows
        for arm, rows in (("baseline", baseline), ("candidate", candidate))
        for name, rows in (("sends", rows), ("attempts", [{"send": row["send"]} for row in rows]))
    }
    case = trace(ENTRY, **tables, faults=list(faults))
    collector = SendFacts("r1", 1, 0)
    SameFaults(CaseContext(case, Rulebook({}), collector)).finish()
    assert bool(list(collector.facts())) is is_apart


@pytest.mark.parametrize(
    ("each", "counts", "late"),
    [
        ([(5, 5, 20), (15, 20, 18), (15, 20, 20), (15, 20, 20)], True, [0, 5, 5, 7]),
        ([(5, 5, 20), (15, 20, 30), (20, 30, 31)], True, [0, 5, 10]),
        ([(5, 8, 20), (5, 18, 20), (5, 20, 30), (5, 30, 30)], False, [0, 3, 3, 3]),
        ([(5, 5, 6), (15, 15, 27), (25, 27, 27)], True, [0, 0, 2]),
        ([(5, 5, 6)], True, [0]),
    ],
)  # fmt: skip
def test_lateness_of_a_thread(each: list[tuple[int, int, int]], counts: bool, late: list[int]) -> None:
    """When a call is due, begins and returns; one that does not count takes no time, but may begin late by itself."""
    names = ("due_ns", "start_ns", "end_ns")
    rows = [{"send": n} | dict(zip(names, row, strict=True)) for n, row in enumerate(each)]
    case = trace(ENTRY, sends=rows, attempts=[])
    sends = sends_of_arm(case, Arm.CANDIDATE)
    ((due, found),) = own_lateness(sends, np.full(len(each), counts)).values()
    assert (due.tolist(), found.tolist()) == ([row[0] for row in each], late)
