"""
A program of its own: asks the kernel to end it with the thread that started it, then becomes the program of its arguments.

Run by path (``python -I -S die_with_parent.py PARENT_PID COMMAND…``), so it imports the standard library only. A host sees
the end of its input when its parent dies; this is for one that is too busy to look. Only Linux has it: elsewhere such a
host ends when its script does.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_CANNOT_START = 127


def main() -> None:
    """Tie this process to its parent, and go on as the command."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(_CANNOT_START)  # it died before the kernel was asked, and will send no signal any more
    try:
        os.execv(command[0], command)  # noqa: S606 - a list, and no shell
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error}\n")
        sys.exit(_CANNOT_START)


if __name__ == "__main__":
    main()
