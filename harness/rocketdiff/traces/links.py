"""Refuses links in a run directory: with one, a program under test would write into other files, or others into its own."""

from collections.abc import Iterator
from pathlib import Path

from rocketdiff.core.errors import TraceError
from rocketdiff.traces.layout import JOURNAL, LOGS, MANIFEST
from rocketdiff.traces.schema import TableName


def require_no_links(run: Path) -> None:
    """Raise TraceError if ``run.json``, the journal, a table or a file of these is a symbolic link. Logs are not read."""
    for path in _own_files(run):
        if path.is_symlink():
            raise TraceError(
                f"files and folders of the run directory {run.name} itself",
                seen=f"{path.relative_to(run)}, a symbolic link",
                hint="run again; programs under test, which can make links, are to be trusted",
            )


def _own_files(run: Path) -> Iterator[Path]:
    yield from (run / MANIFEST, run / LOGS)
    for name in (JOURNAL, *TableName):
        yield run / name
        if (run / name).is_dir():
            yield from (run / name).iterdir()
