"""Groups whose members each get every message, as stories judged to the exit code."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.manifest import CaseEntry, GroupEntry
from tests.analysis.consuming.group_story import BROKERS, COUNT, EVERY_MS, LEAVE_MS, Group, Story, ns, shown_of

MEMBERS = (0, 1)


def broadcasting() -> Group:
    """Return a group of two members, each of which owns all queues, gets every message once and keeps its offsets itself."""
    group = Group()
    for member in MEMBERS:
        group.members.append(
            {
                "member": member,
                "incarnation": 1,
                "subject": "x",
                "join_start_ns": ns(-3_000),
                "join_end_ns": ns(-2_900),
                "leave_start_ns": ns(LEAVE_MS),
                "leave_end_ns": ns(LEAVE_MS + 20),
                "ended": "left",
            }
        )
        for broker in BROKERS:
            group.offset("query", -1_501, broker, -1, member=member)
        group.own(-1_500, "a", "b", member=member)
        for send in range(COUNT):
            group.deliver(send, send * EVERY_MS + 2, member=member, **shown_of(send))
        for broker in BROKERS:
            group.offset("commit", LEAVE_MS + 5, broker, COUNT // 2, member=member)
        group.own(LEAVE_MS + 10, member=member)
    return group


@dataclass
class BroadcastStory(Story):
    """A case of two such groups."""

    baseline: Group = field(default_factory=broadcasting)
    candidate: Group = field(default_factory=broadcasting)
    checks: tuple[str, ...] = ("delivered", "redelivery")

    def entry(self) -> CaseEntry:
        groups = {arm: GroupEntry(f"group-{arm}", len(MEMBERS), is_broadcasting=True) for arm in Arm}
        return replace(super().entry(), groups=groups)


def without(*sends: int, member: int) -> Callable[[Group], None]:
    """Return a change that takes deliveries from one member."""

    def change(group: Group) -> None:
        gone = {row["call"] for row in group.deliveries if row["send"] in sends and row["member"] == member}
        group.calls = [row for row in group.calls if row["call"] not in gone]
        group.deliveries = [row for row in group.deliveries if row["call"] not in gone]

    return change


def damaged(group: Group) -> None:
    """The second member shows another body."""
    next(row for row in group.deliveries if row["member"] == 1 and row["send"] == 9)["body_ok"] = False


def twice(group: Group) -> None:
    """The second member delivers every tenth message again."""
    for send in range(0, COUNT, 10):
        group.deliver(send, send * EVERY_MS + 40, member=1, **shown_of(send))


def joins_again(first: int) -> Callable[[Group], None]:
    """Return a change: the second member leaves in the middle and joins again; it begins each queue at an offset."""

    def change(group: Group) -> None:
        half = COUNT // 2
        without(*range(half, COUNT), member=1)(group)
        left_ms, back_ms = half * EVERY_MS - 1, half * EVERY_MS + 1_000
        group.members[1] |= {"leave_start_ns": ns(left_ms), "leave_end_ns": ns(left_ms + 20)}
        group.members.append(
            group.members[0]
            | {"member": 1, "incarnation": 2, "join_start_ns": ns(back_ms), "join_end_ns": ns(back_ms + 50)}
        )
        group.owned = [row for row in group.owned if row["member"] == 0 or row["queues"]]
        group.offsets = [row for row in group.offsets if row["member"] == 0 or row["what"] == "query"]
        for broker in BROKERS:
            group.offset("commit", left_ms + 1, broker, half // 2, member=1)
        group.own(left_ms + 5, member=1)
        begun = len(group.owned), len(group.offsets), len(group.calls), len(group.deliveries)
        for broker in BROKERS:
            group.offset("query", back_ms + 999, broker, first, member=1)
        group.own(back_ms + 1_000, "a", "b", member=1)
        for send in range(2 * max(first, 0), COUNT):
            group.deliver(send, max(send * EVERY_MS, back_ms + 1_000) + 2, member=1, **shown_of(send))
        group.own(LEAVE_MS + 10, member=1)
        for rows, since in zip((group.owned, group.offsets, group.calls, group.deliveries), begun, strict=True):
            for row in rows[since:]:
                row["incarnation"] = 2

    return change


def dies(group: Group) -> None:
    """The second member is killed after half of the feed, and gets nothing more."""
    without(*range(COUNT // 2, COUNT), member=1)(group)
    died_ns = ns(COUNT // 2 * EVERY_MS)
    group.members[1] |= {"leave_start_ns": None, "leave_end_ns": None, "ended": "killed", "killed_ns": died_ns}
    group.owned = [row for row in group.owned if row["member"] == 0 or row["queues"]]
    group.offsets = [row for row in group.offsets if row["member"] == 0 or row["what"] == "query"]


@pytest.mark.parametrize(
    ("change", "signatures"),
    [
        pytest.param(lambda _: None, set(), id="each gets everything"),
        pytest.param(
            without(50, member=1), {"delivered.never", "redelivery.gap"}, id="one member loses what the other gets"
        ),
        pytest.param(without(50, 51, member=0), {"delivered.never", "redelivery.gap"}, id="the other member loses"),
        pytest.param(damaged, {"delivered.damaged"}, id="one member shows another body"),
        pytest.param(twice, {"redelivery.without-cause"}, id="one member delivers some twice"),
        pytest.param(joins_again(COUNT // 4), set(), id="one joins again and goes on"),
        pytest.param(
            joins_again(-1), {"redelivery.below-the-committed-offset"}, id="its file has nothing when it joins again"
        ),
        pytest.param(
            joins_again(COUNT // 4 + 5),
            {"redelivery.above-the-committed-offset", "delivered.not-yet"},
            id="it joins again further on",
        ),
    ],
)
def test_each_member_must_get_every_message(change: Callable[[Group], None], signatures: set[str]) -> None:
    """What one member got does not excuse the other; that both got it is not twice."""
    story = BroadcastStory()
    change(story.candidate)
    assert story.signatures() == signatures
    exit_code = story.judge().judgement.exit_code
    assert exit_code is (ExitCode.DIVERGES if signatures else ExitCode.CONFORMS)


def test_a_member_that_was_killed_gets_nothing_more() -> None:
    """In both arms alike: what it did not get is open, no difference."""
    story = BroadcastStory()
    dies(story.baseline)
    dies(story.candidate)
    assert story.signatures() == set()
