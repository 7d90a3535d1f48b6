"""
Who may be in a group by the rules: the ids that brokers may list, and until when a change or a fault leaves the owners of queues open.

A broker lists a member from its first heartbeat on, until it leaves, or its connection is closed, or it sent none for 120 s. It lists an
id once for each connection: also for those that were closed before it read their heartbeats, beside its own pause, until it forgets them.
What the brokers were seen to list narrows this.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise, zip_longest
from math import inf

from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Life, Listing, Pause, Round
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import IDS_EVERY
from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.reach import (
    closes_connections,
    is_felt,
    is_of_name_server,
    moves_queues,
    moves_queues_for,
    over_ns,
    stands_still,
)
from rocketdiff.oracle.consumer.windows import ASKED_NS, FORGOTTEN_NS, HOLD_NS, MARGIN_NS, Windows

OLDEST = "4.0.0-incubating"

LISTED_EVERY_NS = 3 * NS_PER_S
"""Brokers are asked for ids every second; on a busy machine, or while the one before has no answer, later."""

SEEN_NS = NS_PER_S
"""From the end of a leave, or of a killed process, to a broker's notice of it, on a busy machine."""

BUSY_NS = 1_500 * NS_PER_MS
"""
What a busy machine may add to a notice, a round and a first pull, besides its stalls.

Of 67 takeovers that take 1.5 s at most by the rules none took longer than 2.5 s, at loads of up to 26 on two cores.
"""

STALLS = 2
"""First the broker, then the client may wait for a core as long as this machine was seen to stall in the case."""

EXPIRES_NS = 120 * NS_PER_S
"""Since its last heartbeat, a broker may forget a member (ClientManager.CHANNEL_EXPIRED_TIMEOUT)."""

Span = tuple[float, float]
"""From and until, in ns."""


@dataclass(frozen=True, slots=True)
class Views:
    """
    The id lists that a member may have got for a round.

    surely: in every one. possibly: in some one, None if an id is unknown. most: how often an id may be in one, None: any number.
    """

    surely: frozenset[str]
    possibly: frozenset[str] | None
    most: Mapping[str, int] | None


def windows_of(story: CaseStory, group: GroupStory) -> Windows:
    """
    Return the windows that judge a group: the baseline's release's, and in a group of several releases the wider of all.

    A baseline without rules of its own gets those of the oldest release, which are the longest.
    """
    return Windows.widest(windows_by_release(story, group, OLDEST))


def windows_by_release(story: CaseStory, group: GroupStory, unknown: str) -> list[Windows]:
    """Return the windows of the baseline's release, and of all in a group of several. unknown: stands for a release without rules."""
    trace = story.trace
    releases = {trace.rules_given or SubjectId.parse(trace.subjects[Arm.BASELINE]).rules}
    subjects = {life.subject for life in group.lives}
    if len(subjects) > 1:
        releases |= {SubjectId.parse(subject).rules for subject in subjects}
    return [_windows(release or unknown, group, unknown) for release in releases]


def _windows(release: str, group: GroupStory, unknown: str) -> Windows:
    try:
        return Windows.of(release, group.settings, is_orderly=group.is_orderly)
    except UsageError:
        return Windows.of(unknown, group.settings, is_orderly=group.is_orderly)


def applied_spans(group: GroupStory) -> Iterator[Span]:
    """Yield the times in which calls of applications change when messages come: of a queue that is paused, until they have come."""
    for life in group.lives:
        yield from ((each.start_ns, each.end_ns + MARGIN_NS) for each in life.applied)
        for pause in life.queue_pauses:
            yield pause.from_ns, inf if pause.until_ns is None else pause.until_ns + MARGIN_NS


