"""Which checks the pass over a case asks, and what it counts besides."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.case_pass import judge_case
from rocketdiff.analysis.facts import Fact, LaneBar, Tally
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.traces.schema import TableName
from tests.analysis.consuming.group_story import Story

POLLED = {"delivered", "redelivery", "offsets", "allocation", "promptness", "consumption"}
"""With tallies: takeover-time has none."""


def facts(
    wanted: Collection[str] | None = None,
    pauses: tuple[tuple[int, int], ...] = (),
    arms: Collection[Arm] = tuple(Arm),
    is_held: bool = True,
    **group: Any,
) -> list[Fact]:
    """Message 7 is in the same call as message 0. group: of these arms' entries."""
    made = Story(pauses=pauses)
    (call,) = {row["call"] for row in made.candidate.deliveries if row["send"] == 7 and not row["times"]}
    for row in made.candidate.deliveries:
        if row["call"] == call:
            row |= {"call": 0, "place": 1}
    made.candidate.calls = [row for row in made.candidate.calls if row["call"] != call]
    trace = made.trace()
    groups = {arm: replace(entry, **(group if arm in arms else {})) for arm, entry in trace.entry.groups.items()}
    tables = {key: table for key, table in trace.tables.items() if is_held or key[0] is not TableName.HELD}
    trace = replace(trace, entry=replace(trace.entry, groups=groups), tables=tables)
    return [each.fact for each in judge_case(trace, wanted=wanted)]


def counted(found: list[Fact]) -> set[str]:
    """Checks that have counted something."""
    names = {each.check for each in found if isinstance(each, Tally)}
    return names - {"calls", "stored", "figures", "lag", "merged"}


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ({}, POLLED | {"retries", "flow-control"}),
        ({"is_broadcasting": True}, {"delivered", "redelivery", "consumption"}),
        ({"is_broadcasting": True, "arms": [Arm.CANDIDATE]}, {"delivered", "redelivery", "consumption"}),
        ({"polls": True}, POLLED),
        ({"polls": True, "arms": [Arm.CANDIDATE]}, POLLED),
        ({"is_orderly": True}, POLLED | {"delivery-order", "flow-control"}),
    ],
)
def test_a_group_is_asked(group: dict[str, Any], expected: set[str]) -> None:
    """What concerns its kind."""
    assert counted(facts(**group)) == expected


def test_a_case_is_counted() -> None:
    """Its calls, messages and faults; not if some checks are asked alone."""
    whole = facts(pauses=((8_000, 1_000),))
    tallies = {(each.check, each.arm, each.key): each.n for each in whole if isinstance(each, Tally)}
    assert tallies["calls", Arm.BASELINE, ""] == 200 + 29
    assert tallies["calls", Arm.CANDIDATE, ""] == 200 + 29 - 1
    assert tallies["stored", "", "message"] == 200
    assert [each.node for each in whole if isinstance(each, FaultRecord)] == ["broker-b"]
    assert any(isinstance(each, LaneBar) for each in whole)
    assert ("figures", Arm.BASELINE, "delivered") in tallies
    assert {each.check for each in facts({"offsets"}) if isinstance(each, Tally)} == {"offsets"}
    assert facts({"queue-choice"}) == []


def test_a_topic_that_was_not_read_back_has_no_messages() -> None:
    """It counts none."""
    assert [each.n for each in facts(is_held=False) if isinstance(each, Tally) and each.check == "stored"] == [0]
