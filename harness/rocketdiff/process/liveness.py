"""
Whether a process still lives; its start time tells it from a later process with the same id.

If /proc is mounted with hidepid, processes of other users are hidden: reading is forbidden (1), or there is no file (2 and 4).
That is no error here, and no proof that the process is gone: see ``is_there``.
"""

import os
from pathlib import Path

_START_TIME_FIELD = 19
"""Of /proc/PID/stat, counted after the command name."""


def started_ticks(pid: int) -> int | None:
    """Start time of a process in clock ticks since boot; None if it does not exist, or is another user's and hidden."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    return int(stat.rpartition(")")[2].split()[_START_TIME_FIELD])


def is_there(pid: int) -> bool:
    """Whether any process has this id, hidden or not: kill(2) reports it whatever /proc hides (proc(5))."""
    if pid <= 0:
        return False  # process groups for kill(2)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # another user's
    return True
