"""
Defective groups of consumers: each overrides one step of the simulated group, in a script that gives it an occasion.

A defect's twin is the faithful group of the same script.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from rocketdiff.core.tables.fault import FaultKind, Frames, RequestKind, WireHit
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.shares import Place, Topic
from tests.analysis.consuming.group_story import Row, returned_properties_of
from tests.analysis.consuming.simulated_group import (
    HOLD_MS,
    LOCAL_RETRY_MS,
    NEVER,
    Fault,
    Life,
    Member,
    Queue,
    Script,
    SimulatedGroup,
    Stored,
    WireFault,
    Working,
)

CALM = Script()
PAUSED = Script(faults=(Fault(1, 6_000, 1_500),), drain_ms=28_000)
KILLED = Script(faults=(Fault(0, 8_000, 3_000, is_kill=True),), drain_ms=28_000)
REPEATEDLY_PAUSED = Script(
    count=700, faults=tuple(Fault(1, at_ms, 1_500) for at_ms in range(4_000, 60_000, 11_000)), fails_every=1_000
)
PAUSED_AS_SHIPPED = Script(
    count=300, faults=tuple(Fault(0, at_ms, 1_500) for at_ms in range(4_000, 30_000, 7_000)), drain_ms=20_000
)
PAUSED_AND_BUSY = replace(REPEATEDLY_PAUSED, stall_ms=600)
REPEATEDLY_KILLED = Script(
    count=1_450,
    faults=tuple(Fault(0, at_ms, 2_000, is_kill=True) for at_ms in range(6_000, 138_000, 12_000)),
    fails_every=2_000,
    drain_ms=40_000,
)
TWO_MEMBERS = Script(count=300, lives=(Life(0), Life(1, 12_000, 24_000)))
MEMBER_LEFT = Script(count=400, lives=(Life(0), Life(1, 12_000, 20_000)))
LONG_STAY = Script(count=400, lives=(Life(0), Life(1, 12_000)))
MEMBER_KILLED = Script(count=300, lives=(Life(0), Life(1, -11_000, 12_000, is_killed=True)))
COMING_AND_GOING = Script(
    count=560,
    lives=(Life(0), *(Life(n, 16_000 * n - 10_000, 16_000 * n - 2_000) for n in (1, 2, 3))),
    fails_every=1_000,
)
COMING_AND_GOING_SOON_SERVED = replace(COMING_AND_GOING, heartbeat_ms=2_000)
MANY_CHANGES = replace(
    COMING_AND_GOING,
    count=1_060,
    lives=(Life(0), *(Life(n, 16_000 * n - 10_000, 16_000 * n - 2_000) for n in range(1, 7))),
)
SURPLUS = Script(lives=(Life(0), Life(1, -11_000), Life(2, -10_000)))
DEAD_LETTERS = Script(tries=9, most=2)
LONG = Script(count=400)
QUICK = Script(work_ms=1, stall_ms=1)
FAILING_TWICE = Script(tries=2)
SLOW_LISTENER = Script(count=600, every_ms=20, work_ms=1_000, threshold=10, batch=4, fails_every=1_000)
ONE_SLOW_MESSAGE = Script(count=600, every_ms=20, span=20, batch=4, slow_every=100, fails_every=1_000)

TAGS = replace(CALM, others_every=5, fails_every=1_000)
EVERY_THREAD_BUSY = Script(count=1_000, every_ms=18, work_ms=120, threads=4, fails_every=2_000)


def _on_the_wire(
    kind: FaultKind, of: RequestKind, *, frames: Frames = Frames.RESPONSES, delay_ms: float = 0
) -> WireFault:
    """Return a fault of two seconds of the second broker."""
    return WireFault(1, 6_000, 2_000, kind, WireHit(of, frames, delay_ms))


PULLS_SWALLOWED = Script(on_the_wire=(_on_the_wire(FaultKind.WIRE_SWALLOW, RequestKind.PULL),), drain_ms=50_000)
PULLS_RESET = Script(on_the_wire=(_on_the_wire(FaultKind.WIRE_RESET, RequestKind.PULL),), drain_ms=20_000)
PULLS_RESET_OF_TWO = replace(PULLS_RESET, lives=(Life(0), Life(1, -11_000)), drain_ms=80_000)
PULLS_DELAYED = Script(
    on_the_wire=(_on_the_wire(FaultKind.WIRE_DELAY, RequestKind.PULL, delay_ms=600),), drain_ms=14_000
)
HAND_BACKS_SWALLOWED = Script(
    on_the_wire=(_on_the_wire(FaultKind.WIRE_SWALLOW, RequestKind.SEND_BACK),), fails_every=3, drain_ms=40_000
)
COMMITS_SWALLOWED = Script(
    count=400,
    on_the_wire=(WireFault(1, 4_000, 8_000, FaultKind.WIRE_SWALLOW, WireHit(RequestKind.OFFSETS, Frames.REQUESTS)),),
    drain_ms=30_000,
)
PAUSED_FOR_LONG = Script(count=160, faults=(Fault(1, 6_000, 12_000),), fails_every=3, work_ms=2_000, drain_ms=40_000)


class JumpsToTheEnd(SimulatedGroup):
    """Begins at the end of a queue once another member has had it, as after a query whose failure it takes for no offset."""

    def first_offset(self, of: Queue, stored: int | None) -> int:
        return len(self.queues[of]) if stored else 0


class SkipsWhatWaits(SimulatedGroup):
    """Goes on behind the messages that a broker holds when it comes back."""

    def received(self, _work: Working, found: list[tuple[int, Stored]]) -> Iterable[tuple[int, Stored]]:
        is_back = any(0 <= self.now - fault.heal_ms < 6_000 for fault in self.script.faults)
        return [] if is_back and len(found) > 1 else found


class CommitsAnotherQueuesOffset(SimulatedGroup):
    """Commits for each queue of the fed topic what it remembers of the other one, and one more."""

    def committed_value(self, work: Working) -> int | None:
        return None if work.remembered is None else work.remembered + (work.of[0] == "fed")


class CommitsNothingAtItsLeave(SimulatedGroup):
    """Leaves, and has committed nothing since its last messages."""

    def commits_at_leave(self) -> bool:
        return False

    def committed_value(self, work: Working) -> int | None:
        return work.remembered if self.now < self.script.fed_until_ms - 6_000 else None


class GivesUpWithoutACommit(SimulatedGroup):
    """Commits every few seconds, but not when it gives a queue up."""

    def give_up(self, member: Member, of: Queue) -> None:
        member.owned[of].remembered = None
        super().give_up(member, of)


class LeavesWithoutACommit(SimulatedGroup):
    """Commits every few seconds, but not when it leaves."""

    def commits_at_leave(self) -> bool:
        return False


class CommitsNothingAfterAPause(SimulatedGroup):
    """Stops committing when a broker was down, until it leaves."""

    def committed_value(self, work: Working) -> int | None:
        is_over = any(fault.from_ms < self.now for fault in self.script.faults)
        return None if is_over and self.now < self.script.leave_ms else work.remembered


class RemembersEarly(SimulatedGroup):
    """Remembers the offset behind a message as soon as it is received; quick calls end before the next commit."""

    def call(self, member: Member, work: Working, offset: int, send: int, times: int) -> None:
        self._offset(member, "update", work.of, offset + 1)
        super().call(member, work, offset, send, times)


class CommitsHalf(SimulatedGroup):
    """Commits half of what it has consumed."""

    def committed_value(self, work: Working) -> int | None:
        return None if work.remembered is None else work.remembered // 2


class CommitsAnOldOffset(SimulatedGroup):
    """Commits its first offset once, when a broker was down."""

    has_gone_back = False

    def committed_value(self, work: Working) -> int | None:
        if self.now > 14_000 and work.of[0] == "fed" and not self.has_gone_back:
            self.has_gone_back = True
            return 3
        return work.remembered


class GoesBackAfterAResume(SimulatedGroup):
    """Pulls from an old offset when its broker has come back."""

    has_gone_back = False

    def received(self, work: Working, found: list[tuple[int, Stored]]) -> Iterable[tuple[int, Stored]]:
        is_over = all(fault.heal_ms < self.now for fault in self.script.faults)
        if not is_over or self.has_gone_back or work.of != ("fed", "broker-b") or work.next_offset < 10:
            return found
        self.has_gone_back = True
        return [*((offset, self.queues[work.of][offset]) for offset in range(found[0][0] - 8, found[0][0])), *found]


class CommitsAQueueItGaveUp(SimulatedGroup):
    """Goes on committing the queues that it has given up."""

    def give_up(self, member: Member, of: Queue) -> None:
        work = member.owned[of]
        super().give_up(member, of)
        self.after(7_000, lambda: self.commit(member, work))


class ConsumesAQueueItGaveUp(SimulatedGroup):
    """Goes on pulling from a queue that another member has got."""

    def give_up(self, member: Member, of: Queue) -> None:
        work = member.owned[of]
        super().give_up(member, of)
        work.is_dropped = False
        self.pull(member, work)

    def committed_value(self, work: Working) -> int | None:
        return work.remembered


class PullsTwiceAtOnce(SimulatedGroup):
    """Sends each pull twice, and takes one answer."""

    def ask(self, member: Member, work: Working) -> Row:
        row = super().ask(member, work)
        super().ask(member, work)
        return row


class AsksForOneAgain(SimulatedGroup):
    """Asks for a message that it has, now and then, and throws it away."""

    def asked_offset(self, work: Working) -> int:
        return work.next_offset - (work.next_offset % 10 == 9)


class PullsFromQueuesOfOthers(SimulatedGroup):
    """Goes on asking for a queue that it gave up, and throws the answers away."""

    def give_up(self, member: Member, of: Queue) -> None:
        work = member.owned[of]
        super().give_up(member, of)

        def asks() -> None:
            self.ask(member, work)

        self.after(4_000, asks)


class DeliversARetryTwice(SimulatedGroup):
    """Calls the listener twice for messages of its retry topic."""

    def received(self, work: Working, found: list[tuple[int, Stored]]) -> Iterable[tuple[int, Stored]]:
        return [*found, *found] if work.of[0] == "retry" else found


class DeliversATailTwice(SimulatedGroup):
    """Calls the listener twice for the last message of a batch."""

    def received(self, _work: Working, found: list[tuple[int, Stored]]) -> Iterable[tuple[int, Stored]]:
        return [*found, found[-1]] if len(found) > 2 else found


class LeavesOneOut(SimulatedGroup):
    """Leaves a message in the middle of a batch out."""

    def received(self, _work: Working, found: list[tuple[int, Stored]]) -> Iterable[tuple[int, Stored]]:
        return [*found[:1], *found[2:]] if len(found) > 2 else found


class LeavesOneRetryOut(SimulatedGroup):
    """Acknowledges every fourth message of its retry topic without a call."""

    def received(self, work: Working, found: list[tuple[int, Stored]]) -> Iterable[tuple[int, Stored]]:
        return [each for each in found if work.of[0] == "fed" or each[0] % 4 != 2]


class ShowsNoFailures(SimulatedGroup):
    """Shows every message as never failed."""

    def shown_times(self, _times: int) -> int:
        return 0


class RetriesForEver(SimulatedGroup):
    """Hands a message back whatever it has failed."""

    def copy(self, broker: str, send: int, times: int, level: int | None, *, is_own: bool = False) -> None:
        self.keep(broker, send, times, level or 2 + times, self.copied(send, times, level or 2 + times, is_own=is_own))


class GivesUpRetrying(SimulatedGroup):
    """Sends a message to the dead letters at its first failure."""

    def copy(self, broker: str, send: int, times: int, level: int | None, *, is_own: bool = False) -> None:
        self._copy("dead", broker, send, times, self.copied(send, times, level or 2 + times, is_own=is_own))


class RetriesBeforeTheDelay(SimulatedGroup):
    """Gets a failed message again after half of its delay."""

    def keep(self, broker: str, send: int, times: int, level: int, row: Row, wait_ms: float | None = 500) -> None:
        super().keep(broker, send, times, level, row, wait_ms)


class SendsItsCountAlong(SimulatedGroup):
    """Puts the count of failures into the properties of what it hands back, once in a while."""

    def copied(self, send: int, times: int, level: int, *, is_own: bool) -> Row:
        row = super().copied(send, times, level, is_own=is_own)
        return (
            row if send % 10 else row | {"properties": returned_properties_of(send, level, RECONSUME_TIME=str(times))}
        )


class LosesTheFirstId(SimulatedGroup):
    """Hands a message that has come back before over as a new one."""

    def copied(self, send: int, times: int, level: int, *, is_own: bool) -> Row:
        changed = {} if times == 1 else {"ORIGIN_MESSAGE_ID": f"id-of-a-copy-{send}"}
        row = super().copied(send, times, level, is_own=is_own)
        return row | ({} if is_own else {"properties": returned_properties_of(send, level, **changed)})


class LosesKeysOfRetries(SimulatedGroup):
    """Hands one message back without what its sender gave it."""

    def copied(self, send: int, times: int, level: int, *, is_own: bool) -> Row:
        row = super().copied(send, times, level, is_own=is_own)
        return row if send != 21 else row | {"properties": (row["properties"] or "").replace('"TAGS":"paid",', "")}


class DamagesDeadLetters(SimulatedGroup):
    """Hands a message that has failed as often as it may over without its body."""

    def copied(self, send: int, times: int, level: int, *, is_own: bool) -> Row:
        return super().copied(send, times, level, is_own=is_own) | {"body_ok": times <= self.script.most}


class AsksForAnotherLevel(SimulatedGroup):
    """Counts levels from 0."""

    def asked_level(self) -> int | None:
        level = super().asked_level()
        return None if level is None else level + 1


class HandsBackToOneBroker(SimulatedGroup):
    """Hands every failed message to the first broker that it knows."""

    def back_at(self, _broker: str) -> str:
        return self.script.brokers[0]


class HandsBackTwice(SimulatedGroup):
    """Sends a failed message itself besides."""

    def hand_back(self, member: Member, work: Working, offset: int, send: int, times: int) -> None:
        super().hand_back(member, work, offset, send, times)
        if send % 4 == 0:
            self.copy(work.of[1], send, times + 1, None, is_own=True)


class ForgetsTheLastFailure(SimulatedGroup):
    """Acknowledges a message that has failed as often as it may."""

    def copy(self, broker: str, send: int, times: int, level: int | None, *, is_own: bool = False) -> None:
        if times <= self.script.most:
            super().copy(broker, send, times, level, is_own=is_own)


class GivesUpOneTooEarly(SimulatedGroup):
    """Counts the first delivery as a retry."""

    def copy(self, broker: str, send: int, times: int, level: int | None, *, is_own: bool = False) -> None:
        if times == self.script.most:
            self._copy("dead", broker, send, times, self.copied(send, times, level or 2 + times, is_own=is_own))
        else:
            super().copy(broker, send, times, level, is_own=is_own)


class ForgetsItsRetryTopic(SimulatedGroup):
    """Pulls from its retry topic again only long after it was found empty."""

    def wakes_ms(self, of: Queue) -> float:
        return 16_000 if of[0] == "retry" else 0


class SendsItselfAsAsked(SimulatedGroup):
    """Uses the listener's delay level for its own send too."""

    def copy(self, broker: str, send: int, times: int, level: int | None, *, is_own: bool = False) -> None:
        super().copy(broker, send, times, self.script.delay_level if is_own else level, is_own=is_own)


