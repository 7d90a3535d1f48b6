"""
Runs at the URL of any file system of Arrow: an object store, HDFS.

What judging reads of a run (``run.json``, plans, tables) is copied to a temporary folder for as long as it is read. Credentials come
from the environment, as Arrow takes them, or stand in the URL; no message shows them.
"""

import posixpath
import tempfile
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from rocketdiff.core.errors import EnvironmentMissing, HarnessError, UsageError
from rocketdiff.core.spark_master import WITHOUT_SPARK, is_on_loopback
from rocketdiff.traces.layout import JOURNAL, MANIFEST
from rocketdiff.traces.recorder import writing
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName

COPIES_AT_ONCE = 8
"""The files of a run are small, so round trips dominate."""

_FOLDERS = frozenset({JOURNAL, *TableName})
_PLAN_ENDS = "-plan.ndjson"


def is_url(text: str) -> bool:
    """True for ``s3://bucket/run``, False for a path."""
    return len(urlsplit(text).scheme) > 1


def file_system_of(url: str) -> tuple[pafs.FileSystem, str]:
    """Return the file system of a URL, and the path in it; ``s3a``, Hadoop's name, is ``s3``. UsageError if Arrow knows none."""
    try:
        return pafs.FileSystem.from_uri("s3" + url.removeprefix("s3a") if url.startswith("s3a:") else url)
    except (OSError, ValueError, pa.ArrowException) as problem:
        raise UsageError(
            "a file system that Arrow can reach",
            seen=f"{shown(url)}: {_without(url, str(problem))}",
            hint="file://, s3://, gs:// or hdfs://",
        ) from problem


def shown(url: str) -> str:
    """Return a URL without user, password and options."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def name_of(place: str) -> str:
    """Return the name of the folder at a path or URL."""
    return posixpath.basename((urlsplit(place).path if is_url(place) else place).rstrip("/"))


def runs_below(url: str, depth: int, *, apart: str) -> Iterator[str]:
    """
    Yield the URL of every run at this URL and at most ``depth`` folders below it, by name.

    apart: folders that hold one of this name are no runs. Raises UsageError for an unknown file system, EnvironmentMissing.
    """
    system, path = file_system_of(url)
    with _reading(url):
        found = {info.base_name: info for info in system.get_file_info(pafs.FileSelector(path, allow_not_found=True))}
    if apart in found:
        return
    if MANIFEST in found or not _FOLDERS.isdisjoint(found):
        yield url
    elif depth:
        for name, info in sorted(found.items()):
            if info.type is pafs.FileType.Directory and not name.startswith("."):
                yield from runs_below(_below(url, name), depth - 1, apart=apart)


@contextmanager
def run_at(place: str, *, with_tables: bool = True) -> Iterator[RunDirectory]:
    """
    Open the run at a path or URL; with_tables: False if only ``run.json`` is read.

    Raises the errors of ``RunDirectory.open``; of a run at a URL also EnvironmentMissing if a file cannot be copied, and TraceError if a
    case has not ended.
    """
    if not is_url(place):
        yield RunDirectory.open(Path(place))
        return
    with tempfile.TemporaryDirectory(prefix="rocketdiff-") as folder:
        copy = Path(folder) / (name_of(place) or "run")
        try:
            _copy(place, copy, with_tables=with_tables)
            run = RunDirectory.open(copy)
            run.require_ended("copy the folder: rocketdiff analyze seals what is there")
            yield run
        except HarnessError as error:
            words = (error.expected, error.seen, error.hint)
            expected, seen, hint = (text.replace(str(copy), shown(place)) for text in words)
            if (expected, seen, hint) == words:
                raise
            raise type(error)(expected, seen=seen, hint=hint) from error


@contextmanager
def local_runs(places: Sequence[str]) -> Iterator[list[Path]]:
    """Return the folders of runs, those at URLs as copies that are gone after the block. Raises the errors of ``run_at``."""
    with ExitStack() as stack:
        yield [stack.enter_context(run_at(place)).path if is_url(place) else Path(place) for place in places]


def require_local(places: Sequence[str], out: Path | None, master: str | None) -> None:
    """Raise UsageError if runs at URLs are to be judged without a folder for the report, or where their copies cannot be seen."""
    if not any(map(is_url, places)):
        return
    if out is None:
        raise UsageError("a folder for the report about runs at a URL", seen="none", hint="--out FOLDER")
    if master not in (None, WITHOUT_SPARK) and not is_on_loopback(master):
        raise UsageError(
            "runs at a URL to be judged on this machine, which copies them",
            seen=f"--master {master}",
            hint="rocketdiff record add URL, then record judge: there each task copies its own runs",
        )


def _copy(url: str, folder: Path, *, with_tables: bool) -> None:
    system, root = file_system_of(url)
    with _reading(url):
        infos = system.get_file_info(pafs.FileSelector(root, recursive=True, allow_not_found=True))
    files = {PurePosixPath(info.path).relative_to(root): info.path for info in infos if info.type is pafs.FileType.File}
    folders = _FOLDERS if with_tables else {JOURNAL}
    wanted = {relative: path for relative, path in files.items() if _is_read(relative, folders)}

    def fetch(relative: PurePosixPath) -> None:
        with _reading(url), system.open_input_stream(wanted[relative]) as source:
            content = source.readall()
        with writing(folder / relative):
            (folder / relative).parent.mkdir(parents=True, exist_ok=True)
            (folder / relative).write_bytes(content)

    folder.mkdir(exist_ok=True)
    with ThreadPoolExecutor(COPIES_AT_ONCE) as pool:
        list(pool.map(fetch, wanted))


def _is_read(file: PurePosixPath, folders: Collection[str]) -> bool:
    match file.parts:
        case (name,):
            return name == MANIFEST
        case (folder, name):
            return folder in folders and name != ".." and (folder != JOURNAL or name.endswith(_PLAN_ENDS))
    return False


def _below(url: str, name: str) -> str:
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rstrip('/')}/{name}").geturl()


@contextmanager
def _reading(url: str) -> Iterator[None]:
    """Turn an error of the file system into EnvironmentMissing: it says nothing about the run."""
    try:
        yield
    except (OSError, pa.ArrowException) as problem:
        raise EnvironmentMissing(
            f"to read {shown(url)}",
            seen=_without(url, str(problem)),
            hint="check the network, the credentials in the environment and the name",
        ) from problem


def _without(url: str, text: str) -> str:
    """Return a text without the credentials of a URL."""
    parts = urlsplit(url)
    for secret in (parts.password, parts.username, parts.query):
        text = text.replace(secret, "…") if secret else text
    return text
