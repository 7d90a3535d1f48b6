"""
The finished runs of a folder, so that an interrupted campaign can resume.

Each run has a folder below ``runs`` with its run directory and, once judged, ``finished.json``. Without that file the run
was interrupted; its folder is removed when it starts again.
"""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec

from rocketdiff.core.errors import UsageError
from rocketdiff.core.files import regular_bytes
from rocketdiff.documents.files import replace_file

RUNS = "runs"
FILE_NAME = "finished.json"
_LOCK = ".lock"

_Finished = TypeVar("_Finished")


@dataclass(frozen=True, slots=True)
class Terms:
    """
    Everything that decides a run.

    specs: as typed, baseline first; subjects: as they identified themselves. programs: digest of what else decides their
    behaviour: a user's program files and attempt timeouts. scenarios: digest of their texts.
    """

    specs: tuple[str, str]
    subjects: tuple[str, str]
    suite: str | None
    patterns: tuple[str, ...]
    seed: int
    server: str
    cluster: str
    is_wire_wanted: bool
    is_secured: bool
    programs: str
    scenarios: str
    rocketdiff: str

    @property
    def folder(self) -> str:
        """Subject, suite and seed for people, and a digest of all terms."""
        digest = sha256(msgspec.json.encode(self)).hexdigest()[:10]
        name = f"{self.subjects[1]}-{self.suite or 'scenarios'}-{self.seed}"
        return "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in name) + f"-{digest}"


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A judged run. run: name of its directory. judged_by: digest of what judged it (code, ledgers, policy)."""

    terms: Terms
    run: str
    took_s: float
    judged_by: str


class FinishedRuns:
    """The folder ``runs`` of a campaign or a matrix."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, terms: Terms) -> Path:
        return self.folder / terms.folder

    def directory(self, run: FinishedRun) -> Path:
        return self.place(run.terms) / run.run

    def find(self, terms: Terms) -> FinishedRun | None:
        """None if there is no such run, or if its report is gone."""
        found = read_finished(self.place(terms) / FILE_NAME, FinishedRun)
        return found if found is not None and found.terms == terms and self._is_whole(found) else None

    def all(self) -> Iterator[FinishedRun]:
        for path in sorted(self.folder.glob(f"*/{FILE_NAME}")):
            found = read_finished(path, FinishedRun)
            if found is not None and self._is_whole(found):
                yield found

    def clear(self, terms: Terms) -> Path:
        """Remove what is left of an interrupted run."""
        place = self.place(terms)
        shutil.rmtree(place, ignore_errors=True)
        return place

    def add(self, run: FinishedRun) -> None:
        """From now on the run is reused."""
        write_finished(self.place(run.terms) / FILE_NAME, run)

    def _is_whole(self, run: FinishedRun) -> bool:
        return (self.directory(run) / "report.json").is_file()


def read_finished(path: Path, kind: type[_Finished]) -> _Finished | None:
    """None also for a damaged file: its run is made again."""
    try:
        return msgspec.json.decode(regular_bytes(path), type=kind)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None


def write_finished(path: Path, finished: object) -> None:
    """Write the file from which a command that was stopped takes a result over. Raises EnvironmentMissing."""
    replace_file(path, msgspec.json.format(msgspec.json.encode(finished), indent=1) + b"\n")


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Lock the folder. UsageError if it is locked. The kernel releases the lock with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise UsageError(
                f"a folder {folder} that no other command is writing",
                seen="another command is writing to it",
                hint="wait for it, or name another folder with --out",
            ) from problem
        yield
