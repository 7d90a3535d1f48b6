"""
A program of its own: parent of all servers of one cluster, which ends them when the runner is gone, however it went.

It is run by path (``python -I -S guardian.py RUNNER_PID``), so it imports the standard library only. It obeys JSON lines
on stdin and tells JSON lines on stdout:

    {"start": "broker-a", "argv": [...], "cwd": "...", "env": {...}, "output": "...", "scratch": ["..."]}
      → {"started": "broker-a", "pid": 17} or {"refused": "broker-a", "why": "..."}
    {"stop": 17} or {"continue": 17}
      → {"stopped": 17, "begin_ns": ..., "end_ns": ...}, {"continued": ...} or {"refused": 17, "why": "..."}
    → {"exited": 17, "status": -9}          whenever a server has ended; negative: the signal

Three nets, each for what the one before it misses:
 1. the end of stdin, which the kernel brings about when the runner dies by any means: kill all, exit;
 2. its own parent changing, for the case that a forked copy of the runner still holds the pipe;
 3. PR_SET_PDEATHSIG on every server, for the case that the guardian itself is killed. That signal is tied to the
    *thread* that started the child, which is why servers are started here, in a program with one thread, and not by the
    runner, whose threads come and go.
SIGKILL ends stopped processes too, so a paused broker dies like any other.

Stopping is done here as well, because the kernel tells the parent, and nobody else, when every thread of a child has
stopped; asking for the state of 150 threads one by one takes milliseconds. Times are of the monotonic clock.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1

# Only net 2 depends on looking; a second of life after the runner's death harms nobody.
_LOOK_AROUND_MS = 1_000

_READ_BYTES = 65_536

# A stop takes effect in well under a millisecond, except in a thread that waits for the disk.
_SIGNAL_TIMEOUT_NS = 5_000_000_000
_SIGNAL_POLL_S = 0.000_1


class Guardian:
    """The servers under guard, by process id."""

    def __init__(self, runner_pid: int) -> None:
        self._pid = os.getpid()
        self._runner_pid = runner_pid
        self._servers: dict[int, subprocess.Popen[bytes]] = {}
        self._scratch: set[str] = set()
        self._received = b""
        self._libc = ctypes.CDLL(None, use_errno=True)

    def watch(self) -> None:
        """Serve until the runner is gone, then end every server."""
        wake_up, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler nothing is written to the descriptor
        poll = select.poll()
        poll.register(sys.stdin.fileno(), select.POLLIN)
        poll.register(wake_up, select.POLLIN)
        while os.getppid() == self._runner_pid:
            ready = dict(poll.poll(_LOOK_AROUND_MS))
            if wake_up in ready:
                os.read(wake_up, _READ_BYTES)
                self._reap()
            if sys.stdin.fileno() in ready and not self._obey():
                return

    def end_all(self) -> None:
        """Kill every server and what it may have started, wait until they are gone, and remove what only they needed."""
        for pid in self._servers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        for server in self._servers.values():
            server.wait()
        for folder in self._scratch:
            shutil.rmtree(folder, ignore_errors=True)

    def _obey(self) -> bool:
        """Carry out the orders that have come; False at the end of stdin."""
        data = os.read(sys.stdin.fileno(), _READ_BYTES)
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "start" in order:
                self._start(order)
            elif "stop" in order:
                self._signal(order["stop"], signal.SIGSTOP, os.WSTOPPED, "stopped")
            else:
                self._signal(order["continue"], signal.SIGCONT, os.WCONTINUED, "continued")
        return bool(data)

    def _start(self, order: dict[str, Any]) -> None:
        try:
            with Path(order["output"]).open("ab") as output:
                server = subprocess.Popen(
                    order["argv"],
                    cwd=order["cwd"],
                    env=order["env"],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=self._die_with_guardian,  # noqa: PLW1509  # this program has one thread
                )
        except (OSError, subprocess.SubprocessError) as error:
            tell({"refused": order["start"], "why": str(error)})
            return
        self._servers[server.pid] = server
        self._scratch.update(order["scratch"])
        tell({"started": order["start"], "pid": server.pid})

    def _signal(self, pid: int, number: signal.Signals, what: int, told: str) -> None:
        """Send a signal to one server and wait until the kernel says that all of it has followed."""
        if pid not in self._servers:
            tell({"refused": pid, "why": "it has ended"})
            return
        begin_ns = time.monotonic_ns()
        os.kill(pid, number)
        while os.waitid(os.P_PID, pid, what | os.WNOHANG) is None:
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
            if ended or time.monotonic_ns() - begin_ns > _SIGNAL_TIMEOUT_NS:
                tell({"refused": pid, "why": "it has ended" if ended else f"not {told} in time"})
                return
            time.sleep(_SIGNAL_POLL_S)
        tell({told: pid, "begin_ns": begin_ns, "end_ns": time.monotonic_ns()})

    def _die_with_guardian(self) -> None:
        """Runs in the child, before its program: safe because this program has no other thread."""
        if self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
        if os.getppid() != self._pid:
            os._exit(1)  # the guardian died between fork and prctl, and will send no signal any more

    def _reap(self) -> None:
        for pid, server in list(self._servers.items()):
            status = server.poll()
            if status is not None:
                del self._servers[pid]
                tell({"exited": pid, "status": status})


def tell(message: dict[str, object]) -> None:
    """One line to the runner; if it is gone, the end of stdin says so as well."""
    with contextlib.suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), json.dumps(message).encode() + b"\n")


def _die(*_: object) -> None:
    raise SystemExit(0)


def main() -> None:
    """Guard the servers of the runner whose process id is the first argument."""
    signal.signal(signal.SIGTERM, _die)
    guardian = Guardian(int(sys.argv[1]))
    try:
        guardian.watch()
    finally:
        guardian.end_all()


if __name__ == "__main__":
    main()
