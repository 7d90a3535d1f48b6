"""
A small simulation of a group of consumers by the rules, in virtual milliseconds: what its members would report of one case.

It is drawn from a seed: how long calls, writes, rounds and held pulls take within what the rules allow. A defective group is a subclass
that overrides one step; the faithful one of the same script and seed is its twin.
"""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from heapq import heappop, heappush
from random import Random
from typing import Any

from rocketdiff.core.consuming.plan import MemberChange, MemberEvent
from rocketdiff.core.sends.message import delay_s
from rocketdiff.core.tables.fault import FaultKind, Frames, RequestKind, WireHit
from rocketdiff.oracle.consumer.shares import Place, Topic
from tests.analysis.consuming.group_story import (
    CHECKS,
    Group,
    Row,
    Story,
    client_id,
    fault_row,
    ns,
    properties_of,
    returned_properties_of,
    shown_of,
    wall,
)

Queue = tuple[str, str]
"""Kind and broker; each broker has one queue of the fed topic and one of the retry topic."""

HOLD_MS, LOCAL_RETRY_MS, SEND_BACK_MS = 5_000, 5_000, 5_000
FIRST_PULL_MS = 500
ROUND_MS, ASKED_MS = 20_000, 3_000
FLUSH_MS = 5_000
FLOW_CONTROL_MS = 50
HELD_MS = (15_000, 20_000)
FAILED_MS = 1_000
"""From a pull without an answer to the next one."""
NEVER = 10**9


@dataclass(frozen=True, slots=True)
class Fault:
    """of: index of the broker."""

    of: int
    from_ms: int
    for_ms: int
    is_kill: bool = False

    @property
    def heal_ms(self) -> int:
        return self.from_ms + self.for_ms


@dataclass(frozen=True, slots=True)
class WireFault:
    """of: index of the broker. Of pulls and locks the answers are hit, of offsets the requests."""

    of: int
    from_ms: int
    for_ms: int
    kind: FaultKind
    hit: WireHit


@dataclass(frozen=True, slots=True)
class Life:
    """A member from join_ms on; end_ms: None if it stays until the others leave. pauses: of its process, (from, for) in ms."""

    number: int
    join_ms: int = -12_000
    end_ms: int | None = None
    is_killed: bool = False
    pauses: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """
    What happens in both arms. A message a broker in turn, every ``every_ms``; each ``fails_every``-th fails ``tries`` times.

    stall_ms: longest time for which a thread of a client waits for a core. threshold, span: of unfinished messages of a queue, with
    which a member pulls no more; batch: messages of a pull. slow_every: each such message takes two seconds. heartbeat_ms: period that the
    members are set to. threads: of a member, that call the listener. others_every: each such message
    has a tag that the group does not subscribe to.
    """

    seed: int = 1
    brokers: tuple[str, ...] = ("broker-a", "broker-b")
    count: int = 200
    every_ms: int = 100
    lives: tuple[Life, ...] = (Life(0),)
    faults: tuple[Fault, ...] = ()
    on_the_wire: tuple[WireFault, ...] = ()
    fails_every: int = 7
    tries: int = 1
    delay_level: int | None = 1
    most: int = 16
    work_ms: int = 20
    stall_ms: int = 30
    drain_ms: int = 14_000
    threshold: int = 1_000
    span: int = 2_000
    batch: int = 32
    slow_every: int = NEVER
    heartbeat_ms: int = 30_000
    threads: int = NEVER
    others_every: int = NEVER

    @property
    def fed_until_ms(self) -> int:
        return self.count * self.every_ms

    @property
    def leave_ms(self) -> int:
        heals_ms = (fault.heal_ms for fault in self.faults)
        ends_ms = (each.from_ms + each.for_ms for each in self.on_the_wire)
        return max(self.fed_until_ms, *heals_ms, *ends_ms, 0) + self.drain_ms

    def stored_ms(self, send: int) -> int:
        """When a message is stored: when it is due, or soon after a fault of its broker."""
        at_ms, of = send * self.every_ms, send % len(self.brokers)
        for fault in self.faults:
            if fault.of == of and fault.from_ms <= at_ms < fault.heal_ms:
                return fault.heal_ms + (at_ms - fault.from_ms) // 100
        return at_ms

    def hit(self, of: RequestKind, broker: str, at_ms: float) -> WireFault | None:
        return next(
            (
                fault
                for fault in self.on_the_wire
                if (self.brokers[fault.of], fault.hit.of) == (broker, of)
                and fault.from_ms <= at_ms < fault.from_ms + fault.for_ms
            ),
            None,
        )

    def is_down(self, broker: str, at_ms: float) -> Fault | None:
        return next(
            (
                fault
                for fault in self.faults
                if self.brokers[fault.of] == broker and fault.from_ms <= at_ms < fault.heal_ms
            ),
            None,
        )


@dataclass(slots=True)
class Stored:
    """A message in a queue of a broker."""

    send: int
    times: int
    at_ms: float
    copied: Row = field(default_factory=dict)


@dataclass(slots=True)
class Working:
    """A member's work on one queue (ProcessQueue)."""

    of: Queue
    next_offset: int
    waiting: list[int] = field(default_factory=list)
    highest: int | None = None
    remembered: int | None = None
    is_dropped: bool = False
    waits_ms: int = 0
    pending: Row | None = None
    asked_ms: float = 0
    is_late: bool = False
    waiter: Callable[[], None] | None = None


