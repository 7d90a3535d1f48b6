"""Defective groups that consume in order: each overrides one step of the simulated one; its twin is the faithful one of the same script."""

from functools import partial

from rocketdiff.core.tables.fault import FaultKind, Frames, RequestKind, WireHit
from tests.analysis.consuming.bank import MANY_CHANGES, Defect
from tests.analysis.consuming.orderly_group import RENEWAL_MS, Message, OrderlyGroup
from tests.analysis.consuming.simulated_group import Fault, Life, Member, Queue, Script, WireFault, Working

CALM = Script(tries=2)
DEAD_LETTERS = Script(tries=9, most=2)
TWO_MEMBERS = Script(count=300, lives=(Life(0), Life(1, 12_000, 24_000)))
MEMBER_LEFT = Script(count=900, lives=(Life(0), Life(1, -11_000, 12_000)))
MEMBER_KILLED = Script(count=900, lives=(Life(0), Life(1, -11_000, 12_000, is_killed=True)))
COMING_AND_GOING = Script(
    count=560, lives=(Life(0), *(Life(n, 16_000 * n - 10_000, 16_000 * n - 2_000) for n in (1, 2, 3))), tries=2
)
PAUSED = Script(faults=(Fault(1, 6_000, 1_500),), drain_ms=28_000)
LOCKS_SWALLOWED = Script(
    count=400,
    lives=(Life(0), Life(1, 12_000)),
    on_the_wire=(WireFault(1, 11_000, 5_000, FaultKind.WIRE_SWALLOW, WireHit(RequestKind.LOCK, Frames.RESPONSES)),),
    work_ms=150,
    fails_every=1_000,
    drain_ms=40_000,
)
SLOW = Script(every_ms=300, work_ms=400, count=100)


class GoesPastAFailure(OrderlyGroup):
    """Consumes the next messages while a failed one waits."""

    def suspend(self, member: Member, work: Working, message: Message) -> None:
        super().suspend(member, work, message)
        self.cached[id(work)].remove(message)
        self.calling.pop(id(work), None)
        self.after(self.suspended_ms(), partial(self.call, member, work, *message))
        self.run_next(member, work)


class GivesUpAFailedMessage(OrderlyGroup):
    """Drops a message at its first failure, and goes on."""

    def is_too_often(self, _times: int) -> bool:
        return True


class CallsTwoAtOnce(OrderlyGroup):
    """Lets two threads consume a queue."""

    def may_call(self, _work: Working) -> bool:
        return True


class SwapsNeighbours(OrderlyGroup):
    """Takes the second of two waiting messages first, now and then."""

    def run_next(self, member: Member, work: Working) -> None:
        own = self.cached[id(work)]
        if len(own) > 1 and own[0][0] % 5 == 0 and self.may_call(work):
            own[0], own[1] = own[1], own[0]
        super().run_next(member, work)


class SharesItsQueues(OrderlyGroup):
    """Works without locks, and on queues that belong to another member."""

    def lock(self, _member: Member, _of: Queue) -> bool:
        return True

    def gives_up(self, _member: Member, _of: Queue) -> bool:
        return False


class TakesOverAtOnce(OrderlyGroup):
    """Takes the queues of a killed member without their locks."""

    def lock(self, member: Member, of: Queue) -> bool:
        if of in self.locks and self.locks[of][0].is_dead:
            del self.locks[of]
        return super().lock(member, of)


class KeepsItsLocks(OrderlyGroup):
    """Leaves without unlocking its queues."""

    def unlock(self, member: Member, of: Queue) -> None:
        if member.is_there:
            super().unlock(member, of)


class TakesALockForGranted(OrderlyGroup):
    """Works on a queue if the answer to its question for the lock is lost, though another member has it."""

    def is_refused(self, member: Member, of: Queue) -> bool:
        return not self.is_answer_lost(of) and super().is_refused(member, of)

    def unlock_when_idle(self, member: Member, work: Working) -> None:
        work.is_dropped = False
        self.after(3_000, partial(setattr, work, "is_dropped", True))
        self.after(3_000, partial(super().unlock_when_idle, member, work))


