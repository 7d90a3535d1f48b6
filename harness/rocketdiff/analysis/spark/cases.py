"""
Distributes the cases of runs over tasks; a task returns rows of the table ``facts``.

A task has whole cases, so the whole pass runs in its Python worker, which sums the facts of each: only sums leave it.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from rocketdiff.analysis.case_trace import read_case
from rocketdiff.analysis.facts import CaseFact, Trouble, batches
from rocketdiff.analysis.registry import judge_case
from rocketdiff.analysis.summaries import summed
from rocketdiff.core.errors import TraceError
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.run_directory import RunDirectory

CaseOfRun = tuple[str, int]
"""Run directory and case number; the worker must see the same file system."""

Batches = Iterator[pa.RecordBatch]


def dealt_cases(runs: Sequence[RunDirectory], tasks: int) -> list[tuple[CaseOfRun, ...]]:
    """Distribute all cases with tables over at most ``tasks`` tasks, balanced by sends."""
    sized = [
        (entry.sends_planned, (str(run.path), entry.number))
        for run in runs
        for entry in run.manifest.cases
        if entry.status is not CaseStatus.PLANNED
    ]
    return dealt(sized, tasks)


def dealt(sized: Iterable[tuple[int, CaseOfRun]], hands: int) -> list[tuple[CaseOfRun, ...]]:
    """Distribute cases over at most ``hands`` piles, largest case first, each to the lightest pile; no pile is empty."""
    piles: list[list[CaseOfRun]] = [[] for _ in range(hands)]
    lightest = [(0, number) for number in range(hands)]
    for size, case in sorted(sized, key=lambda pair: (-pair[0], pair[1])):
        weight, number = heapq.heappop(lightest)
        piles[number].append(case)
        heapq.heappush(lightest, (weight + size, number))
    return [tuple(pile) for pile in piles if pile]


def judging(piles: Sequence[Sequence[CaseOfRun]], batch_rows: int) -> Callable[[Batches], Batches]:
    """Return a function for ``mapInArrow`` that maps pile numbers (column id) to the facts of their cases."""

    def judged(numbers: Batches) -> Batches:
        for batch in numbers:
            for number in batch.column("id").to_numpy():
                yield from facts_of(piles[number], batch_rows)

    return judged


def facts_of(cases: Iterable[CaseOfRun], batch_rows: int) -> Batches:
    """Judge cases one after another and yield their facts, summed; a case that cannot be read yields a Trouble."""
    runs: dict[str, RunDirectory] = {}
    for path, number in cases:
        if path not in runs:
            runs[path] = RunDirectory.open(Path(path))
        run = runs[path]
        try:
            yield from batches(summed(judge_case(read_case(run, number), batch_rows=batch_rows)))
        except TraceError as error:
            yield from batches([CaseFact(run.run, number, Trouble.of(error))])
