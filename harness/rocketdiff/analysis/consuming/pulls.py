"""The pulls of a group's members as their relays saw them, by the member's work on one queue."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rocketdiff.analysis.case_trace import CaseTrace, Row
from rocketdiff.analysis.consuming.story import QueueOf, queue_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind, WireEvent
from rocketdiff.core.tables.topology import master_of
from rocketdiff.traces.schema import TableName

WITH_OFFSET = frozenset({0, 19, 20})
"""Codes whose answer says where to go on: SUCCESS, PULL_NOT_FOUND and PULL_RETRY_IMMEDIATELY."""

MOVED, GO_AWAY = 21, 1500
"""PULL_OFFSET_MOVED, which ends the work on the queue as it was; GO_AWAY, after which the request is sent again."""


@dataclass(frozen=True, slots=True)
class WirePull:
    """
    One pull. lost_ns: when its connection ended; commit: the offset that it commits; suggested: broker id for the next one.

    answered_ns, code, next_offset, count: None without an answer.
    """

    member: int
    number: int
    node: str
    queue: QueueOf
    in_ns: int
    offset: int
    commit: int | None
    answered_ns: int | None
    code: int | None
    next_offset: int | None
    count: int | None
    suggested: int | None
    lost_ns: int | None

    @property
    def over_ns(self) -> int | None:
        """When nothing was to be expected any more; None if that was not seen."""
        return self.lost_ns if self.answered_ns is None else self.answered_ns

    @property
    def is_at_a_slave(self) -> bool:
        return master_of(self.node) != self.node


def pulls_of(trace: CaseTrace, arm: Arm) -> tuple[WirePull, ...] | None:
    """Return the pulls of a group in the order in which each relay saw them; None if no relay stood before its members."""
    if (TableName.WIRE, arm) not in trace.tables:
        return None
    rows = trace.rows(TableName.WIRE, arm)
    ends: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for row in rows:
        if row["what"] == WireEvent.END:
            ends[row["member"], row["connection"]].append(row["in_ns"])
    pulls = (_pull(row, ends) for row in rows if row["what"] == WireEvent.PULL)
    own = (pull for pull in pulls if pull is not None and pull.queue.kind is not TopicKind.OTHER)
    return tuple(sorted(own, key=lambda pull: (pull.member, pull.number)))


def by_queue(pulls: Iterable[WirePull]) -> Mapping[tuple[int, QueueOf], list[WirePull]]:
    """Return pulls by member and queue."""
    found: defaultdict[tuple[int, QueueOf], list[WirePull]] = defaultdict(list)
    for pull in pulls:
        found[pull.member, pull.queue].append(pull)
    return found


def _pull(row: Row, ends: Mapping[tuple[int, int], list[int]]) -> WirePull | None:
    """None for one that names no queue or offset."""
    if None in (row["kind"], row["broker"], row["queue_id"], row["offset"]):
        return None
    later = (at_ns for at_ns in ends.get((row["member"], row["connection"]), ()) if at_ns >= row["in_ns"])
    return WirePull(
        row["member"],
        row["number"],
        row["node"],
        queue_of(row["kind"], row["broker"], row["queue_id"]),
        row["in_ns"],
        row["offset"],
        row["commit_offset"],
        row["answered_ns"],
        row["code"],
        row["next_offset"],
        row["count"],
        row["suggested"],
        min(later, default=None),
    )
