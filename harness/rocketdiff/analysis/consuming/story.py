"""
What happened in one case, from its sealed tables: what was stored, and each group's deliveries, tenures and offsets.

A tenure is the time for which a member works on a queue. It begins and ends where ``owned`` says, or for a member that reports none
where its relay does, and its first offset is the one that the member asked for or was told when it began.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

from rocketdiff.analysis.case_trace import CaseTrace, Row, tuples_of
from rocketdiff.analysis.consuming.wire_offsets import offsets_on_the_wire
from rocketdiff.analysis.consuming.wire_owned import ids_on_the_wire, owned_on_the_wire, pulling_members
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.plan import ConsumerCall
from rocketdiff.core.consuming.watched import GroupTopics, TopicKind
from rocketdiff.core.records.consuming import FAILED, CallResult, OffsetEvent
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.subscription import Subscribed
from rocketdiff.oracle.consumer.windows import suspended_ms
from rocketdiff.traces.manifest import LONGEST_STALL, GroupEntry
from rocketdiff.traces.schema import TableName

NO_OFFSET = -1
"""A broker's answer for a group that has committed nothing."""

LOOK_NS = 40 * NS_PER_MS
"""Twice the longest time between two looks at the queues that a client works on."""


STORED_NS = NS_PER_S
"""From a message's time of storing until its queue ends behind it, or the other way round, on a busy machine."""

BEGUN_NS, BEGUN_BY_ALL_NS = NS_PER_S, 5 * NS_PER_S
"""
Calls of a queue begin in the order of their offsets, but for threads that wait for a core, or for clients whose threads take batches: the
C++ client's were seen a second apart.
"""


class QueueOf(NamedTuple):
    """A queue of the fed topic, or of the group's retry topic."""

    kind: TopicKind
    broker: str
    queue_id: int

    def __str__(self) -> str:
        return f"queue {self.queue_id} of {self.broker}{'' if self.kind is TopicKind.FED else f' ({self.kind})'}"


_KINDS: Mapping[str, TopicKind] = {str(kind): kind for kind in TopicKind}
_EVENTS: Mapping[str, OffsetEvent] = {str(event): event for event in OffsetEvent}
_RESULTS: Mapping[str | None, CallResult | None] = {None: None, **{str(result): result for result in CallResult}}


@lru_cache
def queue_of(kind: str, broker: str, queue_id: int) -> QueueOf:
    """Return a queue from the words of a table; cached, because most rows name one."""
    return QueueOf(TopicKind(kind), broker, queue_id)


class Held(NamedTuple):
    """A message of the fed topic as its broker holds it. send: None if it is none of ours."""

    queue: QueueOf
    queue_offset: int
    send: int | None
    store_ms: int
    body_ok: bool
    properties: str | None
    born_host: str


class Delivery(NamedTuple):
    """
    One message in one call of a listener. number: of the delivery of its message in its group, from 0.

    end_ns, result: None if the call never ended. suspend_ms: what an orderly listener asked for. shown: what kind of topic the message
    names. key: UNIQ_KEY. properties: None if as at the first delivery of its number, or at it if its sender gave it none. is_behind: the
    call acknowledged only messages before it.
    """

    member: int
    incarnation: int
    call: int
    queue: QueueOf
    queue_offset: int
    send: int | None
    times: int
    body_ok: bool
    start_ns: int
    end_ns: int | None
    result: CallResult | None
    delay_level: int | None
    suspend_ms: int | None
    shown: TopicKind
    properties: str | None
    key: str | None
    is_behind: bool
    number: int = 0

    @property
    def has_failed(self) -> bool:
        return self.result in FAILED or self.is_behind


@dataclass(frozen=True, slots=True)
class Tenure:
    """
    until_ns: None if it lasted to the end. first: its first offset, None if unknown; -1 if the broker knew none.

    asked_ns: when the broker's answer was seen, None if it was not. updates: instants and values that the client remembered.
    is_repaired: the client corrected an offset that the broker refused. is_sought: it begins where the application has gone to, in a
    queue that the member has already. is_left: the application has gone on elsewhere at its end.
    """

    member: int
    incarnation: int
    queue: QueueOf
    from_ns: int
    until_ns: int | None
    first: int | None
    asked_ns: int | None
    updates: tuple[tuple[int, int], ...] = field(compare=False)  # long, and said by the rest
    is_repaired: bool
    is_sought: bool = False
    is_left: bool = False

    @property
    def begin_ns(self) -> int:
        """The earliest instant at which a message of it may be delivered."""
        if self.is_sought:
            return self.from_ns
        return self.from_ns - LOOK_NS if self.asked_ns is None else min(self.asked_ns, self.from_ns)

    def covers(self, at_ns: int) -> bool:
        return self.from_ns <= at_ns and (self.until_ns is None or at_ns < self.until_ns)


