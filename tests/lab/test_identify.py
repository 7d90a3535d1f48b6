"""Which releases explain a stored run."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.plan import SendMode
from rocketdiff.lab.history.identify import identified_lines
from rocketdiff.lab.identify import exit_code, identify_run
from tests.analysis.synthetic import Pause, Story, Told, write_run
from tests.analysis.synthetic_modes import ModeStory

BOTH = Story(pauses=(Pause("broker-b", 1_000, 2_000), Pause("broker-a", 1_500, 1_000)))


def test_the_release_that_made_a_run_explains_it(tmp_path: Path) -> None:
    """Played by the rules of 4.7.1; releases from 5.1.4 on, which avoid for seconds, would have done otherwise."""
    run = write_run(tmp_path, (BOTH,), baseline="java:4.7.1", candidate="python:4.7.1")
    found = identify_run(run.path, None, None, None)
    assert "4.7.1" in found.releases
    rejected = {release for one in found.rejected for release in one.releases}
    assert {"5.1.4", "5.3.3"} <= rejected
    assert 0 < found.telling <= found.observations == 200


def test_what_was_not_seen_is_said(tmp_path: Path) -> None:
    """Nobody was silent and nobody failed, so hardly anything can be told."""
    run = write_run(tmp_path, (Story(pauses=()),))
    found = identify_run(run.path, None, None, None)
    assert len(found.releases) == 39
    assert found.telling == 0
    assert "silent broker" in found.unexercised
    assert found.separating
    assert any(line.startswith("would tell more") for line in identified_lines(found))


@pytest.mark.parametrize(("mode", "words"), [(SendMode.ASYNC, "asynchronous send"), (SendMode.ONEWAY, "one way send")])
def test_sends_of_a_mode_were_seen_although_none_failed(tmp_path: Path, mode: SendMode, words: str) -> None:
    """That they tell no releases apart is another sentence."""
    run = write_run(tmp_path, (ModeStory(pauses=(), sends=40, mode=mode),))
    assert words not in identify_run(run.path, None, None, None).unexercised


def test_a_terminal_gets_five_scripts_that_would_tell_more(tmp_path: Path) -> None:
    """Short lines; the JSON form has all of them."""
    found = identify_run(write_run(tmp_path, (Story(pauses=()),)).path, None, None, None)
    lines = [line for line in identified_lines(found) if line.startswith(("would tell more", "and "))]
    assert len(found.separating) > 5
    assert lines[5:] == [f"and {len(found.separating) - 5} more scripts; --json lists them"]
    assert max(map(len, lines)) < 200


def turned_round(told: Told) -> None:
    """As no release does: the same queue twice in a row."""
    broker, queue_id = told.attempts[20].broker, told.attempts[20].queue_id
    told.attempts[21] = replace(told.attempts[21], broker=broker, queue_id=queue_id)
    told.sends[21] = replace(told.sends[21], broker=broker, queue_id=queue_id)


def test_a_client_that_is_none_of_them(tmp_path: Path) -> None:
    """Every release is rejected at the send that no rule explains; the other arm is as it was."""
    run = write_run(tmp_path, (Story(pauses=()),), change=turned_round)
    found = identify_run(run.path, None, None, None)
    assert found.releases == ()
    assert all("send 21: queue.out-of-turn" in one.where for one in found.rejected)
    assert len(identify_run(run.path, None, "baseline", None).releases) == 39


def test_an_arm_is_chosen_by_subject_or_name(tmp_path: Path) -> None:
    """And one that the run does not have is refused with those it has."""
    run = write_run(tmp_path, (Story(pauses=()),))
    assert identify_run(run.path, "java:5.3.3", None, None).releases
    for subject, arm in (("java:4.0.0", None), (None, "left"), ("java:5.3.3", "candidate")):
        with pytest.raises(UsageError):
            identify_run(run.path, subject, arm, None)


def test_a_case_is_chosen_by_number_or_name(tmp_path: Path) -> None:
    """All of them when none is."""
    run = write_run(tmp_path, (Story(pauses=()), Story(name="round-robin/calm", pauses=(), sends=50)))
    assert identify_run(run.path, None, None, None).observations == 250
    assert identify_run(run.path, None, None, "round-robin/calm").observations == 50
    assert identify_run(run.path, None, None, "1").observations == 200
    with pytest.raises(UsageError, match="round-robin/calm"):
        identify_run(run.path, None, None, "no/such")


def test_nothing_that_tells_releases_apart_is_nothing_decisive(tmp_path: Path) -> None:
    """All releases explain a calm run, some a paused one, and none a turn that no rule takes."""
    calm = identify_run(write_run(tmp_path / "calm", (Story(pauses=()),)).path, None, None, None)
    assert exit_code(calm) == ExitCode.NOTHING_DECISIVE
    assert next(identified_lines(calm)).startswith("behaves like every published release: nothing")
    paused = write_run(tmp_path / "paused", (BOTH,), baseline="java:4.7.1", candidate="python:4.7.1")
    assert exit_code(identify_run(paused.path, None, None, None)) == ExitCode.CONFORMS
    odd = write_run(tmp_path / "odd", (Story(pauses=()),), change=turned_round)
    assert exit_code(identify_run(odd.path, None, None, None)) == ExitCode.DIVERGES
