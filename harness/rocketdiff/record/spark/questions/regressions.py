"""
Which signatures are new, gone, or more or less frequent, since which run, and between which releases?

For each signature of a line, the change point among the asked runs is where the rates before and after differ most (largest
likelihood ratio G², ties by the earliest). States:

* ``new``: never seen before its first run, though asked at least once. An exact check's signature is certain: one run suffices.
* ``gone``: not seen in the last runs, which at the rate before had a chance of at most 5 %.
* ``changed-in-rate``: seen before and after, with G² of at least 18: by chance once in 20,000 at one place, so at most once in 100
  in a line of 200 runs.
* ``unchanged``: all else.
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

from rocketdiff.record.spark.questions.rates import rate, wilson

NEW: Final = "new"
GONE: Final = "gone"
CHANGED: Final = "changed-in-rate"
UNCHANGED: Final = "unchanged"
STATES = (NEW, GONE, CHANGED, UNCHANGED)

GONE_BY_CHANCE = 0.05
"""
Largest chance, at the rate before, of missing a signature in all later runs; one ``gone`` in twenty is therefore only rare.
"""

LEAST_G2 = 18.0
"""Threshold of ``changed-in-rate``; see the module."""

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
    Return every place where a rate could have changed: before each asked run except the first.

    In: ``asked.sightings``. Out: its columns and before_run, before_pair, asked_before, seen_before, asked_after, seen_after
    (this run included), g2.
    """
    # A frame of following rows would be summed anew at each row: quadratic in the length of a line.
    whole, ordered = Window.partitionBy(*KEY), Window.partitionBy(*KEY).orderBy("place", "run")
    before = ordered.rowsBetween(Window.unboundedPreceding, -1)
    each = F.lit(1)
    counted = sightings.withColumns(
        {
            "before_run": F.lag("run").over(ordered),
            "before_pair": F.lag("pair").over(ordered),
            "asked_before": F.count(each).over(before),
            "seen_before": F.coalesce(F.sum("seen").over(before), F.lit(0)),
            "asked_after": F.count(each).over(whole) - F.count(each).over(before),
            "seen_after": F.sum("seen").over(whole) - F.coalesce(F.sum("seen").over(before), F.lit(0)),
        }
    )
    return counted.withColumn("g2", _g2())


def regressions(sightings: DataFrame) -> DataFrame:
    """
    Return one row per signature of a line: its state, and where it changed.

    In: ``asked.sightings``. Out: COLUMNS; run: the first after the change (of an unchanged signature, its first run);
    before_run: the last before it.
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
    # A new signature changes at its first run, wherever G² is largest.
    rank = Window.partitionBy(*KEY).orderBy((F.col("state") == NEW).desc_nulls_last(), "turn")
    chosen = ranked.withColumn("rank", F.row_number().over(rank)).where("rank = 1")
    return _with_rates(chosen).select(*COLUMNS)


def _g2() -> Column:
    """Twice the log likelihood ratio of two rates over one rate; 0 if there is nothing before."""
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


def _with_rates(rows: DataFrame) -> DataFrame:
    """Add rates on both sides; an unchanged signature has one rate over all runs."""
    same = F.col("state") == UNCHANGED
    sides = rows.withColumns(
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
    return sides.withColumns(
        {
            "rate_before": rate(F.col("seen_before"), F.col("asked_before")),
            "rate_after": rate(hits, n),
            "low_after": wilson(hits, n, -1),
            "high_after": wilson(hits, n, 1),
        }
    )