class Commit(NamedTuple):
    """
    A committed offset. by_ns: when it was known. member: that sent it, None if the broker was asked.

    value: -1 if the broker knew none. asked_ns: when the broker was asked, or it was sent. end: of the queue then, None if not
    asked.
    """

    queue: QueueOf
    by_ns: int
    value: int
    asked_ns: int
    member: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class ReturnedCopy:
    """
    A failed message as a broker holds it. place: ``waiting`` for its delay, for good; ``retry`` since it came due; or ``dead``.

    queue: of its place; of a waiting one the retry topic's. level: None if unseen.
    """

    place: str
    queue: QueueOf
    queue_offset: int
    send: int | None
    times: int
    store_ms: int
    level: int | None
    born_host: str
    properties: str | None
    body_ok: bool


@dataclass(frozen=True, slots=True)
class Round:
    """
    A member's computation of its share of a topic, with the ids and queues that it had.

    queues, result: in the client's order. error: it threw.
    """

    member: int
    incarnation: int
    at_ns: int
    kind: TopicKind
    strategy: str
    ids: tuple[str, ...]
    queues: tuple[QueueOf, ...]
    result: tuple[QueueOf, ...]
    error: str | None


@dataclass(frozen=True, slots=True)
class Listing:
    """The ids that a broker listed, with repetitions, from this question on; poll: its round; answered_ns: None without an answer."""

    poll: int
    broker: str
    asked_ns: int
    answered_ns: int | None
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pause:
    """Of a member's process. until_ns: None if it was not ended."""

    from_ns: int
    until_ns: int | None

    def meets(self, from_ns: float, to_ns: float) -> bool:
        """True if it covers some instant of a time."""
        return self.from_ns <= to_ns and (self.until_ns is None or from_ns <= self.until_ns)


@dataclass(frozen=True, slots=True)
class Applied:
    """
    A call of the application about a queue, between two polls. offset: of a seek. error: it threw.
    """

    what: ConsumerCall
    queue: QueueOf
    start_ns: int
    end_ns: int
    offset: int | None
    error: str | None


@dataclass(frozen=True, slots=True)
class QueuePause:
    """A queue from which a member pulls no more, since the pause returned, until its resumption; until_ns: None without one."""

    member: int
    incarnation: int
    queue: QueueOf
    from_ns: int
    until_ns: int | None


@dataclass(frozen=True, slots=True)
class Life:
    """
    One incarnation of a member; leave_ns: None if it did not leave; killed_ns: None if it was not killed.

    joined_ns, left_ns: when the calls to start and to shut down returned; leave_error: what the latter threw, or the signal that ended
    the process in it. client_id: None if it was neither reported nor seen. applied: calls of its application, by time.
    """

    member: int
    incarnation: int
    join_ns: int | None
    leave_ns: int | None
    ended: str
    error: str | None
    killed_ns: int | None
    joined_ns: int | None
    left_ns: int | None
    client_id: str | None
    subject: str
    pauses: tuple[Pause, ...]
    leave_error: str | None
    applied: tuple[Applied, ...]

    @property
    def queue_pauses(self) -> Iterator[QueuePause]:
        """Yield the pauses of its queues."""
        for number, each in enumerate(self.applied):
            if each.what is ConsumerCall.PAUSE and each.error is None:
                later = (after for after in self.applied[number:] if after.queue == each.queue)
                until_ns = next((after.start_ns for after in later if after.what is ConsumerCall.RESUME), None)
                yield QueuePause(self.member, self.incarnation, each.queue, each.end_ns, until_ns)

    @property
    def gone_ns(self) -> int | None:
        """When it began to go, None if it stayed or its end is unknown."""
        return self.leave_ns if self.killed_ns is None else self.killed_ns

    @property
    def is_cut_off(self) -> bool:
        """True if it was there no more from an unknown instant on."""
        return self.gone_ns is None and self.ended in ("died", "killed")


