"""Memory of a process that judges one case after another."""

from collections.abc import Mapping

KEEPS_MEMORY: Mapping[str, str] = {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 33)}
"""
Environment in which the C library keeps freed memory for the next arrays, instead of giving each large one back (mallopt(3)).

Columns of a case are large, and fresh pages cost as much as the work done in them: two processes, 10 million attempts
of calm in 3.5 s instead of 4.5 to 5.8 (2026-11-23). What a process needs at its peak stays the same.
"""
