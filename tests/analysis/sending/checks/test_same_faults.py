"""When a case shows nothing because its arms met other faults."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import INCOMPARABLE
from rocketdiff.analysis.checks.pairing import is_sound
from rocketdiff.analysis.conclusions import all_evidence, case_facts
from rocketdiff.analysis.facts import Tally
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.analysis.summaries import summarise
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.verdict.judge import answers, judge
from tests.analysis.builders import ENTRY, MS, SUBJECTS
from tests.analysis.sending.checks.test_pace import Took, closed_loop, pause, usual
from tests.analysis.synthetic import MANIFEST
from tests.analysis.trace_builders import trace
from tests.verdict.builders import COMPLETE, RUN

SLAVE = {"kind": "pause-slave", "node": "broker-b-slave-1"}
"""Its master answers as usual, so the sends of ``closed_loop`` may go to it."""

OF_A_SECOND = (pause(1.0, 2.0, **SLAVE),)
LATER = (pause(2.0, 3.0, **SLAVE),)
FOUR = tuple(pause(0.5 + n, 0.7 + n, episode=n + 1, **SLAVE) for n in range(4))

Faults = tuple[dict[str, Any], ...]
Arm = Mapping[str, list[dict[str, Any]]]


def judged(baseline: Arm, candidate: Arm, faults: Faults) -> tuple[dict[str, Verdict], ExitCode, bool]:
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


OTHERS: dict[str, tuple[Callable[[], Arm], Faults]] = {
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
