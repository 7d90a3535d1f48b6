"""Unfinished pauses and kills, which may still take effect."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from rocketdiff.cluster.external.actions import _answers_now
from rocketdiff.cluster.external.cleanup import clean
from rocketdiff.cluster.external.undo_log import RestoreNode, UndoLog
from rocketdiff.process.liveness import started_ticks
from tests.cluster.external.killed_runs import RUN_OF_LOG, await_undone, died, leave_log, resume, run_of
from tests.cluster.external.owned import Owned, retry_at_once
from tests.live import await_that


def down_from_the_second_look(monkeypatch: pytest.MonkeyPatch, flag: Path) -> list[str]:
    """The node of this flag answers a first look and goes down before the second; returns the nodes looked at."""

    def answers_now(asked: RestoreNode) -> bool:
        looks.append(asked.node)
        if len(looks) == 2:
            flag.touch()
        return _answers_now(asked)

    looks: list[str] = []
    retry_at_once(monkeypatch, 0.05)
    monkeypatch.setattr("rocketdiff.cluster.faults.proof.ANSWER_TIMEOUT_MS", 2_000)
    monkeypatch.setattr("rocketdiff.cluster.external.actions._answers_now", answers_now)
    return looks


def test_a_node_that_answers_is_not_restarted(owned: Owned, home: Path) -> None:
    """A node that answers is not restarted: its kill failed or a supervisor restarted it."""
    leave_log(resume(owned, "touch restarted", timeout_s=0.3, verb="restart"))
    clean(lambda _: None)
    assert not (owned.folder / "restarted").exists()
    assert not list(home.iterdir())


def test_a_node_that_goes_down_a_moment_later_is_restarted(
    owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that goes down after a first answer is restarted: its kill was in progress."""
    flag = owned.brokers["mq-blue"].flag
    looks = down_from_the_second_look(monkeypatch, flag)
    leave_log(resume(owned, f"rm {flag}; touch restarted", timeout_s=5.0, verb="restart"))
    clean(lambda _: None)
    assert len(looks) >= 2
    assert (owned.folder / "restarted").exists()
    assert not flag.exists()


@pytest.mark.parametrize(("later_ticks", "exit_code"), [(0, -signal.SIGKILL), (1, None)])
def test_an_act_still_under_way_is_ended_before_it_is_undone(
    owned: Owned, home: Path, later_ticks: int, exit_code: int | None
) -> None:
    """A command still running is killed before its undo; a later process with its id is not."""
    act = subprocess.Popen(["/bin/sh", "-c", "sleep 600; exit 1"], start_new_session=True)
    try:
        log = UndoLog.create(RUN_OF_LOG)
        entry = resume(owned, "true", timeout_s=0.1)
        log.record(entry)
        log.action_started(entry, act.pid, (started_ticks(act.pid) or 0) + later_ticks)
        died(log)
        clean(lambda _: None)
        if exit_code is not None:
            act.wait(10)
        assert act.poll() == exit_code
    finally:
        if act.poll() is None:
            os.killpg(act.pid, signal.SIGKILL)
        act.wait()


def test_a_pause_that_lands_after_its_command_was_given_up_is_undone_too(
    owned: Owned, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pause that takes effect after its resume is resumed again: its ssh may continue on the node."""
    flag = owned.brokers["mq-blue"].flag
    looks = down_from_the_second_look(monkeypatch, flag)
    log = UndoLog.create(RUN_OF_LOG)
    entry = resume(owned, f"rm -f {flag}; touch resumed", timeout_s=0.3)
    log.record(entry)
    log.action_started(entry, os.getpid(), 0)
    died(log)
    clean(lambda _: None)
    assert len(looks) > 2
    assert not flag.exists()
    assert not list(home.iterdir())


def test_kill_9_while_a_pause_is_under_way_ends_the_pause(owned: Owned, home: Path) -> None:
    """After ``kill -9`` of a run its guardian kills the pause command, so no broker is paused later."""
    flag = owned.brokers["mq-blue"].flag
    begun = flag.with_name(f"{flag.name}.begun")
    slow = owned.described(
        timeout_s=4.0, pause="echo $$ > {flag}.pid; mv {flag}.pid {flag}.begun; sleep 600; touch {flag}", resume="true"
    )
    run = run_of(owned, home, slow)
    await_that(begun.exists)
    run.kill()
    await_undone(run, home)
    assert started_ticks(int(begun.read_text())) is None
    assert not flag.exists()
    assert not owned.topics
