"""Which signatures do the new rules of a check add, remove or count differently, on the same runs?"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

COLUMNS = ("check", "signature", "state", "cases", "count_before", "count_after", "example_run", "example_case")


def rules_changed(before: DataFrame, after: DataFrame, judged_by_both: DataFrame) -> DataFrame:
    """
    Return one row per signature and state: ``new``, ``gone``, ``more``, ``fewer`` or ``same``.

    In: run, case, owner, signature, count of both; run, case, owner of the cases that both have judged. Out: COLUMNS; cases:
    number of cases with that state.
    """
    sides = [
        side.join(judged_by_both, on=["run", "case", "owner"], how="left_semi")
        .groupBy("run", "case", "owner", "signature")
        .agg(F.sum("count").alias(name))
        for side, name in ((before, "b"), (after, "a"))
    ]
    both = sides[0].join(sides[1], on=["run", "case", "owner", "signature"], how="full_outer")
    counted = both.withColumns({"b": F.coalesce("b", F.lit(0)), "a": F.coalesce("a", F.lit(0))})
    state = (
        F.when(F.col("b") == 0, "new")
        .when(F.col("a") == 0, "gone")
        .when(F.col("a") > F.col("b"), "more")
        .when(F.col("a") < F.col("b"), "fewer")
        .otherwise("same")
    )
    by_state = counted.withColumn("state", state).groupBy(F.col("owner").alias("check"), "signature", "state")
    example = F.min(F.struct("run", "case"))
    rows = by_state.agg(
        F.count(F.lit(1)).alias("cases"),
        F.sum("b").alias("count_before"),
        F.sum("a").alias("count_after"),
        example["run"].alias("example_run"),
        example["case"].alias("example_case"),
    )
    return rows.select(*COLUMNS).orderBy("check", "signature", "state")