class SendsItselfAgainAndAgain(SimulatedGroup):
    """Sends a message itself thrice when its broker does not answer."""

    def copy(self, broker: str, send: int, times: int, level: int | None, *, is_own: bool = False) -> None:
        for _ in range(3 if is_own else 1):
            super().copy(broker, send, times, level, is_own=is_own)


class HoldsAllThatComes(SimulatedGroup):
    """Knows no flow control."""

    def holds_back(self, _work: Working) -> bool:
        return False


class CountsThresholdsInBatches(SimulatedGroup):
    """Takes the threshold for a number of batches."""

    def threshold(self) -> int:
        return super().threshold() * self.script.batch


class KnowsNoSpan(SimulatedGroup):
    """Counts messages, but not how far they are apart."""

    def spans_too_much(self, _work: Working) -> bool:
        return False


class TakesABreakWhenFull(SimulatedGroup):
    """Looks again only 14 s after it had enough of a queue."""

    def held_back_ms(self) -> float:
        return 14_000


class IsFoundByTheBrokersLook(SimulatedGroup):
    """Is not notified of messages: its pulls are answered by the look that the broker takes every five seconds."""

    def wakes_ms(self, of: Queue) -> float:
        return self.random.uniform(0, HOLD_MS) if of[0] == "fed" else 0


