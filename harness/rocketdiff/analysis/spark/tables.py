"""The tables on Spark: facts → differences → clusters; facts → tallies; facts → loose. Only facts are shuffled."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark programmer reads at once

from rocketdiff.analysis.facts import DifferenceFact, Tally, columns_of

_CLUSTER = ("run", "number", "check", "signature", "arm")
_EASE = ("weight", "at_ns", "thread", "send", "attempt", "observed")
_TALLY = ("run", "number", "check", "arm", "phase", "key")


def differences(facts: DataFrame) -> DataFrame:
    """
    Return one row per difference.

    In: run, number, difference. Out: run, number and the columns of Difference.
    """
    found = facts.select("run", "number", "difference").where(F.col("difference").isNotNull())
    return found.select("run", "number", *(F.col(f"difference.{name}") for name in columns_of(DifferenceFact)))


def clusters(differences: DataFrame) -> DataFrame:
    """
    Group differences of one case, check and arm by signature, each group with its easiest example.

    In: run, number and the columns of Difference. Out: the same, and ``count``. The example has the fewest attempts, then the
    earliest time (``summaries.ease``); a null attempt sorts before 0 in both.
    """
    example = F.min(F.struct(*_EASE, *_others(DifferenceFact, _EASE, _CLUSTER))).alias("example")
    gathered = differences.select("run", "number", *columns_of(DifferenceFact)).groupBy(*_CLUSTER)
    counted = gathered.agg(F.count(F.lit(1)).alias("count"), example)
    return counted.select("run", "number", "count", *(_of_example(name) for name in columns_of(DifferenceFact)))


def tallies(facts: DataFrame) -> DataFrame:
    """
    Sum counts and totals by case, check, arm, phase and key.

    In: run, number, tally. Out: run, number and the columns of Tally.
    """
    counted = facts.select("run", "number", "tally").where(F.col("tally").isNotNull())
    rows = counted.select("run", "number", *(F.col(f"tally.{name}") for name in columns_of(Tally)))
    added = rows.groupBy(*_TALLY).agg(F.sum("n").alias("n"), F.sum("total").alias("total"))
    return added.select("run", "number", *columns_of(Tally))


def loose(facts: DataFrame) -> DataFrame:
    """
    Return the facts that are not summed: episode values, lane bars, faults, troubles.

    In: the columns of facts. Out: run, number, episode, lane, fault, trouble.
    """
    kept = F.coalesce("episode.arm", "lane.arm", "fault.node", "trouble.expected").isNotNull()
    return facts.select("run", "number", "episode", "lane", "fault", "trouble").where(kept)


def _others(kind: type[DifferenceFact], *named: tuple[str, ...]) -> tuple[str, ...]:
    known = {name for names in named for name in names}
    return tuple(name for name in columns_of(kind) if name not in known)


def _of_example(name: str) -> Column:
    return F.col(name) if name in _CLUSTER else F.col(f"example.{name}").alias(name)
