"""
The reference's publish list and fault table with unknown parts, chosen by the explorer.

Unknown are whether the route still has a broker that has left the publish list, and the order of fault items, whose
times are intervals.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Self

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketmq_reference.rules.client.publish import PublishInfo, Queue
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultRules, FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.tape import Tape


def write_queues_in(queues: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the write queues of each broker of a list; a list has all queues of a broker or none."""
    counts: dict[str, int] = {}
    for broker, _ in queues:
        counts[broker] = counts.get(broker, 0) + 1
    return counts


class UncertainPublishInfo(PublishInfo):
    """
    A publish list that chooses, once, whether the route still has a broker that only other lists of the trace have.

    TopicPublishInfo.getQueueIdByBroker of 4.x reads the route, which still has a broker without write permission or
    without its master, but not an unregistered one. A trace contains lists only.
    """

    __slots__ = ("answered", "defers", "elsewhere", "explorer", "rewritten")

    def __init__(
        self, queues: Sequence[tuple[str, int]], elsewhere: Mapping[str, int], explorer: ChoiceExplorer
    ) -> None:
        """elsewhere: write queues of every broker of any list. defers: keep the next rewrite in ``rewritten`` instead."""
        super().__init__(queues, write_queues_in(queues))
        self.elsewhere = elsewhere
        self.explorer = explorer
        self.answered: dict[str, int] = {}
        self.defers = False
        self.rewritten: tuple[int, Queue] | None = None

    def rewrite(self, position: int, queue: Queue) -> None:
        if self.defers:
            self.rewritten = position, queue
        else:
            super().rewrite(position, queue)

    def write_now(self) -> None:
        """Do the rewrite that was kept, if any."""
        if self.rewritten is not None:
            super().rewrite(*self.rewritten)
            self.rewritten = None

    def write_queues_of(self, broker: str) -> int:
        listed = super().write_queues_of(broker)
        if listed > 0 or broker not in self.elsewhere:
            return listed
        if broker not in self.answered:
            self.answered[broker] = self.elsewhere[broker] if self.explorer.choose(2) else listed
        return self.answered[broker]

    def copy(self) -> Self:
        clone = type(self)((), self.elsewhere, self.explorer)
        clone.queues = self.queues.copy()
        clone.write_queues = self.write_queues
        clone.answered = self.answered.copy()
        return clone


class UncertainFaultTable(FaultTable):
    """
    A fault table that chooses the item of an uncertain rank, and what a choice reads while another thread makes a note.

    moving: brokers noted meanwhile, with their possible availability afterwards; empty unless a choice is in progress.
    """

    __slots__ = ("explorer", "moving")

    def __init__(self, rules: FaultRules, explorer: ChoiceExplorer) -> None:
        super().__init__(rules)
        self.explorer = explorer
        self.moving: Mapping[str, frozenset[bool]] = {}

    def is_available(self, broker: str, now_ms: int) -> bool:
        before = super().is_available(broker, now_ms)
        if broker not in self.moving or self._only_extends(broker):
            return before
        return self._before_or_after(before, self.moving[broker])

    def is_reachable(self, broker: str) -> bool:
        return self._before_or_after(super().is_reachable(broker), self.moving.get(broker, frozenset()))

    def _only_extends(self, broker: str) -> bool:
        """True if the note leaves an avoidance as it is."""
        return self.moving[broker] == {True} and self.rules.extends_only and not self.rules.unreachable_is_unavailable

    def _before_or_after(self, before: bool, after: frozenset[bool]) -> bool:
        return before is not bool(self.explorer.choose(2)) if (not before) in after else before

    def pick_one_at_least(self, worst_index: ThreadIndex, tape: Tape, now_ms: int) -> str | None:
        """A broker about to be noted for the first time may already have its item."""
        for broker in self.moving:
            if broker not in self.items and self.explorer.choose(2):
                self.items[broker] = FaultItem(broker, 0, 0)
        return super().pick_one_at_least(worst_index, tape, now_ms)

    def compare(self, one: FaultItem, other: FaultItem, now_ms: int) -> int:
        if one.broker in self.moving or other.broker in self.moving:
            return -1 if self.explorer.choose(2) else 1
        return super().compare(one, other, now_ms)

    def copy(self) -> Self:
        clone = type(self)(self.rules, self.explorer)
        clone.items = {broker: item.copy() for broker, item in self.items.items()}
        return clone

    def ranked(self, items: list[FaultItem], rank: int, now_ms: int) -> FaultItem:
        """
        Return one of the items that at most ``rank`` others certainly precede, and that certainly precede at most the rest.

        Sorting with every outcome of every uncertain comparison would find the same items in exponential time.
        """
        last = len(items) - 1
        preceding, following = [0] * len(items), [0] * len(items)
        for one, other in combinations(range(len(items)), 2):
            before = self.explorer.runs
            order = self._order(items, items[one], items[other], now_ms)
            self.explorer.runs += self.explorer.runs - before  # a pair costs the same from both sides
            if len(order) == 1:
                first, second = (one, other) if order == {-1} else (other, one)
                following[first] += 1
                preceding[second] += 1
        candidates = [
            item
            for item, before, after in zip(items, preceding, following, strict=True)
            if before <= rank and after <= last - rank
        ]
        return candidates[self.explorer.choose(len(candidates)) if len(candidates) > 1 else 0]

    def _order(self, items: list[FaultItem], one: FaultItem, other: FaultItem, now_ms: int) -> set[int]:
        """The possible orders of two items (-1: one first, 1: other first) by the rules' comparison."""
        answers = self.explorer.all_outcomes(lambda: self.compare(one, other, now_ms))
        if 0 in answers:
            answers.remove(0)
            # A stable sort keeps the listed order of equal items; after a shuffle that is any order.
            given = -1 if items.index(one) < items.index(other) else 1
            answers |= {-1, 1} if self.rules.shuffles else {given}
        return answers
