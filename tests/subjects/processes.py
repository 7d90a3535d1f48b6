"""Checks of processes that tests end."""

import time
from pathlib import Path


def gone(pid: int, within_s: float = 60.0) -> bool:
    """Whether the process has ended, possibly as a zombie."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def only_child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())


def processes_with(word: str) -> list[str]:
    """Command lines with a word."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        lines += [line] if word in line else []
    return lines
