"""Digests of the record's files: made while a file is written, verified by whoever reads it, once per process and file."""

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import RawIOBase

import pyarrow as pa
import pyarrow.fs as pafs

from rocketdiff.core.errors import ExitCode, HarnessError
from rocketdiff.core.text.quoted import words_of
from rocketdiff.record.storage.batch import RESTORE, StatedFile

_CHUNK_BYTES = 1 << 20

_AT_ONCE = 4
"""Files hashed at once: enough for two cores, or for a slow store."""

_verified: set[tuple[str, str, int | None]] = set()
"""Path, digest and time of change."""


class DamagedFile(HarnessError):
    """A file of the record is not as it was committed. No TraceError: it says nothing about the runs that it holds."""

    exit_code = ExitCode.USAGE


def damaged(flaw: str) -> DamagedFile:
    """Return the error for a flaw."""
    return DamagedFile("a record as it was committed", seen=flaw, hint=RESTORE)


class Hashed(RawIOBase):
    """A sink that digests what it passes on."""

    def __init__(self, sink: pa.NativeFile) -> None:
        self._sink = sink
        self._hash = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, content: bytes) -> int:  # type: ignore[override]  # a buffer, as pyarrow hands it over
        self._hash.update(content)
        return self._sink.write(content)

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


def require_as_committed(system: pafs.FileSystem, root: str, files: Iterable[StatedFile]) -> None:
    """
    Raise DamagedFile if the bytes of a file are not those that were committed.

    A file without digest passes, unless it is a pipe or device of this machine, and a missing one, which its reader notices.
    """
    every = list(files)
    require_files(system, [f"{root}/{file.table}/{file.path}" for file in every])
    stated = [file for file in every if file.digest]
    one_flaw = partial(flaw, system, root, is_check=False)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = next(filter(None, (pool.map if len(stated) > 1 else map)(one_flaw, stated)), None)
    if found is not None:
        raise damaged(found)


def require_files(system: pafs.FileSystem, paths: list[str] | pafs.FileSelector) -> None:
    """Raise DamagedFile for a local pipe, device, socket or folder instead of a file: to read it could take for ever."""
    if not isinstance(system, pafs.LocalFileSystem):
        return
    for seen in system.get_file_info(paths):
        is_folder = seen.type is pafs.FileType.Directory and seen.extension in ("json", "parquet")
        if is_folder or seen.type is pafs.FileType.Unknown:
            raise damaged(f"file {seen.base_name} is a folder, pipe, device or socket")


def flaw(system: pafs.FileSystem, root: str, file: StatedFile, *, is_check: bool = True) -> str | None:
    """Return in a sentence what is wrong with a file, None if nothing is. is_check: read it anew, and miss it."""
    path, where = f"{root}/{file.table}/{file.path}", f"file {file.table}/{file.path}"
    try:
        (seen,) = system.get_file_info([path])
        key = path, file.digest, seen.mtime_ns
        if not is_check and (key in _verified or seen.type is pafs.FileType.NotFound):
            return None
        if seen.size != file.size:
            return f"{where} has {seen.size or 0} of {file.size} bytes"
        if file.digest and _digest(lambda: system.open_input_stream(path)) != file.digest:
            return f"{where} has other bytes than were committed: its digest has changed"
    except OSError as problem:
        return f"{where} cannot be read: {words_of(problem)}"
    if file.digest:
        _verified.add(key)
    return None


def _digest(opened: Callable[[], pa.NativeFile]) -> str:
    found = hashlib.sha256()
    with opened() as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()
