"""How often was a signature seen, week by week?"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

from rocketdiff.record.spark.questions.rates import rate, wilson

COLUMNS = (
    *("line", "scenario", "check", "signature", "week", "asked", "runs", "cases", "rate", "low", "high"),
    *("first_run", "last_run", "declared_by"),
)


def signature_history(sightings: DataFrame) -> DataFrame:
    """
    Return one row per line, scenario, check, signature and week (its Monday) in which its question was asked.

    In: ``asked.sightings``. Out: COLUMNS; asked: runs that were asked; runs, cases: number that showed it; rate of runs with
    its 95 % interval; first_run, last_run: first and last run of the week that showed it.
    """
    monday = F.date_format(F.date_trunc("week", F.timestamp_millis("created_ms")), "yyyy-MM-dd")
    weekly = sightings.withColumn("week", monday).groupBy("line", "scenario", "check", "signature", "week")
    shown = F.when(F.col("seen") == 1, F.struct("place", "run"))
    counted = weekly.agg(
        F.count(F.lit(1)).alias("asked"),
        F.sum("seen").alias("runs"),
        F.sum("cases").alias("cases"),
        F.min(shown)["run"].alias("first_run"),
        F.max(shown)["run"].alias("last_run"),
        F.max("declared_by").alias("declared_by"),
    )
    hits, n = F.col("runs"), F.col("asked")
    rated = counted.withColumns({"rate": rate(hits, n), "low": wilson(hits, n, -1), "high": wilson(hits, n, 1)})
    return rated.select(*COLUMNS).orderBy("line", "scenario", "check", "signature", "week")
