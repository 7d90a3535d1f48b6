"""What a program's process uses, sampled from outside; unknown is not zero, and times never go back."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rocketdiff.core.arm import CANDIDATE
from rocketdiff.run.case.process_resources import MOST_KEPT, SAMPLES_AT_REST, ResourceWatch
from rocketdiff.traces.manifest import ResourceSample

CLIENT = """
import subprocess, sys, threading, time
kept, over = [], threading.Event()
def start(work, count=1):
    for _ in range(count):
        kept.append(threading.Thread(target=work, daemon=True))
        kept[-1].start()
def spin():
    while not over.is_set():
        pass
def end():
    over.set()
    [one.join() for one in kept]
print("ready", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""
"""Executes one line of Python at a time."""


class Client:
    """A program that works while it is watched."""

    def __init__(self, started: "subprocess.Popen[str]") -> None:
        assert started.stdin is not None
        assert started.stdout is not None
        self._write, self._hear, self.pid = started.stdin, started.stdout, started.pid

    def do(self, line: str) -> None:
        print(line, file=self._write, flush=True)
        assert self._hear.readline() == "done\n"


@contextmanager
def client() -> Iterator[Client]:
    with subprocess.Popen([sys.executable, "-c", CLIENT], stdin=-1, stdout=-1, text=True) as started:
        made = Client(started)
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        yield made
        assert started.stdin is not None
        started.stdin.close()


def watched(work: str) -> tuple[ResourceSample, ...]:
    """Return the samples of a client that does some work while it is watched."""
    with client() as made, ResourceWatch({CANDIDATE: made.pid}) as watch:
        made.do(work)
        watch.rest()
    return watch.seen[CANDIDATE]


@pytest.mark.parametrize(
    ("work", "threads", "files", "least_bytes"),
    [
        ("start(over.wait, 9)", 9, 0, 0),
        ("kept += [open('/dev/null') for _ in range(7)]", 0, 7, 0),
        ("kept.append(b'x' * (32 << 20))", 0, 0, 30 << 20),
        ("subprocess.Popen(['sleep', '60'], stdin=subprocess.PIPE); time.sleep(0.1)", 1, 4, 0),
    ],
)
def test_growth_is_sampled(work: str, threads: int, files: int, least_bytes: int) -> None:
    """Threads, descriptors and resident memory of a process and its children are sampled."""
    first, *_, last = watched(work + "; sys.stdout.flush()")
    assert None not in (first.threads, first.files, first.memory_bytes, last.threads, last.files, last.memory_bytes)
    assert ((last.threads or 0) - (first.threads or 0), (last.files or 0) - (first.files or 0)) == (threads, files)
    assert (last.memory_bytes or 0) - (first.memory_bytes or 0) >= least_bytes


def test_times_of_ended_threads_still_count() -> None:
    """Processor time and waiting of threads that have ended still count."""
    with client() as made, ResourceWatch({CANDIDATE: made.pid}) as watch:
        made.do("start(spin, 4); time.sleep(0.7); end()")
        watch.rest()
    samples = watch.seen[CANDIDATE]
    used = [sample.cpu_ns for sample in samples if sample.cpu_ns is not None]
    waited = [sample.waited_ns for sample in samples if sample.waited_ns is not None]
    assert used == sorted(used)
    assert used[-1] > used[0]
    assert waited == sorted(waited)
    assert samples[-1].threads == samples[0].threads


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_an_ended_process_has_no_numbers(*, is_waited_for: bool) -> None:
    """A process that has ended has no numbers, also before its parent has asked for its end, and the watch goes on."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        os.waitid(os.P_PID, gone.pid, os.WEXITED | (0 if is_waited_for else os.WNOWAIT))
        with ResourceWatch({CANDIDATE: gone.pid}) as watch:
            watch.rest()
    samples = watch.seen[CANDIDATE]
    assert len([sample for sample in samples if sample.is_at_rest]) == SAMPLES_AT_REST
    assert {(sample.threads, sample.cpu_ns, sample.waited_ns) for sample in samples} == {(None, None, None)}


@pytest.mark.parametrize("count", [1, 2, 47, 48, 49, 200, 5_000])
def test_stored_samples_are_few_and_include_both_ends(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 48 samples before rest are stored, from the first on, besides the last."""
    watch = ResourceWatch({CANDIDATE: 1})
    taken = [ResourceSample(number, 1) for number in range(count)]
    monkeypatch.setitem(watch._samples, CANDIDATE, [*taken, ResourceSample(count, 1, is_at_rest=True)])
    stored = watch.seen[CANDIDATE]
    assert (stored[0].at_ns, [sample.at_ns for sample in stored[-2:]]) == (0, [count - 1, count])
    assert len(stored) <= MOST_KEPT + 2
    assert len(stored) == count + 1 or count > MOST_KEPT
