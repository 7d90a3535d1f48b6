"""
Whether a process is alive; its start time distinguishes it from a later process with the same id.

With hidepid, /proc hides processes of other users: reading fails (1), or the file is missing (2 and 4). This is no
error here, and no proof that the process is gone: see ``is_there``.
"""

import os
from pathlib import Path

_START_TIME_FIELD = 19
"""In /proc/PID/stat, counted after the command name."""


def started_ticks(pid: int) -> int | None:
    """Return a process's start time in clock ticks since boot; None if it does not exist or is hidden."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    return int(stat.rpartition(")")[2].split()[_START_TIME_FIELD])


def is_there(pid: int) -> bool:
    """True if any process has this id, hidden or not: kill(2) ignores hidepid (proc(5))."""
    if pid <= 0:
        return False  # kill(2) would address process groups
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # another user's process
    return True
