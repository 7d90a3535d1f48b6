"""
Whether everything that should run was allowed to run: this machine, and each subject's processes.

A virtual machine that is suspended, or a client that somebody stops with a signal, looks like a client that stalls. Nobody
can be blamed for what happened while the machine did not work, so a case in which that was seen is invalid.
"""

import threading
import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from rocketdiff.core.events import Arm

TICK_S = 0.05
"""How often is looked; a stop that is shorter than this cannot be told from waiting for a processor."""

WORTH_NOTING_NS = 200_000_000
"""A thread that waits less for a processor is no sign of anything."""

_STOPPED = frozenset("Tt")
"""States of proc(5): stopped by a signal, stopped by a debugger."""


@dataclass(frozen=True, slots=True)
class Stalls:
    """
    What a watch saw.

    gaps: from when to when its thread waited to be woken, where that took long. stopped_ns: for how long each arm's
    processes were seen stopped.
    """

    gaps: tuple[tuple[int, int], ...] = ()
    stopped_ns: Mapping[Arm, int] = field(default_factory=dict)

    @property
    def longest_gap_ns(self) -> int:
        """0 where it was always woken in time."""
        return max((end_ns - begin_ns for begin_ns, end_ns in self.gaps), default=0)

    def without(self, signs_of_life_ns: Iterable[int]) -> "Stalls":
        """
        Less the gaps in whose middle a subject did something: then it was the runner that had to wait, not the machine.

        The middle half, because a clock is read some time before or after what it is read for.
        """
        moments = sorted(signs_of_life_ns)
        return replace(self, gaps=tuple(gap for gap in self.gaps if not _is_lively(gap, moments)))


def _is_lively(gap: tuple[int, int], moments: Sequence[int]) -> bool:
    quarter_ns = (gap[1] - gap[0]) // 4
    return bisect_left(moments, gap[0] + quarter_ns) < bisect_left(moments, gap[1] - quarter_ns)


class StallWatch:
    """
    A thread that looks at the clock and at the subjects, from entering to leaving the block.

    subjects: process id by arm; what that process started is looked at too. Without a /proc only the clock is.
    """

    def __init__(self, subjects: Mapping[Arm, int]) -> None:
        self._subjects = dict(subjects)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="stall-watch", daemon=True)
        self._gaps: list[tuple[int, int]] = []
        self._stopped_ns = dict.fromkeys(self._subjects, 0)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def seen(self) -> Stalls:
        """Until now, or until the end of the block."""
        return Stalls(tuple(self._gaps), dict(self._stopped_ns))

    def _watch(self) -> None:
        last_ns = time.monotonic_ns()
        while not self._over.wait(TICK_S):
            now_ns = time.monotonic_ns()
            passed_ns = now_ns - last_ns
            due_ns = last_ns + int(TICK_S * 1e9)
            if now_ns - due_ns > WORTH_NOTING_NS:
                self._gaps.append((due_ns, now_ns))
            for arm, pid in self._subjects.items():
                if is_stopped(pid):
                    self._stopped_ns[arm] += passed_ns
            last_ns = now_ns


def is_stopped(pid: int) -> bool:
    """Whether a process or one it started is stopped; one that is gone is not."""
    return _state(pid) in _STOPPED or any(_state(child) in _STOPPED for child in _children(pid))


def _state(pid: int) -> str:
    """The letter after the command's name, which itself may hold anything, parentheses too."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    return ""


def _children(pid: int) -> tuple[int, ...]:
    with suppress(OSError):
        return tuple(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()))
    return ()
