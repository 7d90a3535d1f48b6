"""
A program of its own: the parent of programs that must not outlive the runner, however the runner goes.

Run by path, so it imports the standard library only. It has one of two jobs:

    python -I -S supervisor.py RUNNER_PID run LIFE_LINE SCRATCH COMMAND…

runs one command with the stdin, stdout and stderr of this program, and leaves with its status, by the same signal if it was
one. LIFE_LINE: a descriptor, the end of a pipe whose other end only the runner holds. SCRATCH: a folder that is removed when
the runner is gone; empty for none.

    python -I -S supervisor.py RUNNER_PID serve

starts, stops and continues any number of servers. It obeys JSON lines on stdin, its life line, and tells JSON lines on stdout:

    {"start": "broker-a", "argv": [...], "cwd": "...", "env": {...}, "output": "...", "scratch": ["..."]}
      → {"started": "broker-a", "pid": 17} or {"refused": "broker-a", "why": "..."}
    {"stop": 17} or {"continue": 17}
      → {"stopped": 17, "begin_ns": ..., "end_ns": ...}, {"continued": ...} or {"refused": 17, "why": "..."}
    → {"exited": 17, "status": -9}          whenever a server has ended; negative: the signal

Four nets, each for what the one before it misses:
 1. the end of the life line: the kernel closes the pipe when the runner dies by any means. Everything is killed then;
 2. its own parent changing, for the case that a forked copy of the runner still holds the pipe;
 3. PR_SET_PDEATHSIG on every child, for the case that this program is killed. That signal is tied to the *thread* that
    started the child: hence a program with one thread, and not the runner, whose threads come and go;
 4. PR_SET_CHILD_SUBREAPER: a process that left its group (fork, setsid, fork) becomes a child of this program when it loses
    its parent, so that everything below it is found in /proc and ended.
SIGKILL ends stopped processes too, so a paused broker dies like any other.

Stopping is done here as well, because the kernel tells the parent, and nobody else, when every thread of a child has
stopped; asking for the state of 150 threads one by one takes milliseconds. Times are of the monotonic clock.

Only Linux has these nets. Elsewhere ``run`` becomes the command itself, which sees the end of its input.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

# Killed processes are gone in a few ms; one in an uninterruptible wait is not worth keeping a run for.
_END_DESCENDANTS_S = 5.0
_NOTICE_S = 0.005

# Only net 2 depends on looking; a second of life after the runner's death harms nobody.
_LOOK_AROUND_MS = 1_000

_READ_BYTES = 65_536
_CANNOT_START = 127

# A stop takes effect in well under a millisecond, except in a thread that waits for the disk.
_SIGNAL_TIMEOUT_NS = 5_000_000_000
_SIGNAL_POLL_S = 0.000_1


def run(runner: int, life_line: int, scratch: str, command: list[str]) -> NoReturn:
    """Start the command, and live as long as both it and the runner do."""
    if sys.platform != "linux":
        os.execvp(command[0], command)  # noqa: S606 - a list, and no shell
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: sys.exit())  # caught while watching: everything is ended then
    try:
        child = subprocess.Popen(command, preexec_fn=dying_with_this_program())  # noqa: PLW1509 - one thread
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error}\n")
        sys.exit(_CANNOT_START)
    _let_go_of_pipes()
    status = None
    with contextlib.suppress(SystemExit):
        status = _watch(runner, life_line, child)
    end_descendants(os.getpid())
    if status is not None:
        _leave_as(status)
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)
    sys.exit()  # never reached


def _watch(runner: int, life_line: int, child: "subprocess.Popen[bytes]") -> int | None:
    """The command's status when it has ended by itself; None when the runner is gone."""
    ended = os.pidfd_open(child.pid)
    poll = select.poll()
    poll.register(life_line, 0)  # POLLHUP is always told
    poll.register(ended, select.POLLIN)
    while os.getppid() == runner:
        ready = {descriptor for descriptor, _ in poll.poll(_LOOK_AROUND_MS)}
        if ended in ready:
            return child.wait()
        if life_line in ready:
            break
    return None