@dataclass(slots=True)
class Member:
    """One member; owned: by queue. calls: under way; postponed: those that found no thread."""

    life: Life
    owned: dict[Queue, Working] = field(default_factory=dict)
    share: frozenset[Queue] = frozenset()
    is_there: bool = False
    is_dead: bool = False
    calls: int = 0
    postponed: list[Callable[[], None]] = field(default_factory=list)

    @property
    def number(self) -> int:
        return self.life.number

    @property
    def id(self) -> str:
        return client_id(self.number)

    def wakes_ms(self, now_ms: float) -> float | None:
        """Return when its process goes on, None if it is not paused."""
        return next((at_ms + for_ms for at_ms, for_ms in self.life.pauses if at_ms <= now_ms < at_ms + for_ms), None)


class SimulatedGroup:
    """One arm's group; ``run`` returns its rows. forgets: how likely a paused broker forgets a member that ends meanwhile."""

    forgets = 0.5

    def __init__(self, script: Script, arm: int = 0) -> None:
        self.script, self.random = script, Random(f"{script.seed}-{arm}")
        self.rows = Group()
        self.members = [Member(life) for life in script.lives]
        self.queues: dict[Queue, list[Stored]] = {
            (kind, broker): [] for broker in script.brokers for kind in ("fed", "retry")
        }
        self.committed: dict[Queue, int | None] = dict.fromkeys(self.queues)
        self.flushed: dict[Queue, int | None] = dict.fromkeys(self.queues)
        self._seen: dict[str, list[tuple[int | None, int]]] = {}
        self.registered: dict[str, list[str]] = {broker: [] for broker in script.brokers}
        self._listed: dict[str, list[str] | None] = {}
        self._waiters: dict[Queue, list[Callable[[], None]]] = {of: [] for of in self.queues}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._polls = 0
        self.over_ms = float(NEVER)
        self._shown: set[tuple[int, int]] = set()
        self._counts: Counter[tuple[str, int]] = Counter()
        self.now = -float(NEVER)

    def run(self) -> Group:
        """Return the rows."""
        script = self.script
        for send in range(script.count):
            at_ms = script.stored_ms(send)
            self.at(
                at_ms, partial(self.store, ("fed", script.brokers[send % len(script.brokers)]), Stored(send, 0, at_ms))
            )
        for member in self.members:
            self.at(member.life.join_ms, partial(self.join, member))
            end_ms = member.life.end_ms
            leave_ms = script.leave_ms + 1_000 * member.number if end_ms is None else end_ms
            self.at(leave_ms, partial(self.kill if member.life.is_killed else self.leave, member))
        for fault in script.faults:
            if fault.is_kill:
                self.at(fault.from_ms, partial(self.forget_unflushed, script.brokers[fault.of]))
                self.at(fault.heal_ms, partial(self.restart, script.brokers[fault.of]))
        for each in script.on_the_wire:
            if each.hit.of is RequestKind.HEARTBEAT:
                for member in self.members:
                    beats_ms = each.from_ms + self.random.uniform(0, each.for_ms)
                    self.at(beats_ms, partial(self.beat, script.brokers[each.of], member))
        ends_ms = [member.life.end_ms or 0 for member in self.members]
        self.over_ms = over_ms = max(script.leave_ms + 1_000 * len(self.members), *ends_ms) + 4_000
        for broker in script.brokers:
            self.at(self.random.uniform(-FLUSH_MS, 0), partial(self.flush, broker, over_ms))
            self.at(-11_900, partial(self.poll, broker, over_ms))
        while self._events:
            self.now, _, happen = heappop(self._events)
            happen()
        return self.rows

    def at(self, at_ms: float, happen: Callable[[], None]) -> None:
        self._number += 1
        heappush(self._events, (max(at_ms, self.now), self._number, happen))

    def after(self, ms: float, happen: Callable[[], None]) -> None:
        self.at(self.now + ms, happen)

    def wait_ms(self) -> float:
        """A thread of a client waits for a core."""
        return self.random.uniform(0, self.script.stall_ms)

    # The broker.

    def store(self, of: Queue, message: Stored) -> None:
        fault = self.script.is_down(of[1], self.now)
        if fault is not None:
            self.at(fault.heal_ms + self.random.uniform(0, 100), partial(self.store, of, message))
            return
        message.at_ms = self.now
        self.queues[of].append(message)
        if of[0] == "retry":
            self._copy("retry", of[1], message.send, message.times, message.copied)
        waiting, self._waiters[of] = self._waiters[of], []
        is_resumed = any(
            self.script.brokers[fault.of] == of[1] and 0 <= self.now - fault.heal_ms < 1_000
            for fault in self.script.faults
        )
        for pull in waiting:
            if is_resumed and self.random.random() < 0.3:
                self._waiters[of].append(pull)
                self.after(self.random.uniform(0, HOLD_MS), partial(self.look, of, pull))
            else:
                self.after(self.resume_ms() if is_resumed else self.wakes_ms(of), pull)

    def look(self, of: Queue, pull: Callable[[], None]) -> None:
        """A message came while its pull was only being held, and no other since: the broker's own look finds it."""
        if pull in self._waiters[of]:
            self._waiters[of].remove(pull)
            pull()

    def write(self, of: Queue, value: int) -> None:
        """A one-way commit: lost at a broker that is dead, read after the resume of one that is paused."""
        fault = self.script.is_down(of[1], self.now)
        if self.script.hit(RequestKind.OFFSETS, of[1], self.now) is not None:
            return
        if fault is None:
            self.after(self.random.uniform(0, 5), partial(self.committed.__setitem__, of, value))
        elif not fault.is_kill:
            self.at(fault.heal_ms + self.now / 1e6, partial(self.committed.__setitem__, of, value))

    def flush(self, broker: str, over_ms: float) -> None:
        self.flushed |= {of: value for of, value in self.committed.items() if of[1] == broker}
        if self.now < over_ms:
            self.after(FLUSH_MS, partial(self.flush, broker, over_ms))

    def forget_unflushed(self, broker: str) -> None:
        self.committed |= {of: value for of, value in self.flushed.items() if of[1] == broker}

    def poll(self, broker: str, over_ms: float) -> None:
        """The runner asks for offsets; a round that brings nothing new has no rows."""
        is_down = self.script.is_down(broker, self.now) is not None
        own = [of for of in self.queues if of[1] == broker]
        answers = [(None if is_down else self.committed[of], NEVER if is_down else len(self.queues[of])) for of in own]
        if answers != self._seen.get(broker):
            self._seen[broker] = answers
            for of, (value, end) in zip(own, answers, strict=True):
                self.rows.committed.append(
                    {
                        "poll": self._polls,
                        "asked_ns": ns(self.now - 1),
                        "answered_ns": None if is_down else ns(self.now + 1),
                        "kind": of[0],
                        "broker": broker,
                        "queue_id": 0,
                        "value": value,
                        "end": None if is_down else end,
                    }
                )
        self._list(broker, None if is_down else list(self.registered[broker]))
        self._polls += 1
        if self.now < over_ms:
            self.after(min(500, over_ms - self.now), partial(self.poll, broker, over_ms))

    # Members and rounds.

    def join(self, member: Member) -> None:
        member.is_there = True
        self.rows.members.append(
            {
                "member": member.number,
                "incarnation": 1,
                "subject": "x:1",
                "client_id": member.id,
                "pauses": [
                    {"from_ns": ns(at_ms), "proven_ns": ns(at_ms + 5), "until_ns": ns(at_ms + for_ms)}
                    for at_ms, for_ms in member.life.pauses
                ],
                "join_start_ns": ns(self.now),
                "join_end_ns": ns(self.now + 100),
                "ended": "alive",
            }
        )
        self.after(10_000 + self.wait_ms(), partial(self.tick, member))
        self.after(ROUND_MS, partial(self.round_in_turn, member))
        for broker in self.script.brokers:
            self.reach(broker, partial(self.register, broker, member))

    def leave(self, member: Member) -> None:
        if not member.is_there:
            return
        began_ms, member.is_there = self.now, False
        for work in list(member.owned.values()):
            if self.commits_at_leave():
                self.commit(member, work)
            work.is_dropped = True
        member.owned.clear()
        self.show_owned(member, 10)
        self._row_of(member).update(leave_start_ns=ns(began_ms), leave_end_ns=ns(began_ms + 20), ended="left")
        self.unregister(member)

    def kill(self, member: Member) -> None:
        member.is_there, member.is_dead = False, True
        self._row_of(member).update(ended="killed", killed_ns=ns(self.now))
        for work in member.owned.values():
            work.is_dropped = True
        member.owned.clear()
        self.unregister(member)

    def reach(self, broker: str, happen: Callable[[], None]) -> None:
        """A broker reads something, if it is down at its heal."""
        fault = self.script.is_down(broker, self.now)
        self.at(self.now if fault is None else fault.heal_ms, lambda: self.after(self.random.uniform(1, 100), happen))

    def register(self, broker: str, member: Member) -> None:
        if member.is_there and member.id not in self.registered[broker]:
            self.registered[broker].append(member.id)
            self.notify(broker)

    def unregister(self, member: Member) -> None:
        """A paused broker may read a heartbeat after the end of its connection: it then lists the member for good."""
        for broker in self.script.brokers:
            fault = self.script.is_down(broker, self.now)
            if fault is None or fault.is_kill or self.random.random() < self.forgets:
                self.reach(broker, partial(self.forget, broker, member))

    def forget(self, broker: str, member: Member) -> None:
        if member.id in self.registered[broker] and not member.is_there:
            self.registered[broker].remove(member.id)
            self.notify(broker)

    def notify(self, broker: str) -> None:
        """Every member that the broker knows makes a round, each in its own time."""
        for member in self.members:
            if member.is_there and member.id in self.registered[broker] and self.is_notified(member):
                self.after(self.random.uniform(100, 1_500), partial(self.round, member))

    def restart(self, broker: str) -> None:
        """A broker that was killed knows nobody; members connect anew."""
        self.registered[broker] = []
        for member in self.members:
            if member.is_there:
                self.after(self.random.uniform(900, 1_100), partial(self.register, broker, member))

    def round_in_turn(self, member: Member) -> None:
        if member.is_there:
            self.round(member)
            self.after(ROUND_MS + self.wait_ms(), partial(self.round_in_turn, member))

    def is_asleep(self, member: Member, happen: Callable[[], None]) -> bool:
        """True if the member's process is paused; then this happens when it goes on."""
        wakes_ms = member.wakes_ms(self.now)
        if wakes_ms is not None:
            self.at(wakes_ms + self.random.uniform(0, 20), happen)
        return wakes_ms is not None

    def round(self, member: Member) -> None:
        """A round: queues that are not its share are given up, new ones asked for, one after the other."""
        if not member.is_there or self.is_asleep(member, partial(self.round, member)):
            return
        asked = self.random.choice(self.script.brokers)
        fault = self.script.is_down(asked, self.now)
        if fault is not None:
            is_answered = not fault.is_kill and fault.heal_ms - self.now < ASKED_MS
            at_ms = fault.heal_ms + self.random.uniform(0, 50) if is_answered else self.now + ASKED_MS + ROUND_MS
            self.at(at_ms, partial(self.round, member))
            return
        if not self.registered[asked]:
            return  # the broker knows no such group, and there are no ids to divide among
        share = [of for kind in ("fed", "retry") for of in self.divide(member, kind, self.ids_of(member, asked))]
        member.share = frozenset(share)
        for of in [of for of in member.owned if of not in share and self.gives_up(member, of)]:
            self.give_up(member, of)
        self.take(member, [of for of in share if of not in member.owned])

    def divide(self, member: Member, kind: str, ids: list[str]) -> list[Queue]:
        """Return a member's share of a topic, and note how it came about."""
        topic = Topic(kind, tuple((broker, 0) for broker in self.topic_queues()), self.strategy())
        share = [(kind, broker) for broker, _ in self.computed(topic, ids, member)]
        places = [{"broker": broker, "queue_id": 0} for broker, _ in topic.queues]
        self.rows.allocations.append(
            {
                "member": member.number,
                "number": self.next_number("allocation", member),
                "incarnation": 1,
                "at_ns": ns(self.now),
                "kind": kind,
                "strategy": topic.strategy,
                "ids": sorted(ids),
                "queues": places,
                "result": [{"broker": broker, "queue_id": 0} for _, broker in share],
            }
        )
        return share

    def give_up(self, member: Member, of: Queue) -> None:
        work = member.owned.pop(of)
        work.is_dropped = True
        self.commit(member, work)
        self.show_owned(member)

    def take(self, member: Member, wanted: list[Queue]) -> None:
        if not wanted or not member.is_there or self.is_asleep(member, partial(self.take, member, wanted)):
            return
        of = wanted[0]
        if self.script.is_down(of[1], self.now) is not None:
            self.after(5_000, partial(self.take, member, wanted[1:]))
            self.after(6_000, partial(self.round, member))
            return
        if of not in member.owned and of in member.share:
            stored = self.committed[of]
            first = self.first_offset(of, stored)
            self._offset(member, "query", of, -1 if stored is None else stored)
            work = member.owned[of] = Working(of, first, remembered=stored)
            self.show_owned(member)
            self.after(FIRST_PULL_MS + self.wait_ms(), partial(self.pull, member, work))
        self.after(self.random.uniform(1, 5), partial(self.take, member, wanted[1:]))

    def show_owned(self, member: Member, after_ms: float | None = None) -> None:
        """The driver looks every 20 ms."""
        queues = [{"kind": kind, "broker": broker, "queue_id": 0} for kind, broker in sorted(member.owned)]
        at_ms = self.now + (self.random.uniform(0, 20) if after_ms is None else after_ms)
        own = [row for row in self.rows.owned if row["member"] == member.number]
        at_ns = max(ns(at_ms), own[-1]["at_ns"] if own else 0)
        self.rows.owned.append(
            {"member": member.number, "number": len(own) + 1, "incarnation": 1, "at_ns": at_ns, "queues": queues}
        )

    # Pulling and calling.

    def pull(self, member: Member, work: Working) -> None:
        if work.is_dropped or member.is_dead or self.is_asleep(member, partial(self.pull, member, work)):
            return
        if work.pending is None and self.holds_back(work):
            self.after(self.held_back_ms(), partial(self.pull, member, work))
            return
        fault = self.script.is_down(work.of[1], self.now)
        if fault is not None and fault.is_kill:
            self.lose(work)
        elif work.pending is None:
            work.pending, work.asked_ms = self.ask(member, work), self.now
        if fault is not None:
            self.at(fault.heal_ms + self.resume_ms(), partial(self.pull, member, work))
            return
        found = self.queues[work.of][work.next_offset : work.next_offset + self.script.batch]
        if not found:
            waiter = partial(self.after, self.random.uniform(0, 3), partial(self.pull, member, work))
            self._waiters[work.of].append(waiter)
            work.waiter = waiter
            self.after(self.random.uniform(*HELD_MS), partial(self.answer_empty, member, work, waiter))
            return
        fault_of_answer = None if work.is_late else self.script.hit(RequestKind.PULL, work.of[1], self.now)
        work.is_late = False
        if fault_of_answer is not None:
            self.meet(member, work, fault_of_answer, len(found))
            return
        first, work.next_offset = work.next_offset, work.next_offset + len(found)
        self.answer(work, len(found))
        at_ms = self.now
        wanted = [(offset, message) for offset, message in enumerate(found, first) if self.takes(message)]
        for offset, message in self.received(work, wanted) if wanted else ():
            insort(work.waiting, offset)
            work.highest = offset
            at_ms += self.random.uniform(0, 2)
            self.at(at_ms, partial(self.call, member, work, offset, message.send, message.times))
        self.after(at_ms - self.now + 1, partial(self.pull, member, work))

    def answer_empty(self, member: Member, work: Working, waiter: Callable[[], None]) -> None:
        """A broker holds a pull for so long, and answers that there is no message."""
        is_over = work.is_dropped or member.is_dead or self.now > self.over_ms
        if is_over or waiter not in self._waiters[work.of]:
            return
        if self.script.is_down(work.of[1], self.now) is not None:
            return
        self._waiters[work.of].remove(waiter)
        fault = self.script.hit(RequestKind.PULL, work.of[1], self.now)
        if fault is not None:
            self.meet(member, work, fault, 0)
            return
        self.answer(work, 0)
        self.pull(member, work)

    def meet(self, member: Member, work: Working, fault: WireFault, count: int) -> None:
        """An answer comes late, or never, or ends the connection."""
        again = partial(self.pull, member, work)
        if fault.kind is FaultKind.WIRE_DELAY:
            work.is_late = count > 0
            self.after(fault.hit.delay_ms, again if count else partial(self.answer_late, member, work))
        elif fault.kind is FaultKind.WIRE_SWALLOW:
            work.pending = None
            self.at(work.asked_ms + self.gives_up_ms() + FAILED_MS, again)
            self.lose_answer(work, count)
        else:
            work.pending = None
            self.drop(work.of[1], member)
            self.after(FAILED_MS + self.wait_ms(), again)

    def answer_late(self, member: Member, work: Working) -> None:
        """That there is no message."""
        if not work.is_dropped and not member.is_dead:
            self.answer(work, 0)
            self.pull(member, work)

    def beat(self, broker: str, member: Member) -> None:
        """A heartbeat without an answer runs out, at which the client closes the connection; the next one sends another."""
        if member.is_there and self.script.hit(RequestKind.HEARTBEAT, broker, self.now) is not None:
            self.after(3_000, partial(self.drop, broker, member))
            self.after(4_200, partial(self.beat, broker, member))

    def drop(self, broker: str, member: Member) -> None:
        """A broker whose connection to a member is closed forgets it and the pulls that it holds, until it connects anew."""
        self.rows.lose(self.now, broker, member.number)
        for work in [work for work in member.owned.values() if work.of[1] == broker]:
            if work.waiter in self._waiters[work.of]:
                self._waiters[work.of].remove(work.waiter)
                work.pending = None
                self.after(FAILED_MS + self.wait_ms(), partial(self.pull, member, work))
        if member.id in self.registered[broker]:
            self.registered[broker].remove(member.id)
            self.notify(broker)
        self.after(self.random.uniform(900, 1_100), partial(self.register, broker, member))

    def ask(self, member: Member, work: Working) -> Row:
        """A request for messages passes the relay."""
        return self.rows.pull(
            self.now, work.of[1], self.asked_offset(work), kind=work.of[0], member=member.number, suggested=None
        )

    def answer(self, work: Working, count: int) -> None:
        if work.pending is not None:
            found = {
                "answered_ns": ns(self.now),
                "code": 0 if count else 19,
                "next_offset": work.next_offset,
                "count": count,
            }
            work.pending |= found
        work.pending = None

    def lose(self, work: Working) -> None:
        """The connection is gone with its broker."""
        if work.pending is not None:
            self.rows.lose(self.now, work.of[1], member=work.pending["member"])
        work.pending = None

    def call(self, member: Member, work: Working, offset: int, send: int, times: int) -> None:
        if work.is_dropped or member.is_dead:
            return
        if self.is_asleep(member, partial(self.call, member, work, offset, send, times)):
            return
        if member.calls >= self.threads(work.of):
            member.postponed.append(partial(self.call, member, work, offset, send, times))
            return
        member.calls += 1
        fails = self.fails(send, times)
        row = self.deliver(member, work.of, offset, send, times)
        self.after(
            self.work_ms(send) + self.wait_ms(), partial(self.end, member, work, offset, send, times, row, fails)
        )

    def end(self, member: Member, work: Working, offset: int, send: int, times: int, row: Row, fails: bool) -> None:
        if member.is_dead or self.is_asleep(member, partial(self.end, member, work, offset, send, times, row, fails)):
            return
        row |= {"end_ns": ns(self.now), "result": "later" if fails else "success"}
        member.calls -= 1
        postponed, member.postponed = member.postponed, []
        for call in postponed:
            self.after(0, call)
        if fails and self.script.delay_level is not None:
            row["delay_level"] = self.script.delay_level
        if work.is_dropped:
            return
        if fails:
            self.hand_back(member, work, offset, send, times)
        else:
            self.after(self.wait_ms(), partial(self.finish, member, work, offset))

    def hand_back(self, member: Member, work: Working, offset: int, send: int, times: int) -> None:
        """To the queue's broker; else the client sends the message itself; else it consumes it again."""
        broker = work.of[1]
        fault = self.script.is_down(broker, self.now)
        fault_of_answer = self.script.hit(RequestKind.SEND_BACK, broker, self.now)
        if fault_of_answer is not None:
            if fault_of_answer.hit.frames is Frames.RESPONSES:
                self.after(10, partial(self.copy, broker, send, times + 1, self.asked_level()))
            self.after(SEND_BACK_MS, partial(self.drop, broker, member))
            self.after(SEND_BACK_MS + 5, partial(self.resend, member, work, offset, send, times))
            return
        if fault is None:
            self.after(10, partial(self.copy, self.back_at(broker), send, times + 1, self.asked_level()))
            self.after(10 + self.wait_ms(), partial(self.finish, member, work, offset))
            return
        if not fault.is_kill:
            self.at(fault.heal_ms + 1, partial(self.copy, broker, send, times + 1, self.script.delay_level))
            if fault.heal_ms - self.now < SEND_BACK_MS:
                self.at(fault.heal_ms + 5, partial(self.finish, member, work, offset))
                return
        self.after(5 if fault.is_kill else SEND_BACK_MS, partial(self.resend, member, work, offset, send, times))

    def resend(self, member: Member, work: Working, offset: int, send: int, times: int) -> None:
        up = [broker for broker in self.script.brokers if self.script.is_down(broker, self.now) is None]
        if up:
            self.copy(up[0], send, times + 1, None, is_own=True)
            self.after(self.wait_ms(), partial(self.finish, member, work, offset))
        else:
            wait_ms = 3_000 + LOCAL_RETRY_MS + self.wait_ms()
            self.after(wait_ms, partial(self.call, member, work, offset, send, times + 1))

    def copy(self, broker: str, send: int, times: int, level: int | None, *, is_own: bool = False) -> None:
        """A broker stores a failed message. is_own: its client sent it itself."""
        row = self.copied(send, times, level or 2 + times, is_own=is_own)
        if times > self.script.most:
            self._copy("dead", broker, send, times, row)
        else:
            self.keep(broker, send, times, level or 2 + times, row)

    def keep(self, broker: str, send: int, times: int, level: int, row: Row, wait_ms: float | None = None) -> None:
        """It waits for its delay, or for another time, and is then in the retry topic."""
        self._copy("waiting", broker, send, times, row)
        delay_ms = 1_000 * delay_s(level) + self.random.uniform(0, 100) if wait_ms is None else wait_ms
        self.after(delay_ms, partial(self.store, ("retry", broker), Stored(send, times, 0, row)))

    def finish(self, member: Member, work: Working, offset: int) -> None:
        if work.is_dropped or member.is_dead or offset not in work.waiting:
            return
        if self.is_asleep(member, partial(self.finish, member, work, offset)):
            return
        work.waiting.remove(offset)
        assert work.highest is not None
        value = work.waiting[0] if work.waiting else work.highest + 1
        work.remembered = max(value, work.remembered or 0)
        self._offset(member, "update", work.of, value)

    # Committing.

    def tick(self, member: Member) -> None:
        if not member.is_there or self.is_asleep(member, partial(self.tick, member)):
            return
        for work in list(member.owned.values()):
            self.commit(member, work)
        down = any(self.script.is_down(broker, self.now) for broker in self.script.brokers)
        self.after(5_000 + self.wait_ms() + (3_000 if down else 0), partial(self.tick, member))

    def commit(self, member: Member, work: Working) -> None:
        value = self.committed_value(work)
        if value is not None:
            self._offset(member, "commit", work.of, value)
            self.write(work.of, value)

    # Steps that a defective group overrides.

    def lose_answer(self, work: Working, count: int) -> None:
        """A pull's answer, with so many messages, is lost."""

    def gives_up_ms(self) -> float:
        """Return when a pull without an answer ends, from its beginning."""
        return self.random.uniform(30_000, 31_000)

    def ids_of(self, _member: Member, asked: str) -> list[str]:
        return list(self.registered[asked])

    def topic_queues(self) -> list[str]:
        return sorted(self.script.brokers)

    def strategy(self) -> str:
        return "AVG"

    def computed(self, topic: Topic, ids: list[str], member: Member) -> Iterable[Place]:
        return topic.share(ids, member.id) or ()

    def gives_up(self, _member: Member, _of: Queue) -> bool:
        return True

    def is_notified(self, _member: Member) -> bool:
        return True

    def fails(self, send: int, times: int) -> bool:
        return send % self.script.fails_every == 0 and times < self.script.tries

    def work_ms(self, send: int) -> float:
        slow_ms = 0 if (send + 1) % self.script.slow_every else 2_000
        return slow_ms + self.random.uniform(0, self.script.work_ms)

    def takes(self, message: Stored) -> bool:
        """Return True if a message that its broker handed out is for the group; another tag may have an equal hash."""
        return bool((message.send + 1) % self.script.others_every)

    def threads(self, _of: Queue) -> int:
        return self.script.threads

    def holds_back(self, work: Working) -> bool:
        """A member that has enough of a queue looks again a little later."""
        return len(work.waiting) > self.threshold() or self.spans_too_much(work)

    def threshold(self) -> int:
        return self.script.threshold

    def spans_too_much(self, work: Working) -> bool:
        return bool(work.waiting) and work.waiting[-1] - work.waiting[0] > self.script.span

    def held_back_ms(self) -> float:
        return FLOW_CONTROL_MS

    def wakes_ms(self, _of: Queue) -> float:
        """From a message's storing to its broker's answer to the pull that waits for it."""
        return 0

    def asked_level(self) -> int | None:
        return self.script.delay_level

    def back_at(self, broker: str) -> str:
        """Return the broker that a failed message is handed to."""
        return broker

    def resume_ms(self) -> float:
        return self.random.choice((1.0, 40.0)) + self.wait_ms()

    def first_offset(self, _of: Queue, stored: int | None) -> int:
        return stored or 0

    def asked_offset(self, work: Working) -> int:
        return work.next_offset

    def received(self, _work: Working, found: list[tuple[int, Stored]]) -> Iterable[tuple[int, Stored]]:
        return found

    def commits_at_leave(self) -> bool:
        return True

    def committed_value(self, work: Working) -> int | None:
        return work.remembered

    def body_ok(self, _of: Queue, _send: int) -> bool:
        return True

    def shown_times(self, times: int) -> int:
        return times

    def copied(self, send: int, times: int, level: int, *, is_own: bool) -> Row:
        """Return a copy's level, properties and sender. is_own: sent by the client itself, as until 5.3.3."""
        properties = returned_properties_of(send, level=level, **tag_of(self.script, send))
        if is_own:
            counts = {"RECONSUME_TIME": str(times), "MAX_RECONSUME_TIMES": str(self.script.most)}
            properties = properties_of(send, RETRY_TOPIC="fed", DELAY=str(level), **counts, **tag_of(self.script, send))
        return {"delay_level": level, "properties": properties, "born_host": "m" if is_own else "h"}

    def shown(self, send: int, *, is_first: bool, copied: str | None) -> Row:
        """is_first: delivery of this number to this member. copied: properties of the copy that is delivered, if it is one."""
        if copied is not None:
            return shown_of(send) | {"properties": copied}
        row = shown_of(send)
        if own := tag_of(self.script, send):
            row["properties"] = properties_of(send, **own)
        return row | ({} if is_first else {"properties": None})

    # Rows.

    def deliver(self, member: Member, of: Queue, offset: int, send: int, times: int) -> Row:
        common: Row = {"member": member.number, "call": self.next_number("call", member) - 1}
        row: Row = common | {
            "incarnation": 1,
            "thread": 0,
            "kind": of[0],
            "broker": of[1],
            "queue_id": 0,
            "start_ns": ns(self.now),
            "messages": 1,
        }
        self.rows.calls.append(row)
        self.rows.deliveries.append(
            common
            | {
                "place": 0,
                "send": send,
                "queue_offset": offset,
                "times": self.shown_times(times),
                "shown_topic": "fed",
                "store_timestamp_ms": wall(0),
                "body_ok": self.body_ok(of, send),
            }
            | self.shown(
                send,
                is_first=(member.number, send) not in self._shown,
                copied=self.queues[of][offset].copied["properties"] if of[0] == "retry" else None,
            )
        )
        self._shown.add((member.number, send))
        return row

    def next_number(self, of: str, member: Member) -> int:
        self._counts[of, member.number] += 1
        return self._counts[of, member.number]

    def _offset(self, member: Member, what: str, of: Queue, value: int | None) -> None:
        self.rows.offsets.append(
            {
                "member": member.number,
                "number": self.next_number("offset", member),
                "incarnation": 1,
                "at_ns": ns(self.now),
                "what": what,
                "kind": of[0],
                "broker": of[1],
                "queue_id": 0,
                "value": value,
            }
        )

    def _list(self, broker: str, ids: list[str] | None) -> None:
        """The runner asks for ids; an answer that brings nothing new has no row."""
        if self._listed.get(broker, []) == ids and broker in self._listed:
            return
        self._listed[broker] = ids
        self.rows.listed.append(
            {
                "poll": self._polls,
                "broker": broker,
                "asked_ns": ns(self.now - 1),
                "answered_ns": None if ids is None else ns(self.now + 1),
                "code": 0,
                "ids": ids or [],
            }
        )

    def _copy(self, place: str, broker: str, send: int, times: int, row: Row) -> None:
        self.rows.returned.append(
            {
                "place": place,
                "broker": broker,
                "queue_id": 0,
                "queue_offset": sum((each["place"], each["broker"]) == (place, broker) for each in self.rows.returned),
                "send": send,
                "times": times,
                "store_timestamp_ms": wall(self.now),
                "born_timestamp_ms": wall(self.now),
                "born_host": "h",
                "body_ok": True,
            }
            | (row if place != "dead" else row | {"delay_level": None})
        )

    def _row_of(self, member: Member) -> dict[str, Any]:
        return next(row for row in self.rows.members if row["member"] == member.number)