class Membership:
    """Of one group of a case."""

    def __init__(self, story: CaseStory, group: GroupStory) -> None:
        entry = story.trace.entry
        self.windows = windows_of(story, group)
        self._group = group
        self._queues = entry.queues_per_broker + 1
        self._felt = tuple(fault for fault in story.trace.faults if is_felt(fault))
        self._faults = tuple(fault for fault in self._felt if moves_queues(fault))
        self._brokers = tuple(entry.brokers)
        self.busy_ns = min(MARGIN_NS, BUSY_NS + STALLS * story.stalled_ns)
        """What this machine may add where members come and go and no fault is near."""

    def living_at(self, at_ns: float) -> tuple[Life, ...]:
        """Return the last life of each member that has begun, if it has not ended; frozen ones included."""
        begun = (life for life in self._group.lives if life.join_ns is not None and life.join_ns <= at_ns)
        last = {life.member: life for life in sorted(begun, key=lambda life: life.incarnation)}
        return tuple(life for life in last.values() if life.gone_ns is None or at_ns < life.gone_ns)

    def is_frozen(self, life: Life, from_ns: float, to_ns: float | None = None) -> bool:
        """
        True if the member's process was paused, or had just gone on, at an instant or at some time up to another.

        Its requests have then run out, so it closes their connection, and the broker drops it until its next heartbeat.
        """
        return any(
            pause.from_ns <= (from_ns if to_ns is None else to_ns)
            and ((until_ns := self.woken_ns(pause)) is None or from_ns < until_ns)
            for pause in life.pauses
        )

    def woken_ns(self, pause: Pause) -> int | None:
        """Return when a member has made a round since its pause: it may have missed a notification. None: the pause was not ended."""
        if pause.until_ns is None:
            return None
        return pause.until_ns + self.windows.no_owner_after_a_leave(is_notified=False) + MARGIN_NS

    def views(self, round_: Round) -> Views:
        """Return the id lists that a member may have had at a round."""
        from_ns = self._asked_since(round_)
        rows = {broker: _within(states, from_ns, round_.at_ns) for broker, states in self._listings.items()}
        surely = [frozenset.intersection(*map(frozenset, own)) if own else frozenset() for own in rows.values()]
        seen = [ids for own in rows.values() for ids in own]
        lives = [life for life in self._group.lives if self._may_be_listed(life, from_ns, round_.at_ns)]
        is_closing = self._may_be_closing(from_ns, round_.at_ns)
        dropped = {life.client_id for life in lives if is_closing or self.is_frozen(life, from_ns, round_.at_ns)}
        listed = frozenset(one for ids in seen for one in ids)
        return Views(
            (frozenset.intersection(*surely) if surely else frozenset()) - dropped,
            None
            if any(life.client_id is None for life in lives)
            else listed | {life.client_id for life in lives if life.client_id is not None},
            None if self._may_repeat(from_ns, round_.at_ns) else _most(seen),
        )

    @cached_property
    def unsettled(self) -> tuple[Span, ...]:
        """The times, by their beginnings, in which the rules leave the owners of queues open."""
        changes = (
            (since_ns, until_ns + self._after_change(since_ns, until_ns) + self._margin_ns(since_ns, until_ns))
            for since_ns, until_ns in chain(self._changes(), self._wrong())
        )
        faults = ((each.inject_ns, _over(each) + self.after_fault(each) + MARGIN_NS) for each in self._faults)
        return tuple(merged(chain(changes, faults, self._overslept)))

    @cached_property
    def _overslept(self) -> tuple[Span, ...]:
        """
        The first time, if any, from a change that a member slept through to its next round in turn.

        Java loses a wake-up that comes between a round's end and the wait for the next one, and then each until that wait has run out
        (ServiceThread.waitForRunning). It takes a notice at the end of a round, as each of two brokers sends one: rare, so once a group.
        """
        return tuple(islice(self._slept_through(), 1))

    def _slept_through(self) -> Iterator[Span]:
        changes = sorted(self._changes())
        for rounds in self._group.fed_rounds.values():
            for last, after in pairwise(rounds):
                slept_ns = after.at_ns - last.at_ns - self.windows.round_ns
                if not (-NS_PER_S <= slept_ns <= MARGIN_NS and self._is_near_a_change(last)):
                    continue
                for since_ns, until_ns in changes:
                    is_missed = last.at_ns < since_ns or not self._is_up_to_date(last)
                    limit_ns = until_ns + self._after_change(since_ns, until_ns) + self._margin_ns(since_ns, until_ns)
                    if is_missed and until_ns + SEEN_NS >= last.at_ns and limit_ns < after.at_ns:
                        yield since_ns, after.at_ns + self.windows.lock_of_another() + self.busy_ns

    def _is_near_a_change(self, round_: Round) -> bool:
        return any(
            since_ns <= round_.at_ns <= until_ns + self._after_change(since_ns, until_ns) + MARGIN_NS
            for since_ns, until_ns in self._changes()
        )

    def _is_up_to_date(self, round_: Round) -> bool:
        return Counter(round_.ids) == Counter(life.client_id for life in self.living_at(round_.at_ns))

    @cached_property
    def _listings(self) -> Mapping[str, tuple["_State", ...]]:
        listings = self._group.listings
        return {
            broker: tuple(lists_in_force(each for each in listings if each.broker == broker))
            for broker in self._brokers
        }

    def _asked_since(self, round_: Round) -> float:
        """Return when the member may have asked for the ids: a paused process takes its pause longer."""
        from_ns = round_.at_ns - ASKED_NS - NS_PER_S
        for life in self._group.lives:
            if (life.member, life.incarnation) == (round_.member, round_.incarnation):
                for pause in life.pauses:
                    if pause.meets(from_ns, round_.at_ns):
                        from_ns = min(from_ns, pause.from_ns - ASKED_NS)
        return from_ns

    def _may_be_listed(self, life: Life, from_ns: float, at_ns: int) -> bool:
        has_joined = life.join_ns is None or life.join_ns <= at_ns
        return has_joined and not any(from_ns > end_ns for end_ns in self._forgotten(life))

    def _forgotten(self, life: Life) -> Iterator[float]:
        """Yield instants from which on no broker lists a member, unless it was seen to."""
        if life.gone_ns is not None:
            yield self._gone_by(life, life.gone_ns)
        for pause in life.pauses:
            if pause.until_ns is None:
                yield pause.from_ns + FORGOTTEN_NS + MARGIN_NS

    def _gone_by(self, life: Life, gone_ns: int) -> float:
        """A broker that is down hears of it at its resume, and may then read a heartbeat that came before."""
        by_ns: float = self._gone_ns(life, gone_ns) + SEEN_NS
        for fault in self._faults:
            if fault.hit is not None:
                if fault.inject_ns <= by_ns:
                    by_ns = max(by_ns, _over(fault) + SEEN_NS)
                continue
            if fault.inject_ns - HOLD_NS <= by_ns and gone_ns <= _over(fault) + HOLD_NS:
                by_ns = max(by_ns, _over(fault) + FORGOTTEN_NS + MARGIN_NS)
        return by_ns

    def _may_repeat(self, from_ns: float, at_ns: int) -> bool:
        """True if a broker may list an id several times: a member connected anew while it could not read, or just now."""
        return self._may_be_closing(from_ns, at_ns) or any(
            fault.kind is FaultKind.PAUSE
            and fault.inject_ns <= at_ns
            and from_ns <= _over(fault) + FORGOTTEN_NS + MARGIN_NS
            and self.may_have_closed(fault)
            for fault in self._faults
        )

    def _may_be_closing(self, from_ns: float, at_ns: int) -> bool:
        """True if a fault on the wire may have closed connections, so that a broker drops members and lists them anew."""
        again_ns = self.windows.closed_connection() + MARGIN_NS
        closing = (fault for fault in self._faults if closes_connections(fault))
        return any(fault.inject_ns <= at_ns and from_ns <= _over(fault) + again_ns for fault in closing)

    def may_have_closed(self, fault: FaultRecord) -> bool:
        """
        True if a client may have asked the broker something while it was down, and closed the connection at the timeout.

        In calm it asks with each round and heartbeat, and to hand back a failed message.
        """
        if fault.hit is not None:
            return False
        heal_ns = fault.healed_ns or fault.inject_ns
        if heal_ns - fault.inject_ns < ASKED_NS:
            return False
        began_ns = min(self._group.changes_ns, default=0)
        if heal_ns - began_ns >= min(self.windows.round_ns, self.windows.heartbeat_ns):
            return True
        if any(fault.inject_ns - HOLD_NS <= at_ns <= heal_ns for at_ns in self._group.changes_ns):
            return True
        return any(
            each.has_failed and each.end_ns is not None and fault.inject_ns - HOLD_NS <= each.end_ns <= heal_ns
            for each in self._group.deliveries
        )

    def _changes(self) -> Iterator[Span]:
        """Yield when members came and went, and woke."""
        for life in self._group.lives:
            if life.join_ns is not None:
                yield life.join_ns, life.join_ns if life.joined_ns is None else life.joined_ns
            if life.gone_ns is not None:
                yield life.gone_ns, self._gone_ns(life, life.gone_ns)
            for pause in life.pauses:
                if pause.until_ns is not None:
                    yield pause.until_ns, pause.until_ns + LISTED_EVERY_NS

    def _gone_ns(self, life: Life, gone_ns: int) -> int:
        return life.left_ns if life.killed_ns is None and life.left_ns is not None else gone_ns

    def _wrong(self) -> Iterator[Span]:
        """Yield when some broker may have listed other ids than those of the living members, as far as the rules allow it."""
        excused = tuple(merged(self._excuses()))
        states = [state for own in self._listings.values() for state in own]
        edges = {*self._group.changes_ns, *(at_ns for since, until, _ in states for at_ns in (since, until))}
        instants = sorted(edges)
        for since_ns, until_ns in zip_longest(instants, instants[1:], fillvalue=inf):
            ids = Counter(life.client_id for life in self.living_at(since_ns))
            if any(Counter(listed) != ids for since, until, listed in states if since <= since_ns < until):
                yield from (
                    (max(since_ns, begin), min(until_ns, end))
                    for begin, end in excused
                    if begin < until_ns and since_ns < end
                )

    def _excuses(self) -> Iterator[Span]:
        """Yield when the rules let a broker list other ids than those of the living members."""
        beaten_ns = self.windows.heartbeat_ns + MARGIN_NS
        for life in self._group.lives:
            if life.join_ns is not None:
                yield life.join_ns, (life.joined_ns or life.join_ns) + beaten_ns
            if life.gone_ns is not None:
                yield life.gone_ns, self._gone_by(life, life.gone_ns)
            for pause in life.pauses:
                until_ns = inf if pause.until_ns is None else pause.until_ns + beaten_ns
                yield min(pause.from_ns + EXPIRES_NS - self.windows.heartbeat_ns, pause.until_ns or inf), until_ns
        for fault in self._faults:
            if fault.kind.traits.node is NodeKind.BROKER:
                is_forgotten = fault.kind is FaultKind.PAUSE and self.may_have_closed(fault)
                yield fault.inject_ns, _over(fault) + (FORGOTTEN_NS + MARGIN_NS if is_forgotten else beaten_ns)

    def _after_change(self, since_ns: float, until_ns: float) -> int:
        """Return how long after a change queues may have no owner, or two."""
        was_killed = any(life.killed_ns == since_ns for life in self._group.lives)
        locked_ns = self.windows.lock_of_another(was_killed=was_killed)
        is_notified = self._is_notified(since_ns, until_ns)
        return self.windows.no_owner_after_a_leave(is_notified=is_notified) + locked_ns

    def _margin_ns(self, since_ns: float, until_ns: float) -> int:
        """What a busy machine may add after a change: beside a fault, and with locks, several steps follow each other."""
        return self.busy_ns if self._is_notified(since_ns, until_ns) and not self._group.is_orderly else MARGIN_NS

    def _is_notified(self, since_ns: float, until_ns: float) -> bool:
        """True if the brokers tell the members of a change at once: none was down, and no member stood still for long."""
        spells = [
            *(
                (fault.inject_ns - HOLD_NS, self._disturbs_until(fault))
                for fault in self._faults
                if not _is_short(fault)
            ),
            *(
                (pause.from_ns + EXPIRES_NS - self.windows.heartbeat_ns, self.woken_ns(pause) or inf)
                for life in self._group.lives
                for pause in life.pauses
            ),
        ]
        return not any(begin_ns <= until_ns and since_ns <= end_ns for begin_ns, end_ns in spells)

    def _disturbs_until(self, fault: FaultRecord) -> float:
        """A broker that forgets a connection after its time tells nobody."""
        after_ns = _over(fault) + (self.after_fault(fault) if moves_queues(fault) else 0)
        if fault.hit is not None:
            return max(after_ns, _over(fault) + stands_still(self.windows, fault.kind, fault.hit) + HOLD_NS)
        if fault.kind is FaultKind.PAUSE and self.may_have_closed(fault):
            after_ns = max(after_ns, _over(fault) + FORGOTTEN_NS + MARGIN_NS)
        return after_ns

    def moving(self, since_ns: float = -inf) -> Iterator[Span]:
        """Yield when members come, go or stand still, until their queues have gone on; since an instant."""
        yield from self._overslept
        for begin_ns, until_ns in self._changes():
            if begin_ns >= since_ns:
                yield begin_ns, until_ns + self._after_change(begin_ns, until_ns) + MARGIN_NS
        for life in self._group.lives:
            for pause in life.pauses:
                woken_ns = self.woken_ns(pause)
                yield pause.from_ns, inf if woken_ns is None else woken_ns
        yield from applied_spans(self._group)

    def is_disturbed(self, since_ns: float, until_ns: float) -> bool:
        """True if a fault of a broker and what it leaves behind, or a lost wake-up, falls into a time."""
        faults = ((fault.inject_ns - HOLD_NS, self._disturbs_until(fault)) for fault in self._felt)
        return any(begin_ns <= until_ns and since_ns <= end_ns for begin_ns, end_ns in chain(faults, self._overslept))

    def after_fault(self, fault: FaultRecord) -> int:
        """Return for how long after its end a fault may leave the owners of queues open."""
        if fault.hit is not None:
            return moves_queues_for(self.windows, fault.kind, fault.hit, self._queues)
        if _is_short(fault):
            return self.windows.no_owner_after_a_leave()
        beside_ns = self.windows.no_owner_beside_a_broker_that_is_down(self._queues) + self.windows.lock_of_another()
        is_forgotten = is_of_name_server(fault)
        if fault.kind is FaultKind.KILL or is_forgotten:
            return max(beside_ns, self.windows.no_owner_after_a_lost_route(is_forgotten=is_forgotten))
        return beside_ns


