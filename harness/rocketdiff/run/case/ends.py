"""How the processes of the clients end on their own, as an application that shuts its producer down and returns from main."""

import time
from collections.abc import Mapping
from contextlib import suppress

import psutil

from rocketdiff.core.arm import Member
from rocketdiff.run.case.open_connections import below, held_by, open_sockets
from rocketdiff.subjects.subject_process import SubjectProcess

LIMIT_S = 10.0
"""
How long a process may keep running. Java's network threads end 3.2 s after the producer was shut down, at a load of 16 on two
cores as well (4.3.0 to 5.5.0, 2026-11-26). Only the first case of a run waits, because how a process ends does not depend
on what was sent.
"""

_POLL_S = 0.05


def watch_ends(clients: Mapping[Member, SubjectProcess], limit_s: float = LIMIT_S) -> dict[str, int | float]:
    """
    Stop all clients and wait until each has ended, or the limit. One that is lost already is left out.

    Returns for each member ``end_ms_…``, ``threads_left_…`` and ``connections_left_…``; none are left of one that ended.
    """
    began = time.monotonic()
    waiting = {member: subject for member, subject in clients.items() if subject.stop(limit_s)}
    seen: dict[str, int | float] = {}
    while waiting:
        passed_s = time.monotonic() - began
        for member, subject in list(waiting.items()):
            has_ended = subject.await_end(_POLL_S)
            if has_ended or passed_s >= limit_s:
                del waiting[member]
                threads, connections = (0, 0) if has_ended else _left(subject.pid)
                seen[f"end_ms_{member}"] = round(1_000 * passed_s)
                seen |= {f"threads_left_{member}": threads, f"connections_left_{member}": connections}
    return seen


def _left(pid: int) -> tuple[int, int]:
    """Threads and connections of what the supervisor still runs; at least one thread, because it does run."""
    threads = 0
    for child in below(pid):
        with suppress(psutil.Error):  # ended since it was listed
            threads += psutil.Process(child).num_threads()
    sockets = open_sockets()
    return max(1, threads), len(held_by(pid, sockets) or ()) if sockets is not None else 0
