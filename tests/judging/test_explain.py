"""`explain` shows besides the rules the previous send and what brokers store; of a message, why each delivery came."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import UsageError
from rocketdiff.judging.explain import explain
from rocketdiff.judging.explain_message import DEAD, HELD_UP, LOCK, ONCE, RETRY, TAKEOVER, explain_message
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.consuming.group_story import Group
from tests.analysis.consuming.group_story import Story as GroupsStory
from tests.analysis.consuming.group_story import candidate as groups_changed
from tests.analysis.consuming.orderly_group import in_order
from tests.analysis.consuming.simulated_group import Script
from tests.analysis.synthetic import ArmRecords, Story, write_run


def _otherwise(arm: ArmRecords) -> None:
    """Send 1 is stored compressed and with a key, send 2 is lost."""
    changed = replace(arm.stored[1], sys_flag=769, properties='{"KEYS":"k","rocketdiff.id":"r/t/1"}')
    arm.stored[1:3] = [changed]


def test_the_stored_send_stands_beside_its_rules(tmp_path: Path) -> None:
    """`explain` shows what is stored of a send in both arms, without our id."""
    run = write_run(tmp_path, [Story(sends=4)], change=_otherwise)
    lines = list(explain(run.path, "candidate", "1", None))
    stored = lines.index("stored of it by python:5.3.3:")
    assert lines[stored + 1].endswith(", KEYS=k, system flag 769 (compressed, ZLIB)")
    assert lines[stored + 2] == "stored of it by java:5.3.3:"
    assert lines[stored + 3].endswith(", system flag 0")
    assert "no message of it is stored by python:5.3.3" in list(explain(run.path, "candidate", "2", None))


def test_the_send_before_it_is_shown(tmp_path: Path) -> None:
    """`explain` shows how the previous send ended, which decides the next queue."""
    run = write_run(tmp_path, [Story(sends=4)])
    lines = list(explain(run.path, "candidate", "3", None))
    before = lines.index("before it in thread 0, send 2:")
    assert lines[before + 1].startswith("  attempt 1 to queue ")
    assert lines[before + 2].startswith("  returned SEND_OK after ")
    assert not any("before it" in line for line in explain(run.path, "candidate", "0", None))


def test_a_place_that_is_no_number_is_refused(tmp_path: Path) -> None:
    """A send is named by its number."""
    run = write_run(tmp_path, [Story(sends=4)])
    with pytest.raises(UsageError, match="the number of a send"):
        list(explain(run.path, "candidate", "queue:broker-b/3", None))


def story_lines(story: GroupsStory, where: str, arm: Arm = Arm.CANDIDATE) -> list[str]:
    subjects = {Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "acme:1"}
    run = cast(RunDirectory, SimpleNamespace(subject=subjects.get))
    return list(explain_message(story.trace(), run, arm, where))


def doubles(group: Group) -> None:
    group.deliver(11, 1_130)


def retries_what_was_consumed(group: Group) -> None:
    group.deliver(11, 2_500, kind="retry", times=1)


def gives_the_queue_up_and_begins_again(group: Group) -> None:
    group.own(1_200, "a", "A", "B")
    group.offset("query", 1_299, "broker-b", 3)
    group.own(1_300, "a", "b", "A", "B")
    group.deliver(11, 1_310)


@pytest.mark.parametrize(
    ("change", "number", "cause", "rule"),
    [
        (
            doubles,
            11,
            "again without a cause, since the call before ended with success and member 0 kept the queue",
            ONCE,
        ),
        (retries_what_was_consumed, 11, "again without a cause, since the call before ended with success", RETRY),
        (gives_the_queue_up_and_begins_again, 11, "again, because member 0 began the queue at offset 3", TAKEOVER),
        (lambda _group: None, 14, "again, because the call before ended with later", RETRY),
    ],
)
def test_why_a_message_was_delivered_twice(change: Callable[[Group], None], number: int, cause: str, rule: str) -> None:
    """The story of a message states the cause of each further delivery and its rule, then the other arm's story."""
    lines = story_lines(groups_changed(change), str(number))
    assert lines[1].startswith(f"message {number} is stored at offset {number // 2} of queue 0 of broker-")
    other = lines.index("java:5.3.3 (baseline)")
    own = lines[lines.index("acme:1 (candidate)") : other]
    assert [line for line in own if line.endswith(cause)]
    assert [line for line in own if line.endswith(rule)]
    assert any("is committed, seen at the broker, which covers the message" in line for line in own)
    assert any("delivery 1 to member 0" in line for line in lines[other:])


def test_a_failed_message_of_an_orderly_group_is_explained_by_its_own_rules() -> None:
    """It holds its queue up for the time that the listener asked for, under the queue's lock."""
    lines = story_lines(in_order(Script(count=20, fails_every=7)), "14")
    assert any(line.endswith("its call ends with later, to come again after 200 ms") for line in lines)
    assert [rule for rule in (HELD_UP, LOCK) if not any(line.endswith(rule) for line in lines)] == []
    assert not any(line.endswith(RETRY) for line in lines)


def test_where_the_copies_of_a_failed_message_are() -> None:
    """A copy of a failed message is named with its place, broker and number of failures."""
    lines = story_lines(groups_changed(lambda group: group.copy("dead", 14, 2)), "14")
    assert any("a copy is stored in the dead letters at broker-a" in line and "failures: 2" in line for line in lines)
    assert any(line.endswith(DEAD) for line in lines)


@pytest.mark.parametrize(
    ("where", "seen"),
    [
        ("200", "saw '200'; try: this case has 0 to 199"),
        ("-1", "saw '-1'"),
        ("²", "saw '²'"),
        ("9" * 5_000, "try: this case has 0 to 199"),
        ("broker-b/3", "saw 'broker-b/3'"),
        ("7", "saw 7, which was to be sent and is stored nowhere; try: this case has 0 to 199"),
    ],
)
def test_a_message_that_no_broker_holds_is_refused(where: str, seen: str) -> None:
    """A wrong number is one clear message; one that was planned and not stored is named as such."""
    story = GroupsStory()
    story.held = [row for row in story.held if row["send"] != 7]
    with pytest.raises(UsageError, match="the number of a message that a broker holds") as refused:
        story_lines(story, where)
    assert seen in str(refused.value)