@dataclass(frozen=True)
class GroupStory:
    """
    One arm's group. No slots, because its views are cached.

    fed_until_ns: when the last message was due. settings: that the scenario names. unanswered: queues about which their broker was
    asked last without an answer. rounds, listings: by time. silent: members whose work on queues is known from the wire alone: when it
    ended in the client is not. polls: its members are lite pull consumers, each with one thread that polls;
    commits_itself: and commits after its work on each poll. unsubscribed: deliveries of messages with tags that are none of its group's,
    which the others do not contain.
    """

    arm: Arm
    lives: tuple[Life, ...]
    deliveries: tuple[Delivery, ...]
    tenures: tuple[Tenure, ...]
    commits: tuple[Commit, ...]
    returned: tuple[ReturnedCopy, ...] | None
    watched_until_ns: int
    fed_until_ns: int
    settings: Mapping[str, int | str]
    is_orderly: bool
    is_broadcasting: bool
    unanswered: frozenset[QueueOf]
    rounds: tuple[Round, ...]
    listings: tuple[Listing, ...]
    topics: GroupTopics
    silent: frozenset[int]
    polls: bool
    commits_itself: bool
    unsubscribed: tuple[Delivery, ...]

    @cached_property
    def readers(self) -> tuple["GroupStory", ...]:
        """Those that each get every message: the group, or each member of a broadcasting one."""
        return (
            tuple(map(self._alone, sorted({life.member for life in self.lives}))) if self.is_broadcasting else (self,)
        )

    def _alone(self, member: int) -> "GroupStory":
        return replace(
            self,
            lives=tuple(each for each in self.lives if each.member == member),
            deliveries=tuple(_numbered(each for each in self.deliveries if each.member == member)),
            tenures=tuple(each for each in self.tenures if each.member == member),
            commits=tuple(each for each in self.commits if each.member == member),
            is_broadcasting=False,
        )

    @cached_property
    def known_offsets(self) -> dict[QueueOf, Any]:
        """What ``group_offsets`` has found of queues, because several checks ask for it."""
        return {}

    @cached_property
    def by_queue(self) -> Mapping[QueueOf, tuple[Delivery, ...]]:
        return _grouped(self.deliveries, lambda delivery: delivery.queue)

    @cached_property
    def fed_rounds(self) -> Mapping[tuple[int, int], tuple[Round, ...]]:
        """Rounds of the fed topic, by member and incarnation."""
        fed = (each for each in self.rounds if each.kind is TopicKind.FED)
        return _grouped(fed, lambda each: (each.member, each.incarnation))

    @cached_property
    def commits_by_queue(self) -> Mapping[QueueOf, tuple[Commit, ...]]:
        return _grouped(self.commits, lambda commit: commit.queue)

    @cached_property
    def by_send(self) -> Mapping[int, tuple[Delivery, ...]]:
        known = [delivery for delivery in self.deliveries if delivery.send is not None]
        return _grouped(known, lambda delivery: delivery.send)

    @cached_property
    def changes_ns(self) -> tuple[int, ...]:
        """When members joined and began to go, by time."""
        changes = (at_ns for life in self.lives for at_ns in (life.join_ns, life.gone_ns))
        return tuple(sorted(at_ns for at_ns in changes if at_ns is not None))

    @cached_property
    def first_leave_ns(self) -> int:
        """When the first member began to leave for good, after the feed; the end of the watch if none did."""
        left = (life.leave_ns for life in self.lives if life.leave_ns is not None)
        return min((at_ns for at_ns in left if at_ns >= self.fed_until_ns), default=self.watched_until_ns)

    def holds_up(self, delivery: Delivery) -> bool:
        """True if a delivery failed and its message stays: in order, unless it has failed too often and is sent away."""
        most = int(self.settings.get("max_reconsume_times", -1))
        return self.is_orderly and delivery.has_failed and (most == -1 or delivery.times < most)

    def suspended_ms(self, delivery: Delivery) -> int:
        """Return how long such a message holds its queue up."""
        return suspended_ms(delivery.suspend_ms, self.settings)

    def tenures_of(self, queue: QueueOf) -> tuple[Tenure, ...]:
        """Return the tenures of a queue in the order of their beginnings."""
        return self._tenures.get(queue, ())

    def tenures_within(self, queue: QueueOf, from_ns: int, to_ns: int) -> Iterator[Tenure]:
        """Yield the tenures of a queue that had a part in an interval, the latest first."""
        tenures, ends = self.tenures_of(queue), self._latest_ends.get(queue, ())
        place = bisect_right(tenures, to_ns, key=lambda tenure: tenure.begin_ns)
        while place and ends[place - 1] >= from_ns:
            place -= 1
            if (until_ns := tenures[place].until_ns) is None or until_ns >= from_ns:
                yield tenures[place]

    def tenure_at(self, delivery: Delivery) -> Tenure | None:
        """Return the tenure in which a message was delivered; a call may begin just after its queue was given up."""
        own = self._tenures_by_life.get((delivery.member, delivery.incarnation, delivery.queue), ())
        place = bisect_right(own, delivery.start_ns, key=lambda tenure: tenure.begin_ns)
        return own[place - 1] if place else None

    def starts_after(self, fault: FaultRecord) -> list[int]:
        """Return when deliveries from the fed queues of the faulty broker began since its heal began; none without a heal."""
        heal_ns = inf if fault.heal_ns is None else fault.heal_ns
        return [
            each.start_ns
            for queue, deliveries in self.by_queue.items()
            if queue.broker == fault.node and queue.kind is TopicKind.FED
            for each in deliveries
            if each.start_ns >= heal_ns
        ]

    @property
    def pull_interval_ns(self) -> int:
        """What a member waits after messages before it asks a queue again."""
        return int(self.settings.get("pull_interval_ms", 0)) * NS_PER_MS

    def life_of(self, tenure: Tenure) -> Life | None:
        return self._lives.get((tenure.member, tenure.incarnation))

    def has_committed_past(self, queue: QueueOf, offset: int) -> bool:
        """True if a member of the group, or its broker, named an offset above this one as committed: nobody begins at it any more."""
        return any(each.value > offset for each in self.commits_by_queue.get(queue, ()))

    def leaves_to_the_next(self, tenure: Tenure, at: Delivery, offset: int) -> bool:
        """
        True if a tenure was over so soon after a call that an earlier one may not have begun. offset: of the earlier one's message.

        What has not begun is the next owner's, unless a committed offset has passed it.
        """
        left_ns = self.over_ns(tenure) - at.start_ns
        return left_ns < BEGUN_NS or (left_ns < BEGUN_BY_ALL_NS and not self.has_committed_past(tenure.queue, offset))

    def over_ns(self, tenure: Tenure) -> int:
        """Return when a member no longer worked on a queue, or began to go, or was no longer watched."""
        life = self.life_of(tenure)
        ends = (tenure.until_ns, None if life is None else life.gone_ns, self.watched_until_ns)
        return min(end_ns for end_ns in ends if end_ns is not None)

    def was_paused(self, delivery: Delivery, from_ns: int, to_ns: int) -> bool:
        """True if the process that a message was delivered to was paused at some instant of a time."""
        life = self._lives.get((delivery.member, delivery.incarnation))
        return life is not None and any(pause.meets(from_ns, to_ns) for pause in life.pauses)

    def killed_in(self, tenure: Tenure) -> int | None:
        """Return when the member's process was killed, None if it was not, or had given the queue up before."""
        life = self.life_of(tenure)
        killed_ns = None if life is None else life.killed_ns
        is_over = killed_ns is not None and tenure.until_ns is not None and tenure.until_ns < killed_ns
        return None if is_over else killed_ns

    def deliveries_in(self, tenure: Tenure) -> tuple[Delivery, ...]:
        return self._by_tenure.get(tenure, ())

    @cached_property
    def _lives(self) -> Mapping[tuple[int, int], Life]:
        return {(life.member, life.incarnation): life for life in self.lives}

    @cached_property
    def _by_tenure(self) -> Mapping[Tenure | None, tuple[Delivery, ...]]:
        return _grouped(self.deliveries, self.tenure_at)

    @cached_property
    def _tenures_by_life(self) -> Mapping[tuple[int, int, QueueOf], tuple[Tenure, ...]]:
        found = _grouped(self.tenures, lambda tenure: (tenure.member, tenure.incarnation, tenure.queue))
        return {key: tuple(sorted(own, key=lambda tenure: tenure.begin_ns)) for key, own in found.items()}

    @cached_property
    def _tenures(self) -> Mapping[QueueOf, tuple[Tenure, ...]]:
        return _grouped(sorted(self.tenures, key=lambda tenure: tenure.begin_ns), lambda tenure: tenure.queue)

    @cached_property
    def _latest_ends(self) -> Mapping[QueueOf, tuple[float, ...]]:
        """By queue: the latest end of the tenures up to each."""
        return {
            queue: tuple(accumulate((inf if each.until_ns is None else each.until_ns for each in own), max))
            for queue, own in self._tenures.items()
        }


