"""
A program of its own: parent of Spark's JVM, which ends it and removes its folder when the runner is gone, however it went.

Run by path (``python -I -S supervisor.py RUNNER_PID FOLDER COMMAND…``), so it imports the standard library only. The
write end of its stdin is the runner's alone, and the kernel closes it when the runner dies. Four nets, each for what the one before it misses:
 1. the end of stdin;
 2. its own parent changing, for the case that a forked copy of the runner still holds the pipe;
 3. PR_SET_PDEATHSIG on the JVM, for the case that this program is killed; the signal is tied to the *thread* that started
    the child, hence a program with one thread;
 4. PR_SET_CHILD_SUBREAPER: the Python workers of the JVM make process groups of their own and outlive it by a moment; when
    the JVM is gone they become children of this program, which ends them.
"""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

# Only net 2 depends on looking; a second of life after the runner's death harms nobody.
_LOOK_AROUND_MS = 1_000

_CANNOT_START = 127


def main() -> None:
    """Start the command of the arguments; leave with its status, or by 0 when it was ended here."""
    runner, folder, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # meant for the runner, whose end is told by stdin
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    supervisor = os.getpid()

    def die_with_supervisor() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(_CANNOT_START)  # it died between fork and prctl, and will send no signal any more

    try:
        jvm = subprocess.Popen(command, preexec_fn=die_with_supervisor, process_group=0)  # noqa: PLW1509 - one thread
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error}\n")
        sys.exit(_CANNOT_START)
    status = watch(runner, jvm)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(jvm.pid, signal.SIGKILL)
    jvm.wait()
    end_orphans()
    if status is None:
        shutil.rmtree(folder, ignore_errors=True)
        status = 0
    sys.exit(status if status >= 0 else 128 - status)


def watch(runner: int, jvm: "subprocess.Popen[bytes]") -> int | None:
    """The JVM's status when it has ended by itself; None when the runner is gone or has closed its end."""
    ended = os.pidfd_open(jvm.pid)
    poll = select.poll()
    poll.register(0, 0)  # POLLHUP is always told
    poll.register(ended, select.POLLIN)
    while os.getppid() == runner:
        ready = {descriptor for descriptor, _ in poll.poll(_LOOK_AROUND_MS)}
        if ended in ready:
            return jvm.wait()
        if 0 in ready:
            break
    return None


def end_orphans() -> None:
    """Kill and wait for whatever the JVM had started, until nothing of it is left."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while found := children.read_text(encoding="ascii").split():
        for pid in map(int, found):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
