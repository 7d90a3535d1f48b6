"""
The process of a simulation host: lines in, lines out, and never a dead-lock on a full pipe.

One thread does both: it writes what the host will take and reads what the host has said, whichever is possible first.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psutil

from rocketdiff.core.errors import EnvironmentMissing

_CHUNK_BYTES = 1 << 18
_END_S = 5.0
"""A host that has nothing left to do needs some 50 ms to end; only a machine in trouble takes longer, and then it is killed."""

_LAST_WORDS_BYTES = 2_000
_LAST_WORDS_CHARACTERS = 300

_CHANGES_A_JVM = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "NAMESRV_ADDR")
"""Variables by which a user's shell would change the host, or the client in it, behind our back."""


class HostProcess:
    """
    A running host; not for several threads.

    It is ended with the thread that made it, so that nothing is left behind however we end.
    """

    def __init__(self, command: Sequence[str], class_path: str = "") -> None:
        """
        Start it; ``class_path`` travels by environment, where no list of processes shows it.

        Raises EnvironmentMissing if that cannot be done.
        """
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        guard = [
            sys.executable,
            "-I",
            "-S",
            str(Path(__file__).parents[2] / "process" / "die_with_parent.py"),
            str(os.getpid()),
        ]
        try:
            self._process = subprocess.Popen(
                [*guard, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=_environment(class_path),
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            self._stderr.close()
            raise EnvironmentMissing(f"to be able to start {command[0]}", seen=str(error)) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._unsent = bytearray()
        self._unfinished = b""
        self._is_ended = False

    @property
    def unsent_bytes(self) -> int:
        """What has been said but not taken by the host yet."""
        return len(self._unsent)

    def say(self, line: bytes) -> None:
        """Queue a line; it goes out while lines are waited for."""
        self._unsent += line + b"\n"

    def hear(self, silence_s: float) -> list[bytes] | None:
        """
        Exchange what can be exchanged, and return the whole lines that came (perhaps none yet).

        None: the host neither took nor said anything for ``silence_s``. Raises EOFError when its output has ended.
        """
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        if self._unsent:
            poll.register(self._input, select.POLLOUT)
        ready = {descriptor for descriptor, _ in poll.poll(silence_s * 1_000)}
        if not ready:
            return None
        if self._input.fileno() in ready:
            self._write()
        return self._read() if self._output.fileno() in ready else []

    def processor_s(self) -> float:
        """Processor time it has used so far; 0 for one that is gone."""
        try:
            used = psutil.Process(self._process.pid).cpu_times()
        except psutil.NoSuchProcess:
            return 0.0
        return float(used.user + used.system)

    def last_words(self) -> str:
        """The last line it wrote on stderr, if any."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _LAST_WORDS_BYTES))
        spoken = [line.strip() for line in self._stderr.read().decode(errors="replace").split("\n") if line.strip()]
        return spoken[-1][:_LAST_WORDS_CHARACTERS] if spoken else ""

    def how_it_ended(self) -> str:
        """In words; ends it if it has not ended by itself."""
        status = self._await_end()
        if status is None:
            return "it closed its output while it went on running"
        return f"it exited with status {status}" if status >= 0 else f"it was ended by {signal.Signals(-status).name}"

    def close(self, *, politely: bool) -> None:
        """End it: by the end of its input if that is polite enough, else at once; a second call does nothing."""
        if self._is_ended:
            return
        self._is_ended = True
        with contextlib.suppress(OSError):
            self._input.close()
        if politely:
            self._await_end()
        self._kill()
        self._process.wait()
        self._output.close()
        self._stderr.close()

    def _await_end(self) -> int | None:
        try:
            return self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._kill()
            return None

    def _kill(self) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _write(self) -> None:
        try:
            written = os.write(self._input.fileno(), memoryview(self._unsent)[:_CHUNK_BYTES])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent.clear()  # its end is told by its output
            return
        del self._unsent[:written]

    def _read(self) -> list[bytes]:
        data = os.read(self._output.fileno(), _CHUNK_BYTES)
        if not data:
            raise EOFError
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        return lines


def _environment(class_path: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _CHANGES_A_JVM}
    return kept | {"CLASSPATH": class_path} if class_path else kept
