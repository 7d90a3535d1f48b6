"""
Asks Spark all questions of a record's page in one session: changes in both orders of runs, and rates by week and by release.
"""

from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name in Spark code

from rocketdiff.record.freshness import concluded
from rocketdiff.record.spark.ask import Row, ask_groups
from rocketdiff.record.spark.frames import table
from rocketdiff.record.spark.questions.asked import (
    OVER_RELEASES,
    OVER_TIME,
    RUN_COLUMNS,
    asked,
    found,
    lines,
    sightings,
)
from rocketdiff.record.spark.questions.regressions import KEY, UNCHANGED, regressions
from rocketdiff.record.spark.questions.signature_by_release import signature_by_release
from rocketdiff.record.spark.questions.signature_history import signature_history
from rocketdiff.record.storage.store import Snapshot
from rocketdiff.record.storage.tables import Kept

MOST_ROWS = 2_000
"""Limit per answer: more than a page of 5 MB has room for. Changes are cut to the newest, rates in their sort order."""


@dataclass(frozen=True, slots=True)
class PageRows:
    """
    Answers as rows.

    changes: rows of ``regressions`` except unchanged ones, newest first, with ``over``; by_release, by_week: rows of
    ``signature_by_release`` and ``signature_history``; groups: of ``group_figures`` by release.
    """

    changes: tuple[Row, ...]
    by_release: tuple[Row, ...]
    by_week: tuple[Row, ...]
    groups: tuple[Row, ...] = ()


def ask_page(spark: SparkSession, snapshot: Snapshot, scope: str) -> PageRows:
    """Ask all questions of the page."""
    runs = table(spark, snapshot, Kept.RUNS, snapshot.of("add")).select(*RUN_COLUMNS)
    answers = table(spark, snapshot, Kept.ANSWERS, concluded(snapshot, scope))
    answers = answers.select("run", "case", "check", "verdict", "divergences")
    questions, signatures = asked(answers).cache(), found(answers).cache()
    seen = {over: sightings(lines(runs, over), questions, signatures) for over in (OVER_RELEASES, OVER_TIME)}
    changes: list[Row] = []
    for over, some in seen.items():
        changed = regressions(some).where(F.col("state") != UNCHANGED)
        rows = changed.orderBy(F.col("created_ms").desc(), *KEY).limit(MOST_ROWS).toArrow().to_pylist()
        changes += [row | {"over": over} for row in rows]
    by_release = signature_by_release(seen[OVER_RELEASES]).limit(MOST_ROWS).toArrow().to_pylist()
    by_week = signature_history(seen[OVER_TIME]).limit(MOST_ROWS).toArrow().to_pylist()
    for held in (questions, signatures):
        held.unpersist()
    groups = ask_groups(spark, snapshot, over=OVER_RELEASES)[:MOST_ROWS]
    return PageRows(tuple(changes), tuple(by_release), tuple(by_week), groups)