_State = tuple[float, float, tuple[str, ...]]
"""When a list may have been in force, and its ids."""


def lists_in_force(rows: Iterable[Listing]) -> Iterator[_State]:
    """Yield a broker's lists, each with the time in which it may have answered so; before the first question, none is known."""
    known = list(rows)
    if known:
        yield -inf, known[0].asked_ns, ()
    for number, row in enumerate(known):
        after = known[number + 1] if number + 1 < len(known) else None
        until_ns = inf if after is None else after.answered_ns or after.asked_ns
        yield _since(known[number - 1] if number else None, row), until_ns, row.ids


def _since(before: Listing | None, row: Listing) -> int:
    """Return when a list may have come into force; the question before it may be long ago on a starved machine."""
    since_ns = row.asked_ns - LISTED_EVERY_NS
    if before is not None and row.poll - before.poll <= IDS_EVERY:
        return min(since_ns, before.asked_ns)
    return since_ns


def _within(states: Iterable[_State], from_ns: float, to_ns: float) -> list[tuple[str, ...]]:
    return [ids for since_ns, until_ns, ids in states if since_ns <= to_ns and from_ns <= until_ns]


def _most(lists: Iterable[tuple[str, ...]]) -> Mapping[str, int]:
    most: Counter[str] = Counter()
    for ids in lists:
        most |= Counter(ids)
    return most


def _is_short(fault: FaultRecord) -> bool:
    """True for a pause in which no question of a client runs out: all that was sent is read at its end."""
    return fault.kind is FaultKind.PAUSE and _over(fault) - fault.inject_ns < ASKED_NS


def _over(fault: FaultRecord) -> float:
    until_ns = over_ns(fault)
    return inf if until_ns is None else until_ns


def merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans without overlaps, by time."""
    last: Span | None = None
    for since_ns, until_ns in sorted(spans):
        if last is None or since_ns > last[1]:
            if last is not None:
                yield last
            last = since_ns, until_ns
        else:
            last = last[0], max(last[1], until_ns)
    if last is not None:
        yield last


def outside(spans: Iterable[Span], from_ns: int, until_ns: int) -> Iterator[Span]:
    """Yield the times between two instants that merged spans leave."""
    begin: float = from_ns
    for since_ns, end_ns in spans:
        if begin < min(since_ns, until_ns):
            yield int(begin), min(since_ns, until_ns)
        begin = max(begin, end_ns)
    if begin < until_ns:
        yield int(begin), until_ns
