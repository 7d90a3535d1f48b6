"""The heavy steps of the record, in this process or on Spark (``spark/work.py``); both call the same functions."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.record.conclude import Concluding, conclude
from rocketdiff.record.facts import CONCLUDED_FROM
from rocketdiff.record.freshness import concluded, judgements
from rocketdiff.record.ingest import FoundRun, identify, ingest
from rocketdiff.record.judge import CaseUnit, check_units, judge_units
from rocketdiff.record.storage.batch import StatedFile, files_in_json
from rocketdiff.record.storage.compact import BRONZE
from rocketdiff.record.storage.files import PartWriter, RecordPlace, below_table, check_files, texts
from rocketdiff.record.storage.store import Snapshot
from rocketdiff.record.storage.tables import COLUMNS, Kept, NewFile
from rocketdiff.traces.manifest import decode_manifest

RUNS_FOR_SPARK = 50
"""On two cores Spark's start pays off from some 400,000 attempts, about as many runs of suite quick as this (2026-11-30)."""


class RecordWork(Protocol):
    """The heavy steps of commands."""

    def identify(self, places: Sequence[str]) -> list[FoundRun]:
        """Return id and digest of each folder."""

    def ingest(self, place: RecordPlace, batch: str, found: Sequence[FoundRun]) -> tuple[list[NewFile], list[FoundRun]]:
        """Write runs; return files, and damaged runs."""

    def write(self, jobs: Sequence[bytes], write: Callable[[bytes], tuple[NewFile, ...]]) -> list[NewFile]:
        """Write files, with one call per job."""

    def check_files(self, place: RecordPlace, files: Sequence[StatedFile]) -> list[str]:
        """Read every byte of these files; return what is wrong."""

    def check(self, snapshot: Snapshot) -> list[str]:
        """Read every case back; return what is wrong."""

    def missing(self, snapshot: Snapshot, rules: Mapping[str, str]) -> dict[frozenset[str], int]:
        """Return the number of runs by the set of checks that they lack under these rules."""

    def judge(
        self, snapshot: Snapshot, batch: str, rules: Mapping[str, str], wanted: frozenset[str], most: int
    ) -> tuple[list[NewFile], int]:
        """Judge the newest runs that lack exactly these checks; return files and the number of runs."""

    def conclude(
        self, snapshot: Snapshot, batch: str, rules: Mapping[str, str], how: Concluding, most: int
    ) -> tuple[list[NewFile], int]:
        """Conclude the newest judged runs without answers of this scope; return files and the number of runs."""


def master_for(master: str | None, runs: int) -> str | None:
    """Return the named master; without one, this process for few runs and ``local[*]`` for many."""
    return WITHOUT_SPARK if master is None and runs < RUNS_FOR_SPARK else master


@contextmanager
def work_on(master: str | None, conf: Sequence[str] = (), *, runs: int = 0) -> Iterator[RecordWork]:
    """Open a Spark session on a master, or work in this process (``none``)."""
    if master == WITHOUT_SPARK:
        yield Here()
        return
    # Lazy, because importing Spark takes half a second.
    from rocketdiff.record.spark.work import on_spark  # noqa: PLC0415

    with on_spark(master, conf, runs=runs) as spark:
        yield spark


@dataclass(frozen=True, slots=True)
class _Known:
    run: str
    month: str
    batch: str
    part: str
    created_ms: int

    @property
    def path(self) -> str:
        """Of its files, below their tables."""
        return below_table(self.month, self.batch, self.part)


