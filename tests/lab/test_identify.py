"""Releases that explain a stored run, and how certain that is."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.lab.identify import (
    GoldenAnswers,
    Identified,
    exit_code,
    identified_data,
    identified_lines,
    identify_run,
    separators,
)
from tests.analysis.synthetic import ArmRecords, Pause, Story, write_run
from tests.analysis.synthetic_modes import ModeStory
from tests.lab.history.toys import by_table, toy_corpus, toy_standard

RELEASES = ("4.7.1", "4.8.0", "4.9.0")
WIDE = toy_standard("wide", {"4.7.1": "a", "4.8.0": "b", "4.9.0": "c"})
NARROW = toy_standard("narrow", {"4.7.1": "a", "4.9.0": "b"})
RUNNER = by_table(
    {"wide": {"4.8.0": 1, "4.9.0": 2}, "narrow": {"4.9.0": 1}},
)
CORPUS = toy_corpus(RUNNER, (WIDE, NARROW), RELEASES)
KNOWN = GoldenAnswers(CORPUS.standard, CORPUS.golden)

CALM = Story(pauses=(), sends=40)
BOTH = Story(pauses=(Pause("broker-b", 1_000, 2_000), Pause("broker-a", 1_500, 1_000)))


def turned_round(arm: ArmRecords) -> None:
    """A defect that no release has: the same queue twice in a row."""
    broker, queue_id = arm.attempts[20].broker, arm.attempts[20].queue_id
    arm.attempts[21] = replace(arm.attempts[21], broker=broker, queue_id=queue_id)
    arm.sends[21] = replace(arm.sends[21], broker=broker, queue_id=queue_id)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Identified:
    return identify_run(write_run(tmp_path_factory.mktemp("calm"), (CALM,)).path, None, None, None)


@pytest.fixture(scope="module")
def paused(tmp_path_factory: pytest.TempPathFactory) -> Identified:
    run = write_run(tmp_path_factory.mktemp("paused"), (BOTH,), baseline="java:4.7.1", candidate="python:4.7.1")
    return identify_run(run.path, None, None, None)


def test_the_release_that_made_a_run_explains_it(paused: Identified) -> None:
    """4.7.1 explains its own run; 5.1.4 and later, which avoid for seconds, are rejected."""
    assert "4.7.1" in paused.releases
    rejected = {release for one in paused.rejected for release in one.releases}
    assert {"5.1.4", "5.3.3"} <= rejected
    assert 0 < paused.telling <= paused.observations == 200


def test_unseen_behaviour_is_named(calm: Identified) -> None:
    """All releases explain a calm run; situations that did not occur are listed."""
    assert len(calm.releases) == 39
    assert calm.telling == 0
    assert "silent broker" in calm.unexercised
    assert calm.separating
    lines = list(identified_lines(calm))
    assert lines[1] == "0 of 40 observations distinguish releases"
    assert any(line.startswith("not observed: retry, ") for line in lines)
    assert any(line.startswith("next script: ") for line in lines)


@pytest.mark.parametrize(("mode", "words"), [(SendMode.ASYNC, "asynchronous send"), (SendMode.ONEWAY, "one way send")])
def test_sends_of_a_mode_were_seen_although_none_failed(tmp_path: Path, mode: SendMode, words: str) -> None:
    """Asynchronous and one-way sends count as observed even if none failed."""
    run = write_run(tmp_path, (ModeStory(pauses=(), sends=40, mode=mode),))
    assert words not in identify_run(run.path, None, None, None).unexercised


def test_a_terminal_gets_five_scripts_that_would_narrow_it(calm: Identified) -> None:
    """Text names five scripts that would separate more releases; JSON has all."""
    lines = [line for line in identified_lines(calm) if line.startswith(("next script: ", "and "))]
    assert len(calm.separating) > 5
    assert lines[5:] == [f"and {len(calm.separating) - 5} more scripts; --json lists them"]
    assert max(map(len, lines)) < 200


def test_a_client_that_no_release_explains_is_rejected(tmp_path: Path) -> None:
    """A client that no release explains is rejected at its first wrong send."""
    run = write_run(tmp_path, (CALM,), change=turned_round)
    found = identify_run(run.path, None, None, None)
    assert (found.releases, found.separating, exit_code(found)) == ((), (), ExitCode.DIVERGES)
    assert "behaves like no published release" in list(identified_lines(found))
    assert sum(len(one["releases"]) for one in identified_data(found)["rejected"]) == 39
    assert all("send 21: queue.out-of-turn" in one.where for one in found.rejected)
    assert len(identify_run(run.path, None, "baseline", None).releases) == 39


def test_an_arm_is_chosen_by_subject_or_name(tmp_path: Path) -> None:
    """An arm is selected by subject or name; an unknown one is refused."""
    run = write_run(tmp_path, (CALM,))
    assert identify_run(run.path, "java:5.3.3", None, None).releases
    for subject, arm in (("java:4.0.0", None), (None, "left"), ("java:5.3.3", "candidate")):
        with pytest.raises(UsageError):
            identify_run(run.path, subject, arm, None)


def test_a_case_is_chosen_by_number_or_name(tmp_path: Path) -> None:
    """A case is selected by number or name; the default is all."""
    run = write_run(tmp_path, (CALM, Story(name="round-robin/calm", pauses=(), sends=30)))
    assert identify_run(run.path, None, None, None).observations == 70
    assert identify_run(run.path, None, None, "round-robin/calm").observations == 30
    assert identify_run(run.path, None, None, "1").observations == 40
    with pytest.raises(UsageError, match="round-robin/calm"):
        identify_run(run.path, None, None, "no/such")


def test_without_a_distinguishing_answer_nothing_is_decisive(calm: Identified, paused: Identified) -> None:
    """A calm run exits with NOTHING_DECISIVE, a paused one with CONFORMS."""
    assert exit_code(calm) == ExitCode.NOTHING_DECISIVE
    assert next(identified_lines(calm)).startswith("behaves like every published release: no observation")
    assert exit_code(paused) == ExitCode.CONFORMS


def test_several_scripts_separate_step_by_step() -> None:
    """Scripts are named until all releases are separated or none separates more."""
    narrow_only = GoldenAnswers((NARROW,), CORPUS.golden)
    assert [one.parts for one in separators(RELEASES, narrow_only)] == [(("4.7.1", "4.8.0"), ("4.9.0",))]
    assert [one.script.name for one in separators(RELEASES, KNOWN)] == ["wide"]
