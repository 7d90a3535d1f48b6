"""Running an owner's command: with a deadline, without a terminal, and with everything it said kept."""

import json
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from rocketdiff.cluster.described import Command, Verb

_KEPT_CHARACTERS = 2_000
"""Of what a command says: the last words are those that tell why."""

_WHEN_TOLD = ("/bin/sh", "-c", 'read -r _ && exec "$@" </dev/null', "sh")
"""Becomes the command that follows, as the same process, once there is a line to read; ends if there will be none."""


@dataclass(frozen=True, slots=True)
class Ran:
    """
    One command that was run, between two moments of the monotonic clock.

    exit_code: negative for a signal, None when it did not end in time or could not be started.
    """

    shown: str
    begin_ns: int
    end_ns: int
    exit_code: int | None
    output: str
    error: str

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself with 0."""
        return self.exit_code == 0

    @property
    def seen(self) -> str:
        """How it went wrong, in one sentence, with its own words."""
        took_s = (self.end_ns - self.begin_ns) / 1e9
        how = f"exit code {self.exit_code}" if self.exit_code is not None else f"no end after {took_s:.1f} s, killed"
        said = " ".join((self.error.strip() or self.output.strip()).split())
        return f"{how}: {said}" if said else f"{how}, and it said nothing"


def run_command(
    command: Command, folder: Path, timeout_s: float, on_group: Callable[[int], object] | None = None
) -> Ran:
    """
    Run a command in ``folder`` and wait for its end, ``timeout_s`` seconds at most; then it is killed with all it started.

    It has no terminal and no input, so what would ask for a password fails; and a session of its own, so that Ctrl-C does
    not end a resume half-way. Its output goes to files: a restarted server may go on writing to them when it has ended.
    on_group: given the process group before the command does anything; if this process dies by then, it never does.
    """
    with closing(_file()) as output, closing(_file()) as error:
        begin_ns = time.monotonic_ns()
        try:
            process = subprocess.Popen(
                command.words if on_group is None else [*_WHEN_TOLD, *command.words],
                cwd=folder,
                stdin=subprocess.DEVNULL if on_group is None else subprocess.PIPE,
                stdout=output,
                stderr=error,
                start_new_session=True,
            )
        except OSError as problem:
            now_ns = time.monotonic_ns()
            # 127 is what a shell says of a program that is not there.
            return Ran(command.shown, begin_ns, now_ns, 127, "", f"{problem.strerror}: {command.words[0]}")
        if on_group is not None:
            begin_ns = _let_go(process, on_group)
        exit_code = _exit_code(process, timeout_s)
        return Ran(command.shown, begin_ns, time.monotonic_ns(), exit_code, _tail(output), _tail(error))


def _let_go(process: "subprocess.Popen[bytes]", on_group: Callable[[int], object]) -> int:
    """Tell the process group, then let its command begin; the moment before it could."""
    assert process.stdin is not None
    begin_ns = time.monotonic_ns()
    try:
        with suppress(BrokenPipeError), process.stdin as waited_for:
            on_group(process.pid)
            begin_ns = time.monotonic_ns()
            waited_for.write(b"\n")
    except BaseException:
        process.wait()  # it read no line
        raise
    return begin_ns


def _exit_code(process: "subprocess.Popen[bytes]", timeout_s: float) -> int | None:
    """Wait on the process's own descriptor, which tells its end at once, where Popen.wait looks every 50 ms."""
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


def _file() -> IO[bytes]:
    return cast("IO[bytes]", tempfile.TemporaryFile())


def _tail(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")[-_KEPT_CHARACTERS:]


class CommandLog:
    """``commands.ndjson`` of a run: every command of the owner's that was run, by whom it was wanted and how it went."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def note(self, node: str, verb: Verb, ran: Ran, witness: str) -> None:
        """Write one line; witness: who says what the command did."""
        line = {
            "node": node,
            "verb": verb.value,
            "command": ran.shown,
            "wall_ms": time.time_ns() // 1_000_000,
            "begin_ns": ran.begin_ns,
            "end_ns": ran.end_ns,
            "exit_code": ran.exit_code,
            "output": ran.output,
            "error": ran.error,
            "witness": witness,
        }
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
