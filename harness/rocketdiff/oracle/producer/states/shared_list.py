"""
The shared publish list while several threads use it: rewrites that are under way, and reads that are still to come.

Up to 5.1.3 (4.9.8 excepted) the fallback rewrites an element in place: first its broker, then its queue id
(MQFaultStrategy.selectOneMessageQueue). Whoever selected the element before reads it again: sendKernelImpl for the
address, the hook for broker and queue id, the request for the queue id and, up to 4.9.8, the result for the broker. So
the rewrite of another thread may fall between any two of these. A read that matches at its earliest possible moment
leaves every later one possible, so reads need no choices, only the moments of the rewrites do.
"""

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.outcome import may_be
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint
from rocketdiff.oracle.producer.states.hidden_state import HiddenState, PendingReads, PendingRewrite, Values
from rocketmq_reference.rules.client.publish import Queue

_ROUNDING_MS = 2
"""The client rounds the time spent and the time left to whole milliseconds."""


def read_by_ns(send: Send, seen: Attempt, timeout_ms: int) -> int:
    """The latest moment of an attempt's reads: before its request, which then waited for the rest of the timeout if it timed out."""
    if not may_be(seen.error, "RemotingTimeoutException"):
        return seen.end_ns
    spent_ns = seen.start_ns - send.start_ns + _ROUNDING_MS * NS_PER_MS
    return max(seen.end_ns - max(timeout_ms * NS_PER_MS - spent_ns, 0), seen.start_ns)


def may_become(state: HiddenState, point: DecisionPoint, now: Queue, place: tuple[int, int]) -> bool:
    """
    True if the selected element, at this place of a list, may have become what the hook then reported.

    A rewrite is known from the attempt that follows it, unless the call ends instead; of two, one may hide the other.
    """
    seen = point.followed_by
    assert seen is not None
    after = [rival.followed_by for rival in point.rivals]
    pending = [one for one in state.rewritings.values() if (one.version, one.position) == place]
    brokers = {now.broker, *(one.broker for one in pending), *(one.broker for one in after if one is not None)}
    numbers = {now.queue_id, *(one.queue_id for one in pending), *(one.queue_id for one in after if one is not None)}
    is_hidden = None in after
    is_numbered = seen.queue_id in numbers or len(after) + len(pending) > 1
    return is_hidden or (seen.broker in brokers and is_numbered)


def begin_reading(state: HiddenState, thread: int, reading: PendingReads) -> None:
    """Read what can be read at once; keep the rest for later rewrites."""
    state.readings[thread] = reading
    _read(state, thread)


def catch_up(state: HiddenState, point: DecisionPoint, explorer: ChoiceExplorer) -> bool:
    """
    Let rewrites of other threads happen before a decision point, as the explorer chooses.

    The thread's own rewrite is complete, and so are those that ended before. False if the thread, or one whose reads
    are over, cannot have read what its hook reported.
    """
    thread = point.send.thread
    complete(state, thread)
    _write_others(state, point, explorer)
    reading = state.readings.pop(thread, None)
    if reading is not None:
        state.result_read = reading.named == ()
        if reading.hook:
            return False
    return not any(_is_over(state, other, point.from_ns) for other in state.readings)


def _is_over(state: HiddenState, thread: int, from_ns: int) -> bool:
    reading = state.readings[thread]
    if not reading.hook or reading.by_ns >= from_ns:
        return False
    return all((one.version, one.position) != (reading.version, reading.position) for one in state.rewritings.values())


def complete(state: HiddenState, thread: int) -> None:
    """Write both halves of a thread's rewrite."""
    while thread in state.rewritings:
        _write(state, thread)


def begin_rewriting(state: HiddenState, thread: int, rewrite: PendingRewrite) -> None:
    """Keep the halves of a rewrite that change anything."""
    state.rewritings[thread] = rewrite
    queue = state.infos[rewrite.version].queues[rewrite.position]
    if queue.broker == rewrite.broker:
        _write(state, thread)
        if queue.queue_id == rewrite.queue_id:
            _write(state, thread)


def _write_others(state: HiddenState, point: DecisionPoint, explorer: ChoiceExplorer) -> None:
    first = -1
    for thread in sorted(state.rewritings):
        if state.rewritings[thread].to_ns < point.from_ns:
            complete(state, thread)
    while True:
        # Only rewrites of one element depend on each other's order.
        last = state.rewritings.get(first)
        open_ = [
            thread
            for thread, one in sorted(state.rewritings.items())
            if (thread >= first or (last is not None and one.position == last.position)) and _matters(state, point, one)
        ]
        chosen = explorer.choose(1 + len(open_)) if open_ else 0
        if not chosen:
            return
        first = open_[chosen - 1]
        _write(state, first)


def _matters(state: HiddenState, point: DecisionPoint, one: PendingRewrite) -> bool:
    """True if a thread can tell before or after from this half of a rewrite: its walk reads brokers, its note the picked one's."""
    reading = state.readings.get(point.send.thread)
    if reading is not None and (reading.version, reading.position) == (one.version, one.position):
        return True
    if one.broker is None:
        return False
    loop = state.thread_states[point.send.thread].loop if point.send.thread in state.thread_states else None
    return point.chooses or (loop is not None and loop.pick == one.position)


def _write(state: HiddenState, thread: int) -> None:
    """Write the next half of a thread's rewrite; others may read the element in this condition."""
    one = state.rewritings[thread]
    info = state.infos.get(one.version)
    if info is None:
        del state.rewritings[thread]
        return
    queue = info.queues[one.position]
    if one.broker is None:
        info.queues[one.position] = queue._replace(queue_id=one.queue_id)
        del state.rewritings[thread]
    else:
        info.queues[one.position] = queue._replace(broker=one.broker)
        state.rewritings[thread] = one._replace(broker=None)
    for other, reading in list(state.readings.items()):
        is_same = (reading.version, reading.position) == (one.version, one.position)
        if is_same and (other == thread or one.from_ns <= reading.by_ns):
            _read(state, other)


def _read(state: HiddenState, thread: int) -> None:
    """A thread reads nothing before its own rewrite is complete."""
    reading, info = state.readings[thread], state.infos.get(state.readings[thread].version)
    if thread in state.rewritings or info is None:
        return
    queue = info.queues[reading.position]
    hook = _rest(reading.hook, queue)
    if hook or reading.named is not None:
        named = None if reading.named is None else _rest(reading.named, queue)
        state.readings[thread] = reading._replace(hook=hook, named=named)
    else:
        del state.readings[thread]


def _rest(values: Values, queue: Queue) -> Values:
    """The values that cannot be read of an element in its present condition, nor then those after them."""
    for number, value in enumerate(values):
        if value != (queue.broker if isinstance(value, str) else queue.queue_id):
            return values[number:]
    return ()