@lru_cache(maxsize=8)
def _faithful(script: Script, group: Callable[[Script, int], SimulatedGroup]) -> Group:
    """The baseline of many stories, which may change their own copies."""
    return group(script, 0).run()


def _copied(group: Group) -> Group:
    return Group(**{name: [dict(row) for row in rows] for name, rows in vars(group).items()})


def simulated(
    script: Script, candidate: type[SimulatedGroup] = SimulatedGroup, faithful: type[SimulatedGroup] = SimulatedGroup
) -> Story:
    """Return the case of two groups, the faithful one and the candidate's, which may be a defective one."""
    held: dict[str, list[Row]] = {broker: [] for broker in script.brokers}
    for send in sorted(range(script.count), key=lambda send: (script.stored_ms(send), send)):
        broker, at_ms = script.brokers[send % len(script.brokers)], script.stored_ms(send)
        held[broker].append(
            {
                "broker": broker,
                "queue_id": 0,
                "queue_offset": len(held[broker]),
                "send": send,
                "store_timestamp_ms": wall(at_ms),
                "born_timestamp_ms": wall(at_ms),
                "born_host": "h",
                "body_ok": True,
                "properties": properties_of(send, **tag_of(script, send)),
            }
        )
    return Story(
        _copied(_faithful(script, faithful)),  # type: ignore[arg-type]  # mypy takes a class for not hashable
        candidate(script, 1).run(),
        held=[row for rows in held.values() for row in rows],
        faults=[
            fault_row(script.brokers[fault.of], fault.from_ms, fault.for_ms, is_kill=fault.is_kill, episode=number)
            for number, fault in enumerate(script.faults)
        ]
        + [
            fault_row(script.brokers[each.of], each.from_ms, each.for_ms, kind=each.kind, episode=number)
            for number, each in enumerate(script.on_the_wire, len(script.faults))
        ],
        hits={str(number): each.hit for number, each in enumerate(script.on_the_wire, len(script.faults))},
        count=script.count,
        duration_ms=script.fed_until_ms,
        membership=tuple(_events(script)),
        brokers=script.brokers,
        settings={
            "consume_from_where": "first",
            "max_reconsume_times": script.most,
            "pull_threshold_for_queue": script.threshold,
            "consume_concurrently_max_span": script.span,
            "pull_batch_size": script.batch,
            "heartbeat_broker_interval_ms": script.heartbeat_ms,
            **({} if script.threads == NEVER else {"consume_thread_min": script.threads}),
        },
        stall_ms=script.stall_ms,
        checks=(*CHECKS, *(("pulling", "flow-control") if script.others_every == NEVER else ()), "promptness"),
        tags=() if script.others_every == NEVER else (OWN,),
    )


