"""Other engines run judging's queries on its tables and return the right figures."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketdiff.bench import engines
from rocketdiff.bench.judging import NEAR_FAULTS, made_run
from rocketdiff.traces.run_directory import RunDirectory

SENDS = 4_000


def test_joins_of_a_case_with_kills(spark: SparkSession, tmp_path: Path) -> None:
    """In a case with kills every send has its pair and one copy, and every failed attempt met a fault."""
    run = RunDirectory.open(made_run(tmp_path, "made", SENDS, NEAR_FAULTS).path)
    ask = engines.asked_of_spark(spark, engines.files_of(run))
    ((pairs, alike, _),) = ask("pairing of arms")
    assert pairs == SENDS > alike > 0
    assert ask("reconciliation") == [(1, SENDS)]
    met = {(broker, outcome): (attempts, faults) for broker, outcome, attempts, faults in ask("fault context")}
    attempts, faults = met["broker-b", "failed"]
    assert attempts == faults > 0
    assert met["broker-a", "ok"][1] == 0


def test_an_engine_that_is_not_installed_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Engines that are not installed are listed without figures."""
    monkeypatch.setattr(engines, "_spark", engines._polars)
    monkeypatch.setattr("importlib.import_module", _nothing)
    run = made_run(tmp_path, "made", 1_000, 0.0)
    found = engines.measure_engines(run, 2_000)
    assert [(one.engine, one.took_s, one.per_s) for one in found] == [
        (name, None, None) for name in ("duckdb", "polars", "spark")
    ]


def _nothing(name: str) -> None:
    raise ModuleNotFoundError(name)
