"""The owner's commands: running one in its own process group until a deadline, and reading what a state command prints."""

import os
import re
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from rocketdiff.cluster.external.described import OwnersCommand
from rocketdiff.cluster.interface import NodeState

_KEPT_CHARACTERS = 2_000
"""The end of a command's output gives the reason."""

_WAITING_SHELL = ("/bin/sh", "-c", 'read -r _ && exec "$@" </dev/null', "sh")
"""Reads one line, then execs the command that follows in the same process. Without a line it ends."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """
    A finished command, with its times on the monotonic clock.

    exit_code: negative for a signal, None if it did not end in time.
    """

    shown: str
    begin_ns: int
    end_ns: int
    exit_code: int | None
    output: str
    error: str

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0

    @property
    def seen(self) -> str:
        took_s = (self.end_ns - self.begin_ns) / 1e9
        how = f"exit code {self.exit_code}" if self.exit_code is not None else f"no end after {took_s:.1f} s, killed"
        text = " ".join((self.error.strip() or self.output.strip()).split())
        return f"{how}: {text}" if text else f"{how}, no output"


_STATES = {
    "running": NodeState.RUNNING,
    "active": NodeState.RUNNING,
    "paused": NodeState.PAUSED,
    "stopped": NodeState.PAUSED,
    "gone": NodeState.GONE,
    "exited": NodeState.GONE,
    "dead": NodeState.GONE,
    "inactive": NodeState.GONE,
    "failed": NodeState.GONE,
}
"""Words of docker and systemd, and plain ones."""

_PS = re.compile(r"[RSDITtZX][<NLsl+]*")
"""The column ``stat`` of ps: a letter for the state, then flags."""

_PS_LETTERS = {"T": NodeState.PAUSED, "t": NodeState.PAUSED, "Z": NodeState.GONE, "X": NodeState.GONE}

STATE_WORDS = f"one of {', '.join(_STATES)}, or a state as ps writes it (S, T …)"


def parse_state(output: str) -> NodeState | None:
    """
    Return the state that the first word of a state command's output means; None for an unknown word.

    No output means GONE: ps prints nothing for a process that does not exist.
    """
    word = next(iter(output.split()), "")
    if not word:
        return NodeState.GONE
    if _PS.fullmatch(word):
        return _PS_LETTERS.get(word[0], NodeState.RUNNING)
    return _STATES.get(word.lower())


def run_command(
    command: OwnersCommand, folder: Path, timeout_s: float, on_group: Callable[[int], object] | None = None
) -> CommandResult:
    """
    Run a command in ``folder``; after ``timeout_s`` kill it with everything it started.

    It has no terminal and no input, so a password prompt fails. It has its own session, so Ctrl-C does not interrupt a resume.
    Its output goes to files, because a restarted server may still write after the command has ended. on_group: called with the
    process group before the command runs; if this process dies by then, the command never runs.
    """
    with closing(_output_file()) as output, closing(_output_file()) as error:
        begin_ns = time.monotonic_ns()
        try:
            process = subprocess.Popen(
                command.words if on_group is None else [*_WAITING_SHELL, *command.words],
                cwd=folder,
                stdin=subprocess.DEVNULL if on_group is None else subprocess.PIPE,
                stdout=output,
                stderr=error,
                start_new_session=True,
            )
        except OSError as problem:
            # 127: a shell's exit code for a missing program
            reason = f"{problem.strerror}: {command.words[0]}"
            return CommandResult(command.shown, begin_ns, time.monotonic_ns(), 127, "", reason)
        if on_group is not None:
            begin_ns = _release(process, on_group)
        exit_code = _exit_code(process, timeout_s)
        return CommandResult(command.shown, begin_ns, time.monotonic_ns(), exit_code, _tail(output), _tail(error))


def _release(process: "subprocess.Popen[bytes]", on_group: Callable[[int], object]) -> int:
    """Report the process group, then let the command run. Returns the time just before."""
    assert process.stdin is not None
    begin_ns = time.monotonic_ns()
    try:
        with suppress(BrokenPipeError), process.stdin as stdin:
            on_group(process.pid)
            begin_ns = time.monotonic_ns()
            stdin.write(b"\n")
    except BaseException:
        process.wait()  # without a line it ends
        raise
    return begin_ns


def _exit_code(process: "subprocess.Popen[bytes]", timeout_s: float) -> int | None:
    """Wait on the pidfd, which is ready at once; Popen.wait polls every 50 ms."""
    descriptor = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if poll.poll(timeout_s * 1_000):
            return process.wait()
    finally:
        os.close(descriptor)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return None


def _output_file() -> IO[bytes]:
    return cast("IO[bytes]", tempfile.TemporaryFile())


def _tail(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")[-_KEPT_CHARACTERS:]
