"""Runs a command of `rocketdiff record` and measures its time and the peak memory of each kind of process."""

import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import environ
from pathlib import Path

import psutil

LOOK_S = 0.2

DRIVER, DRIVER_JVM, EXECUTOR_JVM, WORKER = "driver", "driver JVM", "executor JVM", "Python worker"


@dataclass(frozen=True)
class Measured:
    """A command's output; wall: seconds; peaks: MiB of the largest process of each kind (VmHWM)."""

    said: str
    wall_s: float
    peaks: Mapping[str, int]

    @property
    def line(self) -> str:
        """One row of a table."""
        return f"{self.wall_s:7.1f} s   " + "   ".join(f"{kind} {mib} MiB" for kind, mib in self.peaks.items())


def run(words: Sequence[str], *, beside: Sequence[int] = (), import_path: str = "") -> Measured:
    """
    Run `rocketdiff WORDS`; AssertionError if it fails. beside: processes whose children are measured too (a cluster's workers).
    """
    began_s = time.monotonic()
    more = {"PYTHONPATH": import_path} if import_path else {}
    with subprocess.Popen(
        [sys.executable, "-m", "rocketdiff", *words], stdout=subprocess.PIPE, text=True, env=environ | more
    ) as process:
        peaks: dict[str, int] = {}
        ended = threading.Event()
        watch = threading.Thread(target=_watch, args=(process.pid, tuple(beside), peaks, ended))
        watch.start()
        try:
            said, _ = process.communicate()
        finally:
            ended.set()
            watch.join()
    assert process.returncode == 0, f"exit code {process.returncode} of rocketdiff {' '.join(words)}: {said[-2_000:]}"
    return Measured(said, time.monotonic() - began_s, dict(sorted(peaks.items())))


def _watch(driver: int, beside: Sequence[int], peaks: dict[str, int], ended: threading.Event) -> None:
    while not ended.wait(LOOK_S):
        for pid in (driver, *beside):
            with suppress(psutil.Error):
                top = psutil.Process(pid)
                for one in (top, *top.children(recursive=True)):
                    with suppress(psutil.Error, OSError):
                        kind = DRIVER if one.pid == driver else _kind(one.cmdline())
                        if kind is not None:
                            peaks[kind] = max(peaks.get(kind, 0), _peak_mib(one.pid))


def _kind(command: Sequence[str]) -> str | None:
    text = " ".join(command)
    if "org.apache.spark.executor" in text:
        return EXECUTOR_JVM
    if "SparkSubmit" in text and "java" in command[0]:
        return DRIVER_JVM
    return WORKER if "pyspark.daemon" in text else None


def _peak_mib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return max((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM")), default=0)
