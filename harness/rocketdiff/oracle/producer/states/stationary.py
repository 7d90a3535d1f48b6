"""
A belief that quick successful calls do not change: one hidden state, whose counter is known between two calls.

While such calls follow each other, nothing is noted but quick answers: the same brokers stay avoided until known times, and the
counter takes the other brokers' queues in turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rocketdiff.oracle.interval import bounds, was_read
from rocketdiff.oracle.producer.states.belief import Belief
from rocketmq_reference.rules.client.publish import Queue

NEVER_MS = 1 << 62
"""The end of an avoidance that time does not end."""


@dataclass(frozen=True, slots=True)
class Stationary:
    """
    A producer with fault latency between two calls.

    queues: the publish list as it stands. tick: the counter modulo its length. ticks_per_queue: the counter stops at the queue it
    selects; otherwise it moves by one a call. avoided_ms: bounds of the time from which each broker that was avoided may be used.
    unreachable: some broker may be refused although no other is available.
    """

    queues: tuple[Queue, ...]
    tick: int
    ticks_per_queue: bool
    avoided_ms: Mapping[str, tuple[int, int]]
    unreachable: bool

    @classmethod
    def of(cls, belief: Belief, thread: int, route: int) -> "Stationary | None":
        """Return the stationary belief of a thread whose publish list is ``route``; None if there is none."""
        if not belief.complete or len(belief.states) != 1:
            return None
        (state,) = belief.states
        held = state.thread_states.get(thread)
        if held is None or held.version != route or held.index.value is None:
            return None
        producer, queues = state.dialect.producer, tuple(state.infos[route].queues)
        unreachable = [item.broker for item in state.faults.items.values() if not item.reachable]
        avoided_ms = {
            item.broker: bounds(item.start_ms) for item in state.faults.items.values() if not was_read(item.start_ms)
        }
        if producer.fault_table.unreachable_is_unavailable:
            avoided_ms |= dict.fromkeys(unreachable, (NEVER_MS, NEVER_MS))
        return cls(queues, held.index.value % len(queues), producer.ticks_per_queue, avoided_ms, bool(unreachable))