class Here:
    """All work in this process: for few runs, and as a cross-check of Spark."""

    def identify(self, places: Sequence[str]) -> list[FoundRun]:
        return [identify(place) for place in places]

    def ingest(self, place: RecordPlace, batch: str, found: Sequence[FoundRun]) -> tuple[list[NewFile], list[FoundRun]]:
        files, damaged = ingest(place, batch, found)
        return list(files), list(damaged)

    def write(self, jobs: Sequence[bytes], write: Callable[[bytes], tuple[NewFile, ...]]) -> list[NewFile]:
        return [file for job in jobs for file in write(job)]

    def check_files(self, place: RecordPlace, files: Sequence[StatedFile]) -> list[str]:
        return check_files(place, files)

    def check(self, snapshot: Snapshot) -> list[str]:
        return check_units(snapshot.place, _units(snapshot, {run.run: run for run in _runs(snapshot)}))

    def missing(self, snapshot: Snapshot, rules: Mapping[str, str]) -> dict[frozenset[str], int]:
        return {checks: len(runs) for checks, runs in _lacking(snapshot, rules).items()}

    def judge(
        self, snapshot: Snapshot, batch: str, rules: Mapping[str, str], wanted: frozenset[str], most: int
    ) -> tuple[list[NewFile], int]:
        runs = {run.run: run for run in _lacking(snapshot, rules).get(wanted, [])[:most]}
        return list(judge_units(snapshot.place, batch, wanted, _units(snapshot, runs))), len(runs)

    def conclude(
        self, snapshot: Snapshot, batch: str, rules: Mapping[str, str], how: Concluding, most: int
    ) -> tuple[list[NewFile], int]:
        lacking = {run.run for runs in _lacking(snapshot, rules).values() for run in runs}
        done = snapshot.rows(Kept.VERDICTS, ["run"], concluded(snapshot, how.scope)).column("run").to_pylist()
        runs = [run for run in _runs(snapshot) if run.run not in lacking and run.run not in set(done)][:most]
        writer = PartWriter(snapshot.place, batch)
        for run in runs:
            for table, rows in _concluded(snapshot, run.run, rules, how).items():
                writer.add(table, run.month, rows, [run.run])
        return list(writer.close()), len(runs)


def _runs(snapshot: Snapshot) -> list[_Known]:
    """Newest first."""
    rows = snapshot.rows(Kept.RUNS, ["run", "month", "batch", "part", "created_ms"], snapshot.of("add")).to_pylist()
    return sorted((_Known(**row) for row in rows), key=lambda one: (-one.created_ms, one.run))


def _units(snapshot: Snapshot, runs: Mapping[str, _Known]) -> list[CaseUnit]:
    rows = snapshot.rows(Kept.CASES, ["run", "case", "statements"], snapshot.of("add"), run=list(runs)).to_pylist()
    parts = {path: files_in_json(files) for path, files in snapshot.parts(BRONZE).items()}
    return [
        CaseUnit(row["run"], row["case"], known.month, row["statements"], parts.get(known.path, "[]"))
        for row in sorted(rows, key=lambda row: (row["run"], row["case"]))
        for known in (runs[row["run"]],)
    ]


def _lacking(snapshot: Snapshot, rules: Mapping[str, str]) -> dict[frozenset[str], list[_Known]]:
    """Incomplete runs by the checks they lack, newest first."""
    has: defaultdict[str, set[str]] = defaultdict(set)
    for checks, batches in judgements(snapshot, rules).items():
        for run in snapshot.rows(Kept.JUDGED, ["run"], batches).column("run").unique().to_pylist():
            has[str(run)] |= checks
    found: defaultdict[frozenset[str], list[_Known]] = defaultdict(list)
    for known in _runs(snapshot):
        if lacks := frozenset(rules) - has[known.run]:
            found[lacks].append(known)
    return dict(found)


def _concluded(snapshot: Snapshot, run: str, rules: Mapping[str, str], how: Concluding) -> dict[Kept, pa.Table]:
    facts: dict[Kept, list[pa.Table]] = {}
    troubles: list[str] = []
    for checks, batches in judgements(snapshot, rules).items():
        for table in CONCLUDED_FROM:
            columns = [name for name in COLUMNS[table].names if name != "owner"]
            rows = snapshot.rows(table, columns, batches, run=[run], owner=sorted(checks))
            facts.setdefault(table, []).append(rows)
        troubles += texts(snapshot.rows(Kept.JUDGED, ["trouble"], batches, run=[run]), "trouble")
    (manifest,) = texts(snapshot.rows(Kept.RUNS, ["manifest"], snapshot.of("add"), run=[run]), "manifest")
    joined = {table: pa.concat_tables(some) for table, some in facts.items()}
    return conclude(decode_manifest(manifest.encode(), where=run), joined, sorted(filter(None, troubles)), how)
