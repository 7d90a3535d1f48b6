"""Each pair of release and script runs once; its answer is cached."""

import dataclasses
from pathlib import Path

import pytest

from rocketdiff.simulation.golden.answers import digest_of
from rocketdiff.simulation.script import Depth, NamedScript
from tests.lab.history.toys import SCRIPT, ToyRunner, by_table, select_line, toy_executions

ONE = NamedScript("one", SCRIPT)


def test_equal_answers_have_equal_digests() -> None:
    """Releases with equal lines have equal digests."""
    runner = by_table({"one": {"4.8.0": 1}})
    digests = toy_executions(runner).digests(("4.7.0", "4.7.1", "4.8.0"), (ONE,))
    assert digests["4.7.0", "one"] == digests["4.7.1", "one"] == digest_of([select_line("one", 0)])
    assert digests["4.8.0", "one"] == digest_of([select_line("one", 1)])


def test_a_second_time_nothing_is_executed(tmp_path: Path) -> None:
    """A second execution with the same store runs nothing."""
    store = tmp_path / "deep" / "digests.sqlite"
    first, second = by_table({}), by_table({})
    before = toy_executions(first, store).digests(("4.7.1", "4.8.0"), (ONE,))
    assert toy_executions(second, store).digests(("4.7.1", "4.8.0"), (ONE,)) == before
    assert len(first.jobs) == 2
    assert second.jobs == []


def test_another_fingerprint_is_executed_again(tmp_path: Path) -> None:
    """Another fingerprint, of artifacts or host, runs again."""
    store, runner = tmp_path / "digests.sqlite", by_table({})
    executions = toy_executions(runner, store)
    executions.digests(("4.7.1",), (ONE,))
    dataclasses.replace(executions, fingerprint=lambda _: "another host").digests(("4.7.1",), (ONE,))
    assert len(runner.jobs) == 2


def test_a_damaged_store_costs_time_only(tmp_path: Path) -> None:
    """With a damaged store everything runs again."""
    store, runner = tmp_path / "digests.sqlite", by_table({})
    store.write_text("this is no database, and never was one")
    assert toy_executions(runner, store).digests(("4.7.1",), (ONE,))["4.7.1", "one"]
    assert runner.jobs == [("4.7.1", "one")]


def test_progress_is_reported() -> None:
    """Progress is reported at least at the end."""
    reported: list[tuple[int, int]] = []
    runner = ToyRunner(lambda *_: 0)
    executions = dataclasses.replace(
        toy_executions(runner), on_progress=lambda done, total: reported.append((done, total))
    )
    executions.digests(("4.7.1", "4.8.0"), (ONE,))
    assert reported == [(2, 2)]


def test_lines_are_executed_once_for_each_pair() -> None:
    """Lines of a repeated pair run once."""
    runner = by_table({"one": {"4.8.0": 2}})
    lines = toy_executions(runner).lines([("4.7.1", ONE), ("4.8.0", ONE), ("4.7.1", ONE)])
    assert lines == {("4.7.1", "one"): (select_line("one", 0),), ("4.8.0", "one"): (select_line("one", 2),)}
    assert len(runner.jobs) == 2


def test_lines_of_a_remembered_answer_are_not_executed_again(tmp_path: Path) -> None:
    """A cached digest that is a golden one gives the golden lines without running."""
    runner = by_table({"one": {"4.8.0": 1}})
    golden = (select_line("one", 1),)
    executions = dataclasses.replace(
        toy_executions(runner, tmp_path / "digests.sqlite"), remembered={digest_of(golden): golden}
    )
    executions.digests(("4.7.1", "4.8.0"), (ONE,))
    runner.jobs.clear()
    lines = executions.lines([("4.7.1", ONE), ("4.8.0", ONE)])
    assert lines == {("4.7.1", "one"): (select_line("one", 0),), ("4.8.0", "one"): golden}
    assert runner.jobs == [("4.7.1", "one")]


def test_another_depth_is_executed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another depth runs again, because an open depth may be deeper later."""
    store, runner = tmp_path / "digests.sqlite", by_table({})
    toy_executions(runner, store).digests(("4.7.1",), (ONE,))
    monkeypatch.setattr("rocketdiff.lab.history.execution_cache.depth_of", lambda _: Depth.REMOTING)
    toy_executions(runner, store).digests(("4.7.1",), (ONE,))
    assert len(runner.jobs) == 2