OWN, OTHER = "own", "other"


def tag_of(script: Script, send: int) -> dict[str, str]:
    """Return the tag of a message, as a property, if the messages of the script have any."""
    if script.others_every == NEVER:
        return {}
    return {"TAGS": OTHER if (send + 1) % script.others_every == 0 else OWN}


def _events(script: Script) -> Iterable[MemberEvent]:
    for life in script.lives:
        if life.join_ms > 0:
            yield MemberEvent(life.join_ms / 1_000, life.number, MemberChange.JOIN)
        if life.end_ms is not None:
            change = MemberChange.KILL if life.is_killed else MemberChange.LEAVE
            yield MemberEvent(life.end_ms / 1_000, life.number, change)
        for at_ms, for_ms in life.pauses:
            yield MemberEvent(at_ms / 1_000, life.number, MemberChange.PAUSE, for_ms / 1_000)


def drawn_script(seed: int) -> Script:
    """Return a script: members that join, leave and are killed, faults of brokers that do not overlap, failing listeners."""
    random = Random(seed)
    count = random.choice((100, 200, 300))
    fed_ms = count * 100
    lives = [Life(0)]
    for number in range(1, random.choice((1, 1, 2, 3))):
        join_ms = random.choice((-12_000 + 100 * number, random.randrange(1_000, fed_ms)))
        end_ms = random.choice((None, join_ms + random.randrange(2_000, fed_ms)))
        is_killed = end_ms is not None and random.random() < 0.4
        paused_ms = random.randrange(max(join_ms, 0) + 1_000, fed_ms + 2_000)
        pauses = ((paused_ms, random.choice((500, 2_500, 6_000))),) if random.random() < 0.3 else ()
        lives.append(Life(number, join_ms, end_ms, is_killed, () if end_ms else pauses))
    faults, from_ms = [], random.randrange(3_000, 9_000)
    while from_ms < fed_ms and random.random() < 0.7:
        for_ms = random.choice((800, 1_500, 3_000, 8_000, 12_000))
        faults.append(Fault(random.randrange(2), from_ms, for_ms, is_kill=random.random() < 0.3))
        from_ms += for_ms + random.randrange(500, 12_000)
    return Script(
        seed=seed,
        count=count,
        lives=tuple(lives),
        faults=tuple(faults),
        on_the_wire=tuple(_drawn_on_the_wire(seed, max((fault.heal_ms for fault in faults), default=3_000), fed_ms)),
        fails_every=random.choice((5, 7, 1_000)),
        tries=random.choice((1, 2, 3)),
        delay_level=random.choice((1, 1, 2)),
        most=random.choice((16, 2, 1)),
        work_ms=random.choice((5, 50, 1_500)),
        stall_ms=random.choice((10, 100, 900)),
        drain_ms=random.choice((6_000, 14_000, 25_000)),
        heartbeat_ms=Random(f"{seed} heartbeats").choice((2_000, 30_000)),
    )


