"""
What a producer remembers about its brokers (LatencyFaultToleranceImpl of every release).

One item a broker: latency of the last attempt, the instant from which the broker may be used again, and (from 5.1.4)
whether it can be reached. A broker without an item is available and reachable. Times are milliseconds of one clock;
they are only added, subtracted and compared, so that the oracle may hand in intervals instead of integers.
"""

from dataclasses import dataclass
from functools import cmp_to_key
from typing import Self

from reference_impl.rules.index import ThreadIndex
from reference_impl.rules.java import spread_hash
from reference_impl.rules.tape import Tape


@dataclass(frozen=True, slots=True)
class FaultRules:
    """
    What the generations L1–L4 do differently.

    extends_only: an update never shortens an avoidance (L3 on); otherwise each update overwrites it.
    unreachable_is_unavailable: the reachable flag takes part in availability (L3 only, upstream #7812).
    shuffles: equal items are picked at random (L1); otherwise in the order of Java's hash table.
    """

    extends_only: bool
    unreachable_is_unavailable: bool
    shuffles: bool


OVERWRITING_SHUFFLED = FaultRules(extends_only=False, unreachable_is_unavailable=False, shuffles=True)
"""L1, to 4.9.3 and in the 5.0.0 previews."""

OVERWRITING = FaultRules(extends_only=False, unreachable_is_unavailable=False, shuffles=False)
"""L2, 4.9.4 to 5.1.3."""

EXTENDING_WITH_REACHABILITY = FaultRules(extends_only=True, unreachable_is_unavailable=True, shuffles=True)
"""L3, 5.1.4."""

EXTENDING = FaultRules(extends_only=True, unreachable_is_unavailable=False, shuffles=True)
"""L4, from 5.2.0."""


@dataclass(slots=True)
class FaultItem:
    """What is remembered about one broker; it may be used again at ``start_ms``."""

    broker: str
    latency_ms: int
    start_ms: int
    reachable: bool = True

    def copy(self) -> "FaultItem":
        # Unary plus leaves an integer alone and clones an uncertain time, which comparisons narrow in place.
        return FaultItem(self.broker, +self.latency_ms, +self.start_ms, self.reachable)


class FaultTable:
    """All fault items of one producer, shared by its threads."""

    __slots__ = ("items", "rules")

    def __init__(self, rules: FaultRules) -> None:
        self.rules = rules
        self.items: dict[str, FaultItem] = {}

    def update(self, broker: str, latency_ms: int, avoid_ms: int, reachable: bool, now_ms: int) -> None:
        """
        Note an attempt that took latency_ms and earned avoid_ms of avoidance.

        L1/L2 overwrite the start, so one fast success ends a ten-minute avoidance; L3/L4 only ever move it later.
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
        """No item, or its start is not in the future (and, in L3, it is reachable)."""
        item = self.items.get(broker)
        return item is None or self._item_is_available(item, now_ms)

    def is_reachable(self, broker: str) -> bool:
        """No item, or its flag is set; the generations L1 and L2 have no flag and never ask."""
        item = self.items.get(broker)
        return item is None or item.reachable

    def remove(self, broker: str) -> None:
        """Forget a broker; unknown names are ignored."""
        self.items.pop(broker, None)

    def pick_one_at_least(self, worst_index: ThreadIndex, tape: Tape, now_ms: int) -> str | None:
        """
        Best known broker when none is available (pickOneAtLeast of L1/L2), None for an empty table.

        Items are sorted: available first, then lower latency, then earlier start. The better half (integer half) is
        used in rotation by a counter of its own; of one to three items that is always the best one.
        Raises IndexError where Java throws IndexOutOfBoundsException (a counter gone negative).
        """
        if not self.items:
            return None
        items = self.in_java_order()
        if self.rules.shuffles:
            tape.shuffle(items)
        half = len(items) // 2
        if half == 0:
            return items[0].broker
        number = worst_index.next(tape)
        if number < 0 and number % half:
            raise IndexError(number)
        return self.ranked(items, number % half, now_ms).broker

    def ranked(self, items: list[FaultItem], rank: int, now_ms: int) -> FaultItem:
        """
        Item at a rank of the order, the best being 0; equal items keep the order in which they are given.

        On its own so that the oracle, which knows the order only in part, can say which items may have the rank.
        """

        def order(one: FaultItem, other: FaultItem) -> int:
            return self.compare(one, other, now_ms)

        return sorted(items, key=cmp_to_key(order))[rank]

    def compare(self, one: FaultItem, other: FaultItem, now_ms: int) -> int:
        """Negative if one is better than the other, positive if it is worse (FaultItem.compareTo)."""
        available = self._item_is_available(one, now_ms)
        if available != self._item_is_available(other, now_ms):
            return -1 if available else 1
        if one.latency_ms < other.latency_ms:
            return -1
        if one.latency_ms > other.latency_ms:
            return 1
        if one.start_ms < other.start_ms:
            return -1
        return 1 if one.start_ms > other.start_ms else 0

    def in_java_order(self) -> list[FaultItem]:
        """
        Items as a ConcurrentHashMap made with capacity 16 lists them: by bucket, within a bucket as inserted.

        Its table has 32 buckets and doubles when three quarters full; the order within a bucket after such a doubling
        (25 brokers and more) is not modelled.
        """
        buckets = 32
        while len(self.items) > buckets * 3 // 4:
            buckets *= 2
        return sorted(self.items.values(), key=lambda item: spread_hash(item.broker) % buckets)

    def copy(self) -> Self:
        clone = type(self)(self.rules)
        clone.items = {broker: item.copy() for broker, item in self.items.items()}
        return clone

    def _item_is_available(self, item: FaultItem, now_ms: int) -> bool:
        if self.rules.unreachable_is_unavailable and not item.reachable:
            return False
        return now_ms >= item.start_ms
