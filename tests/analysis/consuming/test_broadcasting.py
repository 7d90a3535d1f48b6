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
    checks: tuple[str, ...] = ("delivered",)

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
        pytest.param(without(50, member=1), {"delivered.never"}, id="one member loses what the other gets"),
        pytest.param(without(50, 51, member=0), {"delivered.never"}, id="the other member loses"),
        pytest.param(damaged, {"delivered.damaged"}, id="one member shows another body"),
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
