"""The group of one arm while a case runs: its member processes, the orders to them, and what they have said."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.plan import ConsumerCall, MemberChange
from rocketdiff.core.consuming.watched import OrderedMember
from rocketdiff.core.records.consuming import (
    ALLOCATIONS,
    FAILED,
    OWNED,
    Allocated,
    Consumed,
    DeliveredMessage,
    Joined,
    Left,
    Owned,
    Received,
)
from rocketdiff.core.records.field_types import TopicQueue
from rocketdiff.run.case.consuming.interruption import Interruption
from rocketdiff.run.case.consuming.settling import LivingMember
from rocketdiff.run.case.consuming.wire_view import WireView
from rocketdiff.subjects.consuming.talk import ConsumingTalk
from rocketdiff.subjects.subject_process import SubjectProcess
from rocketdiff.traces.recorder import Recorder

Reported = TypeVar("Reported", Allocated, Consumed, Joined, Left, Owned, Received)


class GroupRun:
    """
    The members of one arm by number. journal: of orders, for one thread at a time; orders: those that it has.

    views: of the members that do not report what they work on.
    """

    def __init__(
        self,
        arm: Arm,
        subjects: Mapping[int, SubjectProcess],
        talks: Mapping[int, ConsumingTalk],
        journal: Recorder,
        views: Mapping[int, WireView] | None = None,
    ) -> None:
        self.arm = arm
        self._subjects, self._talks, self._journal = subjects, talks, journal
        self._views = views or {}
        self._joins: dict[int, int] = {}
        self._stops: dict[int, list[tuple[int, int | None]]] = {}
        self.orders: list[OrderedMember] = []

    @property
    def is_broken(self) -> bool:
        """True if a member broke the protocol."""
        return any(subject.broken is not None for subject in self._subjects.values())

    def join(self, number: int, at_ns: int) -> None:
        """Order a member to join at this monotonic time."""
        subject, talk = self._subjects[number], self._talks[number]
        if subject.broken is None:
            self._joins[number] = self._joins.get(number, 0) + 1
            ordered_ns = time.monotonic_ns()
            self._note(number, MemberChange.JOIN, at_ns, ordered_ns)
            subject.order(lambda: talk.join(at_ns, ordered_ns))

    def leave(self, number: int, at_ns: int, *, is_last: bool) -> None:
        """Order a member to leave at this monotonic time."""
        subject, talk = self._subjects[number], self._talks[number]
        if subject.broken is None:
            ordered_ns = time.monotonic_ns()
            self._note(number, MemberChange.LEAVE, at_ns, ordered_ns)
            subject.order(lambda: talk.leave(at_ns, ordered_ns, is_last=is_last))

    def apply(
        self, number: int, at_ns: int, what: ConsumerCall, queue: tuple[str, int], offset: int | None = None
    ) -> None:
        """Order a member's application to call a method of its consumer at this monotonic time."""
        subject, talk = self._subjects[number], self._talks[number]
        if subject.broken is None:
            ordered_ns = time.monotonic_ns()
            subject.order(lambda: talk.apply(at_ns, ordered_ns, what, queue, offset))

    def aim(self, number: int, what: str) -> Interruption | None:
        """Return a signal to a member that is still to be sent; None if the member broke the protocol."""
        subject = self._subjects[number]
        return None if subject.broken is not None else Interruption(subject, what)

    def hold(self, number: int) -> None:
        """Take note that a member is about to be stopped: what it does not do from now on is no violation."""
        stopped_ns, talk = time.monotonic_ns(), self._talks[number]
        self._stops.setdefault(number, []).append((stopped_ns, None))
        self._subjects[number].take_note(lambda: talk.pause(stopped_ns))

    def release(self, number: int) -> None:
        """Take note that a member that was stopped goes on."""
        resumed_ns, talk, stops = time.monotonic_ns(), self._talks[number], self._stops[number]
        stops[-1] = stops[-1][0], resumed_ns
        self._subjects[number].take_note(lambda: talk.resume(resumed_ns))

    def note(self, number: int, what: str, at_ns: int, interruption: Interruption) -> None:
        """Write a signal with its proof, if it has one, into the journal. at_ns: when it was due."""
        self._note(number, what, at_ns, interruption.ordered_ns, interruption.proven_ns)

    def is_stop_wanted(self, number: int, from_ns: int, to_ns: int) -> bool:
        """Return True if the script keeps a member stopped at some time in an interval."""
        stops = self._stops.get(number, ())
        return any(begin_ns <= to_ns and (end_ns is None or end_ns >= from_ns) for begin_ns, end_ns in tuple(stops))

    def await_joined(self, number: int, within_s: float) -> Joined | None:
        """Return how a join ended; None at the deadline. Raises SubjectBroken."""
        talk = self._talks[number]
        self._subjects[number].await_that(lambda: talk.joined is not None, within_s)
        return talk.joined

    def await_left(self, number: int, within_s: float) -> bool:
        """Raises SubjectBroken."""
        talk = self._talks[number]
        return self._subjects[number].await_that(lambda: talk.has_left, within_s)

    @property
    def living(self) -> tuple[LivingMember, ...]:
        """Members that have joined without error, whose id is known, and that were not ordered to leave."""
        return tuple(self._living())

    def _living(self) -> Iterable[LivingMember]:
        for number, talk in self._talks.items():
            joined = talk.joined
            if joined is None or joined.error is not None or talk.has_left:
                continue
            view, client_id = self._views.get(number), joined.client_id
            if client_id is None and view is not None:
                client_id = view.client_id(joined.start_ns)
            if client_id is not None:
                yield LivingMember(client_id, self._allocated(number, joined), self._owned(number))

    def _allocated(self, number: int, joined: Joined) -> dict[str, Allocated] | None:
        """Return a member's last allocation of each topic since it joined; None if it reports none."""
        if number in self._views and not self._claims(number, ALLOCATIONS):
            return None
        own = (each for each in self._reported(number, Allocated) if each.incarnation == joined.incarnation)
        return {each.topic: each for each in own}

    def _owned(self, number: int) -> Counter[TopicQueue]:
        view = self._views.get(number)
        if view is not None and not self._claims(number, OWNED):
            return view.pulled(time.monotonic_ns())
        last = next(reversed(self._reported(number, Owned)), None)
        return Counter(() if last is None else last.queues)

    def _claims(self, number: int, claim: str) -> bool:
        hello = self._subjects[number].transcript.hello
        return hello is not None and claim in hello.capabilities

    def open_retries(self, most: int) -> int:
        """
        Failed messages that no member has received since. most: reconsume times with which a failed message becomes a dead letter.

        Reconsume times do not count: a queue that is handed over begins again at 0.
        """
        failed_ns: dict[tuple[int | None, str | None], int] = {}
        received_ns: dict[tuple[int | None, str | None], int] = {}
        for number in self._subjects:
            ends = {end.call: end for end in self._reported(number, Consumed)}
            for call in self._reported(number, Received):
                for message in call.messages:
                    _raise(received_ns, message, call.at_ns)
                end = ends.get(call.call)
                if end is not None and end.delay_level != DEAD_LETTER_LEVEL:
                    for message in _failed(call, end):
                        if message.times < most:
                            _raise(failed_ns, message, end.at_ns)
        return sum(received_ns[message] < at_ns for message, at_ns in failed_ns.items())

    def has_each_worked_to(self, ends: Mapping[tuple[str, int], int] | None, members: Iterable[int]) -> bool:
        """Return True if each of these members has ended a call with the last message of each queue. ends: None if unknown."""
        return ends is not None and all(
            self._worked_to(number, queue) >= ends[queue] for number in members for queue in ends
        )

    def _worked_to(self, number: int, queue: tuple[str, int]) -> int:
        ended = {end.call for end in self._reported(number, Consumed)}
        own = (each for each in self._reported(number, Received) if (each.broker, each.queue_id) == queue)
        return max((message.offset + 1 for call in own if call.call in ended for message in call.messages), default=0)

    @property
    def calls(self) -> int:
        return sum(subject.ended for subject in self._subjects.values())

    def received_ns(self) -> Iterable[int]:
        """Yield when each call began."""
        return (call.at_ns for number in self._subjects for call in self._reported(number, Received))

    def first_calls_ns(self, topic: str) -> dict[tuple[str, int], int]:
        """Return when the first call with messages of each queue of a topic began."""
        found: dict[tuple[str, int], int] = {}
        for call in (each for number in self._subjects for each in self._reported(number, Received)):
            if call.topic == topic:
                queue = (call.broker, call.queue_id)
                found[queue] = min(call.at_ns, found.get(queue, call.at_ns))
        return found

    def carried_out_ns(self, from_ns: int, until_ns: int) -> dict[tuple[int, str, int], int]:
        """Return when each event began that was due between two instants, by member, change and due time."""
        began: dict[tuple[int, str, int], int] = {}
        for order in self.orders:
            at_ns: int | None = order.ordered_ns
            if order.what in (MemberChange.JOIN, MemberChange.LEAVE):
                joins, leaves = self._reported(order.member, Joined), self._reported(order.member, Left)
                records: Sequence[Joined | Left] = joins if order.what == MemberChange.JOIN else leaves
                at_ns = next((each.start_ns for each in records if each.incarnation == order.incarnation), None)
            if at_ns is not None and from_ns <= order.at_ns < until_ns:
                began[order.member, order.what, order.at_ns] = at_ns
        return began

    def _reported(self, number: int, kind: type[Reported]) -> list[Reported]:
        found = self._subjects[number].transcript.others.get(kind, [])
        return [record for record in found if isinstance(record, kind)]

    def _note(self, number: int, what: str, at_ns: int, ordered_ns: int, proven_ns: int | None = None) -> None:
        order = OrderedMember(self.arm, number, self._joins[number], str(what), at_ns, ordered_ns, proven_ns)
        self.orders.append(order)
        self._journal.line(msgspec.json.encode(order))


DEAD_LETTER_LEVEL = -1
"""A delay level that asks for the dead letters at once."""


def _failed(call: Received, end: Consumed) -> tuple[DeliveredMessage, ...]:
    if end.result in FAILED:
        return call.messages
    return () if end.ack_index is None else call.messages[end.ack_index + 1 :]


def _raise(latest_ns: dict[tuple[int | None, str | None], int], message: DeliveredMessage, at_ns: int) -> None:
    """Note a time of a message, by its number and its key, if it is later than what is known."""
    one = message.send, message.key
    latest_ns[one] = max(at_ns, latest_ns.get(one, at_ns))
