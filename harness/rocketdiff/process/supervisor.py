"""
The supervisor: parent process of programs that must not outlive the runner, however it ends.

It is run by path, so it imports the standard library only. It has two modes:

    python -I -S supervisor.py RUNNER_PID run LIFE_LINE SCRATCH COMMAND…

runs one command with its own stdin, stdout and stderr, and exits with the command's status or signal.
LIFE_LINE: descriptor of a pipe whose other end only the runner holds. SCRATCH: folder to remove when the runner is
    gone, or empty.

    python -I -S supervisor.py RUNNER_PID serve

starts, stops and continues servers. It reads JSON lines on stdin, its life line, and writes JSON lines:

    {"start": "broker-a", "argv": [...], "cwd": "...", "env": {...}, "output": "...", "scratch": ["..."]}
      → {"started": "broker-a", "pid": 17} or {"refused": "broker-a", "why": "..."}
    {"stop": 17} or {"continue": 17}
      → {"stopped": 17, "begin_ns": ..., "end_ns": ...}, {"continued": ..., "was_held": ...} or {"refused": 17, "why": "..."}
        was_held: false if another process has continued or stopped it since "stop"
    → {"exited": 17, "status": -9}          when a server has ended; negative: the signal

Four safety nets, each for cases that the previous one misses:
 1. End of the life line: the kernel closes the pipe when the runner dies. Then everything is killed.
 2. Change of the supervisor's parent, in case a forked copy of the runner still holds the pipe.
 3. PR_SET_PDEATHSIG on every child, in case the supervisor is killed. It is tied to the *thread* that started the child:
    the supervisor has only one, the runner's come and go.
 4. PR_SET_CHILD_SUBREAPER: a process that left its group (fork, setsid, fork) is reparented to the supervisor, so that
    every descendant is found in /proc and killed.
SIGKILL also ends stopped processes, such as a paused broker.

Servers are stopped here because only the parent learns from the kernel that all threads of a child have stopped, and of
every continue and stop since; reading the state of 150 threads one by one takes milliseconds. Times are of the monotonic
clock.

The nets need Linux. On other systems ``run`` becomes the command itself, which sees the end of its input.
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

# Killed processes end within a few ms. A process in an uninterruptible wait must not hold up a run.
_END_DESCENDANTS_S = 5.0
_NOTICE_S = 0.005

# Polling interval of net 2. Outliving the runner by a second is harmless.
_CHECK_INTERVAL_MS = 1_000

_READ_BYTES = 65_536
_CANNOT_START = 127

# A stop takes well under a millisecond, except for a thread that waits for the disk.
_SIGNAL_TIMEOUT_NS = 5_000_000_000
_SIGNAL_POLL_S = 0.000_1


def run(runner: int, life_line: int, scratch: str, command: list[str]) -> NoReturn:
    """Run the command until it or the runner ends."""
    if sys.platform != "linux":
        os.execvp(command[0], command)  # noqa: S606 - a list, and no shell
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: sys.exit())  # caught around _watch; then everything is killed
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
    """Return the command's status when it ends by itself; None when the runner is gone."""
    ended = os.pidfd_open(child.pid)
    poll = select.poll()
    poll.register(life_line, 0)  # POLLHUP is always reported
    poll.register(ended, select.POLLIN)
    while os.getppid() == runner:
        ready = {descriptor for descriptor, _ in poll.poll(_CHECK_INTERVAL_MS)}
        if ended in ready:
            return child.wait()
        if life_line in ready:
            break
    return None


