"""
Detects whether this machine or a subject's process was stopped.

A suspended virtual machine, or a client stopped by a signal, looks like a client that stalls. A case in which that was
seen is invalid.
"""

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from rocketdiff.core.arm import Member

TICK_S = 0.05
"""Polling interval. A shorter stop is indistinguishable from waiting for a CPU."""

WORTH_NOTING_NS = 200_000_000
"""A shorter wait for a CPU is normal."""

_STOPPED = frozenset("Tt")
"""States of proc(5): stopped by a signal, stopped by a debugger."""


@dataclass(frozen=True, slots=True)
class MeasuredStalls:
    """
    What a watch saw.

    gaps: begin and end of each long wait to be woken. stopped_ns: how long each member's processes were stopped.
    """

    gaps: tuple[tuple[int, int], ...] = ()
    stopped_ns: Mapping[Member, int] = field(default_factory=dict)

    @property
    def longest_gap_ns(self) -> int:
        return max((end_ns - begin_ns for begin_ns, end_ns in self.gaps), default=0)

    def without(self, signs_of_life_ns: Iterable[int]) -> "MeasuredStalls":
        """
        Drop the gaps in whose middle half a subject acted: then only the runner had to wait, not the machine.

        Only the middle half counts, because a clock is read some time before or after the event it is read for.
        """
        moments = sorted(signs_of_life_ns)
        return replace(self, gaps=tuple(gap for gap in self.gaps if not _is_lively(gap, moments)))


def _is_lively(gap: tuple[int, int], moments: Sequence[int]) -> bool:
    quarter_ns = (gap[1] - gap[0]) // 4
    return bisect_left(moments, gap[0] + quarter_ns) < bisect_left(moments, gap[1] - quarter_ns)


class StallWatch:
    """
    Thread that polls the clock and the subjects while the block is active.

    subjects: process id by member; children are included. Without /proc only the clock is polled. is_wanted: True if the scenario
    stops this member at some time between two instants; such a stop does not count.
    """

    def __init__(
        self, subjects: Mapping[Member, int], is_wanted: Callable[[Member, int, int], bool] = lambda *_: False
    ) -> None:
        self._subjects, self._is_wanted = dict(subjects), is_wanted
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
    def seen(self) -> MeasuredStalls:
        return MeasuredStalls(tuple(self._gaps), dict(self._stopped_ns))

    def _watch(self) -> None:
        last_ns = time.monotonic_ns()
        while not self._over.wait(TICK_S):
            now_ns = time.monotonic_ns()
            passed_ns = now_ns - last_ns
            due_ns = last_ns + int(TICK_S * 1e9)
            if now_ns - due_ns > WORTH_NOTING_NS:
                self._gaps.append((due_ns, now_ns))
            for member, pid in self._subjects.items():
                began_ns = time.monotonic_ns()
                if is_stopped(pid) and not self._is_wanted(member, began_ns, time.monotonic_ns()):
                    self._stopped_ns[member] += passed_ns
            last_ns = now_ns


def is_stopped(pid: int) -> bool:
    """True if a process or one of its children is stopped."""
    return _state(pid) in _STOPPED or any(_state(child) in _STOPPED for child in _children(pid))


def _state(pid: int) -> str:
    """The letter after the command name, which may itself contain parentheses."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    return ""


def _children(pid: int) -> tuple[int, ...]:
    with suppress(OSError):
        return tuple(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()))
    return ()
