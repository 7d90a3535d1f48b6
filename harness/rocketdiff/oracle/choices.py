"""
Depth-first enumeration of nondeterministic choices by re-execution: every question gets every answer, one run at a time.

A run asks ``choose(n)`` whenever something is not known: a random number, the outcome of a comparison. ``restart`` and
then ``advance`` until it says no: the runs in between see every combination of answers exactly once.
"""

from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
Item = TypeVar("Item")


class ChoiceExplorer:
    """
    Enumerates the answers to the questions of a run in depth-first order; 0 comes first.

    learning: whether an answer narrows what is known (see interval). runs: how many were prepared so far, those of questions
    in the midst of a run among them.
    """

    __slots__ = ("_asked", "_choices", "_options", "learning", "runs")

    def __init__(self) -> None:
        self.learning = True
        self.runs = 0
        self._choices: list[int] = []
        self._options: list[int] = []
        self._asked = 0

    def restart(self) -> None:
        """Forget all answers: the next run is the first."""
        self._choices.clear()
        self._options.clear()
        self._asked = 0

    def advance(self) -> bool:
        """Prepare the next run; False if every combination has been seen."""
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
        """One of 0 … options − 1."""
        asked = self._asked
        self._asked = asked + 1
        if asked < len(self._choices):
            return self._choices[asked]
        self._choices.append(0)
        self._options.append(options)
        return 0

    def all_outcomes(self, question: Callable[[], Answer]) -> set[Answer]:
        """All answers a question can have by itself, in the midst of a run, which goes on as if nothing was asked."""
        before = self._choices, self._options, self._asked, self.learning
        self._choices, self._options, self._asked, self.learning = [], [], 0, False
        answers = {question()}
        while self.advance():
            answers.add(question())
        self._choices, self._options, self._asked, self.learning = before
        return answers


class ChoiceTape:
    """
    A tape of random numbers whose every draw is a question to the explorer.

    Numbers only count modulo ``modulus`` (the rules take them modulo the length of a list or a number of write queues),
    so one representative of each residue is enough: INDEX_BASE × modulus + residue, far from the overflow of an int.
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
        """Left to UncertainFaultTable: the only thing ever shuffled is a table about to be sorted."""

    def _representative(self) -> int:
        return INDEX_BASE * self.modulus + (self.explorer.choose(self.modulus) if self.modulus > 1 else 0)


INDEX_BASE = 1_000
"""
Multiples of the modulus that a representative index is above 0.

A real index starts anywhere in 31 bits. That it overflows within the ticks of one run (some 10⁵) has a probability
below 10⁻⁴; such a send would be reported as out of turn, once.
"""