class RepeatsAtOnce(OrderlyGroup):
    """Does not wait before it consumes a failed message again."""

    def suspended_ms(self) -> float:
        return 0


class RepeatsWhatSucceeded(OrderlyGroup):
    """Consumes some messages twice."""

    def done(self, member: Member, work: Working, offset: int) -> None:
        super().done(member, work, offset)
        if offset % 11 == 10 and self.now not in self._repeated:
            self._repeated.add(self.now)
            self.cached[id(work)].insert(0, (offset, self.queues[work.of][offset].send, 0))

    def __init__(self, script: Script, arm: int = 0) -> None:
        super().__init__(script, arm)
        self._repeated: set[float] = set()


class RetriesForEver(OrderlyGroup):
    """Consumes a message again however often it has failed."""

    def is_too_often(self, _times: int) -> bool:
        return False


class LeavesOneOut(OrderlyGroup):
    """Acknowledges some messages without a call."""

    def call(self, member: Member, work: Working, offset: int, send: int, times: int) -> None:
        if offset % 20 != 19:
            super().call(member, work, offset, send, times)


class CommitsASuspendedMessage(OrderlyGroup):
    """Remembers the offset behind a message that has failed and waits."""

    def suspend(self, member: Member, work: Working, message: Message) -> None:
        self.done(member, work, message[0])
        super().suspend(member, work, message)


class CountsNoFailures(OrderlyGroup):
    """Shows every message as never failed."""

    def shown_times(self, _times: int) -> int:
        return 0


class StopsAtAFailure(OrderlyGroup):
    """Never goes on with a queue whose message has failed twice."""

    def suspend(self, member: Member, work: Working, message: Message) -> None:
        if message[2] < 2 or message[0] < self.script.count // 4:
            super().suspend(member, work, message)


class WaitsForARenewal(OrderlyGroup):
    """Pulls from a queue that it took after the next renewal of its locks, as up to 4.9.4."""

    def __init__(self, script: Script, arm: int = 0) -> None:
        super().__init__(script, arm)
        self._waited: dict[int, Working] = {}

    def pull(self, member: Member, work: Working) -> None:
        if id(work) in self._waited:
            super().pull(member, work)
        else:
            self._waited[id(work)] = work
            since_ms = (self.now - member.life.join_ms - 1_000) % RENEWAL_MS
            self.after(RENEWAL_MS - since_ms, partial(self.pull, member, work))


BANK = (
    Defect(GoesPastAFailure, CALM, "delivery-order.overtaken"),
    Defect(GivesUpAFailedMessage, CALM, "delivery-order.overtaken"),
    Defect(CallsTwoAtOnce, SLOW, "delivery-order.parallel-calls"),
    Defect(SwapsNeighbours, PAUSED, "delivery-order.overtaken"),
    Defect(SharesItsQueues, TWO_MEMBERS, "delivery-order.two-owners"),
    Defect(TakesOverAtOnce, MEMBER_KILLED, "delivery-order.lock-not-awaited"),
    Defect(KeepsItsLocks, MEMBER_LEFT, "allocation.no-owner"),
    Defect(TakesALockForGranted, LOCKS_SWALLOWED, "delivery-order.two-owners"),
    Defect(RepeatsAtOnce, CALM, "delivery-order.repeated"),
    Defect(RepeatsWhatSucceeded, CALM, "delivery-order.repeated"),
    Defect(RetriesForEver, DEAD_LETTERS, "delivery-order.repeated"),
    Defect(LeavesOneOut, CALM, "redelivery.gap"),
    Defect(CommitsASuspendedMessage, CALM, "offsets.unfinished-committed"),
    Defect(CountsNoFailures, CALM, "redelivery.without-cause"),
    Defect(StopsAtAFailure, CALM, "delivered.not-yet"),
    Defect(WaitsForARenewal, MANY_CHANGES, "allocation.takes-over-later"),
)

FAITHFUL = (*dict.fromkeys(defect.script for defect in BANK), COMING_AND_GOING)
