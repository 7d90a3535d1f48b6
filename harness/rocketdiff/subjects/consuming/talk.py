"""
What a member of a group is ordered to do, and the order of what it may report of it. Pure: the clock is a parameter.

After ready it joins and leaves when ordered; each join begins an incarnation. Records of an incarnation come after its order
to join; the client's threads may report before ``joined`` and, up to the end of open calls, after ``left``. A start that threw
leaves the member possibly there until it has left. ``done`` comes after the last ``left`` and the end of every call, but for those of
a client whose process died in its shutdown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketdiff.core.consuming.plan import ConsumerCall, ListenerRule, MessageModel
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.consuming import (
    ALLOCATIONS,
    OFFSETS,
    OWNED,
    Allocated,
    Applied,
    Consumed,
    Joined,
    Left,
    OffsetSeen,
    Owned,
    Received,
)
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.session import Done
from rocketdiff.core.security import secrets_in
from rocketdiff.protocol.consuming import (
    Apply,
    Join,
    Leave,
    MemberSetup,
    encode_member_setup,
    encode_order,
    encode_rules,
)
from rocketdiff.protocol.records import type_of
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.subjects.claims import require_claim
from rocketdiff.subjects.consuming.limits import MemberLimits
from rocketdiff.subjects.conversation import Stage, broken, require_bound, require_past, require_stage
from rocketdiff.subjects.limits import OutputBounds

_TOLERANCE_NS = 1_000_000
"""Timers of some clients round to whole milliseconds; a call may have begun just before its client had left."""

_CLAIMS: dict[type[Record], str] = {Allocated: ALLOCATIONS, Owned: OWNED, OffsetSeen: OFFSETS}


@dataclass(slots=True)
class _Life:
    """One incarnation. joins_ns, leaves_ns: from when an answer is due."""

    joins_ns: int
    leaves_ns: int | None = None
    joined: Joined | None = None
    left: Left | None = None


class ConsumingTalk:
    """The orders to one member; see ``RoleTalk``. messages: number of fed messages."""

    def __init__(self, setup: MemberSetup, rules: Sequence[ListenerRule], limits: MemberLimits) -> None:
        self.bounds: OutputBounds = limits.bounds
        self.secrets: tuple[str, ...] = secrets_in(setup.security)
        self._setup, self._rules, self._limits = setup, rules, limits
        self._lives: list[_Life] = []
        self._is_last = False
        self._numbers: dict[type[Record], int] = {}
        self._calls = 0
        self._open: dict[int, tuple[int, int]] = {}
        self._others = 0
        self._applies: list[tuple[int, Apply]] = []
        self._applied = 0
        self._pauses: list[tuple[int, int | None]] = []
        self._transcript = Transcript()

    def prepare(self, transcript: Transcript, heard_ns: int, margin_s: float) -> bytes:  # noqa: ARG002 - RoleTalk's
        self._transcript = transcript
        return b"".join([*encode_rules(self._rules), encode_member_setup(self._setup)])

    def go(self, start_ns: int) -> None:
        """Members begin when they are ordered to join."""
        raise AssertionError(f"go at {start_ns} to a member of a group")

    def join(self, at_ns: int, now_ns: int) -> bytes:
        """Take note of an order to join, and return its line. at_ns: 0 for at once."""
        assert not self._is_last, "a join after the last leave"
        assert not self._lives or self._lives[-1].leaves_ns is not None, "a join of a member that is there"
        self._lives.append(_Life(max(at_ns, now_ns)))
        return encode_order(Join(at_ns))

    def leave(self, at_ns: int, now_ns: int, *, is_last: bool) -> bytes:
        """Take note of an order to leave, and return its line."""
        assert self._lives, "a leave of a member that never joined"
        assert self._lives[-1].leaves_ns is None, "a leave of a member that is not there"
        self._lives[-1].leaves_ns, self._is_last = max(at_ns, now_ns), is_last
        return encode_order(Leave(at_ns, last=is_last))

    def apply(
        self, at_ns: int, now_ns: int, what: ConsumerCall, queue: tuple[str, int], offset: int | None = None
    ) -> bytes:
        """Take note of an order to its application, and return its line."""
        assert self._lives, "a call of a member that never joined"
        assert self._lives[-1].leaves_ns is None, "a call of a member that is not there"
        order = Apply(at_ns, what, *queue, offset)
        self._applies.append((max(at_ns, now_ns), order))
        return encode_order(order)

    def pause(self, now_ns: int) -> None:
        """Take note that its process is stopped from now on: nothing of it can be late."""
        self._pauses.append((now_ns, None))

    def resume(self, now_ns: int) -> None:
        """Take note that its process goes on."""
        self._pauses[-1] = self._pauses[-1][0], now_ns

    @property
    def ended(self) -> int:
        return self._calls - len(self._open)

    @property
    def progress(self) -> str:
        return f"{self.ended} calls ended, {len(self._open)} open"

    @property
    def is_finished(self) -> bool:
        return self._is_last and self._lives[-1].left is not None and not self._open

    @property
    def joined(self) -> Joined | None:
        """How the last join ended; None while it is under way."""
        return self._lives[-1].joined if self._lives else None

    @property
    def has_left(self) -> bool:
        """True if the member has left since it was last ordered to join."""
        return bool(self._lives) and self._lives[-1].left is not None

    def take(self, record: Record, stage: Stage, now_ns: int) -> None:
        require_stage(stage, Stage.RUNNING, type_of(record))
        match record:
            case Joined():
                self._take_joined(record, now_ns)
            case Left():
                self._take_left(record, now_ns)
            case Allocated() | Owned() | OffsetSeen():
                self._take_numbered(record, now_ns)
            case Received():
                self._take_received(record, now_ns)
            case Consumed():
                self._take_consumed(record, now_ns)
            case Applied():
                self._take_applied(record, now_ns)
            case _:
                raise broken("out-of-order", "records of a consumer", type_of(record))
        self._transcript.keep(record)

    def require_complete(self, done: Done) -> None:
        if not self.is_finished:
            open_calls = f", {len(self._open)} calls are open" if self._open else ""
            raise broken("incomplete", "done after the last left and the end of every call", f"done{open_calls}")
        if self._applied < len(self._applies):
            raise broken("incomplete", f"done after {len(self._applies)} calls of the application", f"{self._applied}")
        if done.calls != self._calls:
            raise broken("incomplete", f"done to count {self._calls} calls", f"{done.calls}")
        hello = self._transcript.hello
        is_shared = self._setup.model is MessageModel.CLUSTERING and self._setup.assign is None
        if (
            is_shared
            and self._calls
            and hello is not None
            and ALLOCATIONS in hello.capabilities
            and not self._numbers.get(Allocated)
        ):
            raise broken("unkept-claim", "allocations, as hello claims", f"none before {self._calls} calls")

    def overdue(self, now_ns: int) -> SubjectBroken | None:
        """
        The violation of a join, leave or call that takes too long. A join waits for the end of the leave before it.

        The time of a pause of its process does not count.
        """
        limits = self._limits
        began_ns = 0
        for life in self._lives:
            if life.left is not None:
                began_ns = life.left.end_ns
                continue
            if life.joined is None:
                return self._late("joined after join", max(life.joins_ns, began_ns), limits.join_s, now_ns)
            if life.leaves_ns is not None:
                return self._late("left after leave", max(life.leaves_ns, life.joined.end_ns), limits.leave_s, now_ns)
        if self._applied < len(self._applies):
            due_ns, order = self._applies[self._applied]
            return self._late(f"applied after apply of {order.what}", due_ns, limits.call_s, now_ns)
        if self._open:
            call, (began_ns, _) = min(self._open.items(), key=lambda item: item[1])
            return self._late(f"the end of call {call}", began_ns, limits.call_s, now_ns)
        return None

    def _late(self, what: str, since_ns: int, within_s: float, now_ns: int) -> SubjectBroken | None:
        paused = (min(until_ns or now_ns, now_ns) - max(from_ns, since_ns) for from_ns, until_ns in self._pauses)
        waited_s = (now_ns - since_ns - sum(max(0, each_ns) for each_ns in paused)) / 1e9
        if waited_s <= within_s:
            return None
        return broken("stalled", f"{what} within {within_s:g} s", f"nothing for {waited_s:.1f} s")

    def _take_joined(self, joined: Joined, now_ns: int) -> None:
        life = self._life("joined", joined.incarnation)
        if life.joined is not None or any(before.left is None for before in self._lives[: joined.incarnation - 1]):
            raise broken("out-of-order", "one joined after each join", f"joined of incarnation {joined.incarnation}")
        _require_times("joined", joined, life.joins_ns, now_ns)
        instance = self._setup.instance
        if joined.client_id is not None and instance not in joined.client_id:
            raise broken("wrong-member", f"a client id with the instance {instance}", joined.client_id)
        life.joined = joined

    def _take_left(self, left: Left, now_ns: int) -> None:
        life = self._life("left", left.incarnation)
        if life.leaves_ns is None or life.left is not None:
            raise broken("out-of-order", "one left after each leave", f"left of incarnation {left.incarnation}")
        if life.joined is None:
            raise broken("out-of-order", "joined before left", f"left of incarnation {left.incarnation}")
        _require_times("left", left, life.leaves_ns, now_ns)
        life.left = left
        if left.has_died:
            self._open = {call: began for call, began in self._open.items() if began[1] != left.incarnation}

    def _take_numbered(self, record: Allocated | Owned | OffsetSeen, now_ns: int) -> None:
        word = type_of(record)
        require_claim(self._transcript.hello, _CLAIMS[type(record)], f"{word} {record.number}")
        self._life(word, record.incarnation)
        expected = self._numbers.get(type(record), 0) + 1
        if record.number != expected:
            raise broken("number-order", f"{word} {expected}", f"{word} {record.number}")
        require_past(f"{word} {record.number}", record.at_ns, now_ns)
        self._numbers[type(record)] = expected
        self._others += 1
        limits = self._limits
        passed_s = (now_ns - self._lives[0].joins_ns) / 1e9
        most = limits.other_records + int(limits.others_a_second * passed_s) + limits.others_a_call * self._calls
        require_bound(self._others, most, "records of allocations, owned queues and offsets by now")

    def _take_received(self, received: Received, now_ns: int) -> None:
        life = self._life("received", received.incarnation)
        if received.call != self._calls:
            raise broken("call-order", f"call {self._calls} to begin next", f"call {received.call}")
        if life.left is not None and received.at_ns > life.left.end_ns + _TOLERANCE_NS:
            late_ms = (received.at_ns - life.left.end_ns) / 1e6
            raise broken("after-left", "no call that begins after left", f"call {received.call} {late_ms:.1f} ms later")
        if not received.messages:
            raise broken("impossible-value", "a call with at least one message", f"call {received.call} with none")
        require_past(f"call {received.call}", received.at_ns, now_ns)
        self._calls += 1
        self._open[received.call] = received.at_ns, received.incarnation
        require_bound(self._calls, self._limits.calls, "calls")

    def _take_consumed(self, consumed: Consumed, now_ns: int) -> None:
        began = self._open.pop(consumed.call, None)
        if began is None:
            raise broken("call-order", "the end of an open call", f"the end of call {consumed.call}")
        began_ns, _ = began
        if consumed.at_ns < began_ns:
            seen = f"call {consumed.call}: {began_ns} to {consumed.at_ns}"
            raise broken("impossible-times", "an end after its beginning", seen)
        require_past(f"the end of call {consumed.call}", consumed.at_ns, now_ns)

    def _take_applied(self, applied: Applied, now_ns: int) -> None:
        """In the order of the orders, and not while the thread that polls works on messages."""
        self._life("applied", applied.incarnation)
        if applied.number != self._applied + 1 or applied.number > len(self._applies):
            expected = f"applied {self._applied + 1} of {len(self._applies)} orders"
            raise broken("number-order", expected, f"applied {applied.number}")
        due_ns, order = self._applies[self._applied]
        asked = order.what, order.broker, order.queue_id, order.offset
        if (applied.what, applied.broker, applied.queue_id, applied.offset) != asked:
            raise broken("call-order", f"{order.what} of queue {order.queue_id} of {order.broker}", f"{applied}")
        if self._open:
            raise broken("call-order", "no open call beside a call of the application", f"call {min(self._open)}")
        _require_times("applied", applied, due_ns, now_ns)
        self._applied += 1

    def _life(self, word: str, incarnation: int) -> _Life:
        if not 1 <= incarnation <= len(self._lives):
            raise broken("before-join", f"{word} of an incarnation up to {len(self._lives)}", f"{incarnation}")
        return self._lives[incarnation - 1]


def _require_times(word: str, record: Joined | Left | Applied, ordered_ns: int, now_ns: int) -> None:
    if record.end_ns < record.start_ns:
        seen = f"{word}: {record.start_ns} to {record.end_ns}"
        raise broken("impossible-times", "an end after its beginning", seen)
    require_past(word, record.end_ns, now_ns)
    if record.start_ns < ordered_ns - _TOLERANCE_NS:
        early_ms = (ordered_ns - record.start_ns) / 1e6
        raise broken("early", f"{word} not before it is ordered", f"{early_ms:.1f} ms early")
