"""
Asks brokers about both groups while a case runs: committed offsets and ends of queues, and ids of members.

A thread a broker, because a paused broker answers nothing for seconds. Answers go to two journals; a round of questions that
brought nothing new is left out, but for one long before a change.
"""

import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Self

import msgspec

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.interface import Cluster, Node, security_of
from rocketdiff.cluster.operations.admin import ADMIN_ERRORS, queue_end
from rocketdiff.cluster.operations.groups import committed_offset, member_ids
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import IDS_EVERY, CommittedOffset, ListedMembers, TopicKind
from rocketdiff.run.case.consuming.names import CaseNames
from rocketdiff.traces.layout import COMMITTED_JOURNAL, LISTED_JOURNAL
from rocketdiff.traces.recorder import Recorder
from rocketdiff.traces.run_directory import CaseDirectory
from rocketmq_reference.host.channels import Channels

OFFSETS_EVERY_S = 0.25
"""Committed offsets reach a broker every 5 s and with pulls; a takeover takes seconds."""

FAR_APART_NS = 2_000_000_000
"""Between two questions for ids on a starved machine: the last answer before a change is then written, too, with its own time."""

ANSWER_MS = 1_000
"""A running broker answers in milliseconds; a paused one is asked again a second later."""


class GroupWatch:
    """Polls all brokers until ``end``, which asks a last time; a context manager that ends it."""

    def __init__(self, cluster: Cluster, names: CaseNames, directory: CaseDirectory) -> None:
        self._cluster, self._names, self._directory = cluster, names, directory
        self._stack = ExitStack()
        self._stop = threading.Event()
        self._polls: list[_BrokerPoll] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            channels = undo.enter_context(channels_to(security_of(self._cluster)))
            lock = threading.Lock()
            journals = [
                undo.enter_context(self._directory.watched(name)) for name in (COMMITTED_JOURNAL, LISTED_JOURNAL)
            ]
            answers = _Answers(lock, *journals)
            self._polls = [_BrokerPoll(channels, node, self._names, answers) for node in self._cluster.brokers]
            self._stack = undo.pop_all()
        for poll in self._polls:
            thread = threading.Thread(target=self._run, args=(poll,), name="group-watch", daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    def end(self) -> None:
        """Stop, and ask a last time; idempotent."""
        if self._stop.is_set():
            return
        self._stop.set()
        for thread in self._threads:
            thread.join()
        with self._stack:
            for poll in self._polls:
                poll.ask(with_ids=True)

    def listed(self, arm: Arm) -> dict[str, ListedMembers]:
        """Each broker's last answer about the members of a group."""
        return {poll.broker: poll.listed[arm] for poll in self._polls if arm in poll.listed}

    def committed(self, arm: Arm) -> list[CommittedOffset]:
        """Each broker's last answer about each queue of a group."""
        return [offset for poll in self._polls for offset in poll.committed.get(arm, ())]

    def has_caught_up(self, arm: Arm, since_ns: int, own_ends: Mapping[tuple[str, int], int] | None = None) -> bool:
        """
        True if every queue of a group was last seen, after this time, with its committed offset at its end.

        own_ends: of queues of the fed topic, by broker and queue id, behind the last message that the group subscribes to; None
        for all ends. A broker lets a pull wait where only others have come, and the offset stays.
        """
        offsets = [offset for offset in self.committed(arm) if offset.asked_ns > since_ns]
        expected = sum(1 for _ in self._names.queues_of(arm))
        return len(offsets) == expected and all(
            offset.end is not None and _is_between(own_ends, offset, offset.end) for offset in offsets
        )

    def fed_ends(self, arm: Arm, since_ns: int) -> dict[tuple[str, int], int] | None:
        """Return the end of each queue of the fed topic as seen after this time, by broker and queue id; None if one was not."""
        offsets = [each for each in self.committed(arm) if each.kind is TopicKind.FED and each.asked_ns > since_ns]
        expected = sum(kind is TopicKind.FED for kind, *_ in self._names.queues_of(arm))
        ends = {(each.broker, each.queue_id): each.end for each in offsets if each.end is not None}
        return ends if len(ends) == expected else None

    def _run(self, poll: "_BrokerPoll") -> None:
        number = 0
        while not self._stop.wait(OFFSETS_EVERY_S):
            poll.ask(with_ids=number % IDS_EVERY == 0)
            number += 1


def _is_between(own_ends: Mapping[tuple[str, int], int] | None, offset: CommittedOffset, end: int) -> bool:
    """Whether a committed offset is at the end of a queue, or stands behind the group's own last message."""
    own = end
    if own_ends is not None and offset.kind is TopicKind.FED:
        own = own_ends.get((offset.broker, offset.queue_id), 0)
    return own <= (offset.value or 0) <= end


class _Answers:
    """The journals of both kinds of answers, for several threads."""

    def __init__(self, lock: threading.Lock, committed: Recorder, listed: Recorder) -> None:
        self._lock, self._committed, self._listed = lock, committed, listed

    def write(self, answer: CommittedOffset | ListedMembers) -> None:
        journal = self._committed if isinstance(answer, CommittedOffset) else self._listed
        with self._lock:
            journal.line(msgspec.json.encode(answer))


class _BrokerPoll:
    """The rounds of questions to one broker, numbered from 0."""

    def __init__(self, channels: Channels, node: Node, names: CaseNames, answers: _Answers) -> None:
        self.broker = node.name
        self.listed: dict[Arm, ListedMembers] = {}
        self.committed: dict[Arm, tuple[CommittedOffset, ...]] = {}
        self._written: dict[Arm, ListedMembers] = {}
        self._channels, self._node, self._names, self._answers = channels, node, names, answers
        self._number = 0

    def ask(self, *, with_ids: bool) -> None:
        """Ask once for everything, until a question is not answered."""
        number, self._number = self._number, self._number + 1
        is_there = True
        for arm in Arm:
            if with_ids:
                is_there = self._ask_ids(arm, number, is_there=is_there)
            is_there = self._ask_offsets(arm, number, is_there=is_there)

    def _ask_ids(self, arm: Arm, number: int, *, is_there: bool) -> bool:
        asked_ns, before = time.monotonic_ns(), self.listed.get(arm)
        answer = ListedMembers(arm, number, self.broker, asked_ns)
        try:
            if is_there:
                group = self._names.groups[arm].group
                code, ids = member_ids(self._channels, self._node.address, group, ANSWER_MS)
                answer = ListedMembers(arm, number, self.broker, asked_ns, time.monotonic_ns(), code, ids)
        except ADMIN_ERRORS:
            is_there = False
        self.listed[arm] = answer
        if before is None or (before.code, before.ids) != (answer.code, answer.ids):
            if (
                before is not None
                and asked_ns - before.asked_ns > FAR_APART_NS
                and before is not self._written.get(arm)
            ):
                self._answers.write(before)
            self._answers.write(answer)
            self._written[arm] = answer
        return is_there

    def _ask_offsets(self, arm: Arm, number: int, *, is_there: bool) -> bool:
        found = []
        for kind, topic, broker, queue_id in self._names.queues_of(arm):
            if broker != self.broker:
                continue
            answer = CommittedOffset(arm, number, time.monotonic_ns(), kind, broker, queue_id)
            try:
                if is_there:
                    answer = self._asked(answer, topic)
            except ADMIN_ERRORS:
                is_there = False
            found.append(answer)
        before = self.committed.get(arm, ())
        self.committed[arm] = tuple(found)
        if [(each.value, each.end) for each in before] != [(each.value, each.end) for each in found]:
            for answer in found:
                self._answers.write(answer)
        return is_there

    def _asked(self, answer: CommittedOffset, topic: str) -> CommittedOffset:
        address, group = self._node.address, self._names.groups[answer.arm].group
        end = queue_end(self._channels, address, topic, answer.queue_id, ANSWER_MS)
        value = committed_offset(self._channels, (answer.broker, address), group, topic, answer.queue_id, ANSWER_MS)
        return replace(answer, answered_ns=time.monotonic_ns(), value=value, end=end)
