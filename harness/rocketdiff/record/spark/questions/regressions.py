"""
Which signatures are new, gone, or more or less frequent than before, since which run, and between which releases?

Of every signature of a line the runs that were asked are put in order, and the one place is looked for where the rate before differs most from
the rate after (the largest likelihood ratio G², ties by the earliest). Then:

* ``new``: never seen before its first run, though asked at least once. A signature of an exact check is certain when it is seen, so one run is enough.
* ``gone``: not seen in the last runs, so many that by its rate before this had a chance of at most 5 %.
* ``changed-in-rate``: seen before and after, and G² is at least 18: by chance once in 20,000 at one place, so at most once in 100 in a line of 200 runs.
* ``unchanged``: all else.
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark programmer reads at once

from rocketdiff.record.spark.questions.rates import rate, wilson

NEW: Final = "new"
GONE: Final = "gone"
CHANGED: Final = "changed-in-rate"
UNCHANGED: Final = "unchanged"
STATES = (NEW, GONE, CHANGED, UNCHANGED)

GONE_BY_CHANCE = 0.05
"""That a signature of the rate before is missed in all runs after: what one in twenty calls gone is only rare."""

LEAST_G2 = 18.0
"""See above."""

KEY = ("line", "scenario", "check", "signature")

COLUMNS = (
    *(*KEY, "state", "run", "before_run", "pair", "before_pair", "created_ms"),
    *(
        "asked_before",
        "seen_before",
        "rate_before",
        "asked_after",
        "seen_after",
        "rate_after",
        "low_after",
        "high_after",
        "declared_by",
    ),
)


def places(sightings: DataFrame) -> DataFrame:
    """
    Every place where a rate could have changed: before each run that was asked but the first.

    In: what ``asked.sightings`` gives. Out: its columns and before_run, before_pair, asked_before, seen_before, asked_after, seen_after (this run included), g2.
    """
    ordered = Window.partitionBy(*KEY).orderBy("place", "run")
    before, after = (
        ordered.rowsBetween(Window.unboundedPreceding, -1),
        ordered.rowsBetween(0, Window.unboundedFollowing),
    )
    one = F.lit(1)
    counted = sightings.withColumns(
        {
            "before_run": F.lag("run").over(ordered),
            "before_pair": F.lag("pair").over(ordered),
            "asked_before": F.count(one).over(before),
            "seen_before": F.coalesce(F.sum("seen").over(before), F.lit(0)),
            "asked_after": F.count(one).over(after),
            "seen_after": F.sum("seen").over(after),
        }
    )
    return counted.withColumn("g2", _g2())


def regressions(sightings: DataFrame) -> DataFrame:
    """
    One row a signature of a line: what became of it, and where.

    In: what ``asked.sightings`` gives. Out: COLUMNS; run: the first after the change, before_run: the last before it, with their pairs; an unchanged
    signature has its first run and no run before.
    """
    every = places(sightings)
    by_key = Window.partitionBy(*KEY)
    declared = F.max(F.when(F.col("seen") == 1, F.col("declared_by"))).over(by_key)
    best = Window.partitionBy(*KEY).orderBy(F.col("g2").desc(), "place", "run")
    first_seen = F.min(F.when(F.col("seen") == 1, F.struct("place", "run"))).over(by_key)
    looked = every.withColumns(
        {
            "declared_by": declared,
            "turn": F.row_number().over(best),
            "is_first_seen": F.struct("place", "run") == first_seen,
        }
    )
    is_new = F.col("is_first_seen") & (F.col("asked_before") > 0)
    ranked = looked.withColumn("state", F.when(is_new, NEW).when(F.col("turn") == 1, _state_at_best()))
    # A signature that is new has its change at its first run, wherever G² is largest.
    rank = Window.partitionBy(*KEY).orderBy((F.col("state") == NEW).desc_nulls_last(), "turn")
    chosen = ranked.withColumn("rank", F.row_number().over(rank)).where("rank = 1")
    return _told(chosen).select(*COLUMNS)


def _g2() -> Column:
    """Twice the log of the likelihood with two rates over that with one; 0 where there is nothing before."""
    before, after = ("seen_before", "asked_before"), ("seen_after", "asked_after")
    n = F.col("asked_before") + F.col("asked_after")
    k = F.col("seen_before") + F.col("seen_after")
    two = _log_likelihood(*map(F.col, before)) + _log_likelihood(*map(F.col, after))
    return F.when(F.col("asked_before") > 0, F.round(2 * (two - _log_likelihood(k, n)), 9)).otherwise(0.0)


def _log_likelihood(k: Column, n: Column) -> Column:
    return _times_log(k, k / n) + _times_log(n - k, (n - k) / n)


def _times_log(count: Column, share: Column) -> Column:
    return F.when(count > 0, count * F.log(share)).otherwise(0.0)


def _state_at_best() -> Column:
    missed = F.pow(1 - F.col("seen_before") / F.col("asked_before"), F.col("asked_after"))
    is_gone = (F.col("seen_after") == 0) & (F.col("asked_before") > 0) & (missed <= GONE_BY_CHANCE)
    is_changed = (F.col("g2") >= LEAST_G2) & (F.col("seen_after") > 0) & (F.col("seen_before") > 0)
    return F.when(is_gone, GONE).when(is_changed, CHANGED).otherwise(UNCHANGED)


def _told(rows: DataFrame) -> DataFrame:
    """Rates on both sides; of what did not change, one rate over all runs."""
    same = F.col("state") == UNCHANGED
    whole = rows.withColumns(
        {
            "asked_after": F.when(same, F.col("asked_before") + F.col("asked_after")).otherwise(F.col("asked_after")),
            "seen_after": F.when(same, F.col("seen_before") + F.col("seen_after")).otherwise(F.col("seen_after")),
            "asked_before": F.when(same, 0).otherwise(F.col("asked_before")),
            "seen_before": F.when(same, 0).otherwise(F.col("seen_before")),
            "before_run": F.when(~same, F.col("before_run")),
            "before_pair": F.when(~same, F.col("before_pair")),
        }
    )
    hits, n = F.col("seen_after"), F.col("asked_after")
    return whole.withColumns(
        {
            "rate_before": rate(F.col("seen_before"), F.col("asked_before")),
            "rate_after": rate(hits, n),
            "low_after": wilson(hits, n, -1),
            "high_after": wilson(hits, n, 1),
        }
    )
