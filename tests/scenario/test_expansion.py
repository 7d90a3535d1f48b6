"""A plan is a pure function of scenario and seed."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.subject import SubjectId
from rocketdiff.scenario import Scenario, expand, load, plan_of

VALID_PASS = Path(__file__).parents[2] / "fixtures" / "format" / "valid-pass"
FIRST_DUE_NS = [43769609, 147524320, 250369338, 348679775]
JAVA, PYTHON = SubjectId("java", "5.3.3"), SubjectId("python", "5.3.3")


@pytest.fixture
def scenario() -> Scenario:
    """Ten sends a second for ten seconds in one thread."""
    return load(VALID_PASS / "smallest.yaml")


def test_case_is_named_by_scenario_and_subjects(scenario: Scenario) -> None:
    """A case is named by scenario and subjects."""
    case = expand(scenario, JAVA, PYTHON, 7)
    assert str(case.id) == "self-test/smallest/java:5.3.3~python:5.3.3"
    assert case.faults == scenario.faults
    assert case.plan.seed == 7


def test_plan_knows_nothing_of_the_subjects(scenario: Scenario) -> None:
    """The plan does not depend on the subjects."""
    assert expand(scenario, JAVA, PYTHON, 7).plan == expand(scenario, PYTHON, JAVA, 7).plan


def test_first_sends_of_a_seed_never_change(scenario: Scenario) -> None:
    """The first sends of a seed never change, so that a run can be repeated years later."""
    assert [send.due_ns for send in plan_of(scenario, 7).sends[:4]] == FIRST_DUE_NS


def test_another_seed_is_another_phase(scenario: Scenario) -> None:
    """Over seeds the first send falls anywhere in its slot."""
    phases = sorted(plan_of(scenario, seed).sends[0].due_ns / 1e8 for seed in range(200))
    assert phases[0] < 0.1 and phases[-1] > 0.9
    assert all(0 <= phase < 1 for phase in phases)


def test_another_scenario_is_another_draw(scenario: Scenario) -> None:
    """Scenarios with the same seed have different plans."""
    assert plan_of(replace(scenario, name="self-test/other"), 7) != plan_of(scenario, 7)


@given(
    seed=st.integers(0, 2**63),
    threads=st.integers(1, 5),
    rate=st.floats(1, 100),
    duration=st.floats(1, 5),
)
def test_sends_are_even_ordered_and_inside(seed: int, threads: int, rate: float, duration: float) -> None:
    """Send k lies in the k-th slot of 1/rate, numbers rise with due times, and threads take turns."""
    smallest = load(VALID_PASS / "smallest.yaml")
    workload = replace(smallest.workload, threads=threads, rate_per_s=rate, duration_s=duration)
    sends = plan_of(replace(smallest, workload=workload), seed).sends
    slot_ns = 1e9 / rate
    assert len(sends) == workload.sends == round(rate * duration)
    assert [send.send for send in sends] == list(range(len(sends)))
    assert [send.thread for send in sends] == [number % threads for number in range(len(sends))]
    assert all(int(send.send * slot_ns) - 1 <= send.due_ns <= (send.send + 1) * slot_ns for send in sends)
    assert all(a.due_ns < b.due_ns for a, b in pairwise(sends))


def test_calls_bodies_and_arguments_are_taken_in_turn(scenario: Scenario) -> None:
    """Calls, body sizes and arguments are used in turn; ascending arguments are send numbers."""
    workload = replace(
        scenario.workload, calls=(SendKind.SELECTOR, SendKind.QUEUE), body_bytes=(1, 2, 3), arguments=(7, 8)
    )
    sends = plan_of(replace(scenario, workload=workload), 1).sends
    assert [send.body_bytes for send in sends[:4]] == [1, 2, 3, 1]
    assert [send.argument for send in sends[:4]] == [7, 8, 7, 8]
    ascending = plan_of(replace(scenario, workload=replace(workload, arguments=())), 1).sends
    assert [send.argument for send in ascending[:3]] == [0, 1, 2]
    assert [send.kind for send in sends[:3]] == [SendKind.SELECTOR, SendKind.QUEUE, SendKind.SELECTOR]


def test_random_arguments_come_from_the_seed(scenario: Scenario) -> None:
    """Random arguments depend on the seed and reach every queue."""
    workload = replace(scenario.workload, calls=(SendKind.SELECTOR,), arguments=None)
    drawn = [plan_of(replace(scenario, workload=workload), seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert {send.argument % 8 for send in drawn[0].sends} == set(range(8))
