"""
Calibration on disk: a journal that grows by a line a case, so that nothing counted is lost, and the file that ships.

The journal belongs to one way of drawing cases (seed, server release); the file is made of it, at any time.
"""

import hashlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

import harness
from harness.core.errors import EnvironmentMissing, HarnessError, TraceError, UsageError
from harness.core.files import read_bytes
from harness.core.plain import plain
from harness.core.resources import resource
from harness.core.run_info import Machine
from harness.verdict.calibration import SCHEMA_VERSION, Calibration
from harness.verdict.calibration_sums import ControlOutcome, KnownOutcome
from harness.verdict.defects_found import DefectsFound

FILE = "fixtures/calibration.json"
DEFECTS_FILE = "fixtures/sensitivity.json"
"""The measured rates that come with rocketdiff and that every report shows."""

JOURNAL = "journal.ndjson"

_MOST_BYTES = 1 << 28
"""A line a case, of a few hundred bytes."""

_ANEW = "--fresh begins anew"
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoding JSON can raise; the last two for what is not UTF-8, numbers of thousands of digits, and nesting."""

SOURCE_FOLDERS = ("harness", "reference_impl")
SOURCE_SUFFIXES = frozenset({".py", ".java"})

JUDGING_FOLDERS = (
    "harness/analysis",
    "harness/oracle",
    "harness/relay",
    "harness/traces",
    "harness/verdict",
    "reference_impl",
)
"""What decides whether a trace is an alarm; the rest of the program can change without making a measured rate another one."""


@dataclass(frozen=True, slots=True)
class Header:
    """What all cases of a journal have in common. plan: digest of what draws them from the seed."""

    seed: int
    server_release: str
    backend: str
    rocketdiff: str
    machine: Machine
    plan: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """
    One thing that was counted: a control case, a gate run (several cases judged together), or a repeat of a known divergence.

    at: ISO 8601. load: the machine's load average then. source: digest of the program; judging_source: of the part that
    judges. folder: the run directory, below the journal's.
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
    """Lines of one folder; the first is the header."""

    def __init__(self, folder: Path, header: Header) -> None:
        self.folder = folder
        self.header = header
        self.lines: list[Line] = []

    @classmethod
    def open(cls, folder: Path, header: Header) -> "CalibrationJournal":
        """
        Go on with what the folder holds, or begin.

        Raises UsageError when it was begun with another seed, server, backend or version, because two ways of drawing cases
        are not one measurement, and on another machine. A last line that was cut off is dropped; its case runs again.
        """
        journal = cls(folder, header)
        path = folder / JOURNAL
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            journal._append(header)
            return journal
        kept, _, rest = read_bytes(path, "journal of control cases", most=_MOST_BYTES, hint=_ANEW).partition(b"\n")
        begun = _header(kept, path)
        _require_same(begun, header, folder)
        journal.header = begun
        journal.lines = list(_whole_lines(rest.splitlines(keepends=True), path))
        return journal

    def add(self, line: Line) -> None:
        """Count something; it is on disk when this returns."""
        self._append(line)
        self.lines.append(line)

    @property
    def cases(self) -> tuple[ControlOutcome, ...]:
        """Every control case, in the order they ran."""
        return tuple(line.case for line in self.lines if line.case is not None)

    @property
    def runs(self) -> tuple[ControlOutcome, ...]:
        """Every gate run that came to its end."""
        return tuple(line.run for line in self.lines if line.run is not None)

    @property
    def known(self) -> tuple[KnownOutcome, ...]:
        """Every repeat of a known divergence."""
        return tuple(one for line in self.lines for one in line.known)

    def _append(self, value: Header | Line) -> None:
        try:
            with (self.folder / JOURNAL).open("ab") as file:
                file.write(msgspec.json.encode(value) + b"\n")
        except OSError as problem:
            raise EnvironmentMissing(
                f"room and permission to write {self.folder / JOURNAL}", seen=problem.strerror or str(problem)
            ) from problem


def _header(content: bytes, path: Path) -> Header:
    try:
        return msgspec.json.decode(content, type=Header)
    except _UNREADABLE as problem:
        raise TraceError(f"a journal of control cases in {path}", seen=f"line 1: {problem}", hint=_ANEW) from problem


def _whole_lines(rest: list[bytes], path: Path) -> Iterator[Line]:
    for number, content in enumerate(rest, start=2):
        try:
            yield msgspec.json.decode(content, type=Line)
        except _UNREADABLE as problem:
            if number == len(rest) + 1 and not content.endswith(b"\n"):
                _cut(path, len(content))
                return
            raise TraceError(
                f"a journal of control cases in {path}", seen=f"line {number}: {problem}", hint=_ANEW
            ) from problem


