"""
Fuzzing: a budget of random decisions and sends, run by every release's Java classes and by the reference.

Seed and budget alone determine the scripts. A script can be generated again from its number.
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
from hashlib import sha256
from itertools import islice
from typing import Any, TypeVar

from rocketdiff.core.errors import HarnessError
from rocketdiff.core.text.machine_line import machine_line
from rocketdiff.lab.fuzz.differences import FuzzDifference, behaviours, differences
from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.java_host import JavaHost
from rocketdiff.simulation.script import Depth, canonical, parse_script

Piece = TypeVar("Piece")
Result = TypeVar("Result")

SCRIPTS_OF_A_SEED = 1_000_000
"""Script numbers per seed, so that two seeds share none."""

REMOTING_SHARE = 0.2
"""Share of the sends at remoting depth, which cost about five times as much as others."""

CONSUMER_COST = 20
"""Rounds reported at depth rebalance for one at depth consumer, which costs about as much."""

MOST_DIFFERENCES = 5
"""Stop after this many behaviours with a difference; they probably have one cause."""

_COUNTED: Mapping[str, tuple[str, ...]] = {
    Depth.ALLOCATION: ("allocate",),
    Depth.PROCESS_QUEUE: ("put", "remove", "take", "commit", "rollback", "consume_again"),
    Depth.REBALANCE: ("rounds",),
    Depth.CONSUMER: ("rounds",),
}
"""Steps that a script of a consumer is weighed by."""

CHUNK = 8
"""Scripts per unit of work: enough to keep a host busy, few enough that workers end together."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The budget: decisions (selections and updates) at selection depth, sends at the other two, allocations and calls of queues, rounds reported."""

    decisions: int = 1_000_000
    sends: int = 100_000
    depths: tuple[Depth, ...] = tuple(Depth)
    allocations: int = 100_000
    rounds: int = 20_000

    def of(self, depth: Depth) -> int:
        """Decisions, sends, allocations, calls or rounds at a depth; the two sending depths share the sends if both are requested."""
        if depth not in self.depths:
            return 0
        if depth is Depth.SELECTION:
            return self.decisions
        if depth in (Depth.ALLOCATION, Depth.PROCESS_QUEUE):
            return self.allocations
        if depth in (Depth.REBALANCE, Depth.CONSUMER):
            return self.rounds // (CONSUMER_COST if depth is Depth.CONSUMER else 1)
        if not {Depth.SEND_LOOP, Depth.REMOTING} <= set(self.depths):
            return self.sends
        deep = int(self.sends * REMOTING_SHARE)
        return deep if depth is Depth.REMOTING else self.sends - deep


