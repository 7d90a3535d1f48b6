"""`rocketdiff explain --queue --at`: why a queue had its owner, or none."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import UsageError
from rocketdiff.judging.explain_queue import ABSENT, FROZEN, REPEATED, UNANSWERED, explain_queue
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.consuming.group_story import Group, Story, candidate, ns


def lines_of(story: Story, queue: str, at_s: float) -> list[str]:
    subjects = {Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "acme:1"}
    run = cast(RunDirectory, SimpleNamespace(subject=subjects.get))
    return list(explain_queue(story.trace(), run, Arm.CANDIDATE, queue, at_s))


def lists_an_id_three_times(group: Group) -> None:
    group.divide(8_000, "a", among=(0, 0, 0))
    group.own(8_010, "a", "A", "B")
    group.divide(10_000, "a", "b")
    group.own(10_010, "a", "b", "A", "B")


def lists_another(group: Group) -> None:
    group.divide(8_000, among=(1,))


def is_paused(group: Group) -> None:
    group.members[0]["pauses"] = [{"from_ns": ns(8_000), "proven_ns": ns(8_001), "until_ns": ns(12_000)}]


def does_not_answer(group: Group) -> None:
    group.listed.append(group.listed[-1] | {"poll": 1, "asked_ns": ns(7_999), "answered_ns": None, "ids": []})


@pytest.mark.parametrize(
    ("change", "line", "rule"),
    [
        (
            lists_an_id_three_times,
            "member 0: last round at 8.000 s, among member 0 (3 times): broker-a/0 of 2 queues",
            REPEATED,
        ),
        (lists_another, "member 0: last round at 8.000 s, among the id m1: no queue of 2 queues", ABSENT),
        (is_paused, "member 0: its process is paused", FROZEN),
        (does_not_answer, "broker-b answers nothing about members since 7.999 s", UNANSWERED),
    ],
)
def test_why_a_queue_stands_still(change: Callable[[Group], None], line: str, rule: str) -> None:
    """Each member's last round is named with its ids and share, what it waits for, and the rule behind it."""
    lines = lines_of(candidate(change), "broker-b/0", 9.0)
    assert f"  {line}" in lines
    assert f"    rule: {rule}" in lines


def test_a_queue_without_an_owner_names_the_one_before_and_the_next() -> None:
    """It is said since when no member works on a queue, and until when."""
    lines = lines_of(candidate(lists_an_id_three_times), "broker-b/0", 9.0)
    assert "  no member works on it, since member 0 gave it up at 8.010 s, until member 0 takes it at 10.010 s" in lines
    assert "  by the rules it is member 0's" in lines
    assert lines.index("java:5.3.3 (baseline)") > lines.index("acme:1 (candidate)")


@pytest.mark.parametrize(
    ("queue", "at_s"), [("broker-c/0", 1.0), ("broker-b/1", 1.0), ("b", 1.0), ("broker-b/0", float("nan"))]
)
def test_a_queue_or_an_instant_that_is_not_there_is_refused(queue: str, at_s: float) -> None:
    """A name without a queue and an endless time are one clear message."""
    with pytest.raises(UsageError):
        lines_of(Story(), queue, at_s)
