"""Memory of a process that judges many cases."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

KEEPS_MEMORY: Mapping[str, str] = {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 33)}
"""
Environment in which the C library keeps freed memory for the next arrays instead of returning it to the kernel (mallopt(3)).

The columns of a case are large, and fresh pages cost as much as the work on them: two processes judged 10 million calm attempts
in 3.5 s instead of 4.5 to 5.8 s (2026-11-23). Peak memory does not change.
"""

NEW_OBJECTS = 50_000
"""Objects between two collections while a group is judged."""


@contextmanager
def earlier_objects_left_alone() -> Iterator[None]:
    """
    Exclude existing objects from garbage collection.

    Otherwise each growth by a quarter would cause a full collection that also scans all imported modules: 50 ms.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect seldom, for what lives to the end of a pass: a group is judged in five sixths of the time (2026-11-30)."""
    before = gc.get_threshold()
    gc.set_threshold(max(NEW_OBJECTS, before[0]), *before[1:])
    try:
        with earlier_objects_left_alone():
            yield
    finally:
        gc.set_threshold(*before)