class PullsEveryHalfSecond(SimulatedGroup):
    """Polls."""

    def wakes_ms(self, of: Queue) -> float:
        return 500 - self.now % 500 if of[0] == "fed" else 0


class DozesOnce(SimulatedGroup):
    """Misses one notification, and the broker's next look."""

    has_dozed = False

    def wakes_ms(self, of: Queue) -> float:
        if self.has_dozed or self.now < 7_000 or of[0] != "fed":
            return 0
        self.has_dozed = True
        return 9_000


class DamagesRetries(SimulatedGroup):
    """Hands another body back than it got."""

    def body_ok(self, of: Queue, _send: int) -> bool:
        return of[0] == "fed"


class LosesContent(SimulatedGroup):
    """Shows every ninth message as if its sender had given it nothing."""

    def shown(self, send: int, *, is_first: bool, copied: str | None) -> Row:
        return super().shown(send, is_first=is_first, copied=copied) | ({} if send % 9 else {"properties": None})


class ChangesAKey(SimulatedGroup):
    """Shows the first of several keys."""

    def shown(self, send: int, *, is_first: bool, copied: str | None) -> Row:
        shown = super().shown(send, is_first=is_first, copied=copied)
        return shown | {"properties": (shown["properties"] or "").replace("order-1", "order") or None}


