"""How many sends of a client may take far longer than the other client's."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.conclusions import all_evidence, case_facts
from rocketdiff.analysis.facts import Tally
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.checks.results import outcomes_evaluation
from rocketdiff.analysis.sending.checks.results.slower_sends import IN_A_HUNDRED, SlowerSends
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.rulebook import Rulebook
from rocketdiff.analysis.summaries import summarise
from rocketdiff.core.errors import ExitCode
from rocketdiff.oracle.producer.asynchronous.habits import NO_HABITS, AsyncHabits
from rocketdiff.verdict.counts import with_count_divergences
from rocketdiff.verdict.judge import judge
from tests.analysis.builders import ENTRY, MS, SUBJECTS
from tests.analysis.sending.checks.builders import CONFUSED
from tests.analysis.sending.checks.test_pace import Took, closed_loop, pause, usual
from tests.analysis.synthetic import MANIFEST
from tests.analysis.trace_builders import SLOW, trace
from tests.verdict.builders import COMPLETE, RUN

TAIL = "outcomes.more-often/held-up/calm"

Arms = tuple[Mapping[str, Any], Mapping[str, Any]]


def judged(cases: Sequence[Arms]) -> tuple[set[str], ExitCode]:
    """Signatures of a run of these calm cases, and its exit code."""
    entries = [replace(ENTRY, number=n, name=f"case-{n}", checks=("outcomes",)) for n in range(1, len(cases) + 1)]
    rows = [
        fact
        for entry, arms in zip(entries, cases, strict=True)
        for fact in judge_case(trace(entry, **_tables(*arms)), wanted=["outcomes"])
    ]
    manifest = replace(MANIFEST, run="r1", subjects=SUBJECTS, cases=tuple(entries))
    evidence = [each for each in all_evidence(case_facts([manifest], summarise(rows))) if each.check == "outcomes"]
    found = with_count_divergences(evidence, baseline="java", candidate="python")
    return {one.signature for each in found for one in each.divergences}, judge([*COMPLETE, *evidence], RUN).exit_code


def _tables(baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> dict[str, Any]:
    arms = {"baseline": baseline, "candidate": candidate}
    return {f"{name}_{arm}": rows for arm, each in arms.items() for name, rows in each.items()}


def every(n: int, took_ms: int) -> Took:
    return lambda number: took_ms * MS if number % n == n // 2 else usual(number)


def busy(seed: int, hits: int = 40, most_ms: int = 150) -> Took:
    """A busy machine: every send may wait up to 12 ms, one in ``hits`` far longer."""
    drawn = random.Random(seed)
    waits = [
        drawn.randrange(1, 12) + (drawn.randrange(most_ms) if drawn.randrange(hits) == 0 else 0) for _ in range(1_200)
    ]
    return lambda number: waits[number] * MS


def slow_after(number: int) -> Took:
    """After every tenth second send of the second half."""
    return lambda n: 60 * MS if n > number and n % 20 == 3 else usual(n)


TAILS: dict[str, tuple[Took, dict[str, Any]]] = {
    "one in fifty takes 80 ms": (every(50, 80), {}),
    "one in a hundred takes 80 ms": (every(100, 80), {}),
    "one in seventy takes 25 ms": (every(70, 25), {}),
    "one of four threads": (lambda n: 30 * MS if n % 4 == 0 else usual(n), {"threads": 4}),
    "answers of one in sixty are noticed late": (every(60, 60), {"mode": "async", "threads": 8}),
    "slow from the middle on": (slow_after(600), {}),
}
"""Clients with a long tail, whose medians are as the other's."""


@pytest.mark.parametrize("defect", TAILS)
def test_a_long_tail_diverges(defect: str) -> None:
    """In a case of 1,200 sends a delay of one in a hundred is found, exit code 1."""
    took, others = TAILS[defect]
    found, code = judged([(closed_loop(usual, 1_200, **others), closed_loop(took, 1_200, **others))])
    assert (TAIL in found, code) == (True, ExitCode.DIVERGES)


def test_the_99th_percentile_is_a_measure() -> None:
    """400 sends of 2 ms, and one in fifty of 80 ms."""
    arms = closed_loop(lambda _: 2 * MS), closed_loop(lambda n: (80 if n % 50 == 25 else 2) * MS)
    manifest = replace(MANIFEST, run="r1", subjects=SUBJECTS, cases=(ENTRY,))
    (facts,) = case_facts([manifest], summarise(judge_case(trace(ENTRY, **_tables(*arms)), wanted=["outcomes"])))
    measures = {one.name: (one.value, one.unit, one.n) for one in outcomes_evaluation.evaluate(facts).measures}
    assert measures["99th-percentile-in-calm baseline"] == (2, "ms", 400)
    assert measures["99th-percentile-in-calm candidate"] == (80, "ms", 400)


