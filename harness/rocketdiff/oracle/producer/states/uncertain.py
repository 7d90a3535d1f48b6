"""
The reference's publish list and fault table where part of them is not known.

Of a publish list it may be unknown whether a broker that has left it is still in the route; of a fault table, whose times are
intervals, the order is known in part only. The explorer answers both; everything else is the reference's own.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultRules, FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.tape import Tape


def write_queues_in(queues: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Write queues of each broker of a list that a route gave: it has all of a broker's, or none."""
    counts: dict[str, int] = {}
    for broker, _ in queues:
        counts[broker] = counts.get(broker, 0) + 1
    return counts


class UncertainPublishInfo(PublishInfo):
    """
    Asks the explorer about a broker that other lists of the trace have and this one has not, and keeps to the answer.

    TopicPublishInfo.getQueueIdByBroker of 4.x reads the route, not the list: a broker that may not be written to, or that has
    lost its master, is in the route still, one that was unregistered is not. A trace shows lists only.
    """

    __slots__ = ("answered", "elsewhere", "explorer")

    def __init__(
        self, queues: Sequence[tuple[str, int]], elsewhere: Mapping[str, int], explorer: ChoiceExplorer
    ) -> None:
        """elsewhere: write queues of every broker of any list."""
        super().__init__(queues, write_queues_in(queues))
        self.elsewhere = elsewhere
        self.explorer = explorer
        self.answered: dict[str, int] = {}

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
    Asks the explorer which of the items that may have a rank has it, and what a choice reads of a broker while another thread notes it.

    moving: brokers that are noted meanwhile, with what the notes may leave in them; empty unless a choice is under way.
    """

    __slots__ = ("explorer", "moving")

    def __init__(self, rules: FaultRules, explorer: ChoiceExplorer) -> None:
        super().__init__(rules)
        self.explorer = explorer
        self.moving: Mapping[str, frozenset[bool]] = {}

    def is_available(self, broker: str, now_ms: int) -> bool:
        """As the table says, or as another thread's note leaves it."""
        before = super().is_available(broker, now_ms)
        if broker not in self.moving or self._only_extends(broker):
            return before
        return self._before_or_after(before, self.moving[broker])

    def is_reachable(self, broker: str) -> bool:
        """As the table says, or as another thread's note leaves it."""
        return self._before_or_after(super().is_reachable(broker), self.moving.get(broker, frozenset()))

    def _only_extends(self, broker: str) -> bool:
        """Whether what is noted leaves an avoidance as it is."""
        return self.moving[broker] == {True} and self.rules.extends_only and not self.rules.unreachable_is_unavailable

    def _before_or_after(self, before: bool, after: frozenset[bool]) -> bool:
        return before is not bool(self.explorer.choose(2)) if (not before) in after else before

    def pick_one_at_least(self, worst_index: ThreadIndex, tape: Tape, now_ms: int) -> str | None:
        """A broker that is about to be noted for the first time may have its item already."""
        for broker in self.moving:
            if broker not in self.items and self.explorer.choose(2):
                self.items[broker] = FaultItem(broker, 0, 0)
        return super().pick_one_at_least(worst_index, tape, now_ms)

    def compare(self, one: FaultItem, other: FaultItem, now_ms: int) -> int:
        """An item that is being noted may be the better or the worse."""
        if one.broker in self.moving or other.broker in self.moving:
            return -1 if self.explorer.choose(2) else 1
        return super().compare(one, other, now_ms)

    def copy(self) -> Self:
        clone = type(self)(self.rules, self.explorer)
        clone.items = {broker: item.copy() for broker, item in self.items.items()}
        return clone

    def ranked(self, items: list[FaultItem], rank: int, now_ms: int) -> FaultItem:
        """
        One of the items that no more than ``rank`` others certainly precede, and that precede no more than the rest.

        Sorting with every answer to every uncertain comparison would find the same items, in exponential time.
        """
        last = len(items) - 1
        candidates = []
        for item in items:
            relations = [self._order(items, item, other, now_ms) for other in items if other is not item]
            if relations.count({1}) <= rank and relations.count({-1}) <= last - rank:
                candidates.append(item)
        return candidates[self.explorer.choose(len(candidates)) if len(candidates) > 1 else 0]

    def _order(self, items: list[FaultItem], one: FaultItem, other: FaultItem, now_ms: int) -> set[int]:
        """Whether one can come before (-1) or after (1) the other, by the rules' own comparison."""
        answers = self.explorer.all_outcomes(lambda: self.compare(one, other, now_ms))
        if 0 in answers:
            answers.remove(0)
            # Equal items keep the order they are listed in, which a shuffle has made any order.
            given = -1 if items.index(one) < items.index(other) else 1
            answers |= {-1, 1} if self.rules.shuffles else {given}
        return answers