@dataclass(frozen=True, slots=True)
class Chunk:
    """Numbers of scripts of one depth; weight: their decisions, sends, allocations, calls or rounds."""

    depth: Depth
    numbers: tuple[int, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class Checked:
    """A chunk's result; scripts: the digest of each script."""

    chunk: Chunk
    found: tuple[FuzzDifference, ...]
    scripts: frozenset[bytes] = frozenset()


@dataclass(slots=True)
class FuzzOutcome:
    """The work done for each release, and the findings; scripts: digests of those that ran, so that equal ones count once."""

    releases: tuple[str, ...]
    seed: int
    done: dict[Depth, int] = field(default_factory=lambda: dict.fromkeys(Depth, 0))
    found: list[FuzzDifference] = field(default_factory=list)
    scripts: set[bytes] = field(default_factory=set)

    @property
    def is_clean(self) -> bool:
        return not self.found

    @property
    def summary(self) -> str:
        verdict, found = ("clean", {}) if self.is_clean else ("differs", {"differences": len(self.found)})
        sends = self.done[Depth.SEND_LOOP] + self.done[Depth.REMOTING]
        decisions = self.done[Depth.SELECTION]
        done = {"decisions": decisions, "sends": sends, "allocations": self.done[Depth.ALLOCATION]}
        done["calls"] = self.done[Depth.PROCESS_QUEUE]
        done["rounds"] = self.done[Depth.REBALANCE] + self.done[Depth.CONSUMER]
        return machine_line(
            "FUZZ", verdict, **found, releases=len(self.releases), scripts=len(self.scripts), **done, seed=self.seed
        )


class _Checker:
    def __init__(self, releases: Sequence[str]) -> None:
        self._releases = releases
        self._groups = {depth: behaviours(releases, depth) for depth in Depth}
        self._host = JavaHost()

    def __call__(self, chunk: Chunk) -> Checked:
        scripts = [
            (name_of(chunk.depth, number), parse_script(generate(chunk.depth, number), "")) for number in chunk.numbers
        ]
        found = tuple(differences(self._host, scripts, self._groups[chunk.depth]))
        return Checked(chunk, found, frozenset(sha256(canonical(script).encode()).digest() for _, script in scripts))


@cache
def _checker(releases: tuple[str, ...]) -> _Checker:
    return _Checker(releases)


def _checked(work: tuple[tuple[str, ...], Chunk]) -> Checked:
    releases, chunk = work
    return _checker(releases)(chunk)


def name_of(depth: Depth, number: int) -> str:
    """Return the name of a random script, from which ``script_of`` generates it."""
    return f"fuzz-{depth}-{number}"


def script_of(name: str) -> dict[str, Any]:
    """Generate the random script of a name."""
    depth, _, number = name.removeprefix("fuzz-").rpartition("-")
    return generate(depth, int(number))


def fuzz(
    releases: Sequence[str], effort: Effort, seed: int, workers: int, progress: Callable[[FuzzOutcome], None]
) -> FuzzOutcome:
    """Run the campaign in worker processes; progress is called after every chunk."""
    outcome = FuzzOutcome(tuple(releases), seed)
    work = ((outcome.releases, chunk) for chunk in chunks(effort, seed))
    with pool(workers) as executor:
        for checked in as_they_come(executor, _checked, work, workers):
            outcome.done[checked.chunk.depth] += checked.chunk.weight
            outcome.found += checked.found
            outcome.scripts |= checked.scripts
            progress(outcome)
            if len(distinct(outcome.found)) >= MOST_DIFFERENCES:
                break
    return outcome


@contextmanager
def pool(workers: int) -> Iterator[Executor]:
    """Provide a pool of worker processes; an error kills them at once, and they end with this process."""
    # Spawned, because a fork would copy the locks of the caller's threads.
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
    """Ignore Ctrl-C, which the owner handles for the process group, and end if the owner is killed."""
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
    """Yield results unordered; pieces are drawn lazily, one per worker at a time. Raises a worker's exception."""
    rest = iter(pieces)
    waiting = {executor.submit(work, piece) for piece in islice(rest, workers)}
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        waiting |= {executor.submit(work, piece) for piece in islice(rest, len(done))}
        for future in done:
            try:
                yield future.result()
            except BrokenProcessPool as error:
                raise HarnessError("a worker process to finish its work", seen="it died") from error


def distinct(found: Sequence[FuzzDifference]) -> list[FuzzDifference]:
    """Return the first difference of each dialect and depth; the others probably have the same cause."""
    first: dict[tuple[str, str], FuzzDifference] = {}
    for difference in sorted(found, key=lambda difference: (difference.script, difference.line)):
        first.setdefault((difference.dialect, difference.script.rpartition("-")[0]), difference)
    return list(first.values())


def chunks(effort: Effort, seed: int) -> Iterator[Chunk]:
    """Yield all work in a fixed order, with the expensive depth first to balance the workers."""
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
    """Return the decisions of a script at selection depth, the allocations, calls, rounds or sends at another depth."""
    if script["depth"] in _COUNTED:
        return sum(step["do"] in _COUNTED[script["depth"]] for step in script["steps"])
    if script["depth"] == Depth.SELECTION:
        return sum(step["do"] in ("select", "update") for step in script["steps"])
    entries = [entry["action"] for step in script["steps"] for entry in step.get("entries", ())]
    return sum(step.get("count", 1) for step in (*script["steps"], *entries) if step["do"] == "send")