class Servers:
    """The servers that the runner has asked for, by process id."""

    def __init__(self, runner: int) -> None:
        self._runner = runner
        self._servers: dict[int, subprocess.Popen[bytes]] = {}
        self._scratch: set[str] = set()
        self._received = b""
        self._dying_with_this_program = dying_with_this_program()

    def serve(self) -> None:
        """Obey until the runner is gone, then end every server."""
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        try:
            self._obey_all()
        finally:
            self._end_all()

    def _obey_all(self) -> None:
        wake_up, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler nothing is written to the descriptor
        poll = select.poll()
        poll.register(sys.stdin.fileno(), select.POLLIN)
        poll.register(wake_up, select.POLLIN)
        while os.getppid() == self._runner:
            ready = dict(poll.poll(_LOOK_AROUND_MS))
            if wake_up in ready:
                os.read(wake_up, _READ_BYTES)
                self._reap()
            if sys.stdin.fileno() in ready and not self._obey():
                return

    def _end_all(self) -> None:
        """Kill every server and what it may have started, wait until they are gone, and remove what only they needed."""
        end_descendants(os.getpid())
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
            with open(order["output"], "ab") as output:  # noqa: PTH123 - pathlib takes long to import
                server = subprocess.Popen(
                    order["argv"],
                    cwd=order["cwd"],
                    env=order["env"],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=self._dying_with_this_program,  # noqa: PLW1509 - one thread
                )
        except (OSError, subprocess.SubprocessError) as error:
            _tell({"refused": order["start"], "why": str(error)})
            return
        self._servers[server.pid] = server
        self._scratch.update(order["scratch"])
        _tell({"started": order["start"], "pid": server.pid})

    def _signal(self, pid: int, number: signal.Signals, what: int, told: str) -> None:
        """Send a signal to one server and wait until the kernel says that all of it has followed."""
        if pid not in self._servers:
            _tell({"refused": pid, "why": "it has ended"})
            return
        begin_ns = time.monotonic_ns()
        os.kill(pid, number)
        while os.waitid(os.P_PID, pid, what | os.WNOHANG) is None:
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
            if ended or time.monotonic_ns() - begin_ns > _SIGNAL_TIMEOUT_NS:
                _tell({"refused": pid, "why": "it has ended" if ended else f"not {told} in time"})
                return
            time.sleep(_SIGNAL_POLL_S)
        _tell({told: pid, "begin_ns": begin_ns, "end_ns": time.monotonic_ns()})

    def _reap(self) -> None:
        for pid, server in list(self._servers.items()):
            status = server.poll()
            if status is not None:
                del self._servers[pid]
                _tell({"exited": pid, "status": status})


def dying_with_this_program() -> Callable[[], None]:
    """
    To be called in a child before its program begins: the kernel ends it with this program, at whatever moment that ends.

    It is safe to run Python between fork and exec because this program has no other thread.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    this = os.getpid()

    def tie() -> None:
        if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
        if os.getppid() != this:
            os._exit(_CANNOT_START)  # it died between fork and prctl, and will send no signal any more

    return tie


def end_descendants(root: int) -> None:
    """Kill every process below ``root``, as often as new ones are found: a killed one can have forked meanwhile."""
    deadline = time.monotonic() + _END_DESCENDANTS_S
    while (living := descendants(root)) and time.monotonic() < deadline:
        for process in living:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_NOTICE_S)


def descendants(root: int) -> list[int]:
    """Living processes below ``root``, whatever group or session they are in."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib takes as long to import as the rest of this program
        if name.isdecimal() and (parent := _living_parent(name)) is not None:
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(root, ()))
    for process in found:  # grows while it is read
        found += children.get(process, ())
    return found


def _living_parent(process: str) -> int | None:
    """Parent of a process; None when it is dead, whether or not somebody has waited for it."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123 - as above
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return None if state in (b"Z", b"X") else int(parent)


def _let_go_of_pipes() -> None:
    """Keep only stderr, so that the command's ends of stdin and stdout are the last."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)


def _leave_as(status: int) -> NoReturn:
    """Exit with the command's status; if a signal ended it, by that signal, without a core file of our own."""
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):  # SIGKILL takes no handler, and needs none
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _tell(message: dict[str, object]) -> None:
    """One line to the runner; if it is gone, the end of stdin says so as well."""
    with contextlib.suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), json.dumps(message).encode() + b"\n")


def main() -> None:
    """Do the job that the arguments name for the runner whose process id is the first of them."""
    runner, job, *rest = sys.argv[1:]
    if job == "serve":
        Servers(int(runner)).serve()
    else:
        run(int(runner), int(rest[0]), rest[1], rest[2:])


if __name__ == "__main__":
    main()
