"""The named tables on Spark: literal rows in, literal rows out."""

from collections.abc import Sequence

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from rocketdiff.analysis.facts import (
    ARROW_SCHEMA,
    SPARK_SCHEMA,
    CaseFact,
    DifferenceFact,
    Fact,
    LaneBar,
    OutageValue,
    Tally,
    batches,
    columns_of,
)
from rocketdiff.analysis.spark.tables import clusters, differences, loose, tallies
from rocketdiff.core.tables.fault import FaultKind, FaultRecord

pytestmark = [
    pytest.mark.spark,
    # pytest resets the filter that the session installs; see there.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

LOST = "loss.acknowledged-not-stored"


def difference(
    send: int, *, weight: int, at_ns: int, attempt: int | None = None, arm: str = "candidate"
) -> DifferenceFact:
    return DifferenceFact("loss", LOST, arm, 0, send, attempt, "calm", at_ns, weight, "a", "b")


def facts(spark: SparkSession, *rows: Fact, number: int = 1) -> DataFrame:
    content = pa.Table.from_batches(batches([CaseFact("r", number, row) for row in rows]), ARROW_SCHEMA)
    return spark.createDataFrame(content, SPARK_SCHEMA)


def collected(frame: DataFrame) -> Sequence[dict[str, object]]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def test_each_kind_of_fact_goes_to_its_own_table(spark: SparkSession) -> None:
    """Each kind of fact goes to its own table, with exact nanoseconds beyond 2^53."""
    ns = 9_007_199_254_740_993
    bar = LaneBar("baseline", 0, 1, 0, "broker-a", 2, ns, ns + 1, "ok", "none", 0)
    fault = FaultRecord(1, FaultKind.PAUSE, "broker-b", ns, ns + 1, None)
    every = facts(
        spark,
        difference(3, weight=2, at_ns=ns),
        Tally("sends", "baseline", "calm", "ok", 5, 0.0),
        OutageValue("timing", "blocked-send-duration", "baseline", 1, 5.5, 2, "failover"),
        bar,
        fault,
    ).cache()
    (only,) = collected(differences(every))
    assert (only["at_ns"], only["attempt"], only["send"]) == (ns, None, 3)
    assert collected(tallies(every)) == [
        {
            "run": "r",
            "number": 1,
            "check": "sends",
            "arm": "baseline",
            "phase": "calm",
            "key": "ok",
            "n": 5,
            "total": 0.0,
        }
    ]
    rows = collected(loose(every))
    assert [[kind for kind in ("episode", "lane", "fault") if row[kind]] for row in rows] == [
        ["episode"],
        ["lane"],
        ["fault"],
    ]
    assert rows[1]["lane"] == dict(
        zip(columns_of(LaneBar), ("baseline", 0, 1, 0, "broker-a", 2, ns, ns + 1, "ok", "none", 0), strict=True)
    )


def test_a_cluster_shows_the_difference_that_is_easiest_to_follow(spark: SparkSession) -> None:
    """A cluster shows the difference with the fewest attempts, then the earliest, then without an attempt."""
    rows = differences(
        facts(
            spark,
            difference(1, weight=4, at_ns=10),
            difference(2, weight=2, at_ns=30),
            difference(3, weight=2, at_ns=20, attempt=0),
            difference(3, weight=2, at_ns=20, attempt=None),
            difference(4, weight=9, at_ns=5, arm="baseline"),
        )
    )
    found = {row["arm"]: row for row in collected(clusters(rows))}
    assert (found["candidate"]["count"], found["candidate"]["send"], found["candidate"]["attempt"]) == (4, 3, None)
    assert (found["baseline"]["count"], found["baseline"]["send"]) == (1, 4)
    assert set(found["candidate"]) == {"run", "number", "count", *columns_of(DifferenceFact)}


def test_tallies_of_one_key_are_added_and_others_kept_apart(spark: SparkSession) -> None:
    """Tallies of one key are added: a case split over tasks may count the same thing twice."""
    rows = facts(
        spark,
        Tally("elapsed", "baseline", "calm", "700", 5, 0.5),
        Tally("elapsed", "baseline", "calm", "700", 2, 0.25),
        Tally("elapsed", "baseline", "after", "700", 1, 0.0),
        Tally("elapsed", "candidate", "calm", "700", 1, 0.0),
    )
    found = sorted((str(row["arm"]), str(row["phase"]), row["n"], row["total"]) for row in collected(tallies(rows)))
    assert found == [("baseline", "after", 1, 0.0), ("baseline", "calm", 7, 0.75), ("candidate", "calm", 1, 0.0)]
