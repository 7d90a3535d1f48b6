"""What the oracle knows of one queue of a group: its tenures, and the bounds of what the group may have committed."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from rocketdiff.analysis.consuming.story import CaseStory, Delivery, GroupStory, Pause, QueueOf, Tenure
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.tables.consumer_settings import AUTO_COMMIT_MS, POLL_MS
from rocketdiff.core.tables.fault import FaultRecord, Means
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer import committed as oracle
from rocketdiff.oracle.consumer.committed import FIRST_PERSIST_NS, SETTLED_NS, Bounds, Committed, Down
from rocketdiff.oracle.consumer.finishing import BOTH_WAYS_NS, Call, Progress
from rocketdiff.oracle.consumer.reach import (
    hides_commits,
    is_of_name_server,
    may_stay,
    meets_hand_backs,
    over_ns,
    unreachable_until_ns,
)
from rocketdiff.oracle.consumer.windows import NEVER_NS

LATE_NS = 3 * NS_PER_S
"""
What the one scheduling thread of a client may be late on a busy machine, and again for each server that does not answer: its
heartbeats and route polls wait 3 s.
"""

PERSIST_MS = 5_000
"""Default of persist_consumer_offset_interval_ms."""

TAKES_OVER_NS = FIRST_PERSIST_NS + 2 * SETTLED_NS
"""A member that took a queue may overwrite what the former one committed meanwhile, until it has itself persisted."""

_LEFT = "left"


class QueueOffsets:
    """One queue of one group; tenures: with what each member may remember, in the order of their beginnings."""

    def __init__(self, tenures: Sequence[tuple[Tenure, Progress]], committed: Committed) -> None:
        self.tenures = tuple(tenures)
        self._committed = committed
        self._by_member: defaultdict[int | None, list[tuple[Tenure, Progress]]] = defaultdict(list)
        for each in tenures:
            self._by_member[each[0].member].append(each)

    def bounds_at(self, instants: Iterable[int]) -> Mapping[int, Bounds]:
        """Return what may be committed at each instant (ns)."""
        rising = sorted(set(instants))
        return dict(zip(rising, self._committed.along(rising), strict=True))

    def of_member(self, member: int | None, at_ns: int) -> tuple[Tenure, Progress] | None:
        """Return a member's last tenure that had begun, whether it is over or not."""
        own = self._by_member[member]
        place = bisect_right(own, at_ns, key=lambda each: each[0].begin_ns)
        return own[place - 1] if place else None


def queue_offsets(story: CaseStory, group: GroupStory, queue: QueueOf) -> QueueOffsets | None:
    """Return None if a tenure's beginning is unknown, or was corrected: then nothing is certain about the queue."""
    if queue not in group.known_offsets:
        group.known_offsets[queue] = _queue_offsets(story, group, queue)
    found: QueueOffsets | None = group.known_offsets[queue]
    return found


def _queue_offsets(story: CaseStory, group: GroupStory, queue: QueueOf) -> QueueOffsets | None:
    tenures = group.tenures_of(queue)
    firsts = [first_of(group, tenure) for tenure in tenures]
    if not tenures or None in firsts or any(tenure.is_repaired for tenure in tenures):
        return None
    faults = [fault for fault in story.trace.faults if hides_commits(fault) or meets_hand_backs(fault)]
    handing_back = [fault for fault in faults if meets_hand_backs(fault)]
    progress: list[Progress] = []
    for tenure, first in zip(tenures, firsts, strict=True):
        assert first is not None, "of every tenure, as seen above"
        own = _progress(story, group, tenure, first, handing_back)
        progress.append(_after(group, tenure, progress[-1], own) if tenure.is_sought else own)
    records = [_record(group, tenure, own) for tenure, own in zip(tenures, progress, strict=True)]
    downs = [
        Down(fault.inject_ns, unreachable_until_ns(fault), fault.kind.traits.means is Means.KILL)
        for fault in faults
        if hides_commits(fault) and (fault.node == queue.broker or is_of_name_server(fault))
    ]
    persist_ns = int(group.settings.get("persist_consumer_offset_interval_ms", PERSIST_MS)) * NS_PER_MS
    every_ns = persist_ns + LATE_NS * (1 + len({fault.node for fault in faults}))
    return QueueOffsets(list(zip(tenures, progress, strict=True)), Committed(records, downs, every_ns))


def rises_only(
    story: CaseStory, group: GroupStory, queue: QueueOf, from_ns: int, to_ns: int, besides: Tenure | None = None
) -> bool:
    """
    True if a queue's committed offset cannot have gone back between two instants: one member at most may have written it.

    besides: a tenure that has written nothing by then.
    """
    is_disturbed = any(
        hides_commits(fault)
        and fault.node == queue.broker
        and fault.inject_ns <= to_ns
        and ((until_ns := over_ns(fault)) is None or from_ns <= until_ns + 2 * SETTLED_NS)
        for fault in story.trace.faults
    )
    writers = (each for each in group.tenures_within(queue, from_ns - TAKES_OVER_NS, to_ns) if each is not besides)
    return not is_disturbed and len(list(islice(writers, 2))) <= 1


