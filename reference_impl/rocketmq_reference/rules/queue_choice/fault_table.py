"""
A producer's memory of its brokers (LatencyFaultToleranceImpl of every release).

One item per broker: latency of the last attempt, the time from which the broker may be used again, and (from 5.1.4)
whether it is reachable. A broker without an item is available and reachable. Times are milliseconds of one clock. They are only
added, subtracted and compared, so that the oracle can pass intervals instead of integers.
"""

from dataclasses import dataclass
from functools import cmp_to_key
from typing import Self

from rocketmq_reference.rules.java import hash_order
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.tape import Tape


@dataclass(frozen=True, slots=True)
class FaultRules:
    """Differences between the generations L1–L4."""

    extends_only: bool
    """An update never shortens an avoidance (L3 on); otherwise each update overwrites it."""
    unreachable_is_unavailable: bool
    """An unreachable broker is unavailable (L3 only, upstream #7812)."""
    shuffles: bool
    """
    Equal items are picked at random (L1); otherwise in the order of Java's hash table. From L3 on there is no pick.
    """


OVERWRITING_SHUFFLED = FaultRules(extends_only=False, unreachable_is_unavailable=False, shuffles=True)
"""L1, to 4.9.3 and in the 5.0.0 previews."""

OVERWRITING = FaultRules(extends_only=False, unreachable_is_unavailable=False, shuffles=False)
"""L2, 4.9.4 to 5.1.3."""

EXTENDING_WITH_REACHABILITY = FaultRules(extends_only=True, unreachable_is_unavailable=True, shuffles=False)
"""L3, 5.1.4."""

EXTENDING = FaultRules(extends_only=True, unreachable_is_unavailable=False, shuffles=False)
"""L4, from 5.2.0."""


@dataclass(slots=True)
class FaultItem:
    """Item of one broker, which may be used again at ``start_ms`` and is due for the detector at ``check_ms``."""

    broker: str
    latency_ms: int
    start_ms: int
    reachable: bool = True
    check_ms: int = 0

    def copy(self) -> "FaultItem":
        # Unary plus keeps an integer and clones an uncertain time, which comparisons narrow in place.
        return FaultItem(self.broker, +self.latency_ms, +self.start_ms, self.reachable, +self.check_ms)


class FaultTable:
    """All fault items of one producer, shared by its threads."""

    __slots__ = ("items", "rules")

    def __init__(self, rules: FaultRules) -> None:
        self.rules = rules
        self.items: dict[str, FaultItem] = {}

    def update(self, broker: str, latency_ms: int, avoid_ms: int, reachable: bool, now_ms: int) -> None:
        """
        Record an attempt that took latency_ms and earned avoid_ms of avoidance.

        L1/L2 overwrite the start, so one fast success ends a ten-minute avoidance; L3/L4 only move it later.
        """
        item = self.items.get(broker)
        if not self.rules.extends_only:
            start_ms = now_ms + avoid_ms
            if item is None:
                self.items[broker] = FaultItem(broker, latency_ms, start_ms)
            else:
                item.latency_ms = latency_ms
                item.start_ms = start_ms
            return
        if item is None:
            item = self.items[broker] = FaultItem(broker, latency_ms, 0)
        item.latency_ms = latency_ms
        if avoid_ms > 0 and now_ms + avoid_ms > item.start_ms:
            item.start_ms = now_ms + avoid_ms
        item.reachable = reachable

    def is_available(self, broker: str, now_ms: int) -> bool:
        """True if there is no item, or its start is not in the future (and, in L3, it is reachable)."""
        item = self.items.get(broker)
        if item is None:
            return True
        if not item.reachable and self.rules.unreachable_is_unavailable:
            return False
        return now_ms >= item.start_ms

    def is_reachable(self, broker: str) -> bool:
        """True if there is no item, or its flag is set; L1 and L2 have no flag and do not use this."""
        item = self.items.get(broker)
        return item is None or item.reachable

    def remove(self, broker: str) -> None:
        """Forget a broker; unknown names are ignored."""
        self.items.pop(broker, None)

    def pick_one_at_least(self, worst_index: ThreadIndex, tape: Tape, now_ms: int) -> str | None:
        """
        Return the best known broker when none is available (pickOneAtLeast of L1/L2), None for an empty table.

        Items are sorted: available first, then lower latency, then earlier start. A separate counter rotates over the better
        half (integer division); with one to three items that is always the best one. Raises IndexError where Java throws
        IndexOutOfBoundsException (the counter is negative).
        """
        if not self.items:
            return None
        items = self.in_java_order()
        if self.rules.shuffles:
            tape.shuffle(items)
        half = len(items) // 2
        if half == 0:
            # A single item is returned without a tick of the counter, as in Java.
            return items[0].broker
        number = worst_index.next(tape)
        # Java's % keeps the sign: a negative number is an invalid position unless half divides it.
        if number < 0 and number % half:
            raise IndexError(number)
        return self.ranked(items, number % half, now_ms).broker

    def ranked(self, items: list[FaultItem], rank: int, now_ms: int) -> FaultItem:
        """
        Return the item at a rank, 0 for the best; equal items keep their given order.

        A separate method because the oracle, which knows the order only in part, overrides it with the possible items.
        """

        def order(one: FaultItem, other: FaultItem) -> int:
            return self.compare(one, other, now_ms)

        return sorted(items, key=cmp_to_key(order))[rank]

    def compare(self, one: FaultItem, other: FaultItem, now_ms: int) -> int:
        """Compare two items: negative if the first is better, positive if it is worse (FaultItem.compareTo)."""
        available = self.is_available(one.broker, now_ms)
        if available != self.is_available(other.broker, now_ms):
            return -1 if available else 1
        if one.latency_ms < other.latency_ms:
            return -1
        if one.latency_ms > other.latency_ms:
            return 1
        if one.start_ms < other.start_ms:
            return -1
        return 1 if one.start_ms > other.start_ms else 0

    def in_java_order(self) -> list[FaultItem]:
        """Return the items in the order of a ConcurrentHashMap of capacity 16, which has 32 buckets."""
        return [self.items[broker] for broker in hash_order(self.items, buckets=32, concurrent=True)]

    def copy(self) -> Self:
        clone = type(self)(self.rules)
        clone.items = {broker: item.copy() for broker, item in self.items.items()}
        return clone
