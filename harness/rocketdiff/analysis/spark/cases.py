"""
The cases of runs dealt to tasks, and what a task does with its own: it gives rows of the table ``facts``.

A task has a handful of whole cases: their files hold whole groups (checked when they are read), so both arms are paired,
put into fault context, replayed and reconciled where they are read, and nothing but facts ever leaves the Python worker.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from rocketdiff.analysis.case_pass import judge_case
from rocketdiff.analysis.case_trace import read_case
from rocketdiff.analysis.facts import CaseFact, Trouble, batches
from rocketdiff.core.errors import TraceError
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.run_directory import RunDirectory

CaseOfRun = tuple[str, int]
"""Run directory and number of the case; whoever judges it must see the same file system."""

Batches = Iterator[pa.RecordBatch]


def dealt_cases(runs: Sequence[RunDirectory], tasks: int) -> list[tuple[CaseOfRun, ...]]:
    """All cases that have tables, for at most so many tasks of about the same number of sends."""
    sized = [
        (entry.sends_planned, (str(run.path), entry.number))
        for run in runs
        for entry in run.manifest.cases
        if entry.status is not CaseStatus.PLANNED
    ]
    return dealt(sized, tasks)


def dealt(sized: Iterable[tuple[int, CaseOfRun]], hands: int) -> list[tuple[CaseOfRun, ...]]:
    """Cases dealt to at most ``hands`` hands, the largest first and always to the lightest hand; no hand is empty."""
    piles: list[list[CaseOfRun]] = [[] for _ in range(hands)]
    lightest = [(0, number) for number in range(hands)]
    for size, case in sorted(sized, key=lambda pair: (-pair[0], pair[1])):
        weight, number = heapq.heappop(lightest)
        piles[number].append(case)
        heapq.heappush(lightest, (weight + size, number))
    return [tuple(pile) for pile in piles if pile]


def judging(piles: Sequence[Sequence[CaseOfRun]], batch_rows: int) -> Callable[[Batches], Batches]:
    """For ``mapInArrow``: numbers of piles (column id) to the facts of their cases."""

    def judged(numbers: Batches) -> Batches:
        for batch in numbers:
            for number in batch.column("id").to_numpy():
                yield from facts_of(piles[number], batch_rows)

    return judged


def facts_of(cases: Iterable[CaseOfRun], batch_rows: int) -> Batches:
    """Facts of cases, judged one after another; a case that cannot be read gives its trouble instead."""
    runs: dict[str, RunDirectory] = {}
    for path, number in cases:
        if path not in runs:
            runs[path] = RunDirectory.open(Path(path))
        run = runs[path]
        try:
            yield from batches(judge_case(read_case(run, number), batch_rows=batch_rows))
        except TraceError as error:
            yield from batches([CaseFact(run.run, number, Trouble.of(error))])
