"""Checks of processes that tests end."""

import contextlib
import time
from pathlib import Path


def gone(pid: int, within_s: float = 60.0) -> bool:
    """Whether the process has ended, possibly as a zombie: a container may have no init."""
    deadline = time.monotonic() + within_s
    while is_alive := lives(pid):
        if time.monotonic() >= deadline:
            break
        time.sleep(0.02)
    return not is_alive


def lives(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def program(file: Path, text: str) -> Path:
    """Write a shell script that can be executed."""
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


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