class LosesIds(SimulatedGroup):
    """Shows messages without content under another id."""

    def shown(self, send: int, *, is_first: bool, copied: str | None) -> Row:
        return super().shown(send, is_first=is_first, copied=copied) | {"unique_key": f"{send}-{self.now:.0f}"}


class IsLateEverySecondSecond(SimulatedGroup):
    """Gets messages 400 ms late in every second second."""

    def received(self, work: Working, found: list[tuple[int, Stored]]) -> Iterable[tuple[int, Stored]]:
        if work.of[0] == "fed" and int(found[0][1].at_ms // 1_000) % 2:
            self.now += 400
        return found


class IsAlwaysABitLate(SimulatedGroup):
    """Gets every message a tenth of a second late."""

    def received(self, work: Working, found: list[tuple[int, Stored]]) -> Iterable[tuple[int, Stored]]:
        self.now += 100 * (work.of[0] == "fed")
        return found


class KeepsWhatFailed(SimulatedGroup):
    """Hands no failed message back, but calls its listener again five seconds later."""

    def hand_back(self, member: Member, work: Working, offset: int, send: int, times: int) -> None:
        self.after(LOCAL_RETRY_MS + self.wait_ms(), partial(self.call, member, work, offset, send, times + 1))


class StandsStillOnOneQueue(SimulatedGroup):
    """Stops pulling from one queue half way."""

    def pull(self, member: Member, work: Working) -> None:
        if work.of != ("fed", "broker-b") or work.next_offset < self.script.count // 4:
            super().pull(member, work)


class MissesTheLast(SimulatedGroup):
    """Never gets the last five messages of a queue."""

    def pull(self, member: Member, work: Working) -> None:
        if work.of[0] == "retry" or work.next_offset < self.script.count // 2 - 5:
            super().pull(member, work)


class ResumesSlowly(SimulatedGroup):
    """Looks again for messages of a broker that was down only after nine seconds."""

    late_ms = 9_000.0

    def resume_ms(self) -> float:
        return self.late_ms + self.wait_ms()


class ResumesASecondAndAHalfLate(ResumesSlowly):
    """As one that waits in its pull loop."""

    late_ms = 1_500.0


class ResumesThreeSecondsLate(ResumesSlowly):
    """As after a failed pull (pullTimeDelayMillsWhenException)."""

    late_ms = 3_000.0


class ResumesJustWithinAHold(ResumesSlowly):
    """As one that is never notified, so that the broker's own look answers it."""

    late_ms = 4_500.0


class TakesAnothersShare(SimulatedGroup):
    """Computes the share of the member behind it."""

    def computed(self, topic: Topic, ids: list[str], member: Member) -> Iterable[Place]:
        others = sorted(ids)
        if member.id not in others:
            return ()
        return topic.share(ids, others[(others.index(member.id) + 1) % len(others)]) or ()


class DividesByCircle(SimulatedGroup):
    """Uses another strategy than it is set to, with the same shares here."""

    def strategy(self) -> str:
        return "AVG_BY_CIRCLE"


class CountsItselfTwice(SimulatedGroup):
    """Has its own id twice in the list."""

    def ids_of(self, member: Member, asked: str) -> list[str]:
        return [*super().ids_of(member, asked), member.id]


class RemembersWhoLeft(SimulatedGroup):
    """Never takes an id off its list."""

    known: frozenset[str] = frozenset()

    def ids_of(self, member: Member, asked: str) -> list[str]:
        self.known |= {*super().ids_of(member, asked)}
        return sorted(self.known)


class SeesItselfAlone(SimulatedGroup):
    """Works as if it were alone in its group."""

    def ids_of(self, member: Member, _asked: str) -> list[str]:
        return [member.id]


class KnowsOneBroker(SimulatedGroup):
    """Divides the queues of the first broker only."""

    def topic_queues(self) -> list[str]:
        return super().topic_queues()[:1]


class KeepsALostQueue(SimulatedGroup):
    """Never gives up a queue that is no longer in its share."""

    def gives_up(self, _member: Member, _of: Queue) -> bool:
        return False


class IsDeafToNotifications(SimulatedGroup):
    """Hears nothing of changes, and makes a round every 40 s only."""

    def is_notified(self, member: Member) -> bool:
        return self.now < member.life.join_ms + 1_000

    def round_in_turn(self, member: Member) -> None:
        if not member.is_there:
            return
        if self.now > member.life.join_ms + 30_000:
            self.round(member)
        self.after(40_000, partial(self.round_in_turn, member))


class LeavesQueuesOfTheDead(SimulatedGroup):
    """Takes no queue that a killed member had."""

    def take(self, member: Member, wanted: list[Queue]) -> None:
        is_orphaned = any(each.is_dead for each in self.members)
        super().take(member, [] if is_orphaned else wanted)


class TakesTheFedTopicOnly(SimulatedGroup):
    """Leaves the retry queues of a member that is gone alone."""

    def take(self, member: Member, wanted: list[Queue]) -> None:
        has_left = any(not each.is_there for each in self.members if each.life.join_ms < self.now)
        super().take(member, [of for of in wanted if of[0] == "fed" or not has_left])


class HelpsOut(SimulatedGroup):
    """A surplus member takes the last queue all the same, beside its owner."""

    def round(self, member: Member) -> None:
        super().round(member)
        of = ("fed", self.script.brokers[-1])
        if member.is_there and not member.share and of not in member.owned:
            member.share = frozenset({of})
            self.take(member, [of])

    def gives_up(self, member: Member, _of: Queue) -> bool:
        return member.number < len(self.script.brokers)


class PullsLateFromANewQueue(SimulatedGroup):
    """Takes a queue at once, and pulls from it first five seconds later, but for those that it began with."""

    late_ms = 5_000

    def pull(self, member: Member, work: Working) -> None:
        if work.highest is None and work.remembered and not work.waits_ms:
            work.waits_ms = self.late_ms
            self.after(work.waits_ms, partial(super().pull, member, work))
        else:
            super().pull(member, work)


class PullsThreeSecondsLateFromANewQueue(PullsLateFromANewQueue):
    """The same after three seconds, which a statistic of three changes does not show."""

    late_ms = 3_000


class ActsLateOnNotices(SimulatedGroup):
    """Makes its round five seconds after a broker told it of a change."""

    def notify(self, broker: str) -> None:
        self.after(5_000, partial(super().notify, broker))


class SwapsAfterItsRound(SimulatedGroup):
    """Two members compute their own shares, and then take each other's."""

    def divide(self, member: Member, kind: str, ids: list[str]) -> list[Queue]:
        share = super().divide(member, kind, ids)
        return (
            share if len(ids) < 2 else [(kind, broker) for broker in self.script.brokers if (kind, broker) not in share]
        )


class ConnectsWithoutAHeartbeat(SimulatedGroup):
    """After a broker's restart, gets nothing of it until its timer sends the next heartbeat."""

    def pull(self, member: Member, work: Working) -> None:
        restarts = [fault.heal_ms for fault in self.script.faults if self.script.brokers[fault.of] == work.of[1]]
        last_ms = max((at_ms for at_ms in restarts if at_ms <= self.now), default=None)
        beaten_ms = self.now - (self.now - member.life.join_ms - 1_000) % 30_000
        if last_ms is not None and beaten_ms < last_ms:
            self.at(beaten_ms + 30_000 + self.random.uniform(0, 1_000), partial(self.pull, member, work))
        else:
            super().pull(member, work)


class TakesLostAnswersAsReceived(SimulatedGroup):
    """Goes on behind the messages of a pull whose answer is lost."""

    def lose_answer(self, work: Working, count: int) -> None:
        work.next_offset += count


class WaitsForLostAnswers(SimulatedGroup):
    """Waits for the answer to a pull for good."""

    def gives_up_ms(self) -> float:
        return 10 * NEVER


class ForgetsItsConnection(SimulatedGroup):
    """Pulls no more from a broker that has closed the connection."""

    def drop(self, broker: str, member: Member) -> None:
        super().drop(broker, member)
        for work in member.owned.values():
            work.is_dropped |= work.of[1] == broker


class ComesBackLateToALostAnswer(SimulatedGroup):
    """Waits twenty seconds longer than it should for an answer that is lost."""

    def gives_up_ms(self) -> float:
        return super().gives_up_ms() + 20_000


class HandsALostOneBackAgainAndAgain(SimulatedGroup):
    """Sends a message whose hand-back has no answer itself, three times."""

    def resend(self, member: Member, work: Working, offset: int, send: int, times: int) -> None:
        for wait_ms in (0, 50, 100):
            self.after(wait_ms, partial(super().resend, member, work, offset, send, times))


class CommitsNothingMore(SimulatedGroup):
    """Stops committing at the first commit that is lost, until it leaves."""

    def committed_value(self, work: Working) -> int | None:
        has_lost = self.now > 6_000 and work.of[1] == "broker-b"
        return None if has_lost and self.now < self.script.leave_ms else work.remembered


class GoesBackToALostCommit(SimulatedGroup):
    """Commits an old offset long after its commits were lost."""

    def committed_value(self, work: Working) -> int | None:
        is_late = self.now > self.script.leave_ms - 9_000 and self.now < self.script.leave_ms - 3_000
        return 3 if is_late and work.of == ("fed", "broker-b") else work.remembered


class CommitsLateAtGivingUp(SimulatedGroup):
    """Commits a queue three seconds after it gave it up, when the next member has begun."""

    def give_up(self, member: Member, of: Queue) -> None:
        work = member.owned.pop(of)
        work.is_dropped = True
        self.after(3_000, partial(self.commit, member, work))
        self.show_owned(member)


class CommitsOnceMore(SimulatedGroup):
    """Commits a queue when it gives it up, and with its next period again."""

    def give_up(self, member: Member, of: Queue) -> None:
        work = member.owned[of]
        super().give_up(member, of)
        self.after(4_000, partial(self.commit, member, work))


class CommitsTheHighest(SimulatedGroup):
    """Remembers the offset behind the message that it has finished last, whatever is below."""

    def finish(self, member: Member, work: Working, offset: int) -> None:
        super().finish(member, work, offset)
        work.remembered = max(offset + 1, work.remembered or 0)
        self._offset(member, "update", work.of, offset + 1)


class RestsWhenMembersChange(SimulatedGroup):
    """Stops all its pulls for nine seconds when it sees another list of members, also those of queues that it keeps."""

    def __init__(self, script: Script, arm: int = 0) -> None:
        super().__init__(script, arm)
        self._known: dict[int, list[str]] = {}
        self._rests_until_ms: dict[int, float] = {}

    def ids_of(self, member: Member, asked: str) -> list[str]:
        ids = sorted(super().ids_of(member, asked))
        if ids != self._known.setdefault(member.number, ids):
            self._known[member.number], self._rests_until_ms[member.number] = ids, self.now + 9_000
        return ids

    def pull(self, member: Member, work: Working) -> None:
        until_ms = self._rests_until_ms.get(member.number, self.now)
        if self.now < until_ms:
            self.at(until_ms, partial(super().pull, member, work))
        else:
            super().pull(member, work)


class PollsItsRetryTopic(SimulatedGroup):
    """Is not notified of retries: the look that the broker takes every five seconds answers its pulls."""

    def wakes_ms(self, of: Queue) -> float:
        return self.random.uniform(0, HOLD_MS) if of[0] == "retry" else 0


class LeavesSlowly(SimulatedGroup):
    """Gives everything up at once when it leaves, and returns nine seconds later."""

    def leave(self, member: Member) -> None:
        was_there = member.is_there
        super().leave(member)
        if was_there:
            self._row_of(member)["leave_end_ns"] += 9 * NS_PER_S


class UsesOneThreadLess(SimulatedGroup):
    """Keeps one of its threads idle."""

    def threads(self, of: Queue) -> int:
        return super().threads(of) - 1


class UsesTwiceTheThreads(SimulatedGroup):
    """Starts a thread for each call, up to twice its number."""

    def threads(self, of: Queue) -> int:
        return 2 * super().threads(of)


class TrustsTheHashOfTags(SimulatedGroup):
    """Delivers every message that its broker hands out, whose tag has the hash of one that it subscribes to."""

    def takes(self, _message: Stored) -> bool:
        return True


class MissesSomeTags(SimulatedGroup):
    """Takes some messages of its own tag for those of another."""

    def takes(self, message: Stored) -> bool:
        return super().takes(message) and message.send % 20 != 7


class CommitsWhatItPassesOver(SimulatedGroup):
    """Commits an offset behind messages of other tags, and those that are under way before them."""

    def committed_value(self, work: Working) -> int | None:
        return None if work.remembered is None else max(work.remembered, work.next_offset)


@dataclass(frozen=True, slots=True)
class Defect:
    """group: with the defect. signature: of its divergence, among others."""

    group: type[SimulatedGroup]
    script: Script
    signature: str

    def __str__(self) -> str:
        return self.group.__name__


BANK = (
    Defect(JumpsToTheEnd, TWO_MEMBERS, "redelivery.above-the-committed-offset"),
    Defect(SkipsWhatWaits, KILLED, "delivered.never"),
    Defect(CommitsAnotherQueuesOffset, CALM, "offsets.unfinished-committed"),
    Defect(CommitsNothingAtItsLeave, CALM, "offsets.not-at-the-end"),
    Defect(GivesUpWithoutACommit, COMING_AND_GOING, "offsets.not-committed"),
    Defect(LeavesWithoutACommit, MEMBER_LEFT, "offsets.not-committed"),
    Defect(CommitsNothingAfterAPause, PAUSED, "offsets.not-committed"),
    Defect(RemembersEarly, QUICK, "offsets.unfinished-committed"),
    Defect(CommitsHalf, CALM, "offsets.not-committed"),
    Defect(CommitsAnOldOffset, CALM, "offsets.went-back"),
    Defect(GoesBackAfterAResume, PAUSED, "redelivery.without-cause"),
    Defect(CommitsAQueueItGaveUp, TWO_MEMBERS, "offsets.committed-by-another"),
    Defect(ConsumesAQueueItGaveUp, TWO_MEMBERS, "redelivery.after-giving-up"),
    Defect(PullsTwiceAtOnce, KILLED, "pulling.two-at-once"),
    Defect(AsksForOneAgain, CALM, "pulling.other-offset"),
    Defect(PullsFromQueuesOfOthers, TWO_MEMBERS, "pulling.not-owned"),
    Defect(DeliversARetryTwice, CALM, "redelivery.without-cause"),
    Defect(DeliversATailTwice, PAUSED, "redelivery.without-cause"),
    Defect(LeavesOneOut, PAUSED, "delivered.never"),
    Defect(LeavesOneRetryOut, CALM, "redelivery.gap"),
    Defect(ShowsNoFailures, CALM, "retries.other-times"),
    Defect(RetriesForEver, DEAD_LETTERS, "retries.dead-too-late"),
    Defect(GivesUpRetrying, DEAD_LETTERS, "retries.dead-too-early"),
    Defect(RetriesBeforeTheDelay, CALM, "retries.early"),
    Defect(SendsItsCountAlong, CALM, "retries.property/RECONSUME_TIME"),
    Defect(LosesTheFirstId, FAILING_TWICE, "retries.property/ORIGIN_MESSAGE_ID"),
    Defect(LosesKeysOfRetries, CALM, "retries.property/TAGS"),
    Defect(DamagesDeadLetters, DEAD_LETTERS, "retries.damaged"),
    Defect(AsksForAnotherLevel, CALM, "retries.other-level"),
    Defect(HandsBackToOneBroker, CALM, "retries.other-broker"),
    Defect(HandsBackTwice, CALM, "retries.too-many"),
    Defect(ForgetsTheLastFailure, DEAD_LETTERS, "retries.not-dead"),
    Defect(GivesUpOneTooEarly, DEAD_LETTERS, "retries.dead-too-early"),
    Defect(ForgetsItsRetryTopic, LONG, "retries.late"),
    Defect(SendsItselfAsAsked, PAUSED_FOR_LONG, "retries.too-many"),
    Defect(SendsItselfAgainAndAgain, PAUSED_FOR_LONG, "retries.too-many"),
    Defect(HoldsAllThatComes, SLOW_LISTENER, "flow-control.exceeded"),
    Defect(CountsThresholdsInBatches, SLOW_LISTENER, "flow-control.exceeded"),
    Defect(KnowsNoSpan, ONE_SLOW_MESSAGE, "flow-control.exceeded"),
    Defect(TakesABreakWhenFull, SLOW_LISTENER, "flow-control.stands-still"),
    Defect(IsFoundByTheBrokersLook, LONG, "promptness.more-often-late"),
    Defect(PullsEveryHalfSecond, LONG, "promptness.more-often-late"),
    Defect(DozesOnce, CALM, "promptness.late"),
    Defect(DamagesRetries, CALM, "delivered.damaged"),
    Defect(LosesContent, CALM, "delivered.other-properties"),
    Defect(ChangesAKey, CALM, "delivered.other-properties"),
    Defect(LosesIds, PAUSED, "delivered.other-properties"),
    Defect(IsLateEverySecondSecond, LONG, "consumption.later"),
    Defect(IsAlwaysABitLate, LONG, "consumption.later"),
    Defect(ConnectsWithoutAHeartbeat, REPEATEDLY_KILLED, "consumption.resumes-later"),
    Defect(KeepsWhatFailed, CALM, "redelivery.without-cause"),
    Defect(StandsStillOnOneQueue, CALM, "delivered.not-yet"),
    Defect(MissesTheLast, CALM, "delivered.not-yet"),
    Defect(TakesAnothersShare, TWO_MEMBERS, "allocation.other-result"),
    Defect(DividesByCircle, TWO_MEMBERS, "allocation.other-result"),
    Defect(CountsItselfTwice, CALM, "allocation.other-ids"),
    Defect(RemembersWhoLeft, MEMBER_LEFT, "allocation.other-ids"),
    Defect(SeesItselfAlone, TWO_MEMBERS, "allocation.other-ids"),
    Defect(KnowsOneBroker, CALM, "allocation.other-queues"),
    Defect(KeepsALostQueue, TWO_MEMBERS, "allocation.two-owners"),
    Defect(IsDeafToNotifications, LONG_STAY, "allocation.late-round"),
    Defect(LeavesQueuesOfTheDead, MEMBER_KILLED, "allocation.no-owner"),
    Defect(TakesTheFedTopicOnly, MEMBER_KILLED, "allocation.no-owner"),
    Defect(HelpsOut, SURPLUS, "allocation.idle-member-consumes"),
    Defect(SwapsAfterItsRound, TWO_MEMBERS, "allocation.other-owner"),
    Defect(PullsLateFromANewQueue, COMING_AND_GOING, "takeover-time.last-queue-differs"),
    Defect(PullsThreeSecondsLateFromANewQueue, MANY_CHANGES, "allocation.takes-over-later"),
    Defect(ActsLateOnNotices, COMING_AND_GOING, "allocation.late-round"),
    Defect(ActsLateOnNotices, MEMBER_LEFT, "allocation.no-owner"),
    Defect(ResumesSlowly, REPEATEDLY_PAUSED, "resume-time.first-differs"),
    Defect(ResumesASecondAndAHalfLate, REPEATEDLY_PAUSED, "resume-time.first-differs"),
    Defect(ResumesThreeSecondsLate, REPEATEDLY_PAUSED, "resume-time.first-differs"),
    Defect(ResumesJustWithinAHold, REPEATEDLY_PAUSED, "resume-time.first-differs"),
    Defect(ResumesASecondAndAHalfLate, PAUSED_AS_SHIPPED, "resume-time.first-differs"),
    Defect(ResumesJustWithinAHold, PAUSED_AS_SHIPPED, "resume-time.first-differs"),
    Defect(ResumesThreeSecondsLate, PAUSED_AND_BUSY, "resume-time.first-differs"),
    Defect(TakesLostAnswersAsReceived, PULLS_SWALLOWED, "delivered.never"),
    Defect(WaitsForLostAnswers, PULLS_SWALLOWED, "delivered.not-yet"),
    Defect(ForgetsItsConnection, PULLS_RESET, "delivered.not-yet"),
    Defect(ForgetsItsConnection, PULLS_RESET_OF_TWO, "pulling.too-late"),
    Defect(LeavesOneOut, PULLS_DELAYED, "delivered.never"),
    Defect(ComesBackLateToALostAnswer, PULLS_SWALLOWED, "pulling.too-late"),
    Defect(HandsALostOneBackAgainAndAgain, HAND_BACKS_SWALLOWED, "retries.too-many"),
    Defect(CommitsNothingMore, COMMITS_SWALLOWED, "offsets.not-committed"),
    Defect(GoesBackToALostCommit, COMMITS_SWALLOWED, "offsets.not-committed"),
    Defect(CommitsLateAtGivingUp, TWO_MEMBERS, "offsets.not-committed"),
    Defect(CommitsOnceMore, TWO_MEMBERS, "offsets.committed-by-another"),
    Defect(CommitsTheHighest, ONE_SLOW_MESSAGE, "offsets.unfinished-committed"),
    Defect(RestsWhenMembersChange, COMING_AND_GOING_SOON_SERVED, "consumption.kept-queue-waits"),
    Defect(PollsItsRetryTopic, CALM, "retries.later"),
    Defect(LeavesSlowly, MEMBER_LEFT, "consumption.leaves-later"),
    Defect(TrustsTheHashOfTags, TAGS, "delivered.not-subscribed"),
    Defect(MissesSomeTags, TAGS, "delivered.never"),
    Defect(CommitsWhatItPassesOver, replace(TAGS, work_ms=900), "offsets.unfinished-committed"),
    Defect(UsesOneThreadLess, EVERY_THREAD_BUSY, "consumption.later"),
    Defect(UsesTwiceTheThreads, EVERY_THREAD_BUSY, "consumption.too-many-calls"),
)