@dataclass(frozen=True)
class CaseStory:
    """held: None if the topic was not read back; else by queue, by offset, what the groups subscribe to (``oracle.consumer.subscription``)."""

    trace: CaseTrace
    held: Mapping[QueueOf, tuple[Held, ...]] | None
    groups: Mapping[Arm, GroupStory]

    @cached_property
    def stored_ns(self) -> Mapping[int, int]:
        """When each message was stored at the latest, by its number; empty if the clocks were not compared."""
        clock = self.trace.entry.clock
        if clock is None:
            return {}
        return {send: clock.latest_ns(held.store_ms) for send, held in self.held_by_send.items()}

    @property
    def stalled_ns(self) -> int:
        """For how long this machine was seen to stall in the case, at the longest; 0 if it was not measured."""
        return int(self.trace.entry.measured.get(LONGEST_STALL, 0))

    @cached_property
    def held_by_send(self) -> Mapping[int, Held]:
        found = (each for queue in (self.held or {}).values() for each in queue)
        return {each.send: each for each in found if each.send is not None}


def story_of(trace: CaseTrace) -> CaseStory:
    """Read the tables of a case about consumers."""
    table = trace.tables.get((TableName.HELD, None))
    held = list(map(_held, trace.rows(TableName.HELD)))
    tags = next((group.tags for group in trace.entry.groups.values()), ())
    subscribed = Subscribed(((each.queue, each.queue_offset, each.properties) for each in held), tags)
    own = (_placed(each, subscribed) for each in held if subscribed.takes(each.queue, each.queue_offset))
    return CaseStory(
        trace,
        None if table is None else _grouped(own, lambda each: each.queue),
        {arm: _group(trace, arm, subscribed, _Ends(trace, held)) for arm in Arm},
    )


