"""Collects the facts of one case and sums its counts, so that few rows leave the pass."""

from collections import defaultdict
from collections.abc import Iterator

from rocketdiff.analysis.facts import CaseFact, DifferenceFact, Fact, Tally


class FactCollector:
    """Facts of one case, in the order of their first occurrence; ``origin_ns``: when offset 0 of its plan was due."""

    def __init__(self, run: str, number: int, origin_ns: int) -> None:
        self.origin_ns = origin_ns
        self._run = run
        self._number = number
        self._facts: list[Fact] = []
        self._tallies: defaultdict[tuple[str, str, str, str], list[float]] = defaultdict(lambda: [0, 0.0])

    def note(self, fact: Fact) -> None:
        self._facts.append(fact)

    def count(self, check: str, arm: str, phase: str, key: str, *, n: int = 1, total: float = 0.0) -> None:
        tally = self._tallies[check, arm, phase, key]
        tally[0] += n
        tally[1] += total

    def facts(self) -> Iterator[CaseFact]:
        """Yield all facts, tallies last."""
        for fact in self._facts:
            yield CaseFact(self._run, self._number, fact)
        for (check, arm, phase, key), (n, total) in self._tallies.items():
            yield CaseFact(self._run, self._number, Tally(check, arm, phase, key, int(n), total))

    def differences(self) -> tuple[DifferenceFact, ...]:
        return tuple(fact for fact in self._facts if isinstance(fact, DifferenceFact))
