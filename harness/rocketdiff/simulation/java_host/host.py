"""
The client of the Java host: sends releases and scripts, receives answer lines.

The process starts at first use and gets each release at its first use. Scripts are pipelined ahead of their answers, so that
neither side waits for the other. An error that the host reports becomes one exception that names the script.
"""

import json
import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import psutil

from rocketdiff.core.closing import Closing
from rocketdiff.core.errors import HarnessError, UsageError
from rocketdiff.process.child import Child
from rocketdiff.releases.catalogue import base_of, client_releases
from rocketdiff.releases.programs.builds import class_path, is_there
from rocketdiff.simulation.script import Script, depth_of, to_dict

SILENCE_S = 60.0
"""
Limit of silence. A script of a thousand sends takes about 20 ms, so a host that is silent for a minute of its own CPU time
hangs. CPU time, because the machine may be overloaded.
"""

STANDSTILL = 0.01
"""A host that uses less than this share of the CPU during SILENCE_S is blocked."""

_AHEAD_JOBS = 200
_AHEAD_BYTES = 1 << 20
"""Limits of pipelining ahead of the answers: enough to keep the host busy, small enough to ignore in memory."""

_END = b'{"end"'

_END_S = 5.0
"""An idle host needs about 50 ms to exit; after this time it is killed."""

_CHANGES_A_JVM = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "NAMESRV_ADDR")
"""Environment variables that would silently change the JVM or the client."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a script on a release, at the script's depth."""

    release: str
    name: str
    script: Script
    trace: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """A job and its answer lines; if it failed, the lines before the error."""

    job: Job
    lines: list[str]
    virtual_ms: int
    error: HarnessError | None


@dataclass(slots=True)
class _Flight:
    number: int
    job: Job
    lines: list[str] = field(default_factory=list)
    end: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class HostProgram:
    """The command and class path of the host, and the class path of a release."""

    command: Callable[[], Sequence[str]]
    class_path: Callable[[], str]
    release_class_path: Callable[[str], Sequence[Path]]


def java_program() -> HostProgram:
    """Return the Java host of this package."""
    # Imported here because a toy host needs neither a JDK nor the compiled simulator.
    from rocketdiff.releases.jdk import find_java  # noqa: PLC0415
    from rocketdiff.releases.programs.java_programs import MAIN_CLASS, SIMULATOR_JVM_OPTIONS, simulator_class_path  # noqa: PLC0415

    return HostProgram(
        command=lambda: (str(find_java().java), *SIMULATOR_JVM_OPTIONS, MAIN_CLASS),
        class_path=lambda: os.pathsep.join(map(str, simulator_class_path())),
        release_class_path=class_path,
    )


class JavaHost(Closing):
    """A context manager for one thread. After an error of the host itself, the next run starts a new process."""

    def __init__(self, program: HostProgram | None = None, *, silence_s: float = SILENCE_S) -> None:
        self._program = program or java_program()
        self._silence_s = silence_s
        self._process: Child | None = None
        self._told: set[str] = set()
        self._flights: deque[_Flight] = deque()
        self._count = 0
        # The last script and its text, because forty releases often run the same script in a row.
        self._written: tuple[Script | None, msgspec.Raw] = (None, msgspec.Raw())

    def run(self, release: str, name: str, script: Script, *, trace: bool = False) -> list[str]:
        """Return the answer lines of one script; raises UsageError or another HarnessError that names the script."""
        ((_, lines),) = self.run_all([Job(release, name, script, trace)])
        return lines

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]:
        for finished in self.finish_all(jobs):
            if finished.error is not None:
                raise finished.error
            yield finished.job, finished.lines

    def finish_all(self, jobs: Iterable[Job]) -> Iterator[Finished]:
        """Yield the result of every job, in input order; raises only if the host itself fails."""
        waiting: deque[_Flight] = deque()
        for job in jobs:
            waiting.append(self._hand_over(job))
            self._exchange(wait_s=0)
            while waiting[0].end is not None or self._is_far_ahead(waiting):
                yield self._finish(waiting.popleft())
                if not waiting:
                    break
        while waiting:
            yield self._finish(waiting.popleft())

    def close(self) -> None:
        """End the process; kill it if jobs are unfinished."""
        process, self._process = self._process, None
        if process is not None:
            if not self._flights:
                process.close_input()
                process.await_end(_END_S)
            process.close()
        self._flights.clear()
        self._told.clear()

    def _hand_over(self, job: Job) -> _Flight:
        self._count += 1
        flight = _Flight(self._count, job)
        process = self._started()
        if job.release not in self._told:
            process.queue(msgspec.json.encode(_release_line(job.release, self._program)))
            self._told.add(job.release)
        if self._written[0] is not job.script:
            self._written = (job.script, msgspec.Raw(msgspec.json.encode(to_dict(job.script))))
        process.queue(msgspec.json.encode(_run_line(flight, self._written[1])))
        self._flights.append(flight)
        return flight

    def _is_far_ahead(self, waiting: deque[_Flight]) -> bool:
        assert self._process is not None
        return len(waiting) >= _AHEAD_JOBS or self._process.unsent_bytes > _AHEAD_BYTES

    def _started(self) -> Child:
        if self._process is None:
            self._process = _start(self._program)
        return self._process

    def _finish(self, flight: _Flight) -> Finished:
        while flight.end is None:
            self._await_exchange()
        return Finished(flight.job, flight.lines, flight.end.get("virtual_ms", 0), _error_of(flight))

    def _await_exchange(self) -> None:
        """Await output; raise if the host is blocked or computes too long without a line."""
        process, limit_s = self._started(), self._silence_s
        if self._exchange(STANDSTILL * limit_s):  # the common case, without measuring CPU time
            return
        began_s = before_s = _processor_s(process)
        while not self._exchange(limit_s):
            now_s = _processor_s(process)
            if now_s - began_s >= limit_s or now_s - before_s < STANDSTILL * limit_s:
                self._lost(f"{limit_s:g} s of silence")
            before_s = now_s

    def _exchange(self, wait_s: float) -> bool:
        if self._process is None:
            raise HarnessError("a Java host that is running", seen="one that was closed")
        try:
            lines = self._process.hear(wait_s)
        except EOFError:
            self._lost(self._process.how_it_ended(_END_S))
        for line in lines or ():
            self._take(line)
        return lines is not None

    def _take(self, line: bytes) -> None:
        if not self._flights:
            self._lost(f"an unexpected line: {line[:200].decode(errors='replace')}")
        flight = self._flights[0]
        if not line.startswith(_END):
            flight.lines.append(line.decode("utf-8", errors="replace"))
            return
        end = json.loads(line)
        if end["end"] != flight.number:
            self._lost(f"the end of run {end['end']} where {flight.number} was due")
        flight.end = end
        self._flights.popleft()

    def _lost(self, seen: str) -> NoReturn:
        """Kill an unusable process and raise an error that names the current script."""
        assert self._process is not None
        words = self._process.last_words()
        at = (
            f"script {self._flights[0].job.name} of java:{self._flights[0].job.release}"
            if self._flights
            else "no script"
        )
        self._process.kill()
        self.close()
        raise HarnessError(f"the Java host to answer {at}", seen=f"{seen}; its last words: {words}" if words else seen)