def _placed(message: Held, subscribed: Subscribed) -> Held:
    place = subscribed.place(message.queue, message.queue_offset)
    return message if place == message.queue_offset else message._replace(queue_offset=place)


def _watched_until_ns(polls: Iterable[Row], lives: Iterable[Life], deliveries: Iterable[Delivery]) -> int:
    """A round of questions that brought nothing new has no row, but the last one came after the last leave."""
    seen_ns = [poll["answered_ns"] for poll in polls if poll["answered_ns"] is not None]
    left_ns = [life.leave_ns for life in lives if life.leave_ns is not None]
    return max((*seen_ns, *left_ns, *(each.end_ns or each.start_ns for each in deliveries)), default=0)


def _unanswered(polls: Iterable[Row]) -> frozenset[QueueOf]:
    last = {_queue(poll): poll["answered_ns"] for poll in polls}
    return frozenset(queue for queue, at_ns in last.items() if at_ns is None)


def _placed_rows(rows: Iterable[Row], subscribed: Subscribed, *columns: str) -> Iterator[Row]:
    """Yield rows about a queue, with the offsets in these columns as places."""
    if subscribed.has_everything:
        yield from rows
        return
    for row in rows:
        queue = _queue(row)
        yield {**row} | {name: subscribed.place(queue, row[name]) for name in columns if row.get(name) is not None}


class _Ends:
    """Between which offsets a queue ended at an instant, from when its messages were stored; clocks that were not compared say nothing."""

    def __init__(self, trace: CaseTrace, held: Iterable[Held]) -> None:
        clock = trace.entry.clock
        self._stored: dict[QueueOf, list[int]] = {}
        if clock is not None:
            for each in sorted(held, key=lambda each: each.queue_offset):
                self._stored.setdefault(each.queue, []).append(clock.latest_ns(each.store_ms))

    def between(self, queue: QueueOf, from_ns: int, to_ns: int) -> tuple[int, int]:
        """Return the offset behind what was stored long enough before, and the offset of what came long enough after."""
        stored = self._stored.get(queue, [])
        return bisect_right(stored, from_ns - STORED_NS), bisect_right(stored, to_ns + STORED_NS)


def _cut_at_seeks(
    tenures: Iterable[Tenure], lives: Iterable[Life], deliveries: Sequence[Delivery], ends: _Ends
) -> Iterator[Tenure]:
    """
    Yield tenures, those in which the application went to another offset in parts: a new one begins where it went to.

    What a member remembers between a seek and the first delivery after it may be of before.
    """
    seeks = _grouped(
        ((life, each) for life in lives for each in life.applied if each.what.is_seek and each.error is None),
        lambda one: (one[0].member, one[0].incarnation, one[1].queue),
    )
    for tenure in tenures:
        part = tenure
        for _, seek in seeks.get((tenure.member, tenure.incarnation, tenure.queue), ()):
            if not part.covers(seek.start_ns):
                continue
            yield replace(part, until_ns=seek.start_ns, is_left=True, updates=_until(part.updates, seek.start_ns))
            part = replace(part, from_ns=seek.start_ns, asked_ns=None, is_sought=True)
            own = [each for each in deliveries if part.covers(each.start_ns) and _is_of(part, each)]
            own = own[: next((n for n, each in enumerate(own) if _is_after_another(seeks, part, seek, each)), len(own))]
            begun_ns = min((each.start_ns for each in own), default=None)
            after = tuple(each for each in tenure.updates if begun_ns is not None and each[0] >= begun_ns)
            part = replace(part, first=_sought(seek, own, ends), updates=after)
        yield part


