"""
Whose a container is, written on it as labels, and whether whoever it belongs to still lives.

A runner that is killed cannot remove its containers; somebody else must, later, and must never remove those of a run that
goes on. So every label that the question needs is on the container itself: process id and start time of the runner, which
boot of which machine they belong to, and which process id space, because an engine may be shared by several of each.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

from rocketdiff.process.liveness import is_there, started_ticks

_PREFIX = "org.rocketdiff."

RUN_LABEL = f"{_PREFIX}run"
"""One value a cluster; every container and network of ours has it."""

NODE_LABEL = f"{_PREFIX}node"

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MACHINE = Path("/etc/machine-id")
_PID_SPACE = Path("/proc/self/ns/pid")


class Fate(StrEnum):
    """What has become of a container's owner."""

    LIVES = "lives"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that starts clusters, and where its process id means something."""

    pid: int
    started_ticks: int
    boot: str
    pid_space: str
    machine: str

    @classmethod
    def here(cls) -> Self:
        """This process."""
        pid = os.getpid()
        return cls(pid, started_ticks(pid) or 0, _read(_BOOT), _PID_SPACE.readlink().name, _read(_MACHINE))

    @classmethod
    def named(cls, labels: Mapping[str, str]) -> Self | None:
        """The owner that labels name; None where they name none, or not in full."""
        told = [labels.get(_PREFIX + name) for name in _FIELDS]
        pid, ticks, *places = told
        if not (pid and ticks and pid.isdigit() and ticks.isdigit()) or None in places:
            return None
        return cls(int(pid), int(ticks), *(place or "" for place in places))

    def labels(self) -> dict[str, str]:
        """As they are written on a container."""
        values = (self.pid, self.started_ticks, self.boot, self.pid_space, self.machine)
        return {_PREFIX + name: str(value) for name, value in zip(_FIELDS, values, strict=True)}


_FIELDS = ("owner-pid", "owner-started-ticks", "owner-boot", "owner-pid-space", "owner-machine")


def fate_of(
    owner: Owner | None,
    here: Owner,
    *,
    is_running: bool,
    ticks_of: Callable[[int], int | None] = started_ticks,
    has: Callable[[int], bool] = is_there,
) -> Fate:
    """
    What has become of an owner, as far as this process can tell; what it cannot tell is UNKNOWN and left alone.

    is_running: whether the container runs. Containers do not survive the end of their machine's boot, so a stopped one of
    an earlier boot of this machine has no owner any more, while a running one is another machine's on a shared engine. So is
    one whose owner is another user's process that /proc hides: of it is known that it is there, and not since when.
    """
    if owner is None:
        return Fate.UNKNOWN
    if owner.boot != here.boot:
        is_ours = bool(here.machine) and owner.machine == here.machine
        return Fate.GONE if is_ours and not is_running else Fate.UNKNOWN
    if owner.pid_space != here.pid_space:
        return Fate.UNKNOWN
    ticks = ticks_of(owner.pid)
    if ticks is None:
        return Fate.UNKNOWN if has(owner.pid) else Fate.GONE
    return Fate.LIVES if ticks == owner.started_ticks else Fate.GONE


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