def _start(program: HostProgram) -> Child:
    """Start the host, with the class path in the environment to keep it out of process lists."""
    environment = {name: value for name, value in os.environ.items() if name not in _CHANGES_A_JVM}
    if class_path := program.class_path():
        environment["CLASSPATH"] = class_path
    return Child(program.command(), stderr=tempfile.TemporaryFile(), environment=environment)


def _processor_s(process: Child) -> float:
    """CPU time of the process and its supervisor so far; 0 if they are gone."""
    try:
        supervisor = psutil.Process(process.pid)
        times = [process.cpu_times() for process in (supervisor, *supervisor.children(recursive=True))]
    except psutil.NoSuchProcess:
        return 0.0
    return float(sum(used.user + used.system for used in times))


def require_release(release: str) -> None:
    """Raise UsageError with the nearest names if the Java client release does not exist."""
    if not is_there(release):
        known = client_releases()
        close = get_close_matches(release, known, n=3, cutoff=0.4) or (known[-1],)
        raise UsageError("a published release of the Java client", seen=release, hint=" or ".join(close))


def _release_line(release: str, program: HostProgram) -> dict[str, Any]:
    require_release(release)
    return {
        "type": "release",
        "release": release,
        "class_path": [str(path) for path in program.release_class_path(release)],
    }


def _run_line(flight: _Flight, script: msgspec.Raw) -> dict[str, Any]:
    job = flight.job
    return {
        "type": "run",
        "id": flight.number,
        "release": job.release,
        "name": job.name,
        "depth": str(depth_of(job.script)),
        "trace": job.trace,
        "script": script,
    }


def _error_of(flight: _Flight) -> HarnessError | None:
    assert flight.end is not None
    error = flight.end.get("error")
    if error is None:
        return None
    at, message = f"script {flight.job.name} of java:{flight.job.release}", str(error.get("message"))
    match error.get("kind"):
        case "script":
            return UsageError(f"a script that the Java classes can run ({at})", seen=message)
        case "endless":
            return UsageError(
                f"a script that comes to an end ({at})", seen=message, hint="longer intervals, or less time"
            )
        case "untreated":
            return HarnessError(
                f"every call of the client to be treated by the simulation ({at})",
                seen=message,
                hint="harness/rocketdiff/simulation/java_host/java/README.md says how a call is added",
            )
        case _ if base_of(flight.job.release) != flight.job.release:
            # Published releases never get here, but the classes of a build may not fit together.
            hint = "see whether a class is missing or was compiled for a newer Java; rocketdiff subject check tries it on a broker"
            return UsageError(f"a build whose classes can be run ({at})", seen=message, hint=hint)
        case _:
            return HarnessError(f"the Java host to run {at}", seen=message)
