"""History of a signature over time and releases: literal runs in, literal rows out."""

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rocketdiff.record.questions import STATES, code_of, lines_of
from rocketdiff.record.spark.ask import Regressions
from rocketdiff.record.spark.questions import regressions as module
from rocketdiff.record.spark.questions.asked import asked, found, lines, sightings
from rocketdiff.record.spark.questions.regressions import regressions
from rocketdiff.record.spark.questions.rules_changed import rules_changed
from rocketdiff.record.spark.questions.signature_history import signature_history

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

Changes = dict[str, dict[str, tuple[Any, ...]]]

DAY_MS = 86_400_000
MONDAY_MS = 1_793_577_600_000
"""2026-11-02T00:00 UTC."""

RUNS = "run string, baseline string, candidate string, server string, created_ms bigint"
ANSWERS = "run string, case string, check string, verdict string, divergences array<struct<signature: string, subject: string, count: bigint, declared_by: string>>"


def seen(spark: SparkSession, runs: Sequence[tuple[str, str, str]], over: str = "time") -> Any:
    """
    Sightings of runs (run, candidate, marks), one run a day.

    A mark is the x of a signature loss.x; ``-``: none, ``?``: INVALID, ``0``: NOT_APPLICABLE.
    """
    rows = [
        (run, "java:5.3.3", candidate, "5.3.3", MONDAY_MS + day * DAY_MS)
        for day, (run, candidate, _) in enumerate(runs)
    ]
    answers = [(run, f"s/t/java:5.3.3~{candidate}", "loss", *_answer(marks)) for run, candidate, marks in runs]
    changes_of = spark.createDataFrame(answers, ANSWERS)
    return sightings(lines(spark.createDataFrame(rows, RUNS), over), asked(changes_of), found(changes_of))


def _answer(marks: str) -> tuple[str, list[tuple[str, str, int, str]]]:
    divergences = [(f"loss.{mark}", "x", 3, "known-1" if mark == "d" else "") for mark in marks if mark.isalpha()]
    other = next((word for mark, word in (("?", "INVALID"), ("0", "NOT_APPLICABLE")) if mark in marks), None)
    return other or ("DIVERGES" if divergences else "CONFORMS"), divergences


def days(marks: Sequence[str]) -> list[tuple[str, str, str]]:
    return [(f"r{number:02}", "python:5.3.3", mark) for number, mark in enumerate(marks)]


HISTORIES = {
    "new, gone or unchanged": ["gu", "gur", "gu", "gu", "un", "un?", "un", "un", "un"],
    "arises": ["0", "0", "0", "e"],
    "arises no more": ["e", "e", "0", "0", "0", "0"],
    "rate": [
        *("ah" if day in (0, 10) else "h" * (day % 2 == 0) or "-" for day in range(20)),
        *("ah" if day % 2 == 0 else "a" for day in range(20)),
    ],
}
"""The marks of each day; each is the line of a candidate of its own, and all are asked about at once."""


@pytest.fixture(scope="module")
def changes(spark: SparkSession) -> Changes:
    """By history and signature: state, first run after the change, run before it, times seen and asked before and after."""
    runs = [
        (f"{name}: {run}", f"python:{number}", mark)
        for number, (name, marks) in enumerate(HISTORIES.items())
        for run, _, mark in days(marks)
    ]
    found_: Changes = {name: {} for name in HISTORIES}
    for row in regressions(seen(spark, runs)).toArrow().to_pylist():
        name, _, run = row["run"].partition(": ")
        before = None if row["before_run"] is None else row["before_run"].removeprefix(f"{name}: ")
        counts = tuple(row[f"{what}_{when}"] for when in ("before", "after") for what in ("seen", "asked"))
        found_[name][row["signature"].removeprefix("loss.")] = (row["state"], run, before, *counts)
    return found_


def test_a_signature_is_new_gone_or_unchanged_over_time(changes: Changes) -> None:
    """
    A signature is new, gone or unchanged over eight runs; a run without a decisive answer does not count.

    g is gone: after four of four, chance excludes four misses. r came once, with the second run.
    """
    assert changes["new, gone or unchanged"] == {
        "n": ("new", "r04", "r03", 0, 4, 4, 4),
        "g": ("gone", "r04", "r03", 4, 4, 0, 4),
        "u": ("unchanged", "r00", None, 0, 0, 8, 8),
        "r": ("new", "r01", "r00", 0, 1, 1, 7),
    }


def test_the_first_time_that_a_question_arises_is_new(changes: Changes) -> None:
    """A run in which the question did not arise is a run without the signature: new after three of them, gone after four."""
    assert changes["arises"] == {"e": ("new", "r03", "r02", 0, 3, 1, 1)}
    assert changes["arises no more"] == {"e": ("gone", "r02", "r01", 2, 2, 0, 4)}


def test_a_changing_rate_has_its_place_of_change(changes: Changes) -> None:
    """
    A rise from 2 in 20 to 20 in 20 runs is a change of rate.

    G² = 2 × (ln L with two rates − ln L with one) = 2 × (−6.50 + 27.53) = 42. A rate of one in two throughout is unchanged.
    """
    assert changes["rate"]["a"] == ("changed-in-rate", "r20", "r19", 2, 20, 20, 20)
    assert changes["rate"]["h"][0] == "unchanged"