def _until(updates: Iterable[tuple[int, int]], at_ns: int) -> tuple[tuple[int, int], ...]:
    return tuple(each for each in updates if each[0] < at_ns)


def _is_of(tenure: Tenure, delivery: Delivery) -> bool:
    return (delivery.member, delivery.incarnation, delivery.queue) == (tenure.member, tenure.incarnation, tenure.queue)


def _is_after_another(seeks: Mapping[Any, Any], part: Tenure, seek: Applied, delivery: Delivery) -> bool:
    later = seeks[part.member, part.incarnation, part.queue]
    return any(seek.start_ns < each.start_ns <= delivery.start_ns for _, each in later)


def _sought(seek: Applied, deliveries: Sequence[Delivery], ends: _Ends) -> int:
    """Return the offset that the application has gone to: of a queue's end the one that was delivered, as far as it may be the end."""
    if seek.what is ConsumerCall.SEEK_TO_END:
        least, most = ends.between(seek.queue, seek.start_ns, seek.end_ns)
        return min(max(least, min((each.queue_offset for each in deliveries), default=most)), most)
    return seek.offset or 0


def _group(trace: CaseTrace, arm: Arm, subscribed: Subscribed, ends: _Ends) -> GroupStory:
    returned = trace.tables.get((TableName.RETURNED, arm))
    own = trace.entry.groups.get(arm, GroupEntry("", 0))
    # Lite pull consumers have no retry topic, though the runner makes one for each group.
    answers = _placed_rows(trace.rows(TableName.COMMITTED, arm), subscribed, "value", "end")
    polls = [row for row in answers if row["kind"] == TopicKind.FED or not own.polls]
    members = trace.rows(TableName.MEMBERS, arm)
    wire = trace.rows(TableName.WIRE, arm)
    lives = tuple(map(partial(_life, ids_on_the_wire(wire)), members))
    events, owned = list(trace.rows(TableName.OFFSETS, arm)), list(trace.rows(TableName.OWNED, arm))
    reporting, owning = {row["member"] for row in events}, {row["member"] for row in owned}
    events += offsets_on_the_wire(wire, members, reporting)
    events = [*_placed_rows(events, subscribed, "value")]
    silent = pulling_members(wire) - owning
    if silent:
        owned += owned_on_the_wire(wire, trace.rows(TableName.CALLS, arm), members, owning)
    deliveries, unsubscribed = _deliveries(trace, arm, subscribed)
    tenures = _tenures(owned, events, lives, asks_again=own.is_orderly or own.polls)
    return GroupStory(
        arm,
        lives,
        deliveries,
        tuple(_cut_at_seeks(tenures, lives, deliveries, ends)),
        tuple(sorted((*_sent(events), *_answered(polls)), key=lambda commit: commit.by_ns)),
        None if returned is None else tuple(map(_copy, trace.rows(TableName.RETURNED, arm))),
        _watched_until_ns(polls, lives, deliveries),
        trace.origin_ns + int(trace.entry.duration_s * NS_PER_S),
        own.settings,
        own.is_orderly,
        own.is_broadcasting,
        _unanswered(polls),
        tuple(sorted(map(_round, trace.rows(TableName.ALLOCATIONS, arm)), key=lambda each: each.at_ns)),
        tuple(sorted(map(_listing, trace.rows(TableName.LISTED, arm)), key=lambda each: each.asked_ns)),
        GroupTopics(own.name, trace.entry.topics.get(arm, "")),
        silent,
        own.polls,
        own.commits_itself,
        unsubscribed,
    )


def _deliveries(
    trace: CaseTrace, arm: Arm, subscribed: Subscribed
) -> tuple[tuple[Delivery, ...], tuple[Delivery, ...]]:
    """Return those of the group's messages, and the others, in the order of their calls."""
    calls = {(member, call): rest for member, call, *rest in tuples_of(trace.table(TableName.CALLS, arm), _OF_CALLS)}
    rows = [(calls[row[:2]], row) for row in tuples_of(trace.table(TableName.DELIVERIES, arm), _OF_DELIVERIES)]
    rows.sort(key=lambda one: (one[0][0], *one[1][:3]))
    counts: defaultdict[int | None, int] = defaultdict(int)
    own, others = [], []
    for call, row in rows:
        queue, offset, send = queue_of(*call[1:4]), row[2], row[3]
        if subscribed.takes(queue, offset):
            own.append(_delivery(call, row, queue, subscribed.place(queue, offset), counts[send]))
            counts[send] += 1
        else:
            others.append(_delivery(call, row, queue, offset, 0))
    return tuple(own), tuple(others)


