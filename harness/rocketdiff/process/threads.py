"""States of the threads of processes, from /proc: whether a signal that stops or continues them has taken effect."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_STOPPED = "T"
"""State of proc(5): stopped by a signal. All others mean that the thread runs, waits, or has ended."""

_ENDED = frozenset("ZX")


def are_stopped(pids: Iterable[int]) -> bool:
    """True if every living thread of these processes is stopped, and there is one."""
    states = _states(pids)
    return bool(states) and set(states) == {_STOPPED}


def are_running(pids: Iterable[int]) -> bool:
    """True if no living thread of these processes is stopped, and there is one."""
    states = _states(pids)
    return bool(states) and _STOPPED not in states


def _states(pids: Iterable[int]) -> list[str]:
    found = (_state(thread) for pid in pids for thread in Path(f"/proc/{pid}/task").glob("*/stat"))
    return [state for state in found if state and state not in _ENDED]


def _state(stat: Path) -> str:
    """The letter after the command name, which may itself contain parentheses; empty for a thread that has ended."""
    with suppress(OSError, IndexError):
        return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    return ""
