"""One trial with limits: judging a few hundred sends may take neither minutes nor gigabytes."""

import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import psutil

from maintenance.faithful.faithful import alarm_of, judged, run_of, trial
from maintenance.faithful.scenarios import drawn
from rocketdiff.core.errors import ExitCode, HarnessError
from rocketdiff.simulation.java_host.host import JavaHost

MOST_CPU_S = 60.0
"""A thousand times the cost of an ordinary case."""

MOST_BYTES = 2 << 30
"""Several times the memory after a hundred cases; added to the current size, since tests share their process."""


@dataclass(frozen=True, slots=True)
class Trialled:
    """The result of a seed; alarm: what must not happen, as text. Without a code it was not judged."""

    seed: int
    code: ExitCode | None
    alarm: str | None
    cpu_s: float


def trials_of(seeds: Sequence[int], releases: Sequence[str]) -> list[Trialled]:
    """Trials of all seeds, with the releases in turn, in one laboratory process."""
    with JavaHost() as host:
        return [one_trial(host, seed, releases[seed % len(releases)]) for seed in seeds]


def one_trial(host: JavaHost, seed: int, release: str) -> Trialled:
    """Judge a seed's scenario with a release's classes."""
    began_s = time.process_time()
    try:
        one = trial(drawn(seed).scenario, release, seed)
        answers = [host.run(release, f"faithful-{seed}", script, trace=True) for script in one.arms]
        with tempfile.TemporaryDirectory() as folder, bounded():
            judgement = judged(run_of(one, answers, Path(folder)))
        code, alarm = judgement.exit_code, alarm_of(one, judgement)
    except (HarnessError, AssertionError, LookupError, ValueError, TypeError, MemoryError, TimeoutError):
        code, alarm = None, f"seed {seed}, {release}: not judged\n{traceback.format_exc(limit=-6)}"
    return Trialled(seed, code, alarm, time.process_time() - began_s)


@contextmanager
def bounded() -> Iterator[None]:
    """Raise TimeoutError or MemoryError beyond the limits; not while the laboratory starts, whose JVM reserves more."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (psutil.Process().memory_info().data + MOST_BYTES, before[1]))
    handler = signal.signal(signal.SIGPROF, _took_too_long)
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _took_too_long(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"more than {MOST_CPU_S:g} s of CPU")
