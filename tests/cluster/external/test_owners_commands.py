"""Owner's commands: execution, deadline, kept output and reported states."""

import time
from pathlib import Path

import pytest

from rocketdiff.cluster.external.described import OwnersCommand
from rocketdiff.cluster.external.owners_commands import parse_state, run_command
from rocketdiff.cluster.interface import NodeState
from tests.live import await_that
from tests.subjects.processes import gone


def test_exit_code_output_and_error_are_kept(tmp_path: Path) -> None:
    """A command runs in its file's folder; exit code and output are kept."""
    ran = run_command(OwnersCommand.of("pwd; echo sorry >&2; exit 3"), tmp_path, 5.0)
    assert (ran.exit_code, ran.output.strip(), ran.error) == (3, str(tmp_path), "sorry\n")
    assert not ran.succeeded
    assert ran.seen == "exit code 3: sorry"
    assert ran.begin_ns < ran.end_ns


def test_a_list_is_run_without_a_shell(tmp_path: Path) -> None:
    """A command given as a list runs without a shell."""
    ran = run_command(OwnersCommand.of(["echo", "$HOME; *"]), tmp_path, 5.0)
    assert ran.output == "$HOME; *\n"
    assert ran.shown == "echo '$HOME; *'"


def test_a_command_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    """A command that hangs is killed with its children, which could pause a broker later."""
    ran = run_command(OwnersCommand.of("sleep 60 & echo $!; wait"), tmp_path, 3.0)
    assert ran.exit_code is None
    assert "no end after" in ran.seen
    assert gone(int(ran.output))


def test_a_process_left_running_is_not_awaited(tmp_path: Path) -> None:
    """A process that a command leaves running is not awaited, as for a restarted server."""
    waiting = "(until [ -e go ]; do sleep 0.02; done; touch served) & echo started"
    ran = run_command(OwnersCommand.of(waiting), tmp_path, 30.0)
    assert ran.succeeded
    assert not (tmp_path / "served").exists()
    (tmp_path / "go").touch()
    await_that((tmp_path / "served").exists)


def test_a_command_waits_until_its_process_group_is_known(tmp_path: Path) -> None:
    """A command starts after its process group is recorded, so that others can end it; it has neither input nor terminal."""
    reported: list[tuple[int, bool]] = []

    def note(group: int) -> None:
        time.sleep(0.2)
        reported.append((group, (tmp_path / "done").exists()))

    ran = run_command(
        OwnersCommand.of("touch done; echo $$; read line || echo no input; true </dev/tty || echo no terminal"),
        tmp_path,
        5.0,
        note,
    )
    ((group, was_done),) = reported
    assert not was_done
    assert ran.output.splitlines() == [str(group), "no input", "no terminal"]


def test_a_command_whose_group_could_not_be_noted_is_not_run(tmp_path: Path) -> None:
    """A command whose process group cannot be recorded is not executed."""

    def fail(_: int) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        run_command(OwnersCommand.of("touch done"), tmp_path, 5.0, fail)
    time.sleep(0.3)
    assert not (tmp_path / "done").exists()


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A missing program has exit code 127, as in a shell."""
    ran = run_command(OwnersCommand.of(["no-such-program", "x"]), tmp_path, 5.0)
    assert ran.exit_code == 127
    assert "no-such-program" in ran.seen


@pytest.mark.parametrize(
    ("output", "state"),
    [
        ("running\n", NodeState.RUNNING),
        ("paused", NodeState.PAUSED),
        ("exited\n", NodeState.GONE),
        ("Ssl\n", NodeState.RUNNING),
        ("Tsl", NodeState.PAUSED),
        ("t", NodeState.PAUSED),
        ("", NodeState.GONE),
        ("\n", NodeState.GONE),
        ("PAUSED since yesterday", NodeState.PAUSED),
        ("Error: no such container", None),
        ("Tea", None),
    ],
)
def test_a_word_for_a_state_is_dockers_or_that_of_ps(output: str, state: NodeState | None) -> None:
    """A state is a word of Docker or a code of ps."""
    assert parse_state(output) is state
