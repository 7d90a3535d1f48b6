"""
Cache of outcomes of calls that the rules cannot distinguish.

Without fault latency a synchronous call depends on its thread's counters and list, on what was requested and observed,
and on the possible clock differences in ms between events: the rules only add, subtract and compare times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.states.belief import Belief
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketmq_reference.rules.client.publish import Queue

Shape = tuple[object, ...]

MOST_KNOWN = 10_000
"""Shapes kept: some 10 MB. Half a million sends beside killed brokers had some hundreds. Above this the cache is cleared."""


@dataclass(frozen=True, slots=True)
class KnownCall:
    """An explained call: the state after it, legal queues by decision, lowest and highest timeouts by attempt."""

    after: HiddenState
    legal: Sequence[set[Queue]]
    timeouts_ms: Mapping[int, tuple[int, int]]


def shape_of(belief: Belief, send: Send) -> Shape | None:
    """Return the cache key, everything the rules can distinguish; None if the call is not cacheable."""
    if send.mode is not SendMode.SYNC or len(belief.states) != 1 or not belief.complete:
        return None
    (state,) = belief.states
    if state.latency_on or state.story is not None or not state.thread_states.keys() <= {send.thread}:
        return None
    held = state.thread_states.get(send.thread)
    base_ms, from_ns = send.start_ns // NS_PER_MS, send.start_ns
    shape: list[object] = [
        send.thread,
        None if held is None else (held.index.value, held.worst_index.value, held.version),
        *(send.kind, send.argument, send.route, send.route_after),
        *(send.error, send.cause, send.code, send.status),
    ]
    for attempt in send.attempts:
        to_ns = max(attempt.start_ns, from_ns)
        shape += (from_ns // NS_PER_MS - base_ms, to_ns // NS_PER_MS - base_ms)
        shape += (attempt.broker, attempt.queue_id, attempt.error, attempt.code, attempt.status)
        from_ns = attempt.end_ns
    shape += (from_ns // NS_PER_MS - base_ms, max(send.end_ns, from_ns) // NS_PER_MS - base_ms)
    return tuple(shape)
