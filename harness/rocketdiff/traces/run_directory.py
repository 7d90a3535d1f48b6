"""
One run as one directory: made by the runner, moved by anyone, judged again without a cluster.

The journal is appended while things happen; sealing turns it into the tables and can be repeated at any time, also long
after a crash. ``run.json`` is replaced at once whenever a case ends.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self

from rocketdiff.core.errors import TraceError, UsageError
from rocketdiff.core.events import Arm
from rocketdiff.traces.case_directory import CaseDirectory, Change
from rocketdiff.traces.layout import JOURNAL, LOGS, MANIFEST
from rocketdiff.traces.manifest import CaseEntry, CaseStatus, RunManifest, decode_manifest, encode_manifest
from rocketdiff.traces.recorder import write_whole, writing


class RunDirectory:
    """A run on disk and its ``run.json``, kept in step."""

    def __init__(self, path: Path, manifest: RunManifest, *, is_part: bool = False) -> None:
        """is_part: the manifest leaves out cases whose files lie here all the same."""
        self.path = path
        self.is_part = is_part
        self._manifest = manifest
        self._cases: dict[int, CaseDirectory] = {}
        self._lock = threading.Lock()

    @classmethod
    def create(cls, root: Path, manifest: RunManifest) -> Self:
        """
        Make ``root/<run id>`` with its ``run.json``.

        Raises UsageError when a run of that id is already there, EnvironmentMissing when the disk refuses.
        """
        path = root / manifest.run
        with writing(path):
            try:
                path.mkdir(parents=True)
            except FileExistsError as problem:
                raise UsageError("a new run id", seen=f"{path} exists", hint="choose another --out") from problem
            (path / JOURNAL).mkdir()
            (path / LOGS).mkdir()
        write_whole(path / MANIFEST, encode_manifest(manifest))
        return cls(path, manifest)

    @classmethod
    def open(cls, path: Path) -> Self:
        """
        Open a run wherever it lies now.

        Raises TraceError when there is no ``run.json``, or one of an unknown major version.
        """
        try:
            content = (path / MANIFEST).read_bytes()
        except OSError as problem:
            raise TraceError(
                f"a run directory at {path}",
                seen=f"{MANIFEST}: {problem.strerror}",
                hint="name the folder that holds run.json",
            ) from problem
        return cls(path, decode_manifest(content, where=f"{path.name}/{MANIFEST}"))

    @property
    def manifest(self) -> RunManifest:
        """What ``run.json`` says now."""
        return self._manifest

    @property
    def run(self) -> str:
        """The run's id, which need not be the name of a moved directory."""
        return self._manifest.run

    def subject(self, arm: Arm) -> str:
        """``client:release`` of an arm."""
        return self._manifest.subjects[arm]

    def entry(self, number: int) -> CaseEntry:
        """What ``run.json`` says about a case now; TraceError when there is no such case."""
        return self._manifest.case(number)

    def case(self, number: int) -> CaseDirectory:
        """The part of this directory that belongs to a case; the same object every time."""
        self.entry(number)
        with self._lock:
            return self._cases.setdefault(number, CaseDirectory(self, number))

    def cases(self) -> tuple[CaseDirectory, ...]:
        """All cases, in the order they were planned."""
        return tuple(self.case(entry.number) for entry in self._manifest.cases)

    def add(self, make: Callable[[int], CaseEntry]) -> CaseDirectory:
        """Put another case down as planned, for a runner that is told its cases one by one; ``make`` is given its number."""
        with self._lock:
            entry = make(len(self._manifest.cases) + 1)
            self._write(replace(self._manifest, cases=(*self._manifest.cases, entry)))
        return self.case(entry.number)

    def only(self, number: int) -> "RunDirectory":
        """The same directory as if it held this one case, for reading it while the run goes on."""
        return RunDirectory(self.path, replace(self._manifest, cases=(self.entry(number),)), is_part=True)

    def change(self, number: int, change: Change) -> CaseEntry:
        """Replace a case's entry and write ``run.json`` at once."""
        with self._lock:
            changed = change(self.entry(number))
            cases = tuple(changed if entry.number == number else entry for entry in self._manifest.cases)
            self._write(replace(self._manifest, cases=cases))
            return changed

    def end(self, *, wall_ms: int) -> None:
        """Put down that the runner came to its end."""
        with self._lock:
            self._write(replace(self._manifest, ended_wall_ms=wall_ms))

    def seal(self) -> None:
        """
        Seal what a runner left behind, however it ended.

        A started case that was never declared complete or aborted gets its tables and is aborted now. One that was declared
        keeps what was sealed then, one that never started stays planned. Never call it on a run that is still going on.
        """
        for case in self.cases():
            if case.started and case.entry.status is CaseStatus.PLANNED:
                case.seal()
                case.abort("the run ended before this case did")

    def _write(self, manifest: RunManifest) -> None:
        write_whole(self.path / MANIFEST, encode_manifest(manifest))
        self._manifest = manifest
