"""
What each client's process uses (threads, processor time, memory, open files) and how long its threads waited for a core.

Read from outside, so a client in any language can be compared. A sample of a client with 34 threads costs 3.5 ms of CPU
(measured at load 20), most of it for the threads' waiting: 1.5 % of a core at this interval for two such clients.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from rocketdiff.core.arm import Member
from rocketdiff.run.case.open_connections import below
from rocketdiff.run.case.sampling import Watch
from rocketdiff.traces.manifest import ResourceSample

SAMPLES_AT_REST = 6
AT_REST_EVERY_S = 0.25
"""
1.25 s at rest. A processor time of the kernel is exact to 10 ms, which is 4 % of a core between two samples: enough to
tell an idle process from one that spins in every one of the five intervals.
"""

MOST_AT_REST = 17
STILL_AT_WORK = 0.1
"""
Samples at rest go on, for 4 s at most, while a client wants this share of a core: on a crowded machine a JVM still compiles
what the sends made hot.
"""

MOST_KEPT = 48
"""Samples stored of those before rest, evenly spaced from the first on, besides the last of them."""


class ResourceWatch(Watch):
    """
    Samples processes while the block is active, and finally a few times after ``rest``.

    clients: process id by member; descendants are included. A sample of an ended or unreadable process has no numbers.
    """

    def __init__(self, clients: Mapping[Member, int]) -> None:
        super().__init__("resource-watch")
        self._clients = {member: _Usage(pid) for member, pid in clients.items()}
        self._samples: dict[Member, list[ResourceSample]] = {member: [] for member in self._clients}

    @property
    def seen(self) -> dict[Member, tuple[ResourceSample, ...]]:
        """Each member's samples: some of those before rest, and all taken at rest."""
        return {member: _kept(samples) for member, samples in self._samples.items()}

    def _look_at_rest(self) -> None:
        for number in range(MOST_AT_REST):
            if number >= SAMPLES_AT_REST and not self._is_any_at_work():
                return
            time.sleep(AT_REST_EVERY_S if number else 0.0)
            self._look(is_at_rest=True)

    def _is_any_at_work(self) -> bool:
        return any(last.cores_wanted_since(one) >= STILL_AT_WORK for *_, one, last in self._samples.values())

    def _look(self, *, is_at_rest: bool = False) -> None:
        for member, usage in self._clients.items():
            self._samples[member].append(usage.sample(is_at_rest=is_at_rest))


class _Usage:
    """
    Reads a process with its descendants.

    Processor time and waiting never go back: what an ended process or thread had used at its last sample still counts.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._known: dict[int, psutil.Process] = {}
        self._cpu_ns: dict[int, int] = {}
        self._waited_ns: defaultdict[str, int] = defaultdict(int)

    def sample(self, *, is_at_rest: bool) -> ResourceSample:
        at_ns = time.monotonic_ns()
        try:
            used = [self._of(self._pid)]
            for child in below(self._pid):
                with suppress(psutil.Error, OSError):  # ended since it was listed
                    used.append(self._of(child))
        except (psutil.Error, OSError, ValueError):
            return ResourceSample(at_ns, is_at_rest=is_at_rest)
        threads, memory, files = (sum(each) for each in zip(*used, strict=True))
        waited_ns = sum(self._waited_ns.values()) if self._waited_ns else None
        return ResourceSample(at_ns, threads, sum(self._cpu_ns.values()), memory, files, waited_ns, is_at_rest)

    def _of(self, pid: int) -> tuple[int, int, int]:
        """Threads, resident bytes and open descriptors of one process. Raises psutil.Error and OSError."""
        process = self._known.get(pid) or self._known.setdefault(pid, psutil.Process(pid))
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:  # ended, and only its parent has not asked
                raise psutil.ZombieProcess(pid)
            cpu, memory, threads = process.cpu_times(), process.memory_info().rss, process.num_threads()
        self._cpu_ns[pid] = max(self._cpu_ns.get(pid, 0), round((cpu.user + cpu.system) * 1e9))
        for thread, waited_ns in _waited_ns(pid):
            self._waited_ns[thread] = max(self._waited_ns[thread], waited_ns)
        return threads, memory, process.num_fds()


def _waited_ns(pid: int) -> Iterable[tuple[str, int]]:
    """
    Time that each thread of a process was runnable but had no core, by thread id, in ns.

    Second number of ``/proc/PID/task/TID/schedstat`` (kernel: Documentation/scheduler/sched-stats); the file of the process
    itself has only its first thread. Empty where the kernel does not count it.
    """
    for folder in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError, IndexError):  # ended since it was listed, or a kernel without the statistics
            yield folder.name, int((folder / "schedstat").read_bytes().split()[1])


def _kept(samples: Sequence[ResourceSample]) -> tuple[ResourceSample, ...]:
    before, at_rest = ([each for each in samples if each.is_at_rest is rest] for rest in (False, True))
    step = max(1, -(-len(before) // MOST_KEPT))
    return (*before[::step], *(before[-1:] if (len(before) - 1) % step else ()), *at_rest)
