"""The named tables on Spark: literal rows in, literal rows out."""

from collections.abc import Sequence
from itertools import chain

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from rocketdiff.analysis.facts import (
    ARROW_SCHEMA,
    CaseFact,
    DifferenceFact,
    Fact,
    LaneBar,
    OutageValue,
    Tally,
    Trouble,
    batches,
    columns_of,
)
from rocketdiff.analysis.spark.distributed import SPARK_SCHEMA
from rocketdiff.analysis.spark.tables import summed
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


def test_each_kind_of_fact_keeps_its_row(spark: SparkSession) -> None:
    """A single fact of each kind comes back as it was, with exact nanoseconds beyond 2^53; equal single facts stay apart."""
    ns = 9_007_199_254_740_993
    value = OutageValue("timing", "blocked-send-duration", "baseline", 1, 5.5, 2, "failover")
    rows: dict[str, Sequence[Fact]] = {
        "difference": [difference(3, weight=2, at_ns=ns)],
        "tally": [Tally("sends", "baseline", "calm", "ok", 5, 0.0)],
        "episode": [value, value],
        "lane": [LaneBar("baseline", 0, 1, 0, "broker-a", 2, ns, ns + 1, "ok", "none", 0)],
        "fault": [FaultRecord(1, FaultKind.PAUSE, "broker-b", ns, ns + 1, None)],
        "trouble": [Trouble("a table", "none", "run it again")],
    }
    every = facts(spark, *chain.from_iterable(rows.values()))
    found = collected(summed(every))
    assert {row["count"] for row in found} == {1}
    before = collected(every)
    for kind, same in rows.items():
        assert [row[kind] for row in found if row[kind]] == [row[kind] for row in before if row[kind]]
        assert len([row for row in found if row[kind]]) == len(same)
    assert all((row["run"], row["number"], sum(row[kind] is not None for kind in rows)) == ("r", 1, 1) for row in found)


def test_a_cluster_shows_the_difference_that_is_easiest_to_follow(spark: SparkSession) -> None:
    """A cluster shows the difference with the fewest attempts, then the earliest, then without an attempt."""
    rows = facts(
        spark,
        difference(1, weight=4, at_ns=10),
        difference(2, weight=2, at_ns=30),
        difference(3, weight=2, at_ns=20, attempt=0),
        difference(3, weight=2, at_ns=20, attempt=None),
        difference(4, weight=9, at_ns=5, arm="baseline"),
    )
    counts: dict[str, object] = {}
    examples: dict[str, object] = {}
    for row in collected(summed(rows)):
        example = row["difference"]
        assert isinstance(example, dict)
        counts[example["arm"]] = row["count"]
        examples[example["arm"]] = (example["send"], example["attempt"], tuple(example))
    columns = columns_of(DifferenceFact)
    assert counts == {"candidate": 4, "baseline": 1}
    assert examples == {"candidate": (3, None, columns), "baseline": (4, None, columns)}


def test_tallies_of_one_key_are_added_and_others_kept_apart(spark: SparkSession) -> None:
    """Tallies of one key are added: a case split over tasks may count the same thing twice."""
    rows = facts(
        spark,
        Tally("elapsed", "baseline", "calm", "700", 5, 0.5),
        Tally("elapsed", "baseline", "calm", "700", 2, 0.25),
        Tally("elapsed", "baseline", "after", "700", 1, 0.0),
        Tally("elapsed", "candidate", "calm", "700", 1, 0.0),
    )
    found = [row["tally"] for row in collected(summed(rows))]
    assert sorted(tuple(tally.values()) for tally in found if isinstance(tally, dict)) == [
        ("elapsed", "baseline", "after", "700", 1, 0.0),
        ("elapsed", "baseline", "calm", "700", 7, 0.75),
        ("elapsed", "candidate", "calm", "700", 1, 0.0),
    ]


def test_cases_are_judged_once(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """The facts are read once, whatever is summed: a second read would judge every case again."""
    summed(facts(spark, difference(1, weight=1, at_ns=1)).mapInArrow(lambda batches: batches, SPARK_SCHEMA)).explain()
    assert capsys.readouterr().out.count("MapInArrow") == 1
