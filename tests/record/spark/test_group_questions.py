"""What groups of consumers did, by release and week: literal rows in, literal rows out, and the tallies of a record."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rocketdiff.record.conclude import concluding
from rocketdiff.record.page import html
from rocketdiff.record.page.document import document_of
from rocketdiff.record.questions import group_line
from rocketdiff.record.spark.ask import ask_groups, ask_regressions
from rocketdiff.record.spark.ask_page import ask_page
from rocketdiff.record.spark.questions.group_figures import group_figures, groups
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from tests.analysis.consuming.group_story import Group, candidate
from tests.analysis.consuming.test_pictures_of_groups import doubles_a_tenth, loses_a_tenth
from tests.record.conftest import NewRun
from tests.record.groups import write_group_run

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

DAY_MS = 86_400_000
MONDAY_MS = 1_793_577_600_000
"""2026-11-02T00:00 UTC."""

TALLIES = "run string, case bigint, check string, arm string, key string, n bigint, total double"
CASES = "run string, case bigint, scenario string, broken_guards array<string>"
RUNS = "run string, baseline string, candidate string, server string, created_ms bigint"
PAUSE = ((5_000, 2_000),)


def figures(spark: SparkSession, *, by_week: bool) -> list[dict[str, Any]]:
    """Of three runs a week apart, the last with a broken guard: two faults each, and one group that got 3 messages again."""
    given = [
        (run, 1, check, arm, key, n, total)
        for run in ("r1", "r2", "r3")
        for arm in ("baseline", "candidate")
        for check, key, n, total in (
            ("figures", "stored", 100, 0.0),
            ("figures", "delivered", 100, 0.0),
            ("figures", "again", 3 if (run, arm) == ("r2", "candidate") else 0, 0.0),
            ("figures", "retried", 1, 0.0),
            ("figures", "unowned-ms", 1, 500.0 if run == "r1" else 1_500.0),
            ("figures", "silent-ms 0", 1, 200.0),
            ("figures", "silent-ms 1", 1, 900.0),
            ("figures", "waiting 0", 7, 0.0),
            ("figures", "waiting 1", 9, 0.0),
            ("lag", "silent-ms 0", 1, 9_000.0),
        )
    ]
    cases = [(run, 1, "groups/mixed", ["together"] if run == "r3" else []) for run in ("r1", "r2", "r3")]
    runs = [
        (f"r{number}", "java:5.3.3", "python:5.3.3", "5.3.3", MONDAY_MS + 7 * number * DAY_MS) for number in (1, 2, 3)
    ]
    own = groups(*(spark.createDataFrame(*table) for table in ((given, TALLIES), (cases, CASES), (runs, RUNS))))
    return group_figures(own, by_week=by_week).toArrow().to_pylist()


def test_figures_are_gathered_by_subject(spark: SparkSession) -> None:
    """Counts are summed, a time is the median and the longest of the groups' longest; a case whose set-up broke is left out."""
    java, python = figures(spark, by_week=False)
    assert (java["subject"], java["groups"], java["delivered"], java["again"], java["retried"]) == (
        "java:5.3.3", 2, 200, 0, 2,
    )  # fmt: skip
    assert (python["subject"], python["again"], python["again_in_groups"]) == ("python:5.3.3", 3, 1)
    assert (python["unowned_ms"], python["unowned_ms_most"], python["silent_ms"]) == (1_000.0, 1_500.0, 900.0)
    assert (python["waiting"], python["caught_up_ms"], python["week"]) == (9, None, "")
    assert "; 0 again; " in group_line(java)
    assert group_line(python) == (
        "python:5.3.3 on 5.3.3 groups/mixed: 2 groups, 200 of 200 messages delivered; 3 again in 1 group; "
        "a queue without an owner for 1.00 s (at most 1.50 s); no delivery after a fault for 0.90 s; "
        "9 waiting at a heal at most"
    )


def test_over_time_they_are_gathered_by_week(spark: SparkSession) -> None:
    """Each week has its own groups."""
    rows = [row for row in figures(spark, by_week=True) if row["subject"] == "python:5.3.3"]
    assert [(row["week"], row["groups"], row["again"]) for row in rows] == [("2026-11-09", 1, 0), ("2026-11-16", 1, 3)]


def test_a_record_answers_for_consumers(
    spark: SparkSession, recorded: Callable[..., RecordPlace], new_run: NewRun, tmp_path: Path
) -> None:
    """
    A release that gives messages again has more of them than the one before, a loss is new, and the page shows both.

    Runs about producers have no groups.
    """

    def run(name: str, release: str, change: Callable[[Group], None] = lambda _: None, *, day: int = 0) -> Path:
        story = candidate(change, pauses=PAUSE)
        return write_group_run(tmp_path / "groups", story, run=name, candidate=f"python:{release}", day=day)

    place = recorded(
        run("old", "5.1.4"), run("twice", "5.3.3", doubles_a_tenth, day=1), run("lost", "5.3.3", loses_a_tenth, day=2), new_run("sends")
    )  # fmt: skip
    snapshot, scope = look(place), concluding().scope
    rows = {row["subject"]: row for row in ask_groups(spark, snapshot, over="releases")}
    counts = {subject: (row["groups"], row["again"], row["stored"] - row["delivered"]) for subject, row in rows.items()}
    assert counts == {"java:5.3.3": (3, 0, 0), "python:5.1.4": (1, 0, 0), "python:5.3.3": (2, 20, 20)}
    assert rows["python:5.3.3"]["unowned_ms_most"] == pytest.approx(0)
    found = ask_regressions(spark, snapshot, scope, over="time", since=None, everything=False)
    new = {(row["signature"], row["run"]) for row in found.rows if row["state"] == "new"}
    assert ("delivered.never", "lost") in new
    document = document_of(
        snapshot, ask_page(spark, snapshot, scope), title="t", command="c", page=tmp_path / "record.html", folders={}
    )
    page = html.render(document)
    assert {line.subject for line in document.groups} == set(rows)
    assert 'id="groups"' in page
    assert "20 in 1" in page
    assert "delivered.never" in page


def test_a_record_without_groups_has_no_rows(
    spark: SparkSession, recorded: Callable[..., RecordPlace], new_run: NewRun
) -> None:
    """A record of sends alone has no figures of groups, and its page no chapter of them."""
    snapshot = look(recorded(new_run("sends")))
    assert ask_groups(spark, snapshot, over="time") == ()
