"""Where the checks of one case write down what they see; counts are added up here, so that few rows leave the pass."""

from collections import defaultdict
from collections.abc import Iterator

from harness.analysis.facts import CaseFact, Difference, EpisodeValue, LaneBar, Tally


class Notebook:
    """Facts of one case, in the order they are first seen."""

    def __init__(self, run: str, number: int) -> None:
        self._run = run
        self._number = number
        self._facts: list[Difference | EpisodeValue | LaneBar] = []
        self._tallies: defaultdict[tuple[str, str, str, str], list[float]] = defaultdict(lambda: [0, 0.0])

    def note(self, fact: Difference | EpisodeValue | LaneBar) -> None:
        """Keep one fact as it is."""
        self._facts.append(fact)

    def count(self, check: str, arm: str, phase: str, key: str, *, n: int = 1, total: float = 0.0) -> None:
        """Add to a tally."""
        tally = self._tallies[check, arm, phase, key]
        tally[0] += n
        tally[1] += total

    def facts(self) -> Iterator[CaseFact]:
        """Everything noted; the tallies last."""
        for fact in self._facts:
            yield CaseFact(self._run, self._number, fact)
        for (check, arm, phase, key), (n, total) in self._tallies.items():
            yield CaseFact(self._run, self._number, Tally(check, arm, phase, key, int(n), total))