def test_over_releases_the_edge_is_between_releases(spark: SparkSession) -> None:
    """Runs are compared in the order of releases, not of time; 4.10 comes after 4.9 and before 5.1."""
    runs = [
        (f"n{night}-{release}", f"python:{release}", "x" if release != "4.9" else "-")
        for night in range(2)
        for release in ("5.1", "4.9", "4.10")
    ]
    (row,) = regressions(seen(spark, runs, "releases")).toArrow().to_pylist()
    assert (row["state"], row["run"], row["before_run"]) == ("new", "n0-4.10", "n1-4.9")
    assert (row["before_pair"], row["pair"]) == ("java:5.3.3~python:4.9", "java:5.3.3~python:4.10")
    assert (row["seen_before"], row["asked_before"], row["seen_after"], row["asked_after"]) == (0, 2, 4, 4)
    assert row["line"] == "java~python on 5.3.3"


def test_planted_regressions_are_found_and_none_else(spark: SparkSession) -> None:
    """Over 52 candidates only the planted signatures are new, each from its own run on."""
    letters = [chr(code) for code in (*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1))]
    runs = [
        (f"{letter}{night:02}", f"python:{number}", ("p" if night >= 1 + number % 9 else "") + "u" or "-")
        for number, letter in enumerate(letters)
        for night in range(10)
    ]
    rows = regressions(seen(spark, runs)).toArrow().to_pylist()
    new = {row["run"] for row in rows if row["state"] == "new"}
    assert new == {f"{letter}{1 + number % 9:02}" for number, letter in enumerate(letters)}
    assert {row["signature"] for row in rows if row["state"] == "new"} == {"loss.p"}
    assert len(rows) == 2 * len(letters)


def test_each_week_has_the_interval_of_its_rate(spark: SparkSession) -> None:
    """The Wilson interval of 2 of 7 runs in a week is 0.082 to 0.641."""
    marks = ["-", "a", "-", "a", "-", "-", "-", "a"]
    rows = signature_history(seen(spark, days(marks))).toArrow().to_pylist()
    assert [(row["week"], row["asked"], row["runs"], row["first_run"], row["last_run"]) for row in rows] == [
        ("2026-11-02", 7, 2, "r01", "r03"),
        ("2026-11-09", 1, 1, "r07", "r07"),
    ]
    assert (round(rows[0]["low"], 3), round(rows[0]["high"], 3)) == (0.082, 0.641)


def test_rules_are_compared_on_cases_that_both_judged(spark: SparkSession) -> None:
    """Old and new rules are compared only for cases that both have judged."""
    columns = "run string, case bigint, owner string, signature string, count bigint"
    before = spark.createDataFrame(
        [("r", 1, "loss", "a", 2), ("r", 2, "loss", "b", 1), ("r", 3, "loss", "c", 9)], columns
    )
    after = spark.createDataFrame([("r", 1, "loss", "a", 5), ("r", 2, "loss", "n", 4)], columns)
    both = spark.createDataFrame([("r", 1, "loss"), ("r", 2, "loss")], "run string, case bigint, owner string")
    rows = rules_changed(before, after, both).toArrow().to_pylist()
    assert [
        (row["signature"], row["state"], row["count_before"], row["count_after"], row["example_case"]) for row in rows
    ] == [
        ("a", "more", 2, 5, 1),
        ("b", "gone", 1, 0, 2),
        ("n", "new", 0, 4, 2),
    ]


@pytest.mark.parametrize(
    ("row", "asked_since", "code"),
    [(("new", ""), 9, 1), (("new", "known-1"), 9, 0), (("gone", ""), 9, 0), (None, 9, 0), (None, 0, 5)],
)
def test_a_new_undeclared_signature_exits_with_1(row: tuple[str, str] | None, asked_since: int, code: int) -> None:
    """The exit code is 1 for a new undeclared signature, 0 for none, and 5 if nothing was asked."""
    rows = () if row is None else ({"state": row[0], "declared_by": row[1]},)
    assert code_of(Regressions(2, 2, asked_since, rows), frozenset({"new"})) == code


def test_the_words_are_those_of_the_question() -> None:
    """The command line accepts every state but ``unchanged``; a line for people names the runs and pairs around a change."""
    assert (*STATES, module.UNCHANGED) == module.STATES
    row = dict.fromkeys(module.COLUMNS) | {
        "state": "new",
        "run": "r2",
        "before_run": "r1",
        "pair": "a~c",
        "before_pair": "a~b",
    }
    row |= {"seen_after": 2, "asked_after": 2, "seen_before": 0, "asked_before": 5, "declared_by": ""}
    _, line, last = lines_of(Regressions(7, 7, 7, (row,)))
    assert line == "    since run r2 (before it r1), between a~b and a~c: 2 of 2 runs, before 0 of 5"
    assert last == "RECORD new=1 gone=0 changed-in-rate=0 undeclared=1 asked=7 runs=7"
