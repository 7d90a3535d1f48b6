"""Releases that explain given answers or a stored run, and how certain that is."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.lab.history.coverage import coverage_of
from rocketdiff.lab.identify import (
    GoldenAnswers,
    Identified,
    Rejected,
    exit_code,
    identified_data,
    identified_lines,
    identify,
    identify_run,
    read_observed,
    separators,
)
from rocketdiff.simulation.script import NamedScript, parse_script
from tests.analysis.synthetic import ArmRecords, Pause, Story, write_run
from tests.analysis.synthetic_modes import ModeStory
from tests.lab.history.toys import SCRIPT, by_table, select_line, toy_corpus, toy_executions, toy_standard

RELEASES = ("4.7.1", "4.8.0", "4.9.0")
ONE = NamedScript("one", SCRIPT)
WIDE = toy_standard("wide", {"4.7.1": "a", "4.8.0": "b", "4.9.0": "c"})
NARROW = toy_standard("narrow", {"4.7.1": "a", "4.9.0": "b"})
RUNNER = by_table(
    {"one": {"4.8.0": 1, "4.9.0": 1}, "wide": {"4.8.0": 1, "4.9.0": 2}, "narrow": {"4.9.0": 1}},
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
    assert any(line.startswith("next script: ") for line in identified_lines(calm))


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
    assert (found.releases, exit_code(found)) == ((), ExitCode.DIVERGES)
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


def test_releases_that_answer_so_explain_it() -> None:
    """Releases with these answers explain them; others are rejected with the first contradicting line."""
    found = identify(toy_executions(RUNNER), {"one": (select_line("one", 1),)}, (ONE,), RELEASES, KNOWN)
    assert found.releases == ("4.8.0", "4.9.0")
    assert found.rejected == (Rejected(("4.7.1",), "one, line 0", select_line("one", 0), select_line("one", 1)),)
    assert (found.telling, found.observations) == (1, 1)


def test_scripts_that_would_narrow_it_are_named() -> None:
    """The smallest script that best separates the remaining releases is named."""
    found = identify(toy_executions(RUNNER), {"one": (select_line("one", 1),)}, (ONE,), RELEASES, KNOWN)
    assert [one.parts for one in found.separating] == [(("4.8.0",), ("4.9.0",))]


def test_behaviour_of_no_release_is_unexplained() -> None:
    """An answer of no release rejects all."""
    found = identify(toy_executions(RUNNER), {"one": (select_line("one", 3),)}, (ONE,), RELEASES, KNOWN)
    assert found.releases == ()
    assert found.separating == ()
    assert "behaves like no published release" in list(identified_lines(found))
    assert identified_data(found)["rejected"][0]["releases"] == ["4.7.1"]


def test_a_missing_line_is_a_contradiction() -> None:
    """A missing line is a contradiction: a missing callback is an observation."""
    two = (select_line("one", 1), select_line("one", 1))
    found = identify(toy_executions(RUNNER), {"one": two}, (ONE,), RELEASES, KNOWN)
    assert found.releases == ()
    assert found.rejected[1] == Rejected(("4.8.0", "4.9.0"), "one, line 1", "nothing", select_line("one", 1))


def test_several_scripts_separate_step_by_step() -> None:
    """Scripts are named until all releases are separated or none separates more."""
    narrow_only = GoldenAnswers((NARROW,), CORPUS.golden)
    assert [one.parts for one in separators(RELEASES, narrow_only)] == [(("4.7.1", "4.8.0"), ("4.9.0",))]
    assert [one.script.name for one in separators(RELEASES, KNOWN)] == ["wide"]


def test_text_has_releases_observations_and_the_next_script() -> None:
    """Text has the releases, telling observations, unobserved situations and the next script."""
    found = identify(toy_executions(RUNNER), {"one": (select_line("one", 1),)}, (ONE,), RELEASES, KNOWN)
    lines = list(identified_lines(found))
    assert lines[0] == "behaves like 4.8.0, 4.9.0"
    assert lines[1] == "1 of 1 observations distinguish releases"
    assert any(line.startswith("not observed: retry, fault latency") for line in lines)
    assert lines[-1].endswith("separates 4.8.0 | 4.9.0")


@pytest.mark.parametrize(
    "text",
    [
        '{"script":"one","step":0,"select":{"broker":"a","queue_id":2}}\n\n',
        '{"select": {"broker": "a", "queue_id": 2}, "step": 0, "script": "one"}',
        '{"script": "one", "step": 0, "select": {"broker": "a", "queue_id": 2}, "state": {"index": 2}}',
    ],
    ids=["spacing", "order of keys", "trace"],
)
def test_answers_are_read_in_any_form(text: str) -> None:
    """Spacing and the order of keys do not matter, and a trace is read without its states."""
    (lines,) = read_observed(text, (ONE,)).values()
    assert [json.loads(line) for line in lines] == [json.loads(select_line("one", 2))]


def test_a_single_script_may_have_had_another_name() -> None:
    """A single script's answers may have another name; with two scripts they are refused."""
    assert read_observed(select_line("stdin", 2), (ONE,)) == {"one": (select_line("one", 2),)}
    with pytest.raises(UsageError, match="stdin"):
        read_observed(select_line("stdin", 2), (ONE, NamedScript("two", SCRIPT)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "none in the file"),
        ('{"script": "one", "step": 0, "update": true, "state": {}}\n', "none in the file"),
        ('["script"]\n', "line 1"),
        ("7\n", "line 1"),
        ("not json\n", "line 1"),
        ('{"step": 0}\n', "line 1"),
        ('{"script": "other", "step": 0}\n', "other"),
    ],
)
def test_a_file_that_is_no_answer_is_refused(text: str, message: str) -> None:
    """An invalid line is refused with its number, an unknown script with its name."""
    with pytest.raises(UsageError, match=message):
        read_observed(text, (ONE, NamedScript("two", SCRIPT)))


def test_situations_are_recognised_in_script_and_answers() -> None:
    """Situations are recognised in the script and in the answers."""
    steps = [{"do": "select", "last_broker": "a"}, {"do": "send", "mode": "oneway"}]
    settings = {"send_latency_fault_enable": True}
    script = parse_script({"format": 1, "route": {"a": 4}, "settings": settings, "steps": steps}, "x")
    line = '{"script": "x", "step": 1, "send": {"attempts": [{"outcome": "refused"}, {"outcome": "code", "code": 1}]}}'
    assert coverage_of([(script, (line,))]).missing == ("silent broker", "asynchronous send")
