"""A toy Java host: the reference, correct or with one defect."""

from collections.abc import Callable, Iterable, Iterator

from rocketdiff.core.errors import HarnessError
from rocketdiff.simulation.java_host import Finished, Job
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.dialect import Dialect


class ToyHost:
    """Answers with the dialect of each release, changed by ``alter``; fails for releases in ``broken``."""

    def __init__(
        self, alter: Callable[[Dialect], Dialect] = lambda dialect: dialect, broken: tuple[str, ...] = ()
    ) -> None:
        self._alter = alter
        self._broken = broken

    def finish_all(self, jobs: Iterable[Job]) -> Iterator[Finished]:
        for job in list(jobs):
            error = HarnessError("a host that works", seen="a toy") if job.release in self._broken else None
            dialect = self._alter(dialect_of(job.release))
            lines = run_reference(dialect, job.name, job.script, trace=job.trace)
            yield Finished(job, lines[:2] if error else lines, 0, error)