class Supervisor:
    """The servers that the runner started, by process id."""

    def __init__(self, runner: int) -> None:
        self._runner = runner
        self._servers: dict[int, subprocess.Popen[bytes]] = {}
        self._paused: set[int] = set()
        self._scratch: set[str] = set()
        self._received = b""
        self._dying_with_this_program = dying_with_this_program()

    def serve(self) -> None:
        """Execute orders until the runner is gone, then kill every server."""
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        try:
            self._obey_all()
        finally:
            self._end_all()

    def _obey_all(self) -> None:
        wake_up, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only signals with a handler write to the wake-up descriptor
        poll = select.poll()
        poll.register(sys.stdin.fileno(), select.POLLIN)
        poll.register(wake_up, select.POLLIN)
        while os.getppid() == self._runner:
            ready = dict(poll.poll(_CHECK_INTERVAL_MS))
            if wake_up in ready:
                os.read(wake_up, _READ_BYTES)
                self._reap()
            if sys.stdin.fileno() in ready and not self._obey():
                return

    def _end_all(self) -> None:
        """Kill all servers and descendants, and remove the scratch folders."""
        end_descendants(os.getpid())
        for server in self._servers.values():
            server.wait()
        for folder in self._scratch:
            shutil.rmtree(folder, ignore_errors=True)

    def _obey(self) -> bool:
        """Execute the received orders; False at the end of stdin."""
        data = os.read(sys.stdin.fileno(), _READ_BYTES)
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "start" in order:
                self._start(order)
            elif "stop" in order:
                self._pause(order["stop"])
            else:
                self._resume(order["continue"])
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
            _answer({"refused": order["start"], "why": str(error)})
            return
        self._servers[server.pid] = server
        self._scratch.update(order["scratch"])
        _answer({"started": order["start"], "pid": server.pid})

    def _pause(self, pid: int) -> None:
        """Stop a server, which must run; a second time does nothing."""
        begin_ns, why = time.monotonic_ns(), ""
        if pid not in self._paused:
            was_stopped = self._last_change(pid) == os.CLD_STOPPED
            self._paused.add(pid)
            why = "another process has stopped it" if was_stopped else self._signal(pid, signal.SIGSTOP, os.WSTOPPED)
        _answer_to(pid, "stopped", why, begin_ns)

    def _resume(self, pid: int) -> None:
        """Continue a server; say whether it was stopped from its pause until now."""
        begin_ns = time.monotonic_ns()
        change = self._last_change(pid)
        was_paused = pid in self._paused
        self._paused.discard(pid)
        is_stopped = was_paused if change is None else change == os.CLD_STOPPED
        why = self._signal(pid, signal.SIGCONT, os.WCONTINUED) if is_stopped else ""
        _answer_to(pid, "continued", why, begin_ns, was_held=not was_paused or change is None)

    def _signal(self, pid: int, number: signal.Signals, what: int) -> str:
        """Send a signal and wait until the kernel reports its effect on all threads; return why it had none."""
        if pid not in self._servers:
            return "it has ended"
        os.kill(pid, number)
        deadline_ns = time.monotonic_ns() + _SIGNAL_TIMEOUT_NS
        while os.waitid(os.P_PID, pid, what | os.WNOHANG) is None:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return "it has ended"
            if time.monotonic_ns() > deadline_ns:
                return "no effect in time"
            time.sleep(_SIGNAL_POLL_S)
        return ""

    def _last_change(self, pid: int) -> int | None:
        """
        Return CLD_STOPPED or CLD_CONTINUED if another process has stopped or continued a server since our last signal.

        The kernel keeps the last of several changes until it is asked.
        """
        last = None
        while pid in self._servers:
            event = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WCONTINUED | os.WNOHANG)
            if event is None:
                break
            last = event.si_code
        return last

    def _reap(self) -> None:
        for pid, server in list(self._servers.items()):
            status = server.poll()
            if status is not None:
                del self._servers[pid]
                self._paused.discard(pid)
                _answer({"exited": pid, "status": status})


def dying_with_this_program() -> Callable[[], None]:
    """
    Return a preexec function that makes the kernel kill the child when this program ends.

    Running Python between fork and exec is safe because this program has one thread.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    this = os.getpid()

    def tie() -> None:
        if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
        if os.getppid() != this:
            os._exit(_CANNOT_START)  # the supervisor died between fork and prctl: no signal will come

    return tie


def end_descendants(root: int) -> None:
    """Kill every process below ``root`` until none is left: a killed one may have forked meanwhile."""
    deadline = time.monotonic() + _END_DESCENDANTS_S
    while (living := descendants(root)) and time.monotonic() < deadline:
        for process in living:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_NOTICE_S)


def descendants(root: int) -> list[int]:
    """Return the living processes below ``root``, in any process group or session."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib takes as long to import as the rest of this program
        if name.isdecimal() and (parent := _living_parent(name)) is not None:
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(root, ()))
    for process in found:  # grows during iteration
        found += children.get(process, ())
    return found


def _living_parent(process: str) -> int | None:
    """Return the parent of a process; None if the process is dead or a zombie."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123 - as above
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return None if state in (b"Z", b"X") else int(parent)


def _answer_to(pid: int, done: str, why: str, begin_ns: int, **more: object) -> None:
    """Answer an order with its time, or with the reason why it had no effect."""
    span = {"begin_ns": begin_ns, "end_ns": time.monotonic_ns(), **more}
    _answer({"refused": pid, "why": why} if why else {done: pid, **span})


def _let_go_of_pipes() -> None:
    """Leave the only ends of stdin and stdout to the command."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)


def _leave_as(status: int) -> NoReturn:
    """Exit with the command's status or signal, without a core file."""
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _answer(message: dict[str, object]) -> None:
    """Write one line to the runner. If the runner is gone, stdin ends too."""
    with contextlib.suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), json.dumps(message).encode() + b"\n")


def main() -> None:
    """Run the mode that the arguments name."""
    runner, job, *rest = sys.argv[1:]
    if job == "serve":
        Supervisor(int(runner)).serve()
    else:
        run(int(runner), int(rest[0]), rest[1], rest[2:])


if __name__ == "__main__":
    main()