_OF_CALLS = (
    *("member", "call", "start_ns", "kind", "broker", "queue_id", "end_ns", "incarnation"),
    *("result", "delay_level", "suspend_ms", "ack_index"),
)
_OF_DELIVERIES = (
    *("member", "call", "queue_offset", "send", "times", "body_ok", "shown_topic"),
    *("properties", "unique_key", "place"),
)


def _delivery(call: Sequence[Any], row: Sequence[Any], queue: QueueOf, queue_offset: int, number: int) -> Delivery:
    start_ns, _, _, _, end_ns, incarnation, result, delay_level, suspend_ms, ack_index = call
    member, called, _, send, times, body_ok, shown, properties, key, place = row
    return Delivery(
        member=member,
        incarnation=incarnation,
        call=called,
        queue=queue,
        queue_offset=queue_offset,
        send=send,
        times=times,
        body_ok=body_ok,
        start_ns=start_ns,
        end_ns=end_ns,
        result=_RESULTS[result],
        delay_level=delay_level,
        suspend_ms=suspend_ms,
        shown=_KINDS[shown],
        properties=properties,
        key=key,
        is_behind=ack_index is not None and place > ack_index,
        number=number,
    )


def _numbered(deliveries: Iterable[Delivery]) -> Iterator[Delivery]:
    counts: defaultdict[int | None, int] = defaultdict(int)
    for each in deliveries:
        yield each._replace(number=counts[each.send])
        counts[each.send] += 1


_Work = tuple[int, int, QueueOf]
"""Member, incarnation and queue."""


class _Seen:
    """What a member did with the offset of one queue, in the order of time. forgotten_ns: if it may ask again, when it forgot it."""

    def __init__(
        self, events: Iterable[tuple[int, OffsetEvent, int]], forgotten_ns: Iterable[int] | None = None
    ) -> None:
        self._events = sorted(events)
        self._queries = [each for each in self._events if each[1] is OffsetEvent.QUERY and each[2] >= NO_OFFSET]
        self._forgotten_ns = None if forgotten_ns is None else sorted(forgotten_ns)

    def tenures(self, work: _Work, from_ns: int, until_ns: int | None) -> Iterator[Tenure]:
        """
        Yield the tenures while a queue was seen to be owned; its query comes just before.

        An owned set is a look at the client, so that a question may also be seen up to one look later. A member that asks again has
        given the queue up and taken it again between two looks, but for one that consumes in order, or polls, and has not forgotten
        the offset: it begins where it is answered last.
        """
        first = bisect_right(self._queries, from_ns + LOOK_NS, key=_instant)
        last = len(self._queries)
        if until_ns is not None:
            last = bisect_right(self._queries, until_ns - LOOK_NS, key=_instant)
        begins = [from_ns]
        asked: list[tuple[int, OffsetEvent, int] | None] = [self._queries[first - 1] if first else None]
        for each in self._queries[first:last]:
            last_query = asked[-1]
            if self._has_forgotten(from_ns if last_query is None else last_query[0], each[0]):
                begins.append(each[0])
                asked.append(each)
            else:
                asked[-1] = each
        for query, begin_ns, end_ns in zip(asked, begins, [*begins[1:], until_ns], strict=True):
            low = bisect_left(self._events, begin_ns if query is None else min(begin_ns, query[0]), key=_instant)
            high = len(self._events) if end_ns is None else bisect_right(self._events, end_ns, key=_instant)
            meant = self._events[low:high]
            yield Tenure(
                *work,
                from_ns=begin_ns,
                until_ns=end_ns,
                first=None if query is None else query[2],
                asked_ns=None if query is None else query[0],
                updates=tuple((at_ns, offset) for at_ns, what, offset in meant if what is OffsetEvent.UPDATE),
                is_repaired=any(what is OffsetEvent.FREEZE for _, what, _ in meant),
            )

    def _has_forgotten(self, since_ns: int, at_ns: int) -> bool:
        times = self._forgotten_ns
        return times is None or bisect_right(times, at_ns) > bisect_right(times, since_ns)


def _work(row: Row) -> _Work:
    return row["member"], row["incarnation"], _queue(row)


def _instant(event: tuple[int, OffsetEvent, int]) -> int:
    return event[0]


