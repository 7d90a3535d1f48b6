"""
The joins and aggregates of judging in other engines: pairing of arms, fault context, reconciliation with stored messages.

A lower bound for judging the same files. DuckDB and Polars are measured only if installed. Spark and DuckDB run the same
SQL.
"""

import importlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rocketdiff.analysis.spark.session import session
from rocketdiff.core.arm import Arm
from rocketdiff.traces.layout import table_file
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName

ROUNDS = 3

QUESTIONS = {
    "pairing of arms": """
        SELECT count(*) AS pairs, count_if(b.broker = c.broker) AS alike, sum(c.end_ns - c.start_ns - b.end_ns + b.start_ns) AS later_ns
        FROM sends_baseline b JOIN sends_candidate c ON b.send = c.send""",
    "fault context": """
        SELECT a.broker, a.outcome, count(*) AS attempts, count(f.node) AS in_faults
        FROM attempts_candidate a LEFT JOIN faults f ON a.broker = f.node AND a.start_ns < f.healed_ns AND a.end_ns > f.inject_ns
        GROUP BY a.broker, a.outcome""",
    "reconciliation": """
        SELECT copies, count(*) AS sends FROM
        (SELECT s.send, count(m.send) AS copies FROM sends_candidate s LEFT JOIN stored_candidate m ON s.send = m.send GROUP BY s.send) counted
        GROUP BY copies""",
}

Ask = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class EngineTime:
    """Best wall time of an engine on all cores for all queries, including reading. None: not installed."""

    engine: str
    took_s: float | None
    per_s: float | None


def measure_engines(run: RunDirectory, attempts: int) -> list[EngineTime]:
    """Time each engine on a run with one case. attempts: in that case."""
    files = files_of(run)
    engines: dict[str, Callable[[Mapping[str, str]], Any]] = {"duckdb": _duckdb, "polars": _polars, "spark": _spark}
    return [_timed(name, engine, files, attempts) for name, engine in engines.items()]


def _timed(
    name: str, engine: Callable[[Mapping[str, str]], Any], files: Mapping[str, str], attempts: int
) -> EngineTime:
    try:
        with engine(files) as ask:
            took_s = min(_seconds(ask) for _ in range(ROUNDS + 1))
    except ModuleNotFoundError:
        return EngineTime(name, None, None)
    return EngineTime(name, took_s, attempts / took_s)


def _seconds(ask: Ask) -> float:
    began = time.monotonic()
    for question in QUESTIONS:
        ask(question)
    return time.monotonic() - began


def files_of(run: RunDirectory) -> dict[str, str]:
    """The files of the queries, by table name."""
    names = (TableName.SENDS, TableName.ATTEMPTS, TableName.STORED)
    files = {f"{name}_{arm}": str(run.path / table_file(name, 1, arm)) for name in names for arm in Arm}
    return files | {"faults": str(run.path / table_file(TableName.FAULTS, 1, None))}


@contextmanager
def _duckdb(files: Mapping[str, str]) -> Iterator[Ask]:
    with importlib.import_module("duckdb").connect() as connection:
        for name, path in files.items():
            connection.read_parquet(path).create_view(name)
        yield lambda question: connection.execute(QUESTIONS[question]).fetchall()


@contextmanager
def _spark(files: Mapping[str, str]) -> Iterator[Ask]:
    with session(f"local[{os.cpu_count()}]") as spark:
        yield asked_of_spark(spark, files)


def asked_of_spark(spark: Any, files: Mapping[str, str]) -> Ask:
    """Run the queries in a Spark session."""
    for name, path in files.items():
        spark.read.parquet(path).createOrReplaceTempView(name)
    return lambda question: spark.sql(QUESTIONS[question]).collect()


@contextmanager
def _polars(files: Mapping[str, str]) -> Iterator[Ask]:
    """Polars expressions, because its SQL has no range joins."""
    pl = importlib.import_module("polars")

    def table(name: str) -> Any:
        return pl.scan_parquet(files[name])

    def took(suffix: str = "") -> Any:
        return pl.col(f"end_ns{suffix}") - pl.col(f"start_ns{suffix}")

    def ask(question: str) -> Any:
        match question:
            case "pairing of arms":
                both = table("sends_baseline").join(table("sends_candidate"), on="send", suffix="_c")
                alike = pl.col("broker").cast(str) == pl.col("broker_c").cast(str)
                found = both.select(pl.len(), alike.sum(), (took("_c") - took()).sum().alias("later_ns"))
            case "fault context":
                tried = table("attempts_candidate").select(
                    pl.col("broker").cast(str), pl.col("outcome").cast(str), "start_ns", "end_ns"
                )
                faults = table("faults").select(pl.col("node").cast(str), "inject_ns", "healed_ns")
                meets = (
                    pl.col("broker") == pl.col("node"),
                    pl.col("start_ns") < pl.col("healed_ns"),
                    pl.col("end_ns") > pl.col("inject_ns"),
                )
                met = tried.join_where(faults, *meets).group_by("broker", "outcome").agg(pl.len().alias("in_faults"))
                every = tried.group_by("broker", "outcome").agg(pl.len())
                found = every.join(met, on=("broker", "outcome"), how="left")
            case _:
                copies = table("stored_candidate").group_by("send").agg(pl.len().alias("copies"))
                counted = table("sends_candidate").select("send").join(copies, on="send", how="left")
                found = counted.group_by(pl.col("copies").fill_null(0)).agg(pl.len())
        return found.collect()

    yield ask
