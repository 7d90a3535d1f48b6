"""
End `rocketdiff run` and `analyze` at random moments, from the first import to the last report, and look for leftovers.

``python -m tests.whole.killed_at_random --kills 24 --signals 24 --seed 1`` prints a table and exits with 1 if anything was
found. The seed fixes only the moments.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rocketdiff.core.resources import import_path

MARK = "ROCKETDIFF_TRIAL"
"""Environment variable of a trial, inherited by the processes it starts."""

RUN = ("run", "--scenario", "round-robin/calm", "--subject", "java:5.3.3", "--subject", "python:5.3.3", "--seed", "3")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

IMPORTS_S = 0.8
START_S = 8.0
PATIENCE_S = 15.0
"""Time for orphaned processes to end: a guardian notices at once, but the machine may be busy."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A signal to a command after ``after_s``; ``times``: how often in a row."""

    command: str
    number: signal.Signals
    after_s: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """Exit status, problems found (none expected), and the exit code of judging the run."""

    trial: Trial
    status: int
    wrong: tuple[str, ...]
    judged: int | None = None


def trials(kills: int, signals: int, seed: int, lasts_s: float) -> Iterator[Trial]:
    """Trials hit imports, start-up or any time, a third each; a third of them end ``analyze``."""
    draw = random.Random(seed)
    for number in range(kills + signals):
        latest_s = (IMPORTS_S, START_S, lasts_s)[number % 3]
        command = "analyze" if number // 3 % 3 == 2 else "run"
        chosen = signal.SIGKILL if number < kills else draw.choice(SIGNALS)
        times = draw.choice((1, 1, 3)) if chosen is not signal.SIGKILL else 1
        yield Trial(command, chosen, draw.uniform(0.02, latest_s), times)


def attempted(trial: Trial, folder: Path, stored: Path) -> Outcome:
    """Carry out a trial in its own folder and look for leftovers. ``stored``: a run for ``analyze``."""
    temporary, out = folder / "tmp", folder / "out"
    temporary.mkdir(parents=True)
    mark = uuid.uuid4().hex
    words = RUN if trial.command == "run" else ("analyze", str(stored))
    with (folder / "said").open("wb") as output:
        process = _started((*words, "--out", str(out)), output, temporary, mark)
        time.sleep(trial.after_s)
        for _ in range(trial.times):
            process.send_signal(trial.number)
            time.sleep(0.05)
        try:
            status = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            return Outcome(trial, process.wait(), ("it did not end within 60 s",))
    wrong = list(_left(mark, folder, temporary))
    text = (folder / "said").read_text(errors="replace")
    if trial.number is not signal.SIGKILL:
        wrong += _badly_ended(status, text, trial)
    judged = _judged(out, temporary)
    if judged not in (None, 0, 2):
        wrong.append(f"judged with exit code {judged}")
    return Outcome(trial, status, tuple(wrong), judged)


def _started(words: Sequence[str], output: IO[bytes], temporary: Path, mark: str) -> "subprocess.Popen[bytes]":
    environment = os.environ | {
        MARK: mark,
        "TMPDIR": str(temporary),
        "PYTHONPATH": import_path(),
    }
    return subprocess.Popen(
        # A shell starts background processes with SIGINT ignored, and these trials inherit that.
        ["/usr/bin/env", "--default-signal=INT,HUP", sys.executable, "-m", "rocketdiff", *words],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )


def _badly_ended(status: int, text: str, trial: Trial) -> list[str]:
    """An interrupted command exits with 130 and no traceback; one that had ended keeps its exit code."""
    if trial.after_s < IMPORTS_S and "rocketdiff" not in text and (not text or "Python" in text or "<frozen" in text):
        return []  # Python itself was not up yet, so the command could not print a message
    wrong = ["traceback"] if "Traceback" in text else []
    if "interrupted" in text:
        return wrong + ([f"exit code {status}"] if status != 130 else [])
    if status in (0, 1, 2, 3, 5):
        return wrong
    return [*wrong, f"ended with {status} and {text[-80:]!r}"]


def _left(mark: str, folder: Path, temporary: Path) -> Iterator[str]:
    deadline = time.monotonic() + PATIENCE_S
    while (living := dict(_processes(mark, folder))) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid, line in living.items():
        yield f"process {pid}: {line[:100]}"
    while (files := [path.name for path in temporary.iterdir()]) and time.monotonic() < deadline:
        time.sleep(0.1)
    if files:
        yield f"temporary files: {' '.join(files)}"
    if stores := [str(path.relative_to(folder)) for path in folder.rglob("store") if path.is_dir()]:
        yield f"stores: {' '.join(stores)}"


def _processes(mark: str, folder: Path) -> Iterator[tuple[int, str]]:
    """Return processes with the mark in their environment or the folder in their command line."""
    for proc in Path("/proc").glob("[0-9]*"):
        try:
            line = (proc / "cmdline").read_bytes()
            if mark.encode() in (proc / "environ").read_bytes() or str(folder).encode() in line:
                yield int(proc.name), line.replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue


def _judged(out: Path, temporary: Path) -> int | None:
    runs = [manifest.parent for manifest in out.glob("*/run.json")]
    if not runs:
        return None
    words = [sys.executable, "-m", "rocketdiff", "analyze", str(runs[0]), "--master", "none"]
    environment = os.environ | {"TMPDIR": str(temporary)}
    return subprocess.run(words, env=environment, capture_output=True, check=False, timeout=300).returncode


def whole_run(folder: Path) -> tuple[Path, float, int]:
    began = time.monotonic()
    folder.mkdir()
    with (folder / "said").open("wb") as output:
        status = _started((*RUN, "--out", str(folder)), output, folder, "whole").wait()
    return next(folder.glob("*/run.json")).parent, time.monotonic() - began, status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=24)
    parser.add_argument("--signals", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocketdiff-killed-") as name:
        folder = Path(name)
        stored, lasts_s, status = whole_run(folder / "before")
        _print(f"a run that nobody disturbs: {lasts_s:.1f} s, exit code {status}")
        outcomes = []
        for number, trial in enumerate(trials(asked.kills, asked.signals, asked.seed, lasts_s)):
            outcome = attempted(trial, folder / str(number), stored)
            outcomes.append(outcome)
            what = f"{trial.command:8} {trial.number.name} x{trial.times} at {trial.after_s:5.2f} s"
            _print(
                f"{number:3} {what}: ended {outcome.status:4}, judged {outcome.judged}  {'; '.join(outcome.wrong) or 'clean'}"
            )
        _, _, after = whole_run(folder / "after")
    bad = [outcome for outcome in outcomes if outcome.wrong]
    judged = [outcome.judged for outcome in outcomes if outcome.judged is not None]
    _print(
        f"{len(outcomes)} trials, {len(bad)} with something left or wrong; judged {len(judged)}: {_counted(judged)}; next run: {after}"
    )
    return int(bool(bad) or status != after)


def _counted(codes: Sequence[int]) -> str:
    return ", ".join(f"{codes.count(code)} x {code}" for code in sorted(set(codes)))


def _print(line: str) -> None:
    sys.stdout.write(re.sub(r"\s+", " ", line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
