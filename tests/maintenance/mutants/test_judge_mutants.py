"""The mutants of the judging code: modules, thresholds, and two mutants run against the tests."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from maintenance.mutants import judge_hunt
from maintenance.mutants.__main__ import OF_THE_JUDGE, explained, row_of
from maintenance.mutants.at_work import Loop, with_tests
from maintenance.mutants.hunting import Fate
from maintenance.mutants.judge_hunt import JudgeHunt
from maintenance.mutants.mutants import ROOT, module_names
from maintenance.mutants.rooms import ROOMS
from rocketdiff.core.errors import HarnessError

GUARDS = next(room for room in ROOMS if room.name == "guards")


def test_whatever_judges_is_in_a_room() -> None:
    """Every module of verdicts, ledger, oracle, steps, checks and guards is in exactly one room, and all about consumers but pictures."""
    packages = (
        "rocketdiff.verdict",
        "rocketdiff.ledger",
        "rocketdiff.oracle",
        "rocketdiff.analysis.checks",
        "rocketdiff.analysis.sending.steps",
        "rocketdiff.analysis.sending.checks",
        "rocketdiff.analysis.consuming",
    )
    wanted = {
        "rocketdiff.run.case.guards",
        "rocketdiff.run.case.sending.guards",
        *(module for package in packages for module in module_names(package)),
    }
    modules = [module for room in ROOMS for module in room.modules]
    assert {module for module in wanted if ".pictures." not in module} <= set(modules)
    assert len(modules) == len(set(modules))


def test_the_tests_of_every_room_are_there() -> None:
    """Every path of a room exists; a path without tests would notice no mutant."""
    assert [path for room in ROOMS for path in room.tests if not (ROOT / path).exists()] == []


def test_97_in_a_hundred_noticed_or_explained_are_enough() -> None:
    """With 95 of 100 mutants noticed, two survivors with reasons are enough (97), and one is not."""
    mutants = GUARDS.mutants()[:100]
    fates = [Fate(mutant, "a test" if number < 95 else None) for number, mutant in enumerate(mutants)]
    reasons = {mutant.name: "says the same" for mutant in mutants[95:97]}
    row = row_of("guards", 140, fates, reasons)
    assert (row.asked, row.noticed, row.survivors, row.explained, row.is_enough) == (100, 95, 5, 2, True)
    assert not row_of("guards", 140, fates, {mutants[95].name: "says the same"}).is_enough


def test_nothing_asked_is_not_enough() -> None:
    """A room without any tried mutant fails."""
    assert not row_of("guards", 140, [], {}).is_enough


def test_an_error_of_the_hunt_is_no_silence() -> None:
    """A HarnessError raised within pytest's session leaves that session."""

    def inside(_loop: Loop) -> None:
        raise HarnessError("tests that pass", seen="a failure")

    with pytest.raises(HarnessError, match="tests that pass"):
        with_tests(GUARDS.tests, inside)


def test_every_reason_of_a_survivor_of_the_judge_is_a_sentence() -> None:
    """Every reason in survivors_of_the_judge.yaml has at least four words."""
    assert all(len(reason.split()) >= 4 for reason in explained(OF_THE_JUDGE).values())


@pytest.mark.slow
def test_a_mutant_in_a_function_and_one_on_import_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guards' own tests notice both mutants, and a second hunt reads the stored fates."""
    monkeypatch.setattr(judge_hunt, "STORE", tmp_path)
    names = {
        "run.case.sending.guards._start: if spread is None: → if spread is not None:",
        "run.case.sending.guards: START_SPREAD_LIMIT_NS = 50000000 → pass",
    }
    mutants = [mutant for mutant in GUARDS.mutants() if mutant.name in names]
    fates = JudgeHunt(GUARDS, time.monotonic() + 3_600).go_on(mutants)
    assert {
        fate.mutant.name for fate in fates if (fate.seen_by or "").startswith("tests/run/sending/test_guards")
    } == names
    again = JudgeHunt(GUARDS, until_s=0).go_on(mutants)
    assert [(fate.mutant.name, fate.seen_by) for fate in again] == [(fate.mutant.name, fate.seen_by) for fate in fates]


def test_the_command_knows_the_rooms() -> None:
    """An unknown room is a usage error that lists the known rooms."""
    command = [sys.executable, "-m", "maintenance.mutants", "--room", "kitchen"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert all(room.name in done.stderr for room in ROOMS)
