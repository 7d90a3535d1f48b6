"""The hunt: every mutant is asked the questions that reach it, likely ones first; what they miss, the rules' own tests get."""

import contextlib
import io
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from rocketdiff.core.errors import HarnessError
from tests.mutants.corpus import Function, Question, by_function, functions_used, is_answered
from tests.mutants.forked import Change, in_children, install
from tests.mutants.mutants import Mutant

WORKERS = 2
QUESTION_LIMIT_S = 10.0
"""A question takes some 5 ms, 50 at most; ten seconds are an endless loop on any machine."""

RULES_TESTS = "tests/reference_impl/rules"
REFERENCE_TESTS = (RULES_TESTS, "tests/reference_impl/dialects")
ORACLE_TESTS = ("tests/oracle",)
TESTS_LIMIT_S = 300.0
"""These tests take some ten seconds."""

FIRST = 120
"""Questions before the tests have their turn; nine in ten mutants that any question sees through are seen by these."""

MAP_CHUNK = 50
FEW = 20

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a mutant: who saw through it (None: nobody)."""

    mutant: Mutant
    seen_by: str | None


class Hunt:
    """
    Knows which questions reach which function, and which have seen through the most mutants so far.

    mapped_every: only every so many questions are looked at for what they reach, the others are asked after those; for a
    few mutants that is quicker.
    """

    def __init__(self, questions: Sequence[Question], progress: Progress, mapped_every: int = 1) -> None:
        self.questions = questions
        self._every = mapped_every
        self.unanswered: list[Question] = []
        self._progress = progress
        self._successes: Counter[int] = Counter()
        self._reaching = self._mapped()

    def all_fates(self, mutants: Sequence[Mutant]) -> list[Fate]:
        """A few questions first, then tests, the quick ones first, and every other question for what got through both."""
        fates = {mutant.name: Fate(mutant, None) for mutant in mutants}
        tests = (self._by_own_tests, self._by_tests_of_the_reference, self._by_tests_of_the_oracle)
        for judge in (self._by_first_questions, *tests, self._by_other_questions):
            left = [fate.mutant for fate in fates.values() if fate.seen_by is None]
            fates |= {fate.mutant.name: fate for fate in judge(left)}
        return list(fates.values())

    def _by_first_questions(self, mutants: Sequence[Mutant]) -> Iterator[Fate]:
        return self._by_questions(mutants, 0, FIRST)

    def _by_other_questions(self, mutants: Sequence[Mutant]) -> Iterator[Fate]:
        return self._by_questions(mutants, FIRST, None)

    def _by_questions(self, mutants: Sequence[Mutant], first: int, last: int | None) -> Iterator[Fate]:
        """Put some of its questions to each mutant."""
        work = partial(self._ask, first=first, last=last)
        for done, (mutant, result) in enumerate(in_children(mutants, work, 3_600, WORKERS), start=1):
            if isinstance(result, int):
                self._successes[result] += 1
            yield Fate(mutant, self._name(result) if isinstance(result, int) else result)
            self._progress("mutants questioned", done, len(mutants))

    def _by_own_tests(self, mutants: Sequence[Mutant]) -> Iterator[Fate]:
        """The test file of the module that is mutated is the likeliest to notice, in a second."""
        return self._by_tests(
            {mutant: (_own_tests(mutant),) for mutant in mutants if Path(_own_tests(mutant)).exists()}
        )

    def _by_tests_of_the_reference(self, mutants: Sequence[Mutant]) -> Iterator[Fate]:
        return self._by_tests(dict.fromkeys(mutants, REFERENCE_TESTS))

    def _by_tests_of_the_oracle(self, mutants: Sequence[Mutant]) -> Iterator[Fate]:
        return self._by_tests(dict.fromkeys(mutants, ORACLE_TESTS))

    def _by_tests(self, files: Mapping[Mutant, Sequence[str]]) -> Iterator[Fate]:
        """Run tests of the rules against each mutant; HarnessError if they fail without any."""
        everything = sorted({file for some in files.values() for file in some})
        if files and _fail(everything):  # here, so that the children find all that tests need loaded
            raise HarnessError(f"{' '.join(everything)} to pass", seen="a failure without any mutant")

        def work(mutant: Mutant) -> bool:
            _install(mutant)
            return _fail(files[mutant])

        for done, (mutant, result) in enumerate(in_children(list(files), work, TESTS_LIMIT_S, WORKERS), start=1):
            yield Fate(mutant, None if result is False else "tests")
            self._progress("mutants under test", done, len(files))

    def _mapped(self) -> dict[Function, list[int]]:
        numbers = range(0, len(self.questions), self._every)
        chunks = [numbers[i : i + MAP_CHUNK] for i in range(0, len(numbers), MAP_CHUNK)]
        used: dict[int, frozenset[Function]] = {}
        for done, (chunk, result) in enumerate(in_children(chunks, self._map, 3_600, WORKERS), start=1):
            for number, (answered, functions) in zip(chunk, result, strict=True):
                used[number] = functions
                if not answered:
                    self.unanswered.append(self.questions[number])
            self._progress("questions", done * MAP_CHUNK, len(numbers))
        return by_function(used)

    def _map(self, chunk: range) -> list[tuple[bool, frozenset[Function]]]:
        return [functions_used(self.questions[number]) for number in chunk]

    def _ask(self, mutant: Mutant, first: int, last: int | None) -> int | None:
        """The number of the question that saw through it."""
        _install(mutant)
        for number in self._order(mutant)[first:last]:
            signal.setitimer(signal.ITIMER_REAL, QUESTION_LIMIT_S)
            if not is_answered(self.questions[number]):
                return number
        return None

    def _order(self, mutant: Mutant) -> list[int]:
        """Questions that reach the mutant; at module level all of them, where nothing does a few: it may act on import."""
        everything = range(len(self.questions))
        if mutant.function is None:
            return self._likely_first(everything)
        reaching = self._reaching.get((mutant.module, mutant.function), everything[: FEW * self._every : self._every])
        unmapped = [number for number in everything if number % self._every]
        return self._likely_first(reaching) + self._likely_first(unmapped)

    def _name(self, number: int) -> str:
        return f"{self.questions[number].name} as {self.questions[number].release}"

    def _likely_first(self, numbers: Iterable[int]) -> list[int]:
        """A multiplier without a common divisor spreads scripts and dialects evenly."""
        return sorted(numbers, key=lambda number: (-self._successes[number], number * 7_919 % 10_007))


def _install(mutant: Mutant) -> None:
    install(Change(mutant.module, mutant.function, compile(mutant.tree(), mutant.module, "exec")))


def _fail(files: Sequence[str]) -> bool:
    """Whether a test of these files or folders fails now."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--disable-plugin-autoload", *files])
    return code != pytest.ExitCode.OK


def _own_tests(mutant: Mutant) -> str:
    return f"{RULES_TESTS}/test_{mutant.module.rpartition('.')[2]}.py"
