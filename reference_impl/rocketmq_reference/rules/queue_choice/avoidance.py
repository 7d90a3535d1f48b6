"""
Queue selection with fault latency on: generations F1–F6 of MQFaultStrategy.selectOneMessageQueue.

F1–F5 walk the list once from one tick of the counter. If no queue is acceptable they fall back on the best known broker.
Java catches every exception on the way and then uses plain rotation. F6 has three tiers and no fallback. Times are
milliseconds, or intervals (see fault_table).
"""

from collections.abc import Callable

from rocketmq_reference.rules.client.publish import Pick, Queue
from rocketmq_reference.rules.java import INT_MAX, remainder, wrap32
from rocketmq_reference.rules.queue_choice.events import (
    Chosen,
    Forgotten,
    IndexRead,
    IndexReset,
    Skip,
    Skipped,
    Swallowed,
    Tier,
)
from rocketmq_reference.rules.queue_choice.selection import Selector, position_of, rotate

_Refusal = Callable[[Selector, str, str | None, int], Skip | None]
_Fallback = Callable[[Selector, str, int], Pick]


def walk_only_last_broker(selector: Selector, last_broker: str | None, reset_index: bool, now_ms: int) -> Pick:
    """F1, to 4.7.1: an available queue; on a retry only of the broker that just failed (upstream #1576)."""
    return _walk(selector, last_broker, now_ms, _refuse_unless_last, _rewrite_an_element, clamped=True)


def walk_available(selector: Selector, last_broker: str | None, reset_index: bool, now_ms: int) -> Pick:
    """F2, 4.8.0 to 5.0.0: an available queue, whichever broker just failed."""
    return _walk(selector, last_broker, now_ms, _refuse_avoided, _rewrite_an_element, clamped=True)


def walk_available_with_own_queue(selector: Selector, last_broker: str | None, reset_index: bool, now_ms: int) -> Pick:
    """F3, 4.9.8: like F2, but the fallback does not change the shared list (upstream #7779)."""
    return _walk(selector, last_broker, now_ms, _refuse_avoided, _own_queue, clamped=True)


def walk_available_unclamped(selector: Selector, last_broker: str | None, reset_index: bool, now_ms: int) -> Pick:
    """F4, 5.1.0: like F2 without guards against a negative position, which then ends in plain rotation."""
    return _walk(selector, last_broker, now_ms, _refuse_avoided, _rewrite_an_element, clamped=False)


def walk_available_not_last(selector: Selector, last_broker: str | None, reset_index: bool, now_ms: int) -> Pick:
    """F5, 5.1.1 to 5.1.3: like F4, and not the broker that just failed."""
    return _walk(selector, last_broker, now_ms, _refuse_last_or_avoided, _rewrite_an_element, clamped=False)


def available_then_reachable_then_any(
    selector: Selector, last_broker: str | None, reset_index: bool, now_ms: int
) -> Pick:
    """F6, from 5.1.4: a queue of another available broker; else of another reachable broker; else any queue."""
    # Only a retry of a synchronous send resets, before the first tier.
    if reset_index:
        selector.index.reset(selector.tape)
        if selector.observer is not None:
            selector.observer(IndexReset(selector.index.value))
    queues, observer = selector.info.queues, selector.observer
    for _ in queues:
        position = rotate(selector)
        broker = queues[position].broker
        # Java evaluates every filter even after one has refused; filters have no side effects.
        refusal = _refuse_last_or_avoided(selector, broker, last_broker, now_ms)
        if refusal is None:
            return _taken(selector, position, Tier.AVAILABLE)
        if observer is not None:
            _left(selector, queues[position], refusal, now_ms)
    # Each tier takes its own ticks: the second continues where the first stopped.
    for _ in queues:
        position = rotate(selector)
        broker = queues[position].broker
        if broker != last_broker and selector.faults.is_reachable(broker):
            return _taken(selector, position, Tier.REACHABLE)
        _left(selector, queues[position], Skip.LAST_BROKER if broker == last_broker else Skip.UNREACHABLE, now_ms)
    return _taken(selector, rotate(selector), Tier.ANY)


REWRITING = frozenset({walk_only_last_broker, walk_available, walk_available_unclamped, walk_available_not_last})
"""The rules whose fallback rewrites the shared list: every release up to 5.1.3 but 4.9.8."""


