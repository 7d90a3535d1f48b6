"""Asks questions to a record: applies the functions of ``questions`` to its tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

from rocketdiff.core.answers.verdict import DECISIVE
from rocketdiff.core.errors import UsageError
from rocketdiff.record.freshness import concluded
from rocketdiff.record.rules import rules_now
from rocketdiff.record.spark.frames import rows_that_hold, table
from rocketdiff.record.spark.questions import regressions as of_regressions
from rocketdiff.record.spark.questions.asked import (
    OVER_RELEASES,
    OVER_TIME,
    RUN_COLUMNS,
    asked,
    found,
    lines,
    sightings,
)
from rocketdiff.record.spark.questions.group_figures import group_figures, groups
from rocketdiff.record.spark.questions.rules_changed import rules_changed
from rocketdiff.record.spark.questions.signature_history import signature_history
from rocketdiff.record.storage.batch import Batch
from rocketdiff.record.storage.store import Snapshot
from rocketdiff.record.storage.tables import Kept

ORDERS = (OVER_TIME, OVER_RELEASES)

MOST_ROWS = 10_000
"""Limit of rows returned to the driver: more than a person reads."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Regressions:
    """runs: number in the record; answered: those with answers that hold; asked: number of answers since the given time."""

    runs: int
    answered: int
    asked: int
    rows: tuple[Row, ...]


def ask_regressions(
    spark: SparkSession, snapshot: Snapshot, scope: str, *, over: str, since: str | None, everything: bool
) -> Regressions:
    """
    Return the changes since a day (``2026-11-01``) or a run, if one is given; with ``everything``, unchanged signatures too.
    """
    runs, answers = _runs(spark, snapshot), _answers(spark, snapshot, scope)
    since_ms = _since_ms(runs, since)
    seen = sightings(lines(runs, over), asked(answers), found(answers))
    states = of_regressions.regressions(seen).where(F.col("created_ms") >= since_ms)
    wanted = states if everything else states.where(F.col("state") != of_regressions.UNCHANGED)
    rows = wanted.orderBy("state", "created_ms", *of_regressions.KEY).limit(MOST_ROWS)
    recent = asked(answers, DECISIVE).join(runs.where(F.col("created_ms") >= since_ms), on="run", how="left_semi")
    answered = answers.select("run").distinct().count()
    return Regressions(runs.count(), answered, recent.count(), tuple(rows.toArrow().to_pylist()))


def ask_history(spark: SparkSession, snapshot: Snapshot, scope: str, *, over: str) -> tuple[Row, ...]:
    """Return the weekly rates of every signature."""
    answers = _answers(spark, snapshot, scope)
    seen = sightings(lines(_runs(spark, snapshot), over), asked(answers), found(answers))
    return tuple(signature_history(seen).limit(MOST_ROWS).toArrow().to_pylist())


def ask_groups(spark: SparkSession, snapshot: Snapshot, *, over: str) -> tuple[Row, ...]:
    """Return the figures of groups of consumers, by release; over time by week, too."""
    tallies = rows_that_hold(spark, snapshot, Kept.TALLIES, rules_now())
    if tallies is None:
        return ()
    cases = table(spark, snapshot, Kept.CASES, snapshot.of("add"))
    runs = table(spark, snapshot, Kept.RUNS, snapshot.of("add")).select(*RUN_COLUMNS)
    figures = group_figures(groups(tallies, cases, runs), by_week=over == OVER_TIME)
    return tuple(figures.limit(MOST_ROWS).toArrow().to_pylist())


def ask_rules_changed(spark: SparkSession, snapshot: Snapshot, checks: Sequence[str]) -> tuple[Row, ...]:
    """
    Compare the last rules of each check (of these, or of all that changed) with the previous rules, on cases judged by both.
    """
    changed = _changed(snapshot, checks)
    if not changed:
        return ()
    parts = [_by_two_rules(spark, snapshot, check, *both) for check, both in changed.items()]
    before, after, judged = (reduce(DataFrame.unionByName, some) for some in zip(*parts, strict=True))
    return tuple(rules_changed(before, after, judged).limit(MOST_ROWS).toArrow().to_pylist())


def _runs(spark: SparkSession, snapshot: Snapshot) -> DataFrame:
    return table(spark, snapshot, Kept.RUNS, snapshot.of("add")).select(*RUN_COLUMNS)


def _answers(spark: SparkSession, snapshot: Snapshot, scope: str) -> DataFrame:
    held = table(spark, snapshot, Kept.ANSWERS, concluded(snapshot, scope))
    return held.select("run", "case", "check", "verdict", "divergences")


def _since_ms(runs: DataFrame, since: str | None) -> int:
    if since is None:
        return 0
    (row,) = runs.where(F.col("run") == since).agg(F.min("created_ms")).collect()
    if row[0] is not None:
        return int(row[0])
    (day,) = (
        runs.sparkSession.createDataFrame([(since,)], "day string")
        .select(F.unix_millis(F.try_to_timestamp("day")))
        .collect()
    )
    if day[0] is None:
        raise UsageError(
            "--since with a day (2026-11-01) or a run of the record", seen=since, hint="rocketdiff record status"
        )
    return int(day[0])


def _changed(snapshot: Snapshot, checks: Sequence[str]) -> dict[str, tuple[list[Batch], list[Batch]]]:
    """Batches by the previous and by the last rules of each check, if it was judged by two."""
    found = {}
    for check in sorted(
        {check for batch in snapshot.of("judge") for check in batch.checks if not checks or check in checks}
    ):
        judged = [batch for batch in snapshot.of("judge") if check in batch.checks]
        digests = list(dict.fromkeys(batch.rules[check] for batch in reversed(judged)))
        if len(digests) > 1:
            last, before = digests[0], digests[1]
            found[check] = (
                [batch for batch in judged if batch.rules[check] == before],
                [batch for batch in judged if batch.rules[check] == last],
            )
    return found


def _by_two_rules(
    spark: SparkSession, snapshot: Snapshot, check: str, before: list[Batch], after: list[Batch]
) -> tuple[DataFrame, DataFrame, DataFrame]:
    sides = [
        table(spark, snapshot, Kept.SIGNATURES, some)
        .where(F.col("owner") == check)
        .select("run", "case", "owner", "signature", "count")
        for some in (before, after)
    ]
    judged = [
        table(spark, snapshot, Kept.JUDGED, some).where(F.col("trouble") == "").select("run", "case")
        for some in (before, after)
    ]
    both = judged[0].join(judged[1], on=["run", "case"], how="inner").distinct()
    return sides[0], sides[1], both.select("run", "case", F.lit(check).alias("owner"))
