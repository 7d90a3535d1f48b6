"""Members that the scenario kills or pauses, as processes in a whole case: none is accused of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.plan import MemberChange, MemberEvent
from rocketdiff.core.errors import ExitCode
from rocketdiff.subjects.consuming.limits import MemberLimits
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.reader import read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from tests.run.consuming.staged import LIMITS, Stage, staged
from tests.run.consuming.test_members_that_misbehave import HOURS

KILL = MemberEvent(0.05, 0, MemberChange.KILL)
PAUSE = MemberEvent(0.05, 0, MemberChange.PAUSE, 2.0)
PATIENT = replace(LIMITS, call_s=60.0)
"""Of a machine shared by many tests; that a pause does not count is shown with the talk alone."""
CONSUMED = ["say", {"type": "consumed", "call": 0, "at_ns": "@now", "result": "success"}]


def lives_of(run: RunDirectory, arm: Arm) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_table(run, TableName.MEMBERS, 1, arm).to_pylist()
    return rows


def broken_guards(stage: Stage) -> list[str]:
    """Of members: others may break on a busy machine."""
    names = [guard.name for guard in stage.run.entry(1).guards if not guard.held]
    return [name for name in names if name.endswith(("-m0", "-baseline", "-candidate"))]


def test_a_member_killed_in_a_call_is_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its call stays open, its death is proven, and nothing more is awaited of it."""
    with staged(tmp_path, monkeypatch, KILL) as stage:
        for part in (stage.baseline, stage.candidate):
            part.steps |= {"works": [part.received(), HOURS]}
        monkeypatch.setattr(MemberLimits, "of", lambda *_: PATIENT)
        judgement = stage.play()
        entry = stage.run.entry(1)
        assert (entry.status, entry.breaches, broken_guards(stage)) == (CaseStatus.COMPLETE, {}, [])
        assert "member-0-candidate" in [guard.name for guard in entry.guards]
        for arm in Arm:
            (life,) = lives_of(stage.run, arm)
            assert life["ended"] == "killed" and life["killed_ns"] >= (entry.origin_ns or 0)
            (call,) = read_table(stage.run, TableName.CALLS, 1, arm).to_pylist()
            assert call["end_ns"] is None and entry.arms[arm].done
        assert judgement.exit_code is not ExitCode.DIVERGES, judgement.machine_line


def test_a_member_paused_in_a_call_is_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is proven, and the stall watch counts nothing of it."""
    with staged(tmp_path, monkeypatch, PAUSE) as stage:
        for part in (stage.baseline, stage.candidate):
            part.steps |= {
                "works": [part.received(), ["await-stop"], CONSUMED],
                "done": [["say", {"type": "done", "calls": 1}]],
            }
        monkeypatch.setattr(MemberLimits, "of", lambda *_: PATIENT)
        judgement = stage.play()
        entry = stage.run.entry(1)
        assert (entry.status, entry.breaches, broken_guards(stage)) == (CaseStatus.COMPLETE, {}, [])
        for arm in Arm:
            ((pause,),) = [life["pauses"] for life in lives_of(stage.run, arm)]
            assert pause["until_ns"] - pause["proven_ns"] > 5e8
        assert judgement.exit_code is not ExitCode.DIVERGES, judgement.machine_line


def test_a_member_that_dies_before_it_is_killed_is_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the runner's own signal excuses a death."""
    with staged(tmp_path, monkeypatch, MemberEvent(1.5, 0, MemberChange.KILL)) as stage:
        stage.baseline.steps |= {"works": [stage.baseline.received(), HOURS]}
        stage.candidate.steps |= {"works": [stage.candidate.received(), ["exit", 3]]}
        monkeypatch.setattr(MemberLimits, "of", lambda *_: PATIENT)
        judgement = stage.play()
        assert {name: breach.signature for name, breach in stage.run.entry(1).breaches.items()} == {
            "candidate-m0": "protocol.died"
        }
        assert judgement.exit_code is ExitCode.DIVERGES, judgement.machine_line