def test_tails_of_several_cases_are_pooled() -> None:
    """One in fifty is eight moments of a case of 400 sends, which decide nothing, and sixteen of two cases."""
    arms = closed_loop(usual), closed_loop(every(50, 80))
    assert judged([arms]) == (set(), ExitCode.CONFORMS)
    assert judged([arms, arms]) == ({TAIL}, ExitCode.DIVERGES)


FAITHFUL: dict[str, tuple[Took, Took]] = {
    "equal": (usual, usual),
    "slower": (every(100, 80), usual),
    "a busy machine": (busy(1), busy(2)),
    "a very busy machine": (busy(3, 20, 400), busy(4, 20, 400)),
    "a language with three times the tail": (every(80, 12), every(80, 36)),
    "ten stalls": (usual, every(120, 200)),
    "a slow half a second": (usual, lambda n: 60 * MS if 300 < n < 312 else usual(n)),
}
"""What machine and language do to a faithful client."""


@pytest.mark.parametrize("story", FAITHFUL)
def test_machine_and_language_make_no_difference(story: str) -> None:
    """Stalls, whole seconds of load and a tail of the same size conform."""
    baseline, candidate = FAITHFUL[story]
    assert judged([(closed_loop(baseline, 1_200), closed_loop(candidate, 1_200))]) == (set(), ExitCode.CONFORMS)


def held_up(
    more_ms: int, *faults: dict[str, Any], broker: str = "broker-a", habits: AsyncHabits = NO_HABITS, **row: Any
) -> set[str]:
    """Phases in which the candidate's send 120, due at 1.2 s, is held up."""
    arms = [closed_loop(lambda _: MS), closed_loop(lambda n: (1 + more_ms * (n == 120)) * MS)]
    for arm in arms:
        for rows in arm.values():
            for each in rows:
                each |= {"broker": broker, "start_ns": each["send"] * 10 * MS}
                each["end_ns"] = each["start_ns"] + (1 + more_ms * (each["send"] == 120 and arm is arms[1])) * MS
        arm["sends"][120] |= row
    case = trace(ENTRY, **_tables(*arms), faults=list(faults))
    collector = SendFacts(case.run, 1, 0)
    SlowerSends(CaseContext(case, Rulebook({}, habits=habits), collector)).finish()
    tallies = [each.fact for each in collector.facts()]
    found = [tally for tally in tallies if tally.check == "outcomes.more"]  # type: ignore[union-attr]
    assert all(tally.arm == "candidate" for tally in found)  # type: ignore[union-attr]
    each_one = [(tally.phase, tally.n) for tally in tallies if (tally.check, tally.key) == ("outcomes", "held-up")]  # type: ignore[union-attr]
    assert each_one == [(tally.phase, 1) for tally in found]  # type: ignore[union-attr]
    return {tally.phase for tally in found}  # type: ignore[union-attr]


OTHERS = {"error": SLOW, "outcome": "unknown", "status": None}


@pytest.mark.parametrize(
    ("more_ms", "row", "phases"),
    [(13, {}, set()), (14, {}, {"calm"}), (14, {"mode": "async"}, {"calm"}), (900, {"mode": "oneway"}, set()), (900, OTHERS, set())],
)  # fmt: skip
def test_a_send_in_calm_is_held_up_by_three_times_the_others_slowest(
    more_ms: int, row: dict[str, Any], phases: set[str]
) -> None:
    """Where sends take 1 ms, and one is due every 10 ms, more than 13 ms are; failures and one-way calls are not compared."""
    assert held_up(more_ms, **row) == phases


SLAVE = pause(1.0, 2.0, kind="pause-slave", node="broker-b-slave-1")
NAME_SERVER = {"kind": "pause-name-server", "node": "name-server-1", "episode": 2}
UNHEALED = dict.fromkeys(("heal_ns", "healed_ns", "heal_proven_ns"))