def _tenures(
    owned: Iterable[Row], events: Iterable[Row], lives: Iterable[Life], *, asks_again: bool
) -> Iterator[Tenure]:
    """Yield tenures as the sets of owned queues change. asks_again: members ask for the offset of a queue that they have, too."""
    rows = [row for row in events if row["value"] is not None]
    by_work = _grouped(rows, _work)
    forgotten = _grouped([row for row in events if row["what"] == OffsetEvent.FORGET], _work)
    seen = {
        work: _Seen(
            ((row["at_ns"], _EVENTS[row["what"]], row["value"]) for row in own),
            [row["at_ns"] for row in forgotten.get(work, ())] if asks_again else None,
        )
        for work, own in by_work.items()
    }
    killed = {(life.member, life.incarnation): life.killed_ns for life in lives}
    began: dict[_Work, int] = {}

    def over(work: _Work, until_ns: int | None) -> Iterator[Tenure]:
        ends = [at_ns for at_ns in (killed.get(work[:2]), until_ns) if at_ns is not None]
        yield from seen.get(work, _Seen(())).tenures(work, began.pop(work), min(ends, default=None))

    for row in sorted(owned, key=lambda row: (row["at_ns"], row["member"], row["number"])):
        now = {_queue(queue) for queue in row["queues"]}
        life = (row["member"], row["incarnation"])
        for work in [work for work in began if work[0] == life[0] and (work[1] != life[1] or work[2] not in now)]:
            yield from over(work, row["at_ns"])
        for queue in sorted(now):
            began.setdefault((*life, queue), row["at_ns"])
    for work in list(began):
        yield from over(work, None)


def _sent(events: Iterable[Row]) -> Iterator[Commit]:
    for row in events:
        if row["what"] == OffsetEvent.COMMIT and row["value"] is not None:
            yield Commit(_queue(row), row["at_ns"], row["value"], row["at_ns"], member=row["member"])


def _answered(polls: Iterable[Row]) -> Iterator[Commit]:
    for row in polls:
        if row["answered_ns"] is not None:
            value = NO_OFFSET if row["value"] is None else row["value"]
            yield Commit(_queue(row), row["answered_ns"], value, row["asked_ns"], end=row["end"])


def _held(row: Row) -> Held:
    return Held(
        queue_of(TopicKind.FED, row["broker"], row["queue_id"]),
        row["queue_offset"],
        row["send"],
        row["store_timestamp_ms"],
        row["body_ok"],
        row["properties"],
        row["born_host"],
    )


def _copy(row: Row) -> ReturnedCopy:
    return ReturnedCopy(
        row["place"],
        queue_of(TopicKind.RETRY, row["broker"], row["queue_id"]),
        row["queue_offset"],
        row["send"],
        row["times"],
        row["store_timestamp_ms"],
        row["delay_level"],
        row["born_host"],
        row["properties"],
        row["body_ok"],
    )


def _life(registered: Mapping[int, Sequence[tuple[int, str]]], row: Row) -> Life:
    """registered: by member, when and with which ids it did so; a client may not report its own."""
    since_ns = row["join_start_ns"]
    own = (one for at_ns, one in registered.get(row["member"], ()) if since_ns is not None and at_ns >= since_ns)
    return Life(
        row["member"],
        row["incarnation"],
        row["join_start_ns"],
        row["leave_start_ns"],
        row["ended"],
        row["error"],
        row.get("killed_ns"),
        row["join_end_ns"],
        row["leave_end_ns"],
        next(own, None) if row["client_id"] is None else row["client_id"],
        row["subject"],
        tuple(Pause(each["from_ns"], each["until_ns"]) for each in row.get("pauses") or ()),
        row.get("leave_error"),
        tuple(
            Applied(
                ConsumerCall(each["what"]),
                queue_of(TopicKind.FED, each["broker"], each["queue_id"]),
                each["start_ns"],
                each["end_ns"],
                each["offset"],
                each["error"],
            )
            for each in row.get("applied") or ()
        ),
    )


def _round(row: Row) -> Round:
    kind = TopicKind(row["kind"])
    queues, result = (
        tuple(queue_of(kind, each["broker"], each["queue_id"]) for each in row[name]) for name in ("queues", "result")
    )
    return Round(
        row["member"],
        row["incarnation"],
        row["at_ns"],
        kind,
        row["strategy"],
        tuple(row["ids"]),
        queues,
        result,
        row["error"],
    )


def _listing(row: Row) -> Listing:
    return Listing(row["poll"], row["broker"], row["asked_ns"], row["answered_ns"], tuple(row["ids"]))


def _queue(row: Row) -> QueueOf:
    return queue_of(row["kind"], row["broker"], row["queue_id"])


def _grouped(items: Iterable[Any], key: Any) -> dict[Any, tuple[Any, ...]]:
    found: defaultdict[Any, list[Any]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return {name: tuple(group) for name, group in found.items()}
