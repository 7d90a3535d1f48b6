"""The limit of open files, which processes of a run inherit."""

import resource
import sys

from rocketdiff.core.errors import EnvironmentMissing

OPEN_FILES = 1_024
"""Default of Linux. Spark's JVM opens some 300 jars, a broker as many and its queues; with 256, both fail."""

OPEN_FILES_REMEDY = "ulimit -n 4096; for a service LimitNOFILE=, for a container --ulimit nofile=4096"


def open_files() -> int:
    """Return how many files a process may open, after raising our own limit to ``OPEN_FILES`` if that is allowed."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _count(now)
    if limit < OPEN_FILES <= _count(most):
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, most))
        return OPEN_FILES
    return limit


def _count(limit: int) -> int:
    return sys.maxsize if limit == resource.RLIM_INFINITY else limit


def require_open_files() -> None:
    """Raise EnvironmentMissing if processes may open too few files: a JVM would report missing classes instead."""
    limit = open_files()
    if limit < OPEN_FILES:
        raise EnvironmentMissing(
            f"to be allowed {OPEN_FILES:,} open files a process", seen=f"{limit} (ulimit -n)", hint=OPEN_FILES_REMEDY
        )