@pytest.mark.parametrize(
    ("more_ms", "faults", "broker", "phases"),
    [
        (250, (pause(1.0, 2.0),), "broker-a", set()),
        (251, (pause(1.0, 2.0),), "broker-a", {"faults"}),
        (300, (pause(1.0, 2.0),), "broker-b", set()),
        (300, (SLAVE,), "broker-a", {"faults"}),
        (300, (SLAVE,), "broker-b", set()),
        (300, (pause(1.0, 2.0), pause(1.0, 2.0, **NAME_SERVER)), "broker-a", set()),
        (300, (pause(1.0, 2.0), pause(90.0, 91.0, **NAME_SERVER)), "broker-a", {"faults"}),
        (300, (pause(1.0, 2.0), pause(0.1, 0.2, **NAME_SERVER)), "broker-a", set()),
        (300, (pause(1.0, 2.0), pause(1.0, 2.0, **NAME_SERVER, **UNHEALED)), "broker-a", set()),
        (300, (pause(1.0, 2.0, kind="kill"),), "broker-a", {"faults"}),
    ],
)
def test_beside_a_fault_sends_to_unaffected_brokers_are_compared(
    more_ms: int, faults: tuple[dict[str, Any], ...], broker: str, phases: set[str]
) -> None:
    """A slave's fault may hold up sends to its master, a name server's any send; half of a timeout of 500 ms is allowed."""
    assert held_up(more_ms, *faults, broker=broker) == phases


@pytest.mark.parametrize(
    ("mode", "begin_s", "phases"), [("async", 1.0, set()), ("sync", 1.0, {"faults"}), ("async", 90.0, {"calm"})]
)
def test_sends_that_may_get_anothers_answer_are_not_compared(mode: str, begin_s: float, phases: set[str]) -> None:
    """Up to 4.6.1 an asynchronous send may get another message's answer beside a fault."""
    assert held_up(300, pause(begin_s, begin_s + 1.0), habits=CONFUSED, mode=mode) == phases


def calls(more_ms: Mapping[int, int], period_ms: int = 10, step: int = 1) -> dict[str, Any]:
    """A hundred sends to broker-a of 1 ms, each begun when it is due; some take longer, by number."""
    rows = [
        {
            "send": n,
            "due_ns": n * period_ms * MS,
            "start_ns": n * period_ms * MS,
            "end_ns": (n * period_ms + 1 + more_ms.get(n, 0)) * MS,
        }
        for n in range(0, 100, step)
    ]
    return {"sends": rows, "attempts": [{"send": row["send"]} for row in rows]}


HALVES = pause(0.4, 0.5), pause(0.7, 0.9, episode=2)
BUSY = dict.fromkeys(range(50, 100), 20)


@pytest.mark.parametrize(
    ("baseline", "candidate", "faults", "found"),
    [
        (calls({}), calls({50: 300}), (pause(0.7, 0.9),), {("candidate", "faults")}),
        (calls({50: 300}), calls({}), (pause(0.7, 0.9),), {("baseline", "faults")}),
        (calls({75: 51}), calls({}), HALVES, {("baseline", "faults")}),
        (calls({}), calls({75: 51}), HALVES, {("candidate", "faults")}),
        (calls({}), calls({75: 50}), HALVES, set()),
        (calls({}), calls({75: 251}), (pause(0.7, 0.0, **UNHEALED),), {("candidate", "faults")}),
        (calls(BUSY), calls({20: 14} | BUSY), (pause(0.5, 0.9),), {("candidate", "calm")}),
        (calls({}, 5), calls({20: 9}, 5, step=2), (), {("candidate", "calm")}),
    ],
    ids=[
        "until-a-fault", "of-the-baseline", "shortest-spell", "second-spell", "half-of-it", "unhealed",
        "slow-beside-a-fault", "half-of-the-sends",
    ],
)  # fmt: skip
def test_who_is_held_up_when(
    baseline: dict[str, Any], candidate: dict[str, Any], faults: tuple[dict[str, Any], ...], found: set[tuple[str, str]]
) -> None:
    """A send of either arm that meets a fault belongs to it; the baseline's plan and calm sends give the limits."""
    case = trace(ENTRY, **_tables(baseline, candidate), faults=list(faults))
    collector = SendFacts(case.run, 1, 0)
    SlowerSends(CaseContext(case, Rulebook({}), collector)).finish()
    tallies = [each.fact for each in collector.facts() if isinstance(each.fact, Tally)]
    counted = {(one.check, one.arm, one.phase, one.key, one.n) for one in tallies}
    slowest = {(IN_A_HUNDRED, str(arm), "calm", "ms", 1) for arm in SUBJECTS}
    held = {(check, *one, "held-up", 1) for check in ("outcomes", "outcomes.more") for one in found}
    assert counted == slowest | held
