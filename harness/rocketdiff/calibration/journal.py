"""
Calibration on disk: a journal with a line per case, so that no result is lost, and the published file made from it.

A journal belongs to one plan of cases (seed, server release).
"""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rocketdiff.core.errors import EnvironmentMissing, TraceError, UsageError
from rocketdiff.core.files import read_bytes, regular_bytes
from rocketdiff.core.run_info import Machine
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.documents.files import replace_file
from rocketdiff.judging.gate_rates import MOST_BYTES, UNREADABLE
from rocketdiff.verdict.gate_rate_tally import ControlOutcome, KnownOutcome

JOURNAL = "journal.ndjson"

_ANEW = "--fresh begins anew"


@dataclass(frozen=True, slots=True)
class JournalHeader:
    """What all cases of a journal share. plan: digest of the code that draws them from the seed. role: of the clients."""

    seed: int
    server_release: str
    backend: str
    rocketdiff: str
    machine: Machine
    plan: str = ""
    role: ClientRole = ClientRole.PRODUCER


@dataclass(frozen=True, slots=True)
class Line:
    """
    One counted result: a control case, a gate run (several cases judged together), or a repeat of a known divergence.

    load: the machine's load average. source: digest of the program; judging_source: of the judging part. folder: the run
    directory, below the journal's.
    """

    at: str
    load: float
    took_s: float
    source: str
    folder: str
    case: ControlOutcome | None = None
    run: ControlOutcome | None = None
    known: tuple[KnownOutcome, ...] = ()
    known_case: str = ""
    judging_source: str = ""


class CalibrationJournal:
    """The journal of one folder, whose first line is the header."""

    def __init__(self, folder: Path, header: JournalHeader) -> None:
        self.folder = folder
        self.header = header
        self.lines: list[Line] = []

    @classmethod
    def open(cls, folder: Path, header: JournalHeader) -> "CalibrationJournal":
        """
        Resume the journal of a folder, or create it.

        Raises UsageError for another seed, server, backend, version (two plans are not one measurement) or machine. An
        unfinished last line is dropped; its case runs again.
        """
        journal = cls(folder, header)
        path = folder / JOURNAL
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            journal._append(header)
            return journal
        kept, _, rest = read_bytes(path, "journal of control cases", most=MOST_BYTES, hint=_ANEW).partition(b"\n")
        begun = _header(kept, path)
        _require_same(begun, header, folder)
        journal.header = begun
        journal.lines = list(_whole_lines(rest.splitlines(keepends=True), path))
        return journal

    def add(self, line: Line) -> None:
        """On disk when this returns."""
        self._append(line)
        self.lines.append(line)

    def replace(self, lines: Sequence[Line]) -> None:
        """Keep these lines instead; the file has either the old ones or the new."""
        replace_file(
            self.folder / JOURNAL, b"".join(msgspec.json.encode(each) + b"\n" for each in (self.header, *lines))
        )
        self.lines = list(lines)

    @property
    def cases(self) -> tuple[ControlOutcome, ...]:
        return tuple(line.case for line in self.lines if line.case is not None)

    @property
    def runs(self) -> tuple[ControlOutcome, ...]:
        return tuple(line.run for line in self.lines if line.run is not None)

    @property
    def known(self) -> tuple[KnownOutcome, ...]:
        return tuple(outcome for line in self.lines for outcome in line.known)

    def _append(self, value: JournalHeader | Line) -> None:
        try:
            with (self.folder / JOURNAL).open("ab") as file:
                file.write(msgspec.json.encode(value) + b"\n")
        except OSError as problem:
            raise EnvironmentMissing(
                f"room and permission to write {self.folder / JOURNAL}", seen=problem.strerror or str(problem)
            ) from problem


def _header(content: bytes, path: Path) -> JournalHeader:
    try:
        return msgspec.json.decode(content, type=JournalHeader)
    except UNREADABLE as problem:
        raise TraceError(f"a journal of control cases in {path}", seen=f"line 1: {problem}", hint=_ANEW) from problem


def _whole_lines(rest: list[bytes], path: Path) -> Iterator[Line]:
    for number, content in enumerate(rest, start=2):
        try:
            yield msgspec.json.decode(content, type=Line)
        except UNREADABLE as problem:
            if number == len(rest) + 1 and not content.endswith(b"\n"):
                _cut(path, len(content))
                return
            raise TraceError(
                f"a journal of control cases in {path}", seen=f"line {number}: {problem}", hint=_ANEW
            ) from problem


def _cut(path: Path, count: int) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - count)


def _require_same(begun: JournalHeader, header: JournalHeader, folder: Path) -> None:
    """The machine is the same if processor and cores are: the calibration file names one machine."""
    before, now = _terms(begun), _terms(header)
    for name, term in before.items():
        if term != now[name]:
            raise UsageError(
                f"{name} {term}, with which the calibration in {folder} was begun",
                seen=now[name],
                hint="--fresh begins anew, --out names another folder",
            )


def begin_anew(folder: Path) -> None:
    """Delete the calibration in a folder. UsageError if the folder has other content."""
    if not folder.exists():
        return
    path = folder / JOURNAL
    try:
        msgspec.json.decode(regular_bytes(path).partition(b"\n")[0], type=JournalHeader)
    except (OSError, *UNREADABLE) as problem:
        if folder.is_dir() and not any(folder.iterdir()):
            return
        raise UsageError(
            f"a folder that `rocketdiff calibrate` made, for --fresh deletes all of {folder}",
            seen=f"no {JOURNAL} of one there",
            hint="name another folder with --out, or delete it yourself",
        ) from problem
    shutil.rmtree(folder)


def _terms(header: JournalHeader) -> dict[str, str]:
    machine = header.machine
    return {
        "seed": str(header.seed),
        "role": header.role.value,
        "RocketMQ": header.server_release,
        "cluster": header.backend,
        "rocketdiff": header.rocketdiff,
        "control cases as drawn by the program": header.plan or "of an earlier version",
        "the machine": f"{machine.processor or machine.system}, {machine.cores} cores",
    }


def plan_digest() -> str:
    """Digest of the code that draws control cases: with another digest, equal seed and number give other cases."""
    here = Path(__file__).parent
    content = b"".join((here / name).read_bytes() for name in ("plan.py", "shapes.py", "group_shapes.py"))
    return hashlib.sha256(content).hexdigest()[:12]