def first_of(group: GroupStory, tenure: Tenure) -> int | None:
    """Return the offset at which a tenure must begin, None if unknown; a group without an offset begins as it is set."""
    if tenure.first is None or tenure.first >= 0:
        return tenure.first
    if tenure.queue.kind is TopicKind.RETRY or group.settings.get("consume_from_where") == "first":
        return 0
    return min((each.queue_offset for each in group.deliveries_in(tenure)), default=None)


def _progress(
    story: CaseStory, group: GroupStory, tenure: Tenure, first: int, faults: Sequence[FaultRecord]
) -> Progress:
    life = group.life_of(tenure)
    pauses = () if life is None else life.pauses
    counts_late_ns = auto_commit_ns(group.settings) if group.polls and not group.commits_itself else 0
    calls = tuple(_call(group, each, faults, pauses, counts_late_ns) for each in group.deliveries_in(tenure))
    killed_ns = group.killed_in(tenure)
    had = 0 if killed_ns is None else _had_by(story, tenure.queue, killed_ns)
    return Progress(first, tenure.until_ns, calls, tenure.updates, killed_ns, had)


def _after(group: GroupStory, tenure: Tenure, before: Progress, own: Progress) -> Progress:
    """
    Return the work after a seek of the one member that works on the queue, which may remember what it worked on before for a while.

    It forgets that with the first commit after its task has pulled from the new offset, so after a delivery from there.
    """
    begun_ns = min((each.start_ns for each in group.deliveries_in(tenure)), default=None)
    until_ns = NEVER_NS if begun_ns is None else begun_ns + auto_commit_ns(group.settings) + SETTLED_NS
    return replace(own, before=before, before_until_ns=until_ns)


def _had_by(story: CaseStory, queue: QueueOf, at_ns: int) -> int:
    """Return the offset behind the last message that was stored by an instant; of a retry queue, whose copies are not timed, none is."""
    if queue.kind is not TopicKind.FED:
        return NEVER_NS
    stored = (
        (each, story.stored_ns.get(each.send)) for each in (story.held or {}).get(queue, ()) if each.send is not None
    )
    return max(
        (each.queue_offset + 1 for each, stored_ns in stored if stored_ns is None or stored_ns <= at_ns + NS_PER_S),
        default=0,
    )


def _call(
    group: GroupStory,
    each: Delivery,
    faults: Sequence[FaultRecord],
    pauses: Sequence[Pause],
    counts_late_ns: int,
) -> Call:
    if group.holds_up(each):
        return Call(each.queue_offset, None)
    stays, held_ns = bool(faults) and may_stay(faults, each.end_ns), counts_late_ns
    for pause in pauses:
        if each.end_ns is not None and pause.meets(each.end_ns, each.end_ns + BOTH_WAYS_NS):
            held_ns += NEVER_NS if pause.until_ns is None else pause.until_ns - pause.from_ns
    return Call(each.queue_offset, each.end_ns, each.has_failed, stays, held_ns)


def auto_commit_ns(settings: Mapping[str, int | str]) -> int:
    """From the end of a call to the poll that commits its messages, at the longest: an interval, and the poll under way when it ends."""
    interval_ms = int(settings.get("auto_commit_interval_ms", AUTO_COMMIT_MS))
    return (interval_ms + int(settings.get("poll_timeout_ms", POLL_MS))) * NS_PER_MS


def _record(group: GroupStory, tenure: Tenure, progress: Progress) -> oracle.Tenure:
    """A member that leaves commits when it begins to; what is finished later is not."""
    life = group.life_of(tenure)
    gone_ns = None if life is None else life.gone_ns
    ends = [at_ns for at_ns in (tenure.until_ns, gone_ns) if at_ns is not None]
    if life is not None and life.is_cut_off and tenure.until_ns is None:
        own = (each.end_ns for each in group.deliveries_in(tenure) if each.end_ns is not None)
        ends.append(max(own, default=tenure.begin_ns))
    joined_ns = tenure.from_ns if life is None or life.join_ns is None else life.join_ns
    was_given_up = not tenure.is_left and tenure.until_ns is not None and (gone_ns is None or tenure.until_ns < gone_ns)
    writes = was_given_up or (not tenure.is_left and life is not None and life.ended == _LEFT)
    frozen = tuple(Down(pause.from_ns, pause.until_ns) for pause in (() if life is None else life.pauses))
    persists_ns = joined_ns + FIRST_PERSIST_NS
    return oracle.Tenure(tenure.begin_ns, min(ends, default=None), persists_ns, progress, writes, frozen)
