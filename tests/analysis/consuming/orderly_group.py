"""A simulated group that consumes in order by the rules of 5.3.3: one call at a time for a queue, under the broker's lock."""

from bisect import insort
from collections import defaultdict
from functools import partial

from rocketdiff.core.tables.fault import RequestKind
from tests.analysis.consuming.group_story import Row, Story, ns
from tests.analysis.consuming.simulated_group import Member, Queue, Script, SimulatedGroup, Working, simulated

RENEWAL_MS, LOCK_MS = 20_000, 60_000
REFUSED_MS = 1_000
LOCK_ASKED_MS = 1_000
NO_LIMIT = 16

Message = tuple[int, int, int]
"""Offset, number and reconsume times."""


class OrderlyGroup(SimulatedGroup):
    """suspend_ms: what the listener asks for when it fails."""

    suspend_ms = 200

    def __init__(self, script: Script, arm: int = 0) -> None:
        super().__init__(script, arm)
        self.locks: dict[Queue, tuple[Member, float]] = {}
        self.cached: defaultdict[int, list[Message]] = defaultdict(list)
        self.calling: dict[int, tuple[int, Queue]] = {}
        self._works: list[Working] = []

    # Locks.

    def lock(self, member: Member, of: Queue) -> bool:
        holder, since_ms = self.locks.get(of, (member, self.now))
        if holder is not member and self.now - since_ms <= LOCK_MS:
            return False
        self.locks[of] = member, self.now
        return True

    def unlock(self, member: Member, of: Queue) -> None:
        if of in self.locks and self.locks[of][0] is member:
            del self.locks[of]

    def renew(self, member: Member) -> None:
        if not member.is_there:
            return
        if not self.is_asleep(member, partial(self.renew, member)):
            for of in member.owned:
                if self.script.is_down(of[1], self.now) is None:
                    self.lock(member, of)
                if self.is_answer_lost(of):
                    self.after(LOCK_ASKED_MS, partial(self.drop, of[1], member))
            self.after(RENEWAL_MS, partial(self.renew, member))

    def forget_unflushed(self, broker: str) -> None:
        super().forget_unflushed(broker)
        self.locks = {of: lock for of, lock in self.locks.items() if of[1] != broker}

    # Members and rounds.

    def join(self, member: Member) -> None:
        super().join(member)
        self.after(1_000, partial(self.renew, member))

    def leave(self, member: Member) -> None:
        owned = list(member.owned)
        super().leave(member)
        for of in owned:
            self.unlock(member, of)

    def give_up(self, member: Member, of: Queue) -> None:
        work = member.owned[of]
        super().give_up(member, of)
        self._offset(member, "forget", of, None)
        self.unlock_when_idle(member, work)

    def unlock_when_idle(self, member: Member, work: Working) -> None:
        if id(work) in self.calling and not member.is_dead:
            self.after(10, partial(self.unlock_when_idle, member, work))
        else:
            self.unlock(member, work.of)

    def take(self, member: Member, wanted: list[Queue]) -> None:
        if not member.is_there:
            return
        refused = [of for of in wanted if self.is_refused(member, of)]
        if refused:
            self.after(REFUSED_MS + self.wait_ms(), partial(self.round, member))
        super().take(member, [of for of in wanted if of not in refused])

    def is_refused(self, member: Member, of: Queue) -> bool:
        """A member that has not ended the last call of its earlier time with a queue still has it (tryRemoveOrderMessageQueue)."""
        is_new = of not in member.owned and of in member.share and self.script.is_down(of[1], self.now) is None
        if is_new and (member.number, of) in self.calling.values():
            return True
        is_locked = is_new and self.lock(member, of)
        if is_new and self.is_answer_lost(of):
            self.after(LOCK_ASKED_MS, partial(self.drop, of[1], member))
            return True
        return is_new and not is_locked

    def is_answer_lost(self, of: Queue) -> bool:
        """The broker keeps the lock; its member does not know, and closes the connection a second later."""
        return self.script.hit(RequestKind.LOCK, of[1], self.now) is not None

    # Calls.

    def call(self, member: Member, work: Working, offset: int, send: int, times: int) -> None:
        if id(work) not in self.cached:
            self._works.append(work)  # kept, so that no other one gets its id
        insort(self.cached[id(work)], (offset, send, times))
        self.run_next(member, work)

    def run_next(self, member: Member, work: Working) -> None:
        if work.is_dropped or member.is_dead or not self.cached[id(work)] or not self.may_call(work):
            return
        if self.is_asleep(member, partial(self.run_next, member, work)):
            return
        offset, send, times = self.cached[id(work)].pop(0)
        self.calling[id(work)] = member.number, work.of
        fails = self.fails(send, times)
        row = self.deliver(member, work.of, offset, send, times)
        work_ms = 1 + self.work_ms(send) + self.wait_ms()
        self.after(work_ms, partial(self.end, member, work, offset, send, times, row, fails))

    def may_call(self, work: Working) -> bool:
        return id(work) not in self.calling

    def end(self, member: Member, work: Working, offset: int, send: int, times: int, row: Row, fails: bool) -> None:
        if member.is_dead or self.is_asleep(member, partial(self.end, member, work, offset, send, times, row, fails)):
            return
        row |= {"end_ns": ns(self.now), "result": "later" if fails else "success"}
        if fails:
            row["suspend_ms"] = self.suspend_ms
        if fails and not self.is_too_often(times):
            self.suspend(member, work, (offset, send, times + 1))
            return
        if fails:
            self._copy("dead", work.of[1], send, times + 1, self.copied(send, times + 1, 3, is_own=True))
        self.calling.pop(id(work), None)
        self.done(member, work, offset)
        self.after(self.wait_ms() / 10, partial(self.run_next, member, work))

    def done(self, member: Member, work: Working, offset: int) -> None:
        if not work.is_dropped:
            work.remembered = offset + 1
            self._offset(member, "update", work.of, offset + 1)

    def suspend(self, member: Member, work: Working, message: Message) -> None:
        insort(self.cached[id(work)], message)
        self.after(self.suspended_ms() + self.wait_ms(), partial(self.resume, member, work))
        if work.is_dropped:
            self.calling.pop(id(work), None)

    def resume(self, member: Member, work: Working) -> None:
        self.calling.pop(id(work), None)
        self.run_next(member, work)

    # Steps that a defective group overrides.

    def suspended_ms(self) -> float:
        return self.suspend_ms

    def is_too_often(self, times: int) -> bool:
        return self.script.most != NO_LIMIT and times >= self.script.most


def in_order(script: Script, candidate: type[OrderlyGroup] = OrderlyGroup) -> Story:
    """Return the case of two orderly groups; the candidate's may be a defective one."""
    story = simulated(script, candidate, OrderlyGroup)
    story.is_orderly = True
    story.checks = tuple("delivery-order" if check == "retries" else check for check in story.checks)
    if script.most == NO_LIMIT:
        del story.settings["max_reconsume_times"]
    return story
