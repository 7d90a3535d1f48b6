"""The hunt in the rules: run the questions that reach a mutant, likely ones first, then the tests of the rules."""

import contextlib
import io
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from maintenance.mutants.corpus import Function, Question, by_function, functions_used, is_answered
from maintenance.mutants.forked import Change, in_children, install
from maintenance.mutants.mutants import Mutant
from rocketdiff.core.errors import HarnessError

WORKERS = 2
QUESTION_LIMIT_S = 10.0
"""A question takes about 5 ms, at most 50; ten seconds mean an endless loop on any machine."""

RULES_TESTS = "tests/reference_impl/rules"
REFERENCE_TESTS = (RULES_TESTS, "tests/reference_impl/dialects")
ORACLE_TESTS = ("tests/oracle",)
TESTS_LIMIT_S = 300.0
"""The tests take about 10 s."""

FIRST = 120
"""Questions to run before the tests; they notice nine in ten mutants that any question notices."""

MAP_CHUNK = 50
FEW = 20

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Fate:
    """What noticed a mutant; seen_by: None if nothing did."""

    mutant: Mutant
    seen_by: str | None


class Hunt:
    """
    Records which questions reach which function, and which have noticed the most mutants.

    mapped_every: map only every n-th question and run the others last, which is faster for a few mutants.
    """

    def __init__(self, questions: Sequence[Question], progress: Progress, mapped_every: int = 1) -> None:
        self.questions = questions
        self._every = mapped_every
        self.unanswered: list[Question] = []
        self._progress = progress
        self._successes: Counter[int] = Counter()
        self._reaching = self._mapped()

    def all_fates(self, mutants: Sequence[Mutant]) -> list[Fate]:
        """
        Run the first questions, then the tests (fast ones first), then the other questions, each on the mutants still alive.
        """
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
        work = partial(self._ask, first=first, last=last)
        for done, (mutant, result) in enumerate(in_children(mutants, work, 3_600, WORKERS), start=1):
            if isinstance(result, int):
                self._successes[result] += 1
            yield Fate(mutant, self._name(result) if isinstance(result, int) else result)
            self._progress("mutants questioned", done, len(mutants))

    def _by_own_tests(self, mutants: Sequence[Mutant]) -> Iterator[Fate]:
        """Run the test file of the mutated module: one second, and the likeliest to notice."""
        return self._by_tests(
            {mutant: (_own_tests(mutant),) for mutant in mutants if Path(_own_tests(mutant)).exists()}
        )

    def _by_tests_of_the_reference(self, mutants: Sequence[Mutant]) -> Iterator[Fate]:
        return self._by_tests(dict.fromkeys(mutants, REFERENCE_TESTS))

    def _by_tests_of_the_oracle(self, mutants: Sequence[Mutant]) -> Iterator[Fate]:
        return self._by_tests(dict.fromkeys(mutants, ORACLE_TESTS))

    def _by_tests(self, files: Mapping[Mutant, Sequence[str]]) -> Iterator[Fate]:
        """Run tests against each mutant; raise HarnessError if they fail without one."""
        everything = sorted({file for some in files.values() for file in some})
        if files and _fail(everything):  # in this process, so that children have everything loaded
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
        """Return the number of the question that noticed the mutant."""
        _install(mutant)
        for number in self._order(mutant)[first:last]:
            signal.setitimer(signal.ITIMER_REAL, QUESTION_LIMIT_S)
            if not is_answered(self.questions[number]):
                return number
        return None

    def _order(self, mutant: Mutant) -> list[int]:
        """Return the questions that reach the mutant: all for a change at module level, a few if none is known to."""
        everything = range(len(self.questions))
        if mutant.function is None:
            return self._likely_first(everything)
        reaching = self._reaching.get((mutant.module, mutant.function), everything[: FEW * self._every : self._every])
        unmapped = [number for number in everything if number % self._every]
        return self._likely_first(reaching) + self._likely_first(unmapped)

    def _name(self, number: int) -> str:
        return f"{self.questions[number].name} as {self.questions[number].release}"

    def _likely_first(self, numbers: Iterable[int]) -> list[int]:
        """Sort by success; multiplying by a number without a common divisor spreads scripts and dialects evenly."""
        return sorted(numbers, key=lambda number: (-self._successes[number], number * 7_919 % 10_007))


def _install(mutant: Mutant) -> None:
    install(Change(mutant.module, mutant.function, compile(mutant.tree(), mutant.module, "exec")))


def _fail(files: Sequence[str]) -> bool:
    """True if a test of these files or folders fails now."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--disable-plugin-autoload", *files])
    return code != pytest.ExitCode.OK


def _own_tests(mutant: Mutant) -> str:
    return f"{RULES_TESTS}/test_{mutant.module.rpartition('.')[2]}.py"
