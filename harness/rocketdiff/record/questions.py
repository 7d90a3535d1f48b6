"""Questions to a record from the command line, with answers as lines and exit codes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.spark_master import WITHOUT_SPARK, require_master
from rocketdiff.core.text.machine_line import machine_line
from rocketdiff.record.conclude import concluding
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import Snapshot, look
from rocketdiff.report.words.signs import plural

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rocketdiff.record.spark.ask import Regressions
    from rocketdiff.record.spark.ask_page import PageRows

Master = tuple[str | None, Sequence[str]]
"""A Spark master as in ``--master``, and the settings of ``--conf``."""

ORDERS = ("time", "releases")
STATES = ("new", "gone", "changed-in-rate")


def states_of(words: Sequence[str]) -> frozenset[str]:
    """Return the states of ``--fail-on``; UsageError for an unknown word."""
    for word in words:
        if word not in STATES:
            raise UsageError(f"--fail-on {', '.join(STATES)}", seen=word)
    return frozenset(words)


def require_order(over: str) -> None:
    """Raise UsageError for an unknown order of runs."""
    if over not in ORDERS:
        raise UsageError(f"--over {' or '.join(ORDERS)}", seen=over)


def regressions(place: RecordPlace, master: Master, *, over: str, since: str | None, everything: bool) -> "Regressions":
    """Ask Spark the question of ``spark/questions/regressions.py``."""
    snapshot = look(place)
    with _spark(master, snapshot.runs) as spark:
        from rocketdiff.record.spark.ask import ask_regressions  # noqa: PLC0415 - Spark, as in _spark

        return ask_regressions(spark, snapshot, concluding().scope, over=over, since=since, everything=everything)


def history(place: RecordPlace, master: Master, *, over: str) -> tuple[dict[str, Any], ...]:
    """Ask Spark the question of ``spark/questions/signature_history.py``."""
    snapshot = look(place)
    with _spark(master, snapshot.runs) as spark:
        from rocketdiff.record.spark.ask import ask_history  # noqa: PLC0415 - Spark, as in _spark

        return ask_history(spark, snapshot, concluding().scope, over=over)


def groups(place: RecordPlace, master: Master, *, over: str) -> tuple[dict[str, Any], ...]:
    """Ask Spark the question of ``spark/questions/group_figures.py``."""
    snapshot = look(place)
    with _spark(master, snapshot.runs) as spark:
        from rocketdiff.record.spark.ask import ask_groups  # noqa: PLC0415 - Spark, as in _spark

        return ask_groups(spark, snapshot, over=over)


_SPANS_IN_WORDS = {
    "unowned_ms": "a queue without an owner for",
    "silent_ms": "no delivery after a fault for",
    "caught_up_ms": "caught up after",
}


def group_line(row: dict[str, Any]) -> str:
    """Return a row of ``groups`` as a line for people; a figure that no group has is left out."""
    parts = [
        f"{plural(row['groups'], 'group')}, {row['delivered']:,} of {plural(row['stored'], 'message')} delivered",
        f"{row['again']:,} again" + (f" in {plural(row['again_in_groups'], 'group')}" if row["again"] else ""),
        *(f"{words} {_span(row, name)}" for name, words in _SPANS_IN_WORDS.items() if row[name] is not None),
    ]
    if row["waiting"] is not None:
        parts.append(f"{row['waiting']:,} waiting at a heal at most")
    week = f"{row['week']} " if row["week"] else ""
    return f"{week}{row['subject']} on {row['server']} {row['scenario']}: {'; '.join(parts)}"


def _span(row: dict[str, Any], name: str) -> str:
    median, most = (f"{row[column] / 1e3:.2f} s" for column in (name, f"{name}_most"))
    return median if median == most else f"{median} (at most {most})"


def rules_changed(place: RecordPlace, master: Master, checks: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Ask Spark the question of ``spark/questions/rules_changed.py``."""
    snapshot = look(place)
    with _spark(master, snapshot.runs) as spark:
        from rocketdiff.record.spark.ask import ask_rules_changed  # noqa: PLC0415 - Spark, as in _spark

        return ask_rules_changed(spark, snapshot, checks)


def page_rows(place: RecordPlace, master: Master) -> "tuple[Snapshot, PageRows]":
    """Ask Spark the questions of a page (``spark/ask_page.py``); return the rows, and the snapshot that was asked."""
    snapshot = look(place)
    with _spark(master, snapshot.runs) as spark:
        from rocketdiff.record.spark.ask_page import ask_page  # noqa: PLC0415 - Spark, as in _spark

        return snapshot, ask_page(spark, snapshot, concluding().scope)


def code_of(regressions: "Regressions", wanted: frozenset[str]) -> ExitCode:
    """Return 1 if a wanted state occurs that no ledger declares, 5 if no run was asked since then, else 0."""
    if any(row["state"] in wanted and not row["declared_by"] for row in regressions.rows):
        return ExitCode.DIVERGES
    return ExitCode.CONFORMS if regressions.asked else ExitCode.NOTHING_DECISIVE


def lines_of(regressions: "Regressions") -> Iterator[str]:
    """Yield the answer as lines for people; the last line is for programs."""
    for row in regressions.rows:
        yield f"{row['state']}: {row['line']}: {row['scenario']} {row['check']} {row['signature']}"
        yield f"    {_since(row)}{', declared by ' + row['declared_by'] if row['declared_by'] else ''}"
    if regressions.answered < regressions.runs:
        yield f"{regressions.runs - regressions.answered} runs have no answers by the present rules: rocketdiff record judge"
    counted = Counter(row["state"] for row in regressions.rows)
    states = {state: counted[state] for state in STATES}
    undeclared = sum(row["state"] == "new" and not row["declared_by"] for row in regressions.rows)
    yield machine_line("RECORD", **states, undeclared=undeclared, asked=regressions.asked, runs=regressions.answered)


def _since(row: dict[str, Any]) -> str:
    after = f"{row['seen_after']} of {row['asked_after']} runs"
    if row["before_run"] is None:
        return after
    edge = "" if row["pair"] == row["before_pair"] else f", between {row['before_pair']} and {row['pair']}"
    return f"since run {row['run']} (before it {row['before_run']}){edge}: {after}, before {row['seen_before']} of {row['asked_before']}"


@contextmanager
def _spark(master: Master, runs: int) -> "Iterator[SparkSession]":
    require_master(master[0])
    if master[0] == WITHOUT_SPARK:
        raise UsageError(
            "a Spark master", seen="none", hint="questions to a record are Spark's: leave --master out for local[*]"
        )
    from rocketdiff.record.spark.work import on_spark  # noqa: PLC0415 - importing Spark takes half a second

    with on_spark(master[0], master[1], runs=runs) as work:
        yield work.spark
