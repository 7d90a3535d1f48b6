"""Groups whose application polls, as stories judged to the exit code."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.manifest import CaseEntry, GroupEntry
from tests.analysis.consuming.group_story import (
    BROKERS,
    COUNT,
    EVERY_MS,
    LEAVE_MS,
    Group,
    Story,
    client_id,
    ns,
    shown_of,
)

POLL_MS, PERSIST_MS = 5_000, 1_000
"""From one commit of a poll to the next, by default, and from that to the broker."""


def polled(poll_ms: int = POLL_MS, *, until_ms: int = LEAVE_MS, ahead: int = 0, again: int = -1) -> Group:
    """
    Return a group of one member, which hands every message out at once, and commits by every poll so long after another.

    The last commits come before until_ms. ahead: messages of a queue that are committed before they come. again: the answer to its
    second question for a queue's offset.
    """
    group = Group()
    times = {"join_start_ns": ns(-3_000), "join_end_ns": ns(-2_900), "leave_start_ns": ns(LEAVE_MS)}
    own = {"member": 0, "incarnation": 1, "subject": "x:1", "client_id": client_id(0), "ended": "left"}
    group.members.append(own | times | {"leave_end_ns": ns(LEAVE_MS + 20)})
    group.divide(-1_502, "a", "b")
    for broker in BROKERS:
        group.offset("query", -1_501, broker, -1)
        group.offset("query", -1_400, broker, again)
        group.list_members(-2_800, broker, 0)
    group.own(-1_500, "a", "b")
    for send in range(COUNT):
        group.deliver(send, send * EVERY_MS + 2, **shown_of(send))
    remembered = 0
    for at_ms in range(poll_ms, until_ms, poll_ms):
        remembered = min(COUNT // 2, at_ms // (2 * EVERY_MS) + ahead)
        for broker in BROKERS:
            group.offset("update", at_ms - 10, broker, remembered)
            group.offset("commit", at_ms + PERSIST_MS, broker, remembered)
            group.answer(at_ms + PERSIST_MS + 50, broker, remembered)
    for broker in BROKERS:
        group.answer(LEAVE_MS + 500, broker, remembered)
    group.own(LEAVE_MS + 10)
    return group


@dataclass
class PolledStory(Story):
    """A case of two such groups. polls: what the run says of them."""

    baseline: Group = field(default_factory=polled)
    candidate: Group = field(default_factory=polled)
    checks: tuple[str, ...] = ("delivered", "redelivery", "offsets", "allocation", "promptness")
    polls: bool = True
    commits_itself: bool = False

    def entry(self) -> CaseEntry:
        groups = {
            arm: GroupEntry(f"group-{arm}", 1, self.settings, polls=self.polls, commits_itself=self.commits_itself)
            for arm in Arm
        }
        return replace(super().entry(), groups=groups)


def lost(group: Group) -> None:
    """A batch is committed and never handed out."""
    for send in (80, 82, 84):
        group.drop(send)


def with_retry_topic(group: Group) -> None:
    """Brokers are asked for the group's offset of a retry topic that it does not subscribe to."""
    for row in list(group.committed):
        group.committed.append(row | {"kind": "retry", "value": None, "end": 0})


@pytest.mark.parametrize(
    ("group", "change", "signatures"),
    [
        pytest.param({}, lambda _: None, set(), id="each poll commits those before it"),
        pytest.param({}, with_retry_topic, set(), id="no retry topic"),
        pytest.param({"ahead": 3}, lambda _: None, {"offsets.unfinished-committed"}, id="commits before the poll"),
        pytest.param({"until_ms": 6_000}, lambda _: None, {"offsets.not-at-the-end"}, id="stops committing"),
        pytest.param(
            {}, lost, {"delivered.never", "redelivery.gap", "offsets.unfinished-committed"}, id="loses a batch"
        ),
    ],
)
def test_messages_of_a_poll_are_consumed(
    group: dict[str, int], change: Callable[[Group], None], signatures: set[str]
) -> None:
    """A later poll commits it, and nothing else is; what waits for a poll is never left out."""
    candidate = polled(**group)
    change(candidate)
    ended = PolledStory(candidate=candidate).judge()
    assert {cluster.signature for cluster in ended.document.clusters} == signatures
    assert ended.judgement.exit_code is (ExitCode.DIVERGES if signatures else ExitCode.CONFORMS)


def test_only_polls_may_commit_so_late() -> None:
    """Polls of ten seconds may leave their last messages to nobody; a push consumer remembers at once, and so does a poller that commits."""
    settings: dict[str, int | str] = {"poll_timeout_ms": 10_000, "consume_from_where": "first"}
    story = PolledStory(polls=False, candidate=polled(until_ms=16_000), settings=settings, checks=("offsets",))
    assert story.signatures() == {"offsets.not-at-the-end"}
    story.polls = True
    assert story.signatures() == set()
    story.commits_itself = True
    assert story.signatures() == {"offsets.not-at-the-end"}
