"""
Whether a process that left something behind still lives, told from a later one with the same id.

Where /proc is mounted with hidepid, processes of other users are not shown: reading about one is forbidden (1) or there is
nothing to read (2 and 4). That is no error here, and no proof that the process is gone: see ``is_there``.
"""

import os
from pathlib import Path

_START_TIME_FIELD = 19
"""Of /proc/PID/stat, counted after the command name."""


def started_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if there is none, or if it is another user's and not shown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    return int(stat.rpartition(")")[2].split()[_START_TIME_FIELD])


def is_there(pid: int) -> bool:
    """Whether any process has this id, shown or not: the kernel tells who may be signalled whatever /proc hides (proc(5))."""
    if pid <= 0:
        return False  # to kill(2) these are groups of processes
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True
