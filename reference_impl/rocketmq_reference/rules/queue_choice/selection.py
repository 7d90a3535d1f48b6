"""
Queue selection without fault latency, and the state of every selection (TopicPublishInfo, MQFaultStrategy).

Two generations: P1 (to 4.7.1) walks on from one tick of the counter, P2 takes a tick for every queue it examines.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rocketmq_reference.rules.client.publish import Pick, PublishInfo, Queue
from rocketmq_reference.rules.java import INT_MAX, abs32, remainder, wrap32
from rocketmq_reference.rules.queue_choice.events import Chosen, IndexRead, Observer, Skip, Skipped, Tier
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.tape import Tape


@dataclass(slots=True)
class Selector:
    """
    State of one thread's selections: the shared list and fault table, and the thread's two counters.

    ``index`` belongs to this thread and this list, ``worst_index`` to this thread and this fault table.
    """

    info: PublishInfo
    index: ThreadIndex
    faults: FaultTable
    worst_index: ThreadIndex
    tape: Tape
    observer: Observer | None = None


SelectRule = Callable[[Selector, str | None, bool, int], Pick]
"""(selector, broker of the failed attempt or None, whether to restart the counter, now in ms) → pick."""


def position_of(number: int, queues: int) -> int:
    """Return ``abs(number) % queues``, 0 if that is negative; ZeroDivisionError for an empty list, as Java's exception."""
    return max(remainder(abs32(number), queues), 0)


def rotate(selector: Selector) -> int:
    """Plain rotation: return the position of the next queue of any broker; one tick."""
    observer = selector.observer
    if observer is not None:
        observer(IndexRead(selector.index.value))
    number = selector.index.next(selector.tape)
    queues = selector.info.queues
    return number % len(queues) if number >= 0 else position_of(number, len(queues))


def walk_past_last_broker(selector: Selector, last_broker: str | None, reset_index: bool, now_ms: int) -> Pick:
    """
    P1, to 4.7.1: the first queue of another broker, from one tick on; if there is none, plain rotation.

    So a retry always selects the first queue after those of the failed broker (upstream #2223). Read in
    TopicPublishInfo.selectOneMessageQueue.
    """
    if last_broker is None:
        return _rotated(selector, Tier.ROTATION)
    queues = selector.info.queues
    # The counter moves once; the walk itself uses no ticks, so the next call starts one queue further on.
    number = _first_number(selector)
    for k in range(len(queues)):
        position = position_of(number + k if number + k <= INT_MAX else wrap32(number + k), len(queues))
        if queues[position].broker != last_broker:
            return _chosen(selector, position, Tier.OTHER_BROKER)
        _skipped(selector, queues[position], Skip.LAST_BROKER)
    return _rotated(selector, Tier.ANY)


def draw_past_last_broker(selector: Selector, last_broker: str | None, reset_index: bool, now_ms: int) -> Pick:
    """
    P2, from 4.8.0: the first queue of another broker in up to n ticks; if there is none, any queue with one more tick.

    Read in TopicPublishInfo; 5.1.4 does the same with a queue filter, and ignores reset_index here.
    """
    if last_broker is None:
        return _rotated(selector, Tier.ROTATION)
    queues = selector.info.queues
    for _ in range(len(queues)):
        # One tick per examined queue: where the counter stands afterwards depends on how many were skipped.
        position = rotate(selector)
        if queues[position].broker != last_broker:
            return _chosen(selector, position, Tier.OTHER_BROKER)
        _skipped(selector, queues[position], Skip.LAST_BROKER)
    return _rotated(selector, Tier.ANY)


def _first_number(selector: Selector) -> int:
    if selector.observer is not None:
        selector.observer(IndexRead(selector.index.value))
    return selector.index.next(selector.tape)


def _rotated(selector: Selector, tier: Tier) -> int:
    return _chosen(selector, rotate(selector), tier)


def _chosen(selector: Selector, position: int, tier: Tier) -> int:
    if selector.observer is not None:
        selector.observer(Chosen(selector.info.queues[position], tier))
    return position


def _skipped(selector: Selector, queue: Queue, reason: Skip) -> None:
    if selector.observer is not None:
        selector.observer(Skipped(queue, reason, None))
