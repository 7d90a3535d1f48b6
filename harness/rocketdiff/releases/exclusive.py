"""A lock: one process at a time changes a folder of the cache; others wait."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing


@contextmanager
def exclusive(folder: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """
    Hold the folder's lock, creating the folder; `on_wait` is called once if another process has it.

    The kernel releases the lock with the process, so a killed process leaves nothing to clean up.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = (folder / ".lock").open("w")
    except OSError as error:
        raise unwritable(folder, error) from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def unwritable(folder: Path, error: OSError) -> EnvironmentMissing:
    """The error for a cache that cannot be written: disk full, read-only, not permitted."""
    return EnvironmentMissing(
        f"to be able to write to the cache folder {folder}",
        seen=error.strerror or str(error),
        hint="free some disk space there, or set ROCKETDIFF_CACHE to a folder that can be written",
    )
