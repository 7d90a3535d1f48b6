"""
``rocketdiff``: a Spark data source that reads run directories and gives the table ``facts``.

A partition is a handful of whole cases: their files hold whole groups (checked when they are read), so both arms are
paired, put into fault context, replayed and reconciled where they are read, and nothing but facts ever leaves the Python
worker.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from rocketdiff.analysis.case_pass import judge_case
from rocketdiff.analysis.case_trace import read_case
from rocketdiff.analysis.facts import SPARK_SCHEMA, CaseFact, Trouble, batches
from rocketdiff.core.errors import TraceError
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.run_directory import RunDirectory

NAME = "rocketdiff"
BATCH_ROWS_OPTION = "batchRows"
RUNS_OPTION = "runs"
TASKS_OPTION = "tasks"
SEPARATOR = "\n"


CaseOfRun = tuple[str, int]


@dataclass
class CasesPartition(InputPartition):
    """Cases (run directory, number) judged one after another in one task; its worker must see the same file system."""

    cases: tuple[CaseOfRun, ...]


class RunReader(DataSourceReader):
    """Deals out all cases that have tables to a given number of tasks, and judges them."""

    def __init__(self, runs: Sequence[str], batch_rows: int, tasks: int) -> None:
        self._runs = tuple(runs)
        self._batch_rows = batch_rows
        self._tasks = tasks

    def partitions(self) -> Sequence[InputPartition]:
        """Tasks of about the same number of sends."""
        sized = [
            (entry.sends_planned, (run, entry.number))
            for run in self._runs
            for entry in RunDirectory.open(Path(run)).manifest.cases
            if entry.status is not CaseStatus.PLANNED
        ]
        # Spark makes up a partition of its own where there is none.
        return [CasesPartition(cases) for cases in dealt(sized, self._tasks) or [()]]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Facts of some cases as Arrow batches; a case that cannot be read gives its trouble instead."""
        assert isinstance(partition, CasesPartition), "planned by this reader"
        runs = {path: RunDirectory.open(Path(path)) for path, _ in partition.cases}
        for path, number in partition.cases:
            run = runs[path]
            try:
                yield from batches(judge_case(read_case(run, number), batch_rows=self._batch_rows))
            except TraceError as error:
                yield from batches([CaseFact(run.run, number, Trouble.of(error))])


def dealt(sized: Iterable[tuple[int, CaseOfRun]], hands: int) -> list[tuple[CaseOfRun, ...]]:
    """Cases dealt to at most ``hands`` hands, the largest first and always to the lightest hand; no hand is empty."""
    piles: list[list[CaseOfRun]] = [[] for _ in range(hands)]
    lightest = [(0, number) for number in range(hands)]
    for size, case in sorted(sized, key=lambda pair: (-pair[0], pair[1])):
        weight, number = heapq.heappop(lightest)
        piles[number].append(case)
        heapq.heappush(lightest, (weight + size, number))
    return [tuple(pile) for pile in piles if pile]


class RunSource(DataSource):
    """``spark.read.format("rocketdiff").option("runs", "<paths, one a line>").load()``."""

    @classmethod
    def name(cls) -> str:
        """Format name."""
        return NAME

    def schema(self) -> str:
        """The table ``facts``."""
        return SPARK_SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's signature; there is one schema
        """Reader of the runs named in the options."""
        runs = self.options[RUNS_OPTION].split(SEPARATOR)
        return RunReader(runs, int(self.options[BATCH_ROWS_OPTION]), int(self.options[TASKS_OPTION]))
