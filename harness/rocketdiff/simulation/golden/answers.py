"""Answers of scripts, and the interface of what runs scripts."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rocketdiff.simulation.java_host import Job

Lines = tuple[str, ...]
"""Answer lines of one script."""


class Runner(Protocol):
    """Runs scripts: the Java host, the reference, or a stand-in in tests."""

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]:
        """The answer lines of every job, in the order of the jobs."""


def digest_of(lines: Sequence[str]) -> str:
    """Digest of an answer."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
