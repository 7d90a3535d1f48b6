"""The process of a subject: pipes with deadlines, a kill that reaches everything it started, and how it ended."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.process.leash import end_descendants
from rocketdiff.subjects.program import Launch

_CHUNK_BYTES = 1 << 16
_LAST_WORDS_BYTES = 2_000
_LAST_WORDS_CHARACTERS = 300

_END_AFTER_KILL_S = 10.0
"""A killed JVM gives back its memory in a few ms; only a machine in deep trouble takes longer."""


class LeashedProcess:
    """A subject and its leash (see leash.py), in a process group of their own; safe for threads."""

    def __init__(self, launch: Launch, folder: Path) -> None:
        """
        Start it in ``folder``, which is made if need be.

        Raises EnvironmentMissing if folder or process cannot be made.
        """
        self.stderr = folder / "stderr.log"
        life_line, self._life_line = os.pipe()
        program = Path(__file__).parents[1] / "process" / "leash.py"
        leash = [sys.executable, "-I", "-S", str(program), str(os.getpid()), str(life_line)]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self.stderr.open("ab") as stderr:
                self._leash = subprocess.Popen(
                    [*leash, *launch.command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    cwd=folder,
                    env=dict(launch.environment),
                    bufsize=0,
                    pass_fds=(life_line,),
                    start_new_session=True,
                )
        except OSError as error:
            os.close(self._life_line)
            raise EnvironmentMissing(f"to be able to start {launch.command[0]}", seen=str(error)) from error
        finally:
            os.close(life_line)
        assert self._leash.stdin is not None
        assert self._leash.stdout is not None
        self._input, self._output = self._leash.stdin, self._leash.stdout
        os.set_blocking(self._input.fileno(), False)
        # Waiting on a descriptor leaves the process unreaped, so that its number can be no stranger's when we kill.
        self._ended = os.pidfd_open(self._leash.pid)
        self._lock = threading.Lock()
        self._is_killed = False

    @property
    def pid(self) -> int:
        """Process id of the leash, which is also the group's."""
        return self._leash.pid

    def read(self, timeout_s: float) -> bytes | None:
        """What the subject has said: None if nothing came in time, empty at the end of its output."""
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        return os.read(self._output.fileno(), _CHUNK_BYTES) if poll.poll(timeout_s * 1_000) else None

    def write(self, data: bytes, timeout_s: float) -> bool:
        """
        Hand over all of ``data``; False if the subject does not read it in time.

        To a subject that is gone everything can be said: its end is told by read.
        """
        deadline = time.monotonic() + timeout_s
        poll = select.poll()
        poll.register(self._input, select.POLLOUT)
        rest = memoryview(data)
        while rest:
            poll.poll(max(0.0, deadline - time.monotonic()) * 1_000)
            try:
                rest = rest[os.write(self._input.fileno(), rest) :]
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return False
            except BrokenPipeError:
                return True
        return True

    def close_input(self) -> None:
        """Let the subject see the end of its commands."""
        with contextlib.suppress(OSError):
            self._input.close()

    def await_end(self, timeout_s: float) -> bool:
        """Whether it has ended, waiting for it."""
        if self._ended < 0:
            return True
        poll = select.poll()
        poll.register(self._ended, select.POLLIN)
        return bool(poll.poll(timeout_s * 1_000))

    def kill(self) -> None:
        """End it and everything it started, at once; one that has ended already stays as it ended."""
        with self._lock:
            if self._leash.returncode is None:
                self._is_killed = self._is_killed or not self.await_end(0)
                end_descendants(self._leash.pid)  # while the leash lives, nobody below it can run away
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._leash.pid, signal.SIGKILL)

    def how_it_ended(self) -> str:
        """In words, once it has ended; ends it otherwise."""
        self.kill()
        with self._lock:
            status = self._leash.wait(_END_AFTER_KILL_S)
        if self._is_killed:
            return "it closed its output while it went on running"
        if status >= 0:
            return f"it exited with status {status}"
        return f"it was ended by {signal.Signals(-status).name}"

    def stderr_bytes(self) -> int:
        """How much it has written on stderr."""
        return self.stderr.stat().st_size

    def last_words(self) -> str:
        """The last line it wrote on stderr, if any."""
        try:
            with self.stderr.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_WORDS_BYTES))
                lines = file.read().decode(errors="replace").split("\n")
        except OSError:
            return ""
        spoken = [line.strip() for line in lines if line.strip()]
        return spoken[-1][:_LAST_WORDS_CHARACTERS] if spoken else ""

    def close(self) -> None:
        """Give everything back after kill; a second call does nothing."""
        with self._lock:
            self._leash.wait(_END_AFTER_KILL_S)
            if self._ended < 0:
                return
            os.close(self._ended)
            os.close(self._life_line)
            self._ended = -1
        self.close_input()
        self._output.close()