def _cut(path: Path, count: int) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - count)


def _require_same(begun: Header, header: Header, folder: Path) -> None:
    """
    The machine is the same when a report's caveat would call it the same: processor and cores.

    The file that is made of the journal names one machine, so that cases of two would be told as one's.
    """
    before, now = _terms(begun), _terms(header)
    for name, term in before.items():
        if term != now[name]:
            raise UsageError(
                f"{name} {term}, with which the calibration in {folder} was begun",
                seen=now[name],
                hint="--fresh begins anew, --out names another folder",
            )


def begin_anew(folder: Path) -> None:
    """
    Throw away the calibration that a folder holds.

    Raises UsageError for a folder of something else, which is left as it is.
    """
    if not folder.exists():
        return
    path = folder / JOURNAL
    try:
        msgspec.json.decode(path.read_bytes().partition(b"\n")[0], type=Header)
    except (OSError, *_UNREADABLE) as problem:
        if folder.is_dir() and not any(folder.iterdir()):
            return
        raise UsageError(
            f"a folder that `rocketdiff calibrate` made, for --fresh deletes all of {folder}",
            seen=f"no {JOURNAL} of one there",
            hint="name another folder with --out, or delete it yourself",
        ) from problem
    shutil.rmtree(folder)


def _terms(header: Header) -> dict[str, str]:
    machine = header.machine
    return {
        "seed": str(header.seed),
        "RocketMQ": header.server_release,
        "cluster": header.backend,
        "rocketdiff": header.rocketdiff,
        "control cases as drawn by the program": header.plan or "of an earlier version",
        "the machine": f"{machine.processor or machine.system}, {machine.cores} cores",
    }


def plan_digest() -> str:
    """Of what draws control cases from a seed: under another one the same numbers mean other cases."""
    here = Path(harness.__file__).parent
    content = b"".join((here / name).read_bytes() for name in ("control_plan.py", "control_scenarios.py"))
    return hashlib.sha256(content).hexdigest()[:12]


def source_digest(folders: Sequence[str] = SOURCE_FOLDERS) -> str:
    """
    The program as it is on disk now, in twelve digits: all Python and Java sources of these folders, by path and content.

    The same in a checkout and in what a wheel installs; empty where no source lies, which then is compared with nothing.
    """
    root = Path(harness.__file__).parents[1]
    digest, is_empty = hashlib.sha256(), True
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES:
                digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
                is_empty = False
    return "" if is_empty else digest.hexdigest()[:12]


@cache
def judging_digest() -> str:
    """The part that judges, as it was when this process first asked; some ten milliseconds."""
    return source_digest(JUDGING_FOLDERS)


def encode(calibration: Calibration) -> bytes:
    """JSON for people and programs; same value, same bytes."""
    return msgspec.json.format(msgspec.json.encode(calibration), indent=1) + b"\n"


def decode(content: bytes, *, where: str) -> Calibration:
    """Read a stored calibration; TraceError when it is none or of another major version."""
    try:
        raw = msgspec.json.decode(content)
        version = str(raw.get("schema_version")) if isinstance(raw, dict) else "none"
        if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
            raise msgspec.ValidationError(f"schema_version {plain(version, 60)}")
        return msgspec.convert(raw, Calibration)
    except _UNREADABLE as problem:
        raise TraceError(
            f"a calibration of schema version {SCHEMA_VERSION.partition('.')[0]}.x in {where}",
            seen=str(problem),
            hint="make it again with `make calibrate`",
        ) from problem


def shipped() -> Calibration | None:
    """The calibration that comes with rocketdiff; None when this installation has none, which reports then say."""
    try:
        path = resource(FILE)
    except HarnessError:
        return None
    return decode(read_bytes(path, "calibration", most=_MOST_BYTES), where=FILE)


def shipped_defects() -> DefectsFound | None:
    """What suites find of defective clients, as `make sensitivity` measured it; None when this installation has no such file."""
    try:
        path = resource(DEFECTS_FILE)
    except HarnessError:
        return None
    try:
        return msgspec.json.decode(read_bytes(path, "sensitivity", most=_MOST_BYTES), type=DefectsFound)
    except _UNREADABLE as problem:
        raise TraceError(
            f"what was measured with defective clients in {DEFECTS_FILE}",
            seen=str(problem),
            hint="make it again with `make sensitivity`",
        ) from problem


def schema() -> dict[str, Any]:
    """JSON Schema of the stored calibration, generated from its types; the committed form is held against it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"rocketdiff calibration {SCHEMA_VERSION}",
        **msgspec.json.schema(Calibration),
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(schema()), indent=1) + b"\n")
