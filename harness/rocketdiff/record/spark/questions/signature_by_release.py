"""How often does each release of a client show a signature?"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

from rocketdiff.record.spark.questions.rates import rate, wilson

COLUMNS = ("line", "scenario", "check", "signature", "pair", "asked", "runs", "rate", "low", "high", "declared_by")


def signature_by_release(sightings: DataFrame) -> DataFrame:
    """
    Return one row per line, scenario, check, signature and asked pair of subjects, in the order of the releases.

    In: ``asked.sightings`` over releases. Out: COLUMNS; asked: runs that were asked; runs: runs that showed it; rate with its
    95 % interval.
    """
    gathered = sightings.groupBy("line", "scenario", "check", "signature", "pair").agg(
        F.count(F.lit(1)).alias("asked"),
        F.sum("seen").alias("runs"),
        F.max("declared_by").alias("declared_by"),
        F.min("place").alias("place"),
    )
    hits, n = F.col("runs"), F.col("asked")
    rated = gathered.withColumns({"rate": rate(hits, n), "low": wilson(hits, n, -1), "high": wilson(hits, n, 1)})
    return rated.orderBy("line", "scenario", "check", "signature", "place", "pair").select(*COLUMNS)
