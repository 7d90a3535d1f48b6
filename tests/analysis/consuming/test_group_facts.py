"""What a difference shows of its message in both groups, whom it is charged to, and in which phase of a case it lies."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.group_facts import GroupFacts, phase_of
from rocketdiff.analysis.consuming.story import story_of
from rocketdiff.analysis.facts import CaseFact, DifferenceFact
from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.verdict import SideExample, StoredAt
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.signatures import DAMAGED, RETRY_PROPERTY
from rocketdiff.traces.manifest import Breach
from tests.analysis.consuming.group_story import Row, Story, ns


def fault(inject_ns: int, heal_ns: int | None) -> FaultRecord:
    return FaultRecord(0, FaultKind.PAUSE, "broker-a", inject_ns, inject_ns, None, heal_ns)


ONE, TWO, OPEN = (fault(10, 20),), (fault(10, 20), fault(40, 50)), (fault(10, 20), fault(15, None))


@pytest.mark.parametrize(
    ("faults", "at_ns", "phase"),
    [
        ((), 5, "calm"),
        (ONE, 9, "calm"),
        (ONE, 10, "paused"),
        (ONE, 19, "paused"),
        (ONE, 20, "after"),
        (TWO, 9, "calm"),
        (TWO, 30, "paused"),
        (TWO, 50, "after"),
        (OPEN, 90, "paused"),
    ],
)
def test_the_phase_of_an_instant(faults: tuple[FaultRecord, ...], at_ns: int, phase: str) -> None:
    """Calm before the first fault, after when all are healed, and paused between two as well."""
    assert phase_of(faults, at_ns) == phase


FAILED = 77
"""It fails at 7,702 ms, and comes back at 8,750 ms."""


def noted(*, story: Story | None = None, breaches: tuple[str, ...] = (), **difference: Any) -> list[CaseFact]:
    """Return the facts of one difference of the candidate. send, member: of its delivery number ``delivery`` unless given."""
    trace = (story or Story()).trace()
    trace = replace(trace, entry=replace(trace.entry, breaches={name: Breach("s", "e", "x") for name in breaches}))
    read = story_of(trace)
    group, facts = read.groups[Arm.CANDIDATE], GroupFacts(read)
    if (number := difference.pop("delivery", None)) is not None:
        difference["delivery"] = group.by_send[FAILED][number]
    signature = difference.pop("signature", DAMAGED)
    words: dict[str, Any] = {"at_ns": ns(9_000), "expected": "e", "observed": "o"}
    facts.differ(signature, group, **(words | difference))
    return list(facts.facts())


def shown(**difference: Any) -> DifferenceFact:
    (found,) = noted(**difference)
    assert isinstance(found.fact, DifferenceFact)
    return found.fact


def test_a_difference_has_its_message() -> None:
    """With the delivery that shows it, and every figure as it was given."""
    (fact,) = noted(send=FAILED, delivery=1, figures={"n": 1})
    assert (fact.run, fact.number) == ("run", 1)
    found = shown(send=FAILED, delivery=1, figures={"n": 1})
    assert replace(found, sides=()) == DifferenceFact(
        "delivered", "delivered.damaged", "candidate", 0, FAILED, 1, "calm", ns(9_000), 1_004, "e", "o", (), {"n": 1}
    )


def test_a_difference_without_a_message_has_no_sides() -> None:
    """Nor a delivery, nor a thread."""
    found = shown(signature=RETRY_PROPERTY, place="X")
    assert (found.check, found.signature, found.thread) == ("retries", "retries.property/X", 0)
    assert (found.send, found.attempt, found.sides, found.weight, found.figures) == (-1, None, (), 0, {})


def test_both_groups_are_shown() -> None:
    """Where the message is stored, and each of its calls; the candidate's last one has not ended."""
    story = Story()
    story.candidate.calls_of(FAILED)[1].update(end_ns=None, result=None)
    baseline, candidate = shown(story=story, send=FAILED).sides

    def calls(arm: str, *more: LaneAttempt) -> tuple[LaneAttempt, ...]:
        first = LaneAttempt(arm, 0, FAILED, 0, "broker-b", 0, 7_702.0, 7_703.0, "failed", "later")
        return (first, *more)

    stored = (StoredAt("broker-b", 0, 38),)
    again = LaneAttempt("baseline", 0, FAILED, 1, "broker-b", 0, 8_750.0, 8_751.0, "ok", "success (retry)")
    assert baseline == SideExample("baseline", calls("baseline", again), stored=stored)
    open_ = LaneAttempt("candidate", 0, FAILED, 1, "broker-b", 0, 8_750.0, 8_750.0, "failed", "")
    assert candidate == SideExample("candidate", calls("candidate", open_), stored=stored)


def test_a_message_that_is_not_stored_has_no_place() -> None:
    """And one that was not delivered has no calls."""
    sides = shown(send=999).sides
    assert [(side.attempts, side.stored) for side in sides] == [((), ()), ((), ())]


@pytest.mark.parametrize(
    ("mixed", "difference", "arm", "thread"),
    [
        pytest.param((), {"member": 1}, "candidate", 1, id="of its member"),
        pytest.param((1,), {"member": 1}, "baseline", 1, id="a member that runs the baseline"),
        pytest.param((1,), {"member": 0, "send": FAILED, "delivery": 0}, "candidate", 0, id="another member"),
        pytest.param((0,), {"send": FAILED, "delivery": 0}, "baseline", 0, id="the member of its delivery"),
        pytest.param((0,), {"send": FAILED, "delivery": 0, "member": 3}, "candidate", 3, id="the member that is named"),
        pytest.param((0,), {"send": FAILED}, "candidate", 0, id="no member"),
    ],
)
def test_a_difference_is_charged(mixed: tuple[int, ...], difference: Row, arm: str, thread: int) -> None:
    """To the client that the member runs."""
    found = shown(story=Story(mixed=mixed), **difference)
    assert (found.arm, found.thread) == (arm, thread)


@pytest.mark.parametrize(("breach", "count"), [("candidate-m1", 0), ("baseline-m1", 1)])
def test_a_group_that_was_broken_off_shows_nothing(breach: str, count: int) -> None:
    """Its last records are missing."""
    assert len(noted(breaches=(breach,), send=FAILED)) == count


@pytest.mark.parametrize(("at_ms", "phase"), [(7_999, "calm"), (8_000, "paused"), (9_000, "after")])
def test_a_difference_has_its_phase(at_ms: float, phase: str) -> None:
    """Of the faults of its case."""
    assert shown(story=Story(pauses=((8_000, 1_000),)), at_ns=ns(at_ms)).phase == phase


@pytest.mark.parametrize(("at_ms", "expected_ms"), [(None, 8_750), (8_760, 8_760)])
def test_a_delivery_shows_a_difference(at_ms: float | None, expected_ms: float) -> None:
    """At its beginning, or at another instant that is named."""
    read = story_of(Story().trace())
    group, facts = read.groups[Arm.CANDIDATE], GroupFacts(read)
    facts.differ_at(DAMAGED, group, group.by_send[FAILED][1], "e", "o", at_ns=None if at_ms is None else ns(at_ms))
    (found,) = facts.differences()
    assert (found.send, found.attempt, found.at_ns) == (FAILED, 1, ns(expected_ms))
    assert (found.expected, found.observed) == ("e", "o")
