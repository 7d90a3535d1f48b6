"""Runs scripts on the Python reference, each release with its dialect."""

from collections.abc import Iterable, Iterator

from rocketdiff.simulation.java_host import Job
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of


class ReferenceRunner:
    """Runs jobs one after the other in this process."""

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]:
        """The answer lines of each job, in the order of the jobs."""
        for job in jobs:
            yield job, run_reference(dialect_of(job.release), job.name, job.script, trace=job.trace)
