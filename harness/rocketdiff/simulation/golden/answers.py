"""Script answers and the interface of script runners."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rocketdiff.simulation.java_host import Job

Lines = tuple[str, ...]
"""Answer lines of one script."""


class Runner(Protocol):
    """A script runner: the Java host, the reference, or a test double."""

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]:
        """Yield each job with its answer lines, in input order."""


def digest_of(lines: Sequence[str]) -> str:
    """SHA-256 of an answer."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
