"""
The runs of a folder: which have come to their end, so that what was stopped goes on where it was.

Each run has a folder of its own below ``runs``: the run directory, and beside it ``finished.json``, which is written when the run is
judged. A folder without that file is of a run that was cut off; it is removed when the run begins anew.
"""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from rocketdiff.core.errors import UsageError
from rocketdiff.documents.files import replace_file

RUNS = "runs"
FILE_NAME = "finished.json"
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class Terms:
    """
    What decides a run: with other terms it is another run. specs: as typed, baseline first; subjects: what they said they are.

    programs: digest of what else decides what the subjects do: the files of a user's program, and their attempt timeout. scenarios: digest
    of the scenarios' texts.
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
        """Name of the run's folder: subject, suite and seed for people, and a digest of all terms."""
        digest = sha256(msgspec.json.encode(self)).hexdigest()[:10]
        name = f"{self.subjects[1]}-{self.suite or 'scenarios'}-{self.seed}"
        return "".join(one if one.isalnum() or one in ".-" else "-" for one in name) + f"-{digest}"


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that was judged. run: name of its directory. judged_by: digest of what judged it (code, ledgers, policy)."""

    terms: Terms
    run: str
    took_s: float
    judged_by: str


class FinishedRuns:
    """The folder ``runs`` of a campaign or a matrix."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, terms: Terms) -> Path:
        """The folder of a run."""
        return self.folder / terms.folder

    def directory(self, run: FinishedRun) -> Path:
        """Its run directory."""
        return self.place(run.terms) / run.run

    def find(self, terms: Terms) -> FinishedRun | None:
        """The finished run of these terms; None if there is none, or if its report is gone."""
        found = _read(self.place(terms) / FILE_NAME)
        return found if found is not None and found.terms == terms and self._is_whole(found) else None

    def all(self) -> Iterator[FinishedRun]:
        """Every finished run, by the name of its folder."""
        for path in sorted(self.folder.glob(f"*/{FILE_NAME}")):
            found = _read(path)
            if found is not None and self._is_whole(found):
                yield found

    def clear(self, terms: Terms) -> Path:
        """Removes what is left of a run that was cut off; returns its folder."""
        place = self.place(terms)
        shutil.rmtree(place, ignore_errors=True)
        return place

    def add(self, run: FinishedRun) -> None:
        """Declares a run finished: from here on it is taken over."""
        replace_file(self.place(run.terms) / FILE_NAME, msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n")

    def _is_whole(self, run: FinishedRun) -> bool:
        return (self.directory(run) / "report.json").is_file()


def _read(path: Path) -> FinishedRun | None:
    """None also for a file that is damaged: its run is made anew."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=FinishedRun)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Holds the folder; UsageError if another process has it. The kernel ends the lock with the process."""
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
