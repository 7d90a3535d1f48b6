"""
A program of its own: parent of one subject, which ends it when the runner is gone, however it went.

Run by path (``python -I -S leash.py RUNNER_PID LIFE_LINE COMMAND…``), so it imports the standard library only. The
subject inherits stdin, stdout and stderr; the leash keeps none of the first two, so that the runner sees their end when
the subject ends. It leaves with the subject's status, by the same signal if it was one.

Three nets, each for what the one before it misses:
 1. the end of the life line, a pipe whose other end only the runner holds: the kernel closes it when the runner dies;
 2. its own parent changing, for the case that a forked copy of the runner still holds the pipe;
 3. PR_SET_PDEATHSIG on the subject, for the case that the leash itself is killed. That signal is tied to the *thread*
    that started the child: hence a program with one thread, and not the runner, whose threads come and go.
SIGKILL reaches the whole process group, stopped processes too.

A process that left the group (fork, setsid, fork) is not out of reach: the leash is a subreaper, so whoever loses its parent
becomes its child. It ends them all when the subject ends, before it leaves itself.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

# Killed processes are gone in a few ms; one in an uninterruptible wait is not worth keeping a run for.
_END_DESCENDANTS_S = 5.0
_NOTICE_S = 0.005

# Only net 2 depends on looking; a second of life after the runner's death harms nobody.
_LOOK_AROUND_MS = 1_000

_CANNOT_START = 127


def main() -> None:
    """Start the command of the arguments, and live as long as both it and the runner do."""
    runner, life_line, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    leash = os.getpid()

    def die_with_leash() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != leash:
            os._exit(_CANNOT_START)  # the leash died between fork and prctl, and will send no signal any more

    try:
        subject = subprocess.Popen(command, preexec_fn=die_with_leash)  # noqa: PLW1509 - there is no other thread
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error}\n")
        sys.exit(_CANNOT_START)
    let_go_of_pipes()
    ended = os.pidfd_open(subject.pid)
    poll = select.poll()
    poll.register(life_line, 0)  # POLLHUP is always told
    poll.register(ended, select.POLLIN)
    while os.getppid() == runner:
        ready = {descriptor for descriptor, _ in poll.poll(_LOOK_AROUND_MS)}
        if ended in ready:
            status = subject.wait()
            end_descendants(leash)
            leave_as(status)
        if life_line in ready:
            break
    end_descendants(leash)
    os.killpg(0, signal.SIGKILL)


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


def let_go_of_pipes() -> None:
    """Keep only stderr, so that the subject's ends of stdin and stdout are the last."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)


def leave_as(status: int) -> None:
    """Exit with the subject's status; if a signal ended it, by that signal, without a core file of our own."""
    if status >= 0:
        os._exit(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):  # SIGKILL takes no handler, and needs none
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)


if __name__ == "__main__":
    main()
