"""
One hidden state of a producer: fault table, publish lists, and the state of each thread.

Mutable while the rules run on a copy; ``key`` identifies a state.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval, bounds, was_read
from rocketdiff.oracle.producer.states.uncertain import UncertainFaultTable, UncertainPublishInfo
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.attempt import Finish
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.queue_choice.events import Event
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.tape import Tape

Key = tuple[object, ...]

OVER_MS = 1
"""Start of an avoidance that is over; 0 means that the broker was never avoided."""

SLOW_MS = 50
"""The lowest penalty threshold of all releases."""


Values = tuple[str | int, ...]
"""Values read of one element in this order: a text is its broker, a number its queue id."""


class PendingRewrite(NamedTuple):
    """A rewrite that may end until to_ns; broker: None once it is written. from_ns: it did not begin before."""

    version: int
    position: int
    broker: str | None
    queue_id: int
    from_ns: int
    to_ns: int


class PendingReads(NamedTuple):
    """
    Reads of one element, which happen until by_ns.

    hook: what the hook is still to read. named: likewise of the values that also explain the result; None if the result
    names what the hook read.
    """

    version: int
    position: int
    hook: Values
    named: Values | None
    by_ns: int


@dataclass(slots=True)
class ThreadState:
    """
    A thread's counter for the publish list of ``version``, its counter for the fault table's better half, and its current call.

    finish: how the call ends, once determined.
    """

    index: ThreadIndex
    worst_index: ThreadIndex
    version: int = 0
    loop: SendLoop | None = None
    finish: Finish | None = None


class HiddenState:
    """
    Fault table, publish lists and thread states of one producer.

    story: events the rules emit for ``story_thread``; None unless ``collect_story`` was called. rewritings, readings: by
    thread, of the shared lists (see shared_list). result_read: the thread that was caught up last can have read what its
    result names.
    """

    __slots__ = (
        "dialect",
        "faults",
        "infos",
        "latency_on",
        "readings",
        "result_read",
        "rewritings",
        "story",
        "story_thread",
        "thread_states",
    )

    def __init__(self, dialect: Dialect, explorer: ChoiceExplorer, *, latency_on: bool) -> None:
        self.dialect = dialect
        self.latency_on = latency_on
        self.faults = UncertainFaultTable(dialect.producer.fault_table, explorer)
        self.infos: dict[int, UncertainPublishInfo] = {}
        self.thread_states: dict[int, ThreadState] = {}
        self.rewritings: dict[int, PendingRewrite] = {}
        self.readings: dict[int, PendingReads] = {}
        self.result_read = False
        self.story: list[Event] | None = None
        self.story_thread = -1

    def collect_story(self, thread: int) -> None:
        self.story = []
        self.story_thread = thread

    def thread_state(self, thread: int) -> ThreadState:
        thread_state = self.thread_states.get(thread)
        if thread_state is None:
            thread_state = self.thread_states[thread] = ThreadState(
                ThreadIndex(self.dialect.producer.index), ThreadIndex(self.dialect.producer.index)
            )
        return thread_state

    def selector(self, thread: int, thread_state: ThreadState, tape: Tape) -> Selector:
        observer = self.story.append if self.story is not None and thread == self.story_thread else None
        return Selector(
            self.infos[thread_state.version], thread_state.index, self.faults, thread_state.worst_index, tape, observer
        )

    def copy(self, tape: Tape, thread: int) -> "HiddenState":
        """
        Return a state in which the rules can run for one thread; it shares the other threads' states.

        Without fault latency the rules change only that thread's state, so everything else is shared.
        """
        clone = HiddenState.__new__(HiddenState)
        clone.dialect = self.dialect
        clone.latency_on = self.latency_on
        clone.story = None if self.story is None else self.story.copy()
        clone.story_thread = self.story_thread
        if self.latency_on:
            clone.faults = self.faults.copy()
            # Only a fallback changes a list, or answers what is unknown of it.
            is_fixed = self.dialect.producer.ticks_per_queue
            clone.infos = {version: info if is_fixed else info.copy() for version, info in self.infos.items()}
            clone.rewritings, clone.readings = self.rewritings.copy(), self.readings.copy()
        else:
            clone.faults = self.faults
            clone.infos = self.infos.copy()
            clone.rewritings, clone.readings = self.rewritings, self.readings
        clone.result_read = False
        clone.thread_states = self.thread_states.copy()
        if thread in clone.thread_states:
            clone.thread_states[thread] = _copy_thread_state(clone, thread, clone.thread_states[thread], tape)
        return clone

    def forget_index(self, thread: int) -> None:
        thread_state = self.thread_state(thread)
        index, worst = ThreadIndex(thread_state.index.rule), ThreadIndex(thread_state.worst_index.rule)
        self.thread_states[thread] = replace(thread_state, index=index, worst_index=worst)

    def forget_unused_lists(self) -> None:
        used = {thread_state.version for thread_state in self.thread_states.values()}
        for version in [version for version in self.infos if version not in used]:
            del self.infos[version]

    def key(self) -> tuple[Key, Key]:
        """Return (discrete part, bounds of all uncertain times); equal keys mean equal hidden states."""
        return self._discrete(), tuple(bounds(getattr(owner, name)) for owner, name in self._time_slots())

    def set_times(self, times: Iterable[tuple[int, int]], explorer: ChoiceExplorer) -> None:
        """Replace the uncertain times, in the order of ``key``."""
        changed = [
            (owner, name, Interval(*time, explorer, was_read=was_read(getattr(owner, name))))
            for (owner, name), time in zip(self._time_slots(), times, strict=True)
            if bounds(getattr(owner, name)) != time
        ]
        own = self._own_loops({id(owner) for owner, _, _ in changed})
        for owner, name, interval in changed:
            setattr(own.get(id(owner), owner), name, interval)

    def avoids(self, broker: str, now_ms: int) -> bool:
        """True if a broker is certainly avoided at a time; an unknown broker is not."""
        item = self.faults.items.get(broker)
        if item is None:
            return False
        unreachable = self.dialect.producer.fault_table.unreachable_is_unavailable and not item.reachable
        return unreachable or bounds(item.start_ms)[0] > now_ms

    def is_calm(self, now_ms: int) -> bool:
        """True if no broker can be avoided from a time on without a new note in the fault table."""
        rules = self.dialect.producer.fault_table
        return all(
            (was_read(item.start_ms) or bounds(item.start_ms)[1] <= now_ms)
            and (item.reachable or not rules.unreachable_is_unavailable)
            for item in self.faults.items.values()
        )

    def note_quick_calls(self, brokers: Iterable[str]) -> None:
        """Note calls that were answered at once, in a table that only extends avoidances."""
        for broker in brokers:
            self.faults.update(broker, latency_ms=0, avoid_ms=0, reachable=True, now_ms=0)

    def forget_ended_avoidances(self, now_ms: int) -> None:
        """
        Set the start of ended avoidances to OVER_MS, so that more states are equal.

        Only where avoidances are only ever extended: there the start of an ended one has no effect. now_ms: a time
        certainly past.
        """
        if self.dialect.producer.fault_table.extends_only:
            for item in self.faults.items.values():
                if 0 < bounds(item.start_ms)[1] <= now_ms:
                    item.start_ms = OVER_MS

    def has_cause_to_avoid(self, broker: str) -> bool:
        """True if a broker was ever avoided, or its last latency was high enough for a penalty."""
        item = self.faults.items.get(broker)
        if item is None:
            return False
        was_avoided = bounds(item.start_ms)[0] > 0 and not was_read(item.start_ms)
        return was_avoided or bounds(item.latency_ms)[1] >= SLOW_MS

    def _discrete(self) -> Key:
        parts: list[object] = []
        for thread in sorted(self.thread_states):
            thread_state = self.thread_states[thread]
            parts.append(
                (
                    thread,
                    thread_state.index.value,
                    thread_state.worst_index.value,
                    thread_state.version,
                    thread_state.finish,
                )
            )
            if thread_state.loop is not None:
                parts.append((thread_state.loop.attempts, thread_state.loop.pick, thread_state.loop.result_kept))
        if self.latency_on:
            parts += (tuple(sorted(self.rewritings.items())), tuple(sorted(self.readings.items())))
            parts.extend((item.broker, item.reachable, was_read(item.start_ms)) for item in self._items())
            parts.extend(
                (version, tuple(info.queues), tuple(sorted(info.answered.items())))
                for version, info in self.infos.items()
            )
        return tuple(parts)

    def _own_loops(self, changing: Collection[int]) -> dict[int, SendLoop]:
        """Copy the calls to be changed, because other states may share them; keyed by the identity of the original."""
        own = {}
        for thread, thread_state in self.thread_states.items():
            if thread_state.loop is not None and id(thread_state.loop) in changing:
                own[id(thread_state.loop)] = loop = thread_state.loop.copy(thread_state.loop.selector)
                self.thread_states[thread] = replace(thread_state, loop=loop)
        return own

    def _time_slots(self) -> list[tuple[object, str]]:
        slots: list[tuple[object, str]] = []
        for thread in sorted(self.thread_states):
            loop = self.thread_states[thread].loop
            if loop is not None:
                slots += [(loop, "began_ms"), (loop, "attempt_began_ms")]
        if self.latency_on:
            # A table that only extends avoidances is never sorted, so its latencies are never read.
            names = ("start_ms",) if self.dialect.producer.fault_table.extends_only else ("start_ms", "latency_ms")
            slots += [(item, name) for item in self._items() for name in names]
        return slots

    def _items(self) -> list[FaultItem]:
        """Fault items in canonical order: equal for two tables that behave alike."""
        rules = self.dialect.producer.fault_table
        if rules.extends_only or rules.shuffles:
            return sorted(self.faults.items.values(), key=lambda item: item.broker)
        return self.faults.in_java_order()


def _copy_thread_state(state: HiddenState, thread: int, thread_state: ThreadState, tape: Tape) -> ThreadState:
    clone = ThreadState(
        thread_state.index.copy(), thread_state.worst_index.copy(), thread_state.version, None, thread_state.finish
    )
    if thread_state.loop is not None:
        clone.loop = thread_state.loop.copy(state.selector(thread, clone, tape))
    return clone
