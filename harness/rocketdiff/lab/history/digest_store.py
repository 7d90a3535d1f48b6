"""Cache of answer digests on disk; an unusable cache costs only time."""

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from rocketdiff.releases.cache import cache_dir

_ASKED_AT_ONCE = 500
"""Keys per query; some builds of SQLite accept at most 999."""

_BUSY_S = 10.0
"""Timeout for a lock held by another process, which writes some hundred rows at a time."""


class DigestStore:
    """A persistent mapping from keys to digests, shared by processes."""

    def __init__(self, file: Path | None = None, *, fresh: bool = False) -> None:
        """By default, use the store in the cache folder; the first write creates it. fresh: ignore stored digests."""
        self._file = file or cache_dir() / "simulation" / "digests.sqlite"
        self._fresh = fresh

    def read(self, keys: Iterable[str]) -> dict[str, str]:
        if self._fresh or not self._file.exists():
            return {}
        asked, found = list(keys), dict[str, str]()
        try:
            with closing(self._opened()) as database:
                for begin in range(0, len(asked), _ASKED_AT_ONCE):
                    some = asked[begin : begin + _ASKED_AT_ONCE]
                    marks = ",".join("?" * len(some))
                    question = f"SELECT key, digest FROM digests WHERE key IN ({marks})"  # noqa: S608 - question marks only
                    found.update(database.execute(question, some))
        except sqlite3.Error:
            return {}
        return found

    def write(self, digests: Mapping[str, str]) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._opened()) as database, database:
                database.execute("CREATE TABLE IF NOT EXISTS digests (key TEXT PRIMARY KEY, digest TEXT) WITHOUT ROWID")
                database.executemany("INSERT OR REPLACE INTO digests VALUES (?, ?)", digests.items())
        except (OSError, sqlite3.Error):
            return  # a full disk, or a read-only or damaged file: the next run executes everything again

    def _opened(self) -> sqlite3.Connection:
        return sqlite3.connect(self._file, timeout=_BUSY_S)
