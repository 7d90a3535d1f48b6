"""How often did groups of each release get a message again, how long had a queue no owner, how much waited after a fault?"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

from rocketdiff.analysis.consuming.pictures.figures import (
    AGAIN,
    CAUGHT_UP_MS,
    DELIVERED,
    FIGURES,
    RETRIED,
    SILENT_MS,
    STORED,
    UNOWNED_MS,
    WAITING,
)

COUNTS = {"stored": STORED, "delivered": DELIVERED, "again": AGAIN, "retried": RETRIED}
"""Sums over groups, by column."""

SPANS = {"unowned_ms": UNOWNED_MS, "silent_ms": SILENT_MS, "caught_up_ms": CAUGHT_UP_MS}
"""The longest time of each group, by column; of these the median and the longest."""

KEY = ("subject", "server", "scenario", "week")

COLUMNS = (
    *KEY,
    "groups",
    *COUNTS,
    "again_in_groups",
    "waiting",
    *(f"{name}{kind}" for name in SPANS for kind in ("", "_most")),
)


def groups(tallies: DataFrame, cases: DataFrame, runs: DataFrame) -> DataFrame:
    """
    Return the figures of each group of a case whose guards held.

    In: run, case, check, arm, key, n, total; run, case, scenario, broken_guards; run, baseline, candidate, server, created_ms.
    Out: subject, server, scenario, created_ms, the columns of COUNTS and SPANS (ms, null if unknown), waiting.
    """
    sound = cases.where(F.size("broken_guards") == 0).select("run", "case", "scenario")
    own = tallies.where(F.col("check") == FIGURES).withColumn("figure", F.regexp_replace("key", r" \d+$", ""))
    each = own.groupBy("run", "case", "arm").agg(
        *(F.sum(_of(key, "n")).alias(name) for name, key in COUNTS.items()),
        *(F.max(_of(key, "total")).alias(name) for name, key in SPANS.items()),
        F.max(_of(WAITING, "n")).alias("waiting"),
    )
    subject = F.when(F.col("arm") == "baseline", F.col("baseline")).otherwise(F.col("candidate"))
    named = each.join(sound, on=["run", "case"], how="inner").join(runs, on="run", how="inner")
    return named.select(subject.alias("subject"), "server", "scenario", "created_ms", *COUNTS, *SPANS, "waiting")


def group_figures(groups: DataFrame, *, by_week: bool) -> DataFrame:
    """
    Return one row per subject, server and scenario, and per week (its Monday) if asked for; else ``week`` is empty.

    In: ``groups``. Out: COLUMNS; groups: how many; again_in_groups: those that got a message again; waiting: most messages at a
    heal; a time is the median of the groups' longest, and …_most the longest of all.
    """
    monday = F.date_format(F.date_trunc("week", F.timestamp_millis("created_ms")), "yyyy-MM-dd")
    dated = groups.withColumn("week", monday if by_week else F.lit(""))
    figures = dated.groupBy(*KEY).agg(
        F.count(F.lit(1)).alias("groups"),
        *(F.sum(name).alias(name) for name in COUNTS),
        F.sum((F.col("again") > 0).cast("int")).alias("again_in_groups"),
        F.max("waiting").alias("waiting"),
        *(F.median(name).alias(name) for name in SPANS),
        *(F.max(name).alias(f"{name}_most") for name in SPANS),
    )
    return figures.select(*COLUMNS).orderBy("server", "scenario", _client(), _release(), "week")


def _of(figure: str, column: str) -> Column:
    return F.when(F.col("figure") == figure, F.col(column))


def _client() -> Column:
    return F.split("subject", ":").getItem(0)


def _release() -> Column:
    """The numbers of a release, so that 4.10.0 follows 4.9.8."""
    numbers = F.regexp_extract_all(F.regexp_extract("subject", ":(.*)$", 1), F.lit(r"(\d+)"))
    return F.transform(numbers, lambda one: one.cast("bigint"))
