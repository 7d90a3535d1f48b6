"""
Fuzzing: the requested number of random decisions and sends, each made by the Java classes of every release and by the reference.

The scripts depend on seed and budget alone, not on the machine or the number of workers; a script can be generated again from
its number.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from rocketdiff.core.errors import HarnessError
from rocketdiff.lab.fuzz.differences import Behaviour, FuzzDifference, behaviours, differences
from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.java_host import JavaHost
from rocketdiff.simulation.script import Depth, parse_script

Piece = TypeVar("Piece")
Result = TypeVar("Result")

SCRIPTS_OF_A_SEED = 1_000_000
"""Numbers of scripts per seed, so that two seeds share none."""

REMOTING_SHARE = 0.2
"""Share of the sends at remoting depth, each of which costs some five times as much as others."""

MOST_DIFFERENCES = 5
"""Stop after this many behaviours with a difference: they most likely have one cause."""

CHUNK = 8
"""Scripts per piece of work: enough to keep a host busy, few enough that workers end together."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The budget: selections and updates at selection depth, sends at the other two."""

    decisions: int = 1_000_000
    sends: int = 100_000
    depths: tuple[Depth, ...] = tuple(Depth)

    def of(self, depth: Depth) -> int:
        """Decisions or sends at a depth; sends are divided between the two depths that send, if both are asked for."""
        if depth not in self.depths:
            return 0
        if depth is Depth.SELECTION:
            return self.decisions
        if not {Depth.SEND_LOOP, Depth.REMOTING} <= set(self.depths):
            return self.sends
        deep = int(self.sends * REMOTING_SHARE)
        return deep if depth is Depth.REMOTING else self.sends - deep


@dataclass(frozen=True, slots=True)
class Chunk:
    """Numbered scripts of one depth."""

    depth: Depth
    numbers: tuple[int, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a chunk."""

    chunk: Chunk
    found: tuple[FuzzDifference, ...]


@dataclass(slots=True)
class FuzzOutcome:
    """The work done for each release, and the findings."""

    releases: tuple[str, ...]
    seed: int
    done: dict[Depth, int] = field(default_factory=lambda: dict.fromkeys(Depth, 0))
    found: list[FuzzDifference] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Nothing was found."""
        return not self.found

    @property
    def summary(self) -> str:
        """The line for machines."""
        verdict = "clean" if self.is_clean else f"differs differences={len(self.found)}"
        sends = self.done[Depth.SEND_LOOP] + self.done[Depth.REMOTING]
        decisions = self.done[Depth.SELECTION]
        return f"FUZZ {verdict} releases={len(self.releases)} decisions={decisions} sends={sends} seed={self.seed}"


class _Checker:
    """Runs chunks on its own Java host, which ends with the process; one per worker."""

    def __init__(self, releases: Sequence[str]) -> None:
        self._releases = releases
        self._groups: dict[Depth, tuple[Behaviour, ...]] = {depth: behaviours(releases, depth) for depth in Depth}
        self._host = JavaHost()

    def __call__(self, chunk: Chunk) -> Checked:
        scripts = (
            (name_of(chunk.depth, number), parse_script(generate(chunk.depth, number), "")) for number in chunk.numbers
        )
        return Checked(chunk, tuple(differences(self._host, scripts, self._groups[chunk.depth])))


@cache
def _checker(releases: tuple[str, ...]) -> _Checker:
    return _Checker(releases)


def _checked(work: tuple[tuple[str, ...], Chunk]) -> Checked:
    """What a worker does."""
    releases, chunk = work
    return _checker(releases)(chunk)


def name_of(depth: Depth, number: int) -> str:
    """Name of a random script, from which ``number_of`` makes it again."""
    return f"fuzz-{depth}-{number}"


def script_of(name: str) -> dict[str, Any]:
    """The random script of a name."""
    depth, _, number = name.removeprefix("fuzz-").rpartition("-")
    return generate(depth, int(number))


def fuzz(
    releases: Sequence[str], effort: Effort, seed: int, workers: int, progress: Callable[[FuzzOutcome], None]
) -> FuzzOutcome:
    """Run the campaign with a number of processes; progress is reported after every chunk."""
    outcome = FuzzOutcome(tuple(releases), seed)
    work = ((outcome.releases, chunk) for chunk in chunks(effort, seed))
    with pool(workers) as executor:
        for checked in as_they_come(executor, _checked, work, workers):
            outcome.done[checked.chunk.depth] += checked.chunk.weight
            outcome.found += checked.found
            progress(outcome)
            if len(distinct(outcome.found)) >= MOST_DIFFERENCES:
                break
    return outcome


@contextmanager
def pool(workers: int) -> Iterator[Executor]:
    """A pool of worker processes. None outlives this process, and after an error none finishes its piece."""
    # Spawned, not forked: a fork would copy the locks of threads that the caller may have.
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin)
    try:
        yield executor
    except BaseException:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _begin() -> None:
    """Start of a worker: ignore Ctrl-C, which reaches the whole group and is handled by the owner; end if the owner is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_owner, daemon=True).start()


def _end_with_owner() -> None:
    owner = multiprocessing.parent_process()
    assert owner is not None
    owner.join()
    os._exit(1)


def as_they_come(
    executor: Executor, work: Callable[[Piece], Result], pieces: Iterable[Piece], workers: int
) -> Iterator[Result]:
    """Results as they arrive, unordered, one piece per worker at a time; pieces are made when needed. Raises what a worker raised."""
    rest = iter(pieces)
    waiting = {executor.submit(work, piece) for piece in islice(rest, workers)}
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        waiting |= {executor.submit(work, piece) for piece in islice(rest, len(done))}
        for future in done:
            try:
                yield future.result()
            except BrokenProcessPool as error:
                raise HarnessError("a worker process to finish its work", seen="one that died") from error


def distinct(found: Sequence[FuzzDifference]) -> list[FuzzDifference]:
    """The first difference of each dialect and depth; the others most likely have the same cause."""
    first: dict[tuple[str, str], FuzzDifference] = {}
    for difference in sorted(found, key=lambda difference: (difference.script, difference.line)):
        first.setdefault((difference.dialect, difference.script.rpartition("-")[0]), difference)
    return list(first.values())


def chunks(effort: Effort, seed: int) -> Iterator[Chunk]:
    """All work in a fixed order, the expensive depth first, so that it is not alone at the end."""
    for depth in reversed(Depth):
        left = effort.of(depth)
        number = seed * SCRIPTS_OF_A_SEED
        while left > 0:
            numbers = tuple(range(number, number + CHUNK))
            weight = sum(weight_of(generate(depth, script_seed)) for script_seed in numbers)
            yield Chunk(depth, numbers, weight)
            left -= weight
            number += CHUNK


def weight_of(script: Mapping[str, Any]) -> int:
    """Decisions of a script at selection depth, sends of another."""
    if script["depth"] == Depth.SELECTION:
        return sum(step["do"] in ("select", "update") for step in script["steps"])
    entries = [entry["action"] for step in script["steps"] for entry in step.get("entries", ())]
    return sum(step.get("count", 1) for step in (*script["steps"], *entries) if step["do"] == "send")
