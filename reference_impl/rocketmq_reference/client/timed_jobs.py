"""The jobs of a worker that are due at a time."""

import heapq
from dataclasses import dataclass, field

from rocketmq_reference.client.effects import Job


@dataclass(frozen=True, order=True, slots=True)
class TimedJob:
    """A job, done once (period 0) or at a fixed rate; order: of those due at the same time."""

    due_ms: int
    order: int
    job: Job = field(compare=False)
    period_ms: int = field(compare=False)


class TimedJobs:
    """Timed jobs, the next one first; of two due at the same time the one added first."""

    __slots__ = ("_added", "_jobs")

    def __init__(self) -> None:
        self._jobs: list[TimedJob] = []
        self._added = 0

    @property
    def first_ms(self) -> int | None:
        return self._jobs[0].due_ms if self._jobs else None

    def add(self, due_ms: int, job: Job, period_ms: int) -> None:
        heapq.heappush(self._jobs, TimedJob(due_ms, self._added, job, period_ms))
        self._added += 1

    def take(self) -> TimedJob:
        return heapq.heappop(self._jobs)

    def clear(self) -> None:
        self._jobs.clear()
