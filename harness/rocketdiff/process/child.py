"""
A child process as the runner sees it: lines with deadlines, and its exit status in words.

It runs under a supervisor (supervisor.py), so that neither it nor its descendants outlive the runner.
"""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.resources import import_path
from rocketdiff.process.supervisor import descendants, end_descendants

SUPERVISOR = Path(__file__).with_name("supervisor.py")

_CHUNK_BYTES = 1 << 18
_LAST_WORDS_BYTES = 16_000
_LAST_WORDS_CHARACTERS = 300

_END_AFTER_KILL_S = 10.0
"""A killed JVM ends within a few ms, except on an overloaded machine."""


class Child:
    """
    A command under a supervisor, in its own process group.

    Thread-safe if only one thread calls ``hear``. close() closes stderr, which must be readable.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        stderr: BinaryIO,
        environment: Mapping[str, str],
        folder: Path | None = None,
        scratch: Path | None = None,
        is_supervised: bool = True,
        is_heard: bool = True,
    ) -> None:
        """
        Start it in ``folder``; raise EnvironmentMissing if that fails. ``scratch`` is removed when the runner dies.

        is_supervised: False for a program that ends with its input, such as a supervisor.
        is_heard: False to send stdout to ``stderr``.
        """
        self._stderr = stderr
        life_line, self._life_line = os.pipe()
        own = [sys.executable, "-I", "-S", str(SUPERVISOR), str(os.getpid()), "run", str(life_line), str(scratch or "")]
        try:
            self._process = subprocess.Popen(
                [*(own if is_supervised else ()), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if is_heard else stderr,
                stderr=stderr,
                cwd=folder,
                env=dict(environment),
                bufsize=0,
                pass_fds=(life_line,) if is_supervised else (),
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._life_line)
            stderr.close()
            raise EnvironmentMissing(f"to be able to start {command[0]}", seen=str(error)) from error
        finally:
            os.close(life_line)
        assert self._process.stdin is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._ended = _descriptor_of(self._process)
        self._lock = threading.Lock()
        self._is_killed = False
        self._is_closed = False
        self._unsent = bytearray()
        self._unfinished = b""
        self.heard_bytes = 0

    @property
    def pid(self) -> int:
        """Process id of the supervisor (without one, of the command) and of the process group."""
        return self._process.pid

    @property
    def unsent_bytes(self) -> int:
        return len(self._unsent)

    @property
    def unfinished_bytes(self) -> int:
        return len(self._unfinished)

    def queue(self, line: bytes) -> None:
        """Queue a line for ``hear``, for a thread that both writes and reads and must block on neither."""
        self._unsent += line + b"\n"

    def hear(self, timeout_s: float) -> list[bytes] | None:
        """
        Send queued bytes and return the complete lines received, without line ends.

        Returns None if the child neither read nor wrote in time. Raises EOFError at the end of its output.
        """
        assert self._output is not None, "it is not heard"
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        if self._unsent:
            poll.register(self._input, select.POLLOUT)
        ready = {descriptor for descriptor, _ in poll.poll(timeout_s * 1_000)}
        if not ready:
            return None
        # Another thread may have closed the input; if nothing is queued its descriptor must not be read.
        if self._unsent and self._input.fileno() in ready:
            self._send_queued()
        return self._receive(self._output.fileno()) if self._output.fileno() in ready else []

    def write(self, data: bytes, timeout_s: float) -> bool:
        """
        Write all of ``data``; False if the child does not read it in time.

        True if the child is gone: ``hear`` reports its end.
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
        with contextlib.suppress(OSError):
            self._input.close()

    def await_end(self, timeout_s: float) -> bool:
        """Return True if it ends in time."""
        if self._process.returncode is not None:
            return True
        if self._ended is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout_s)
            return self._process.returncode is not None
        poll = select.poll()
        poll.register(self._ended, select.POLLIN)
        return bool(poll.poll(timeout_s * 1_000))

    def stop(self) -> None:
        """
        Stop everything below the supervisor (SIGSTOP).

        Scans until no new process appears: a child started during one scan is found by the next, after its parent was
            stopped.
        """
        stopped: set[int] = set()
        while new := set(self.below()) - stopped:
            self.send(new, signal.SIGSTOP)
            stopped |= new

    def go_on(self) -> None:
        self.send(self.below(), signal.SIGCONT)

    def below(self) -> list[int]:
        """Return the processes below the supervisor; none after its end, because the process id may have been reused."""
        with self._lock:
            return descendants(self._process.pid) if self._process.returncode is None else []

    @staticmethod
    def send(processes: Iterable[int], number: signal.Signals) -> None:
        """Send a signal to those that still exist."""
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def kill(self) -> None:
        """Kill it and everything it started, unless it has ended."""
        with self._lock:
            if self._process.returncode is None:
                self._is_killed = self._is_killed or not self.await_end(0)
                if sys.platform == "linux":
                    end_descendants(
                        self._process.pid
                    )  # first: while the supervisor lives, no process below it can escape
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def status(self) -> int:
        """Exit status, negative for a signal; kills it first if necessary."""
        self.kill()
        with self._lock:
            return self._process.wait(_END_AFTER_KILL_S)

    def how_it_ended(self, within_s: float = 0.0) -> str:
        """Exit status in words, after the end of its output; kills it if it does not end in time."""
        self.await_end(within_s)
        status = self.status()
        return "it closed its output but kept running" if self._is_killed else in_words(status)

    def stderr_bytes(self) -> int:
        return os.fstat(self._stderr.fileno()).st_size

    def last_words(self) -> str:
        return last_line(self._stderr)

    def close(self) -> None:
        """Kill it if it has not ended, and close all descriptors. Idempotent."""
        self.status()
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            if self._ended is not None:
                os.close(self._ended)
            os.close(self._life_line)
        self.close_input()
        if self._output is not None:
            self._output.close()
        self._stderr.close()

    def _send_queued(self) -> None:
        try:
            del self._unsent[: os.write(self._input.fileno(), memoryview(self._unsent)[:_CHUNK_BYTES])]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent.clear()

    def _receive(self, output: int) -> list[bytes]:
        data = os.read(output, _CHUNK_BYTES)
        if not data:
            raise EOFError
        self.heard_bytes += len(data)
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        return lines


