"""A sample of ``python -m maintenance.planted``: the oracle finds each defect, and a small record its first run."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from maintenance.planted.defects import ASYNC, CALM, DEFECTS
from maintenance.planted.replicas import Replica, write, write_all
from maintenance.planted.schedule import FIRST_NIGHT_MS, NIGHTLY, Expected, Line, Planted, Shape, expected, schedule
from rocketdiff.core.answers.policy import Policy
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.ledger.model import Ledger
from rocketdiff.record.commands import add, judge
from rocketdiff.record.conclude import concluding
from rocketdiff.record.ingest import folders_of
from rocketdiff.record.spark.ask import ask_regressions
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.record.work import Here

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

EXPECTED = list(Expected.__annotations__)


def test_the_plan_is_large_and_of_all_kinds() -> None:
    """The plan has 2,000 different runs and 80 regressions, 40 of them between two releases."""
    lines = schedule()
    runs = [replica.run for line in lines for replica, _ in line.replicas()]
    over = {order: expected(lines, order) for order in ("time", "releases")}
    assert (len(runs), len(set(runs))) == (2_000, 2_000)
    assert {order: len(rows) for order, rows in over.items()} == {"time": 40, "releases": 80}
    assert min(Counter(row.state for row in over["time"]).values()) >= 5
    assert sum(row.pair != row.before_pair for row in over["releases"]) == 40


def test_each_defect_is_found_by_its_check_alone(tmp_path: Path) -> None:
    """A replica with all defects shows each under its own check; one without defects shows none."""
    scenarios = (ASYNC, CALM)
    planted = tuple(one for one in DEFECTS if one.scenario in scenarios)
    spoilt = Replica("0000spoilt-run-000000000", "python:5.4.0", "4.9.4", FIRST_NIGHT_MS, 1, planted)
    for replica in (spoilt, replace(spoilt, run="00000sound-run-000000000", defects=())):
        path = write(replica, tmp_path, scenarios)
        judged = judge_runs([path], policy=Policy(), ledger=Ledger(), master="none").judgement
        found = {
            (one.case.rpartition("/")[0], one.check, each.signature)
            for one in judged.results
            for each in one.divergences
        }
        assert found == {one.shows for one in replica.defects}
        assert judged.exit_code == (1 if replica.defects else 0)


def test_a_small_record_shows_exactly_the_planted_regressions(spark: SparkSession, tmp_path: Path) -> None:
    """A record of five releases and five nights shows exactly the planted regressions, over time and over releases."""
    _, releases = schedule(["5.3.3"], nights=10)
    loss = Planted(DEFECTS[0], Shape.NEW, 3)
    nights = Line("night", "time", "5.3.3", tuple((NIGHTLY, night) for night in range(5)), (loss,), (CALM,))
    lines = [replace(line, is_paused=False) for line in (releases, nights)]
    for line in lines:
        write_all(tmp_path / "runs", line.replicas())
    place = RecordPlace.named(str(tmp_path / "record"))
    add(place, folders_of([tmp_path / "runs"]), Here())
    judge(place, Here(), print_line=print)
    for over, count in (("time", 1), ("releases", 3)):
        reported = ask_regressions(spark, look(place), concluding().scope, over=over, since=None, everything=False)
        assert {Expected(*(row[name] for name in EXPECTED)) for row in reported.rows} == expected(lines, over)
        assert len(reported.rows) == count