def _walk(
    selector: Selector,
    last_broker: str | None,
    now_ms: int,
    refusal: _Refusal,
    fallback: _Fallback,
    *,
    clamped: bool,
) -> Pick:
    queues, observer = selector.info.queues, selector.observer
    if observer is not None:
        observer(IndexRead(selector.index.value))
    # One tick for the whole walk. The sum wraps at 32 bits like Java's int. F1 to F3 make it non-negative; in F4 and F5
    # a negative position is an exception that MQFaultStrategy swallows.
    first = selector.index.next(selector.tape)
    for number in range(first, first + len(queues)):
        if 0 <= number <= INT_MAX:
            position = number % len(queues)
        elif clamped:
            position = position_of(wrap32(number), len(queues))
        else:
            position = remainder(wrap32(number), len(queues))
            if position < 0:
                return _swallow(selector, "IndexOutOfBoundsException")
        reason = refusal(selector, queues[position].broker, last_broker, now_ms)
        if reason is None:
            return _taken(selector, position, Tier.AVAILABLE)
        if observer is not None:
            _left(selector, queues[position], reason, now_ms)
    return _fall_back(selector, now_ms, fallback)


def _refuse_unless_last(selector: Selector, broker: str, last_broker: str | None, now_ms: int) -> Skip | None:
    if last_broker is not None and broker != last_broker:
        return Skip.NOT_LAST_BROKER
    return None if selector.faults.is_available(broker, now_ms) else Skip.AVOIDED


def _refuse_avoided(selector: Selector, broker: str, last_broker: str | None, now_ms: int) -> Skip | None:
    return None if selector.faults.is_available(broker, now_ms) else Skip.AVOIDED


def _refuse_last_or_avoided(selector: Selector, broker: str, last_broker: str | None, now_ms: int) -> Skip | None:
    if broker == last_broker:
        return Skip.LAST_BROKER
    return None if selector.faults.is_available(broker, now_ms) else Skip.AVOIDED


def _fall_back(selector: Selector, now_ms: int, fallback: _Fallback) -> Pick:
    """
    Return a queue of the best known broker if it has write queues; otherwise drop its item and use plain rotation.

    A selection by fallback takes three ticks in all, so a broker with three write queues always gets the same queue.
    """
    try:
        broker = selector.faults.pick_one_at_least(selector.worst_index, selector.tape, now_ms)
    except IndexError:
        return _swallow(selector, "IndexOutOfBoundsException")
    if selector.info.write_queues is None or broker is None:
        # No route data, or removal of a null name: Java throws NullPointerException in both cases.
        return _swallow(selector, "NullPointerException")
    write_queues = selector.info.write_queues_of(broker)
    if write_queues > 0:
        try:
            return fallback(selector, broker, write_queues)
        except ZeroDivisionError:
            return _swallow(selector, "ArithmeticException")
    selector.faults.remove(broker)
    if selector.observer is not None:
        selector.observer(Forgotten(broker))
    return _taken(selector, rotate(selector), Tier.ANY)


def _rewrite_an_element(selector: Selector, broker: str, write_queues: int) -> Pick:
    """Rewrite the next element of the shared list to a queue of the broker, for every thread and until the route changes."""
    # Other threads see the new element: a retry, or the charge of a running attempt, may then name this broker.
    position = rotate(selector)
    queue = Queue(broker, remainder(selector.index.next(selector.tape), write_queues))
    selector.info.rewrite(position, queue)
    if selector.observer is not None:
        selector.observer(Chosen(queue, Tier.BEST_KNOWN, mutated=True))
    return position


def _own_queue(selector: Selector, broker: str, write_queues: int) -> Pick:
    """Return a new queue of the broker; the tick for a list element is still taken."""
    rotate(selector)
    queue = Queue(broker, remainder(selector.index.next(selector.tape), write_queues))
    if selector.observer is not None:
        selector.observer(Chosen(queue, Tier.BEST_KNOWN))
    return queue


def _swallow(selector: Selector, exception: str) -> int:
    if selector.observer is not None:
        selector.observer(Swallowed(exception))
    return _taken(selector, rotate(selector), Tier.ANY)


def _taken(selector: Selector, position: int, tier: Tier) -> int:
    if selector.observer is not None:
        selector.observer(Chosen(selector.info.queues[position], tier))
    return position


def _left(selector: Selector, queue: Queue, reason: Skip, now_ms: int) -> None:
    if selector.observer is None:
        return
    item = selector.faults.items.get(queue.broker)
    selector.observer(Skipped(queue, reason, None if item is None else item.start_ms - now_ms))