def in_words(status: int) -> str:
    """Return an exit status (negative for a signal) in words."""
    return f"it exited with status {status}" if status >= 0 else f"it was ended by {signal.Signals(-status).name}"


_PANIC = re.compile(r"panic: |fatal error: |thread '.*' (\(\d+\) )?panicked at ")
_AFTER_THE_REASON = re.compile(
    r"at [\w.$/<>@-]+\(.*\)|\.\.\. \d+ (more|common frames omitted)"  # frames of Java
    r"|at .*:\d+:\d+\)?( \{)?|Node\.js v[\d.]+"  # of Node.js, and the end of its stack
    r"|from .*:\d+:in .*"  # of Ruby
    r"|(Execution of .* aborted|BEGIN failed--compilation aborted|Compilation failed in require) .*"  # Perl
)


def last_line(file: BinaryIO) -> str:
    """Return the last non-empty line, truncated; for a stack trace or panic, the line with the reason."""
    begin = max(0, os.fstat(file.fileno()).st_size - _LAST_WORDS_BYTES)
    lines = os.pread(file.fileno(), _LAST_WORDS_BYTES, begin).decode(errors="replace").split("\n")
    spoken = [line.strip() for line in lines if line.strip()]
    panics = [line for line in spoken if _PANIC.match(line)]
    telling = panics or [line for line in spoken if not _AFTER_THE_REASON.fullmatch(line)] or spoken
    return telling[-1][:_LAST_WORDS_CHARACTERS] if telling else ""


def python_environment() -> dict[str, str]:
    """Return the environment for a child that is a Python program of this package."""
    paths = [import_path(), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


def _descriptor_of(process: "subprocess.Popen[bytes]") -> int | None:
    """Waiting on a pidfd does not reap the process, so its id is not reused before the kill."""
    return os.pidfd_open(process.pid) if sys.platform == "linux" else None
