"""Spark's answers for the page of a record."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rocketdiff.record.conclude import concluding
from rocketdiff.record.spark.ask_page import ask_page
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from tests.record.conftest import spoil

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


def test_the_page_has_changes_between_runs_and_releases(
    spark: SparkSession, new_run: Callable[..., Path], recorded: Callable[..., RecordPlace]
) -> None:
    """The page shows a loss as new between two releases, with 0 of 1 and 1 of 1 runs."""
    runs = [new_run("a", candidate="python:5.1.4"), new_run("b", candidate="python:5.3.3", change=spoil)]
    rows = ask_page(spark, look(recorded(*runs)), concluding().scope)
    (change,) = (row for row in rows.changes if row["check"] == "loss")
    assert (change["over"], change["state"], change["run"], change["before_run"]) == ("releases", "new", "b", "a")
    counts = ("seen_before", "asked_before", "seen_after", "asked_after", "created_ms")
    assert {type(change[name]) for name in counts} == {int}
    rates = [row for row in rows.by_release if row["check"] == "loss"]
    assert [(row["pair"], row["runs"], row["asked"]) for row in rates] == [
        ("java:5.3.3~python:5.1.4", 0, 1), ("java:5.3.3~python:5.3.3", 1, 1),
    ]  # fmt: skip
    assert [(row["line"], row["runs"]) for row in rows.by_week if row["check"] == "loss"] == [
        ("java:5.3.3~python:5.3.3 on 5.3.3", 1)
    ]
