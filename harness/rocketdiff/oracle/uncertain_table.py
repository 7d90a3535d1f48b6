"""
A fault table whose times are uncertain, and whose order is therefore known in part only.

Everything but the order of its items is the reference's own fault table.
"""

from typing import Self

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultRules, FaultTable


class UncertainFaultTable(FaultTable):
    """Asks the explorer which of the items that may have a rank has it."""

    __slots__ = ("explorer",)

    def __init__(self, rules: FaultRules, explorer: ChoiceExplorer) -> None:
        super().__init__(rules)
        self.explorer = explorer

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
