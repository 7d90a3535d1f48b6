"""Whether a process that left something behind still lives, told from a later one with the same id."""

from pathlib import Path

_START_TIME_FIELD = 19
"""Of /proc/PID/stat, counted after the command name."""


def started_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(stat.rpartition(")")[2].split()[_START_TIME_FIELD])
