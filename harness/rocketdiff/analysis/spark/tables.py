"""The tables on Spark: facts → their sums, in one query with one shuffle. Only facts are shuffled."""

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark programmer reads at once

from rocketdiff.analysis.facts import KINDS, DifferenceFact, Tally, columns_of

_KEY = ("run", "number", "check", "signature", "arm", "phase", "key", "single")
_EASE = ("weight", "at_ns", "thread", "send", "attempt", "observed")
_SINGLE = tuple(name for name, kind in KINDS.items() if kind not in {DifferenceFact, Tally})
"""The kinds that are not summed."""


def summed(facts: DataFrame) -> DataFrame:
    """
    Sum the facts of each case.

    In: the columns of facts. Out: the same, and ``count``.

    One row for all differences of one check, arm and signature: the easiest example, and their ``count``. The example has the
    fewest attempts, then the earliest time (``summaries.ease``); a null attempt sorts before 0 in both. One row for all tallies
    of one check, arm, phase and key: the sums. Every other fact keeps its row.
    """
    # One query for all kinds: planning and running three took the JVM 1 s longer, and they need the facts cached.
    added = _keyed(facts).groupBy(*_KEY).agg(F.count(F.lit(1)).alias("count"), *_sums())
    return added.select("run", "number", "count", _example(), _tally(), *_SINGLE)


def _keyed(facts: DataFrame) -> DataFrame:
    """In: the columns of facts. Out: the same, and the rest of ``_KEY``; ``single`` is unique to a row that is not summed."""
    return facts.select(
        *("run", "number", *KINDS),
        F.coalesce("difference.check", "tally.check").alias("check"),
        F.col("difference.signature").alias("signature"),
        F.coalesce("difference.arm", "tally.arm").alias("arm"),
        F.col("tally.phase").alias("phase"),
        F.col("tally.key").alias("key"),
        F.when(F.coalesce("difference.arm", "tally.arm").isNull(), F.monotonically_increasing_id()).alias("single"),
    )


def _sums() -> Iterable[Column]:
    ordered = (*_EASE, *(name for name in columns_of(DifferenceFact) if name not in _EASE))
    difference = F.struct(*(F.col(f"difference.{name}") for name in ordered))
    yield F.min(F.when(F.col("difference").isNotNull(), difference)).alias("example")
    yield F.sum("tally.n").alias("n")
    yield F.sum("tally.total").alias("total")
    for name in _SINGLE:
        yield F.first(name).alias(name)


def _example() -> Column:
    members = F.struct(*(F.col(f"example.{name}") for name in columns_of(DifferenceFact)))
    return F.when(F.col("example").isNotNull(), members).alias("difference")


def _tally() -> Column:
    return F.when(F.col("n").isNotNull(), F.struct(*columns_of(Tally))).alias("tally")
