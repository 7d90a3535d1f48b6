"""
Depth-first enumeration of nondeterministic choices by re-execution.

A run calls ``choose(n)`` for every unknown: a random number, the outcome of a comparison. Call ``restart``, then
``advance`` after each run until it returns False: the runs see every combination of choices exactly once.
"""

from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
Item = TypeVar("Item")


class ChoiceExplorer:
    """
    Enumerates choices depth-first, 0 first.

    learning: a choice narrows intervals (see interval). runs: number of runs so far, including those of
    ``all_outcomes``.
    """

    __slots__ = ("_asked", "_choices", "_options", "learning", "runs")

    def __init__(self) -> None:
        self.learning = True
        self.runs = 0
        self._choices: list[int] = []
        self._options: list[int] = []
        self._asked = 0

    def restart(self) -> None:
        self._choices.clear()
        self._options.clear()

    def advance(self) -> bool:
        """Prepare the next run; False if all combinations were run."""
        self._asked = 0
        self.runs += 1
        choices, options = self._choices, self._options
        while choices and choices[-1] + 1 == options[-1]:
            choices.pop()
            options.pop()
        if not choices:
            return False
        choices[-1] += 1
        return True

    def choose(self, options: int) -> int:
        asked = self._asked
        self._asked = asked + 1
        if asked < len(self._choices):
            return self._choices[asked]
        self._choices.append(0)
        self._options.append(options)
        return 0

    def all_outcomes(self, question: Callable[[], Answer]) -> set[Answer]:
        """Return all outcomes of a nondeterministic function, independent of the current run."""
        # Without learning: these outcomes are hypothetical and must not narrow any interval.
        before = self._choices, self._options, self._asked, self.learning
        self._choices, self._options, self._asked, self.learning = [], [], 0, False
        answers = {question()}
        while self.advance():
            answers.add(question())
        self._choices, self._options, self._asked, self.learning = before
        return answers


class ChoiceTape:
    """
    Random numbers as nondeterministic choices.

    Numbers matter only modulo ``modulus`` (the rules reduce them modulo a list length or a number of write queues), so
    one representative per residue is enough: INDEX_BASE × modulus + residue, far from int overflow.
    """

    __slots__ = ("explorer", "modulus")

    def __init__(self, explorer: ChoiceExplorer, modulus: int = 1) -> None:
        self.explorer = explorer
        self.modulus = modulus

    def int32(self) -> int:
        return self._representative()

    def below(self, bound: int) -> int:
        return self._representative() % bound

    def shuffle(self, items: list[Item]) -> None:
        """No operation: only fault tables are shuffled, and UncertainFaultTable handles their order."""

    def _representative(self) -> int:
        return INDEX_BASE * self.modulus + (self.explorer.choose(self.modulus) if self.modulus > 1 else 0)


INDEX_BASE = 1_000
"""
Multiple of the modulus added to every representative index.

A real index starts anywhere in 31 bits. Its overflow within one run (some 10⁵ ticks) has a probability below 10⁻⁴; such
a send would be reported as out of turn, once.
"""
