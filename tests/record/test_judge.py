"""Judging a record gives the answers of `analyze`, each computed once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.judging.ledgers import LedgerChoice, load
from rocketdiff.ledger.model import Ledger
from rocketdiff.record import commands
from rocketdiff.record.commands import add, judge, status
from rocketdiff.record.conclude import Concluding
from rocketdiff.record.rules import rules_now
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.storage.store import look
from rocketdiff.record.storage.tables import Kept
from rocketdiff.record.work import Here
from tests.record.conftest import NewRun, spoil
from tests.record.rows import forget_digests


def answers(place: RecordPlace) -> list[tuple[object, ...]]:
    rows = (
        look(place)
        .rows(Kept.ANSWERS, ["run", "case", "check", "verdict", "severity", "reason", "divergences"])
        .to_pylist()
    )
    return sorted(
        (
            row["run"],
            row["case"],
            row["check"],
            row["verdict"],
            row["severity"],
            row["reason"],
            rows_of(row["divergences"]),
        )
        for row in rows
    )


def rows_of(divergences: list[dict[str, object]]) -> tuple[tuple[object, ...], ...]:
    return tuple((one["signature"], one["subject"], one["count"], one["declared_by"]) for one in divergences)


def answers_of_analyze(run: Path) -> list[tuple[object, ...]]:
    judged = judge_runs([run], policy=Policy(), ledger=load(LedgerChoice()), master=WITHOUT_SPARK)
    return sorted(
        (
            run.name,
            one.case,
            one.check,
            str(one.verdict),
            str(one.severity),
            one.reason,
            tuple((found.signature, found.subject, found.count, found.declared_by) for found in one.divergences),
        )
        for one in judged.judgement.results
    )


def test_answers_are_those_of_analyze(recorded: Callable[..., RecordPlace], new_run: NewRun) -> None:
    """A record's answers equal those of `analyze`, for a conforming and a lossy run."""
    runs = [new_run("good"), new_run("lossy", change=spoil)]
    place = recorded(*runs)
    assert answers(place) == sorted(one for run in runs for one in answers_of_analyze(run))
    assert dict(status(place).verdicts)["diverges"] == 1


def test_a_judged_run_is_not_judged_again(recorded: Callable[..., RecordPlace], new_run: NewRun) -> None:
    """Judged runs are not judged again."""
    place = recorded(new_run("run-1"))
    assert judge(place, Here(), print_line=print) == (0, 0)
    add(place, [new_run("run-2")], Here())
    assert judge(place, Here(), print_line=print) == (1, 1)
    assert (status(place).judged, status(place).concluded) == (2, 2)


def test_a_changed_check_alone_is_judged_again_and_the_old_judgement_stays(
    recorded: Callable[..., RecordPlace], new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If only `loss` changed, only its facts are computed again, and the old ones stay."""
    place = recorded(new_run("lossy", change=spoil))
    before, rules = answers(place), rules_now()
    monkeypatch.setattr(commands, "rules_now", lambda: rules | {"loss": "changed"})
    output: list[str] = []
    assert judge(place, Here(), print_line=output.append) == (1, 0)
    assert output == ["judged loss of 1 runs"]
    owners = look(place).rows(Kept.TALLIES, ["owner", "batch"]).to_pylist()
    batches = {owner: {row["batch"] for row in owners if row["owner"] == owner} for owner in ("loss", "duplication")}
    assert {owner: len(some) for owner, some in batches.items()} == {"loss": 2, "duplication": 1}
    assert answers(place) == before


def test_an_unreadable_case_is_reported_and_stops_no_other(place: RecordPlace, new_run: NewRun) -> None:
    """A run of an older record that cannot be read back has an error as its verdict, and other runs are judged."""
    add(place, [new_run("damaged")], Here())
    add(place, [new_run("good")], Here())
    forget_digests(place)
    (damaged,) = (path for path in look(place).paths(Kept.SENDS) if b"damaged" in Path(path).read_bytes())
    Path(damaged).write_bytes(Path(damaged).read_bytes()[:-40])
    judge(place, Here(), print_line=print)
    rows = look(place).rows(Kept.VERDICTS, ["run", "verdict", "trouble"]).to_pylist()
    reported = {row["run"]: (row["verdict"], row["trouble"]) for row in rows}
    assert reported["damaged"][0] == "error"
    assert "a readable file sends/" in reported["damaged"][1]
    assert reported["good"][0] != "error"


def test_many_runs_are_judged_in_several_batches(place: RecordPlace, new_run: NewRun) -> None:
    """Runs are judged in batches, so that a killed command loses little."""
    add(place, [new_run(f"run-{number}") for number in range(3)], Here())
    output: list[str] = []
    assert judge(place, Here(), print_line=output.append, runs_a_batch=2, concluded_a_batch=2) == (3, 3)
    assert output == [
        "judged all checks of 2 runs",
        "judged all checks of 1 runs",
        "concluded 2 runs",
        "concluded 1 runs",
    ]


def test_runs_without_answers_are_work_too(
    recorded: Callable[..., RecordPlace], new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under another ledger a judged run must be concluded again, and counts as work."""
    place = recorded(new_run("run-1"))
    assert commands.runs_to_judge(place) == 0
    monkeypatch.setattr(commands, "concluding", lambda: Concluding(Policy(), Ledger()))
    assert commands.runs_to_judge(place) == 1