DRAWN_ON_THE_WIRE = (
    (FaultKind.WIRE_SWALLOW, WireHit(RequestKind.PULL, Frames.RESPONSES)),
    (FaultKind.WIRE_DELAY, WireHit(RequestKind.PULL, Frames.RESPONSES, 700)),
    (FaultKind.WIRE_RESET, WireHit(RequestKind.PULL, Frames.REQUESTS)),
    (FaultKind.WIRE_SWALLOW, WireHit(RequestKind.SEND_BACK, Frames.RESPONSES)),
    (FaultKind.WIRE_SWALLOW, WireHit(RequestKind.SEND_BACK, Frames.REQUESTS)),
    (FaultKind.WIRE_SWALLOW, WireHit(RequestKind.OFFSETS, Frames.REQUESTS)),
    (FaultKind.WIRE_SWALLOW, WireHit(RequestKind.HEARTBEAT, Frames.RESPONSES)),
    (FaultKind.WIRE_SWALLOW, WireHit(RequestKind.LOCK, Frames.RESPONSES)),
)


def _drawn_on_the_wire(seed: int, since_ms: int, until_ms: int) -> Iterable[WireFault]:
    """Yield one in some stories, after the other faults."""
    random = Random(f"{seed} on the wire")
    from_ms = since_ms + random.randrange(1_000, 6_000)
    if from_ms < until_ms and random.random() < 0.5:
        kind, hit = random.choice(DRAWN_ON_THE_WIRE)
        yield WireFault(random.randrange(2), from_ms, random.choice((500, 2_000, 5_000)), kind, hit)
