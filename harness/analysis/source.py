"""
``rocketdiff``: a Spark data source that reads run directories and gives the table ``facts``.

One partition a case: its files hold whole groups (checked when they are read), so both arms are paired, put into fault
context, replayed and reconciled where they are read, and nothing but facts ever leaves the Python worker. A run in a
foreign layout has no partition here; see ``foreign``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from harness.analysis.case_trace import read_case
from harness.analysis.facts import SPARK_SCHEMA, batches
from harness.analysis.judged_case import judge_case
from harness.traces.manifest import CaseStatus
from harness.traces.run_directory import RunDirectory

NAME = "rocketdiff"
BATCH_ROWS_OPTION = "batchRows"
RUNS_OPTION = "runs"
SEPARATOR = "\n"


@dataclass
class CasePartition(InputPartition):
    """One case of one run; the worker opens the directory itself, so workers must see the same file system."""

    run: str
    number: int


class RunReader(DataSourceReader):
    """Plans a partition for every case that has tables, and judges it."""

    def __init__(self, runs: Sequence[str], batch_rows: int) -> None:
        self._runs = tuple(runs)
        self._batch_rows = batch_rows

    def partitions(self) -> Sequence[InputPartition]:
        """Largest cases first, so that the last task to end is a short one."""
        cases = [
            (entry.sends_planned, CasePartition(run, entry.number))
            for run in self._runs
            for entry in RunDirectory.open(Path(run)).manifest.cases
            if entry.status is not CaseStatus.PLANNED
        ]
        return [case for _, case in sorted(cases, key=lambda sized: -sized[0])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Facts of one case as Arrow batches."""
        assert isinstance(partition, CasePartition), "planned by this reader"
        trace = read_case(RunDirectory.open(Path(partition.run)), partition.number)
        return batches(judge_case(trace, batch_rows=self._batch_rows))


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
        return RunReader(runs, int(self.options[BATCH_ROWS_OPTION]))
