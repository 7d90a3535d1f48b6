"""
The input of the other questions: which questions each run was asked, and what it answered.

A question is (scenario, check). It counts as asked if its verdict is decisive, or NOT_APPLICABLE: where nothing failed, no
failure was of a wrong kind, so the first wrong one is new. Two clients and a server make a *line*, whose runs are ordered by
time or by release.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

from rocketdiff.core.answers.verdict import DECISIVE, Verdict

RUN_COLUMNS = ("run", "baseline", "candidate", "server", "created_ms")

LOOKED = DECISIVE | {Verdict.NOT_APPLICABLE}

OVER_TIME = "time"
OVER_RELEASES = "releases"


def lines(runs: DataFrame, over: str) -> DataFrame:
    """
    Return the line of each run, and its place in it.

    In: run, baseline, candidate, server, created_ms. Out: run, line, pair, server, created_ms, place (sorts within a line).
    Over time a line has two subjects. Over releases it has two clients, ordered by the candidate's release, then by time.
    """
    pair = F.concat_ws("~", "baseline", "candidate")
    if over == OVER_TIME:
        line, place = pair, F.array(F.col("created_ms"))
    else:
        line = F.concat_ws("~", _client("baseline"), _client("candidate"))
        place = F.concat(_numbers("candidate"), F.array(F.lit(-1).cast("bigint"), F.col("created_ms")))
    named = runs.select(
        "run",
        F.concat_ws(" on ", line, "server").alias("line"),
        pair.alias("pair"),
        "server",
        "created_ms",
        place.alias("place"),
    )
    return named.select("run", "line", "pair", "server", "created_ms", "place")


def asked(answers: DataFrame, verdicts: frozenset[Verdict] = LOOKED) -> DataFrame:
    """
    Return the questions to which a run has an answer.

    In: run, case, check, verdict, divergences. Out: run, scenario, check.
    """
    answered = answers.where(F.col("verdict").isin(sorted(str(verdict) for verdict in verdicts)))
    return answered.select("run", scenario_of(F.col("case")).alias("scenario"), "check").distinct()


def found(answers: DataFrame) -> DataFrame:
    """
    Return the signatures that a run showed, with the number of cases of a scenario, and the ledger entry that declares them.

    In: run, case, check, verdict, divergences. Out: run, scenario, check, signature, cases, count, declared_by (empty unless
    declared in all cases).
    """
    decisive = answers.where(F.col("verdict").isin(sorted(str(verdict) for verdict in DECISIVE)))
    each = decisive.select("run", "case", "check", F.explode("divergences").alias("one"))
    flat = each.select(
        "run",
        "case",
        scenario_of(F.col("case")).alias("scenario"),
        "check",
        "one.signature",
        "one.count",
        "one.declared_by",
    )
    gathered = flat.groupBy("run", "scenario", "check", "signature").agg(
        F.countDistinct("case").alias("cases"), F.sum("count").alias("count"), F.min("declared_by").alias("declared_by")
    )
    return gathered.select("run", "scenario", "check", "signature", "cases", "count", "declared_by")


def sightings(lines: DataFrame, asked: DataFrame, found: DataFrame) -> DataFrame:
    """
    Return, for each signature that a line ever showed, every run that was asked its question, and whether it showed it.

    In: ``lines``, ``asked`` and ``found``. Out: line, scenario, check, signature, run, pair, created_ms, place, seen (0 or
    1), cases, declared_by.
    """
    questions = asked.join(lines, on="run", how="inner")
    ever = (
        found.join(lines.select("run", "line"), on="run", how="inner")
        .select("line", "scenario", "check", "signature")
        .distinct()
    )
    every = questions.join(ever, on=["line", "scenario", "check"], how="inner")
    shown = every.join(found.drop("count"), on=["run", "scenario", "check", "signature"], how="left")
    seen = F.col("cases").isNotNull().cast("int").alias("seen")
    return shown.select(
        "line",
        "scenario",
        "check",
        "signature",
        "run",
        "pair",
        "created_ms",
        "place",
        seen,
        F.coalesce("cases", F.lit(0)).alias("cases"),
        "declared_by",
    )


def scenario_of(case: Column) -> Column:
    """Return the name of a case or pool without the subjects at its end."""
    return F.regexp_replace(case, r"/[^/]*~.*$", "")


def _client(column: str) -> Column:
    return F.split(column, ":").getItem(0)


def _numbers(column: str) -> Column:
    """``python:5.3.3-beta1`` as [5, 3, 3, 1], so that releases sort by number."""
    return F.transform(
        F.regexp_extract_all(F.regexp_extract(column, ":(.*)$", 1), F.lit(r"(\d+)")), lambda one: one.cast("bigint")
    )
