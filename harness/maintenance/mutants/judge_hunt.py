"""
The hunt in the judging code, one room at a time: a mutant runs against the tests that reach it until one fails.

``.cache/mutants`` keeps each result while the mutated module and the test that noticed (for a survivor, all tests of the room)
are unchanged. So an interrupted hunt can continue, and a new test is tried on survivors.
"""

import hashlib
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

from maintenance.mutants.at_work import Loop, Reached, with_tests
from maintenance.mutants.corpus import Function
from maintenance.mutants.forked import Change, in_children, install, put_in_place
from maintenance.mutants.hunting import Fate
from maintenance.mutants.mutants import ROOT, Mutant, file_of, module_of
from maintenance.mutants.rooms import ROOMS, Room
from rocketdiff.core.errors import HarnessError

STORE = ROOT / ".cache" / "mutants"
WORKERS = 2
CHUNK = 10
"""Tests per process when the functions that each test enters are recorded."""

MAP_LIMIT_S, MUTANT_LIMIT_S = 1_800.0, 180.0
"""All tests of the slowest room take a minute of CPU time; a mutant that takes three counts as noticed, as an endless loop."""

LEAST_LIMIT_S, TIMES = 20.0, 2.0
"""An endless loop in a room with fast tests ends after this time and so many times that of all its tests under a profiler."""

MAY_FAIL = 0.02
"""Tests that fail in a fork with limited memory or under a profiler are left out; with more of them the hunt shows little."""

FEW = 25
"""Number of tests, the fastest, for a mutant that no test enters."""

NOT_PLACED = "the module has to be loaded anew"


class JudgeHunt:
    """One room: the tests that reach each function, and the fates of its mutants so far."""

    def __init__(self, room: Room, until_s: float) -> None:
        self.room, self._until_s = room, until_s
        self._file = STORE / f"{room.name}.jsonl"
        self._successes: defaultdict[Function, Counter[str]] = defaultdict(Counter)
        self.mutants = room.mutants()
        self.known = self._known()
        self._reached: dict[str, Reached] = {}
        self._by_function: dict[Function, list[str]] = {}

    def go_on(self, mutants: Sequence[Mutant]) -> list[Fate]:
        """Try mutants without a known fate until the time is up; return all known fates."""
        left = [mutant for mutant in mutants if mutant.name not in self.known]
        if left and time.monotonic() < self._until_s:
            later: list[Mutant] = []
            with_tests(self.room.tests, partial(self._hunt, left, later))
            self._keep_all(later, self._alone)
        return [self.known[mutant.name] for mutant in mutants if mutant.name in self.known]

    def _hunt(self, left: Sequence[Mutant], later: list[Mutant], loop: Loop) -> None:
        self._map(loop)
        placed = [mutant for mutant in left if mutant.function is not None]
        later += [mutant for mutant in left if mutant.function is None]
        self._keep_all(placed, partial(self._in_place, loop), later)

    def _keep_all(self, mutants: Sequence[Mutant], work: object, later: list[Mutant] | None = None) -> None:
        assert callable(work)
        began = time.monotonic()
        STORE.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            for done, (mutant, result) in enumerate(
                in_children(self._in_time(mutants), work, self._limit_s(), WORKERS), start=1
            ):
                if result == NOT_PLACED and later is not None:
                    later.append(mutant)
                    continue
                self.known[mutant.name] = Fate(mutant, result)
                self._successes[mutant.module, mutant.function or ""][str(result)] += 1
                file.write(json.dumps([mutant.name, *self._digests(mutant, result), result]) + "\n")
                file.flush()
                if done % 50 == 0 or sys.stderr.isatty():
                    took_s = time.monotonic() - began
                    sys.stderr.write(f"\r{self.room.name}: {done} of {len(mutants)}, {took_s:.0f} s  ")
        sys.stderr.write("\n")

    def _limit_s(self) -> float:
        return min(MUTANT_LIMIT_S, LEAST_LIMIT_S + TIMES * sum(one.took_s for one in self._reached.values()))

    def _in_time(self, mutants: Sequence[Mutant]) -> Iterator[Mutant]:
        for mutant in mutants:
            if time.monotonic() > self._until_s:
                return
            yield mutant

    def _in_place(self, loop: Loop, mutant: Mutant) -> str | None:
        if not put_in_place(_change(mutant)):
            return NOT_PLACED
        return loop.first_failure(self._order(mutant))

    def _alone(self, mutant: Mutant) -> str | None:
        """Return the test that fails in a session of its own with all modules reloaded, or the failed import."""
        order, noticed = self._order(mutant), ["the import"]

        def inside(loop: Loop) -> None:
            noticed.clear()
            failure = loop.first_failure(order) if set(order) <= set(loop.tests) else "the collection of tests"
            noticed.extend([failure] if failure else [])

        install(_change(mutant))
        with_tests(sorted({test.partition("::")[0] for test in order}), inside)
        return next(iter(noticed), None)

    def _order(self, mutant: Mutant) -> list[str]:
        """Return the tests that enter the function, fast ones first; for a change on import, those of the importers too."""
        if mutant.function is not None:
            tests = self._by_function.get((mutant.module, mutant.function), [])
        else:
            modules = {mutant.module, *_importers(mutant.module)}
            tests = [name for name, one in self._reached.items() if modules & {module for module, _ in one.functions}]
        quick = sorted(tests or self._reached, key=lambda test: self._reached[test].took_s)
        chosen = quick if tests else quick[:FEW]
        successes = self._successes[mutant.module, mutant.function or ""]
        return sorted(chosen, key=lambda test: -successes[test])

    def _map(self, loop: Loop) -> None:
        """
        Record the functions that each test enters without a mutant; skip failing tests, raise HarnessError if there are many.
        """
        kept = STORE / f"reached-{'-'.join(sorted(self.room.tests)).replace('/', '.')}.json"
        known = _reached_before(kept, _digest(*(str(file_of(module)) for module in _sharing(self.room))))
        left = [test for test in loop.tests if test not in known]
        chunks = [left[at : at + CHUNK] for at in range(0, len(left), CHUNK)]
        for chunk, heard in self._heard(chunks, loop):
            known |= {one.test: one for one in heard or (Reached(test, 0.0, False, ()) for test in chunk)}
            _keep_reached(kept, _digest(*(str(file_of(module)) for module in _sharing(self.room))), known.values())
        reached = [known[test] for test in loop.tests]
        failed = [one.test for one in reached if not one.passed]
        if len(failed) > MAY_FAIL * len(reached):
            kept.unlink()
            raise HarnessError(f"the tests of {self.room.name} to pass without a mutant", seen=", ".join(failed[:5]))
        sys.stderr.write("".join(f"left out, fails here without a mutant: {test}\n" for test in failed))
        reached = [one for one in reached if one.passed]
        self._reached = {one.test: one for one in reached}
        self._by_function = defaultdict(list)
        for one in reached:
            for function in one.functions:
                self._by_function[function].append(one.test)

    def _heard(self, chunks: Sequence[Sequence[str]], loop: Loop) -> Iterator[tuple[Sequence[str], list[Reached]]]:
        """Yield tests and the functions they enter; nothing for a test that ends its process even alone."""
        for chunk, heard in in_children(chunks, loop.reached, MAP_LIMIT_S, WORKERS):
            if isinstance(heard, list) or len(chunk) == 1:
                yield chunk, heard if isinstance(heard, list) else []
            else:
                yield from self._heard([[test] for test in chunk], loop)

    def _known(self) -> dict[str, Fate]:
        """Return the stored fates that are still valid."""
        by_name = {mutant.name: mutant for mutant in self.mutants}
        known: dict[str, Fate] = {}
        for line in self._file.read_text(encoding="utf-8").splitlines() if self._file.exists() else ():
            name, module_digest, test_digest, noticed_by = json.loads(line)
            mutant = by_name.get(name)
            known.pop(name, None)
            if mutant is not None and self._digests(mutant, noticed_by) == (module_digest, test_digest):
                known[name] = Fate(mutant, noticed_by)
                self._successes[mutant.module, mutant.function or ""][str(noticed_by)] += 1
        return known

    def _digests(self, mutant: Mutant, noticed_by: str | None) -> tuple[str, str]:
        """Return digests of the module and of the test file that noticed (for a survivor, of all tests)."""
        file = (noticed_by or "").partition("::")[0]
        tests = [file] if (ROOT / file).is_file() else [] if noticed_by else _test_files(self.room)
        return _digest(str(file_of(mutant.module))), _digest(*tests)


def _sharing(room: Room) -> tuple[str, ...]:
    """Return the modules of all rooms with the same tests; their functions are recorded together."""
    return tuple(module for other in ROOMS if other.tests == room.tests for module in other.modules)


def _reached_before(kept: Path, modules: str) -> dict[str, Reached]:
    """Return the stored records of tests whose file is unchanged; none if a module has changed."""
    stored: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    if stored.get("modules") != modules:
        return {}
    return {
        one["test"]: Reached(one["test"], one["took_s"], one["passed"], tuple(map(tuple, one["functions"])))
        for one in stored["reached"]
        if one["passed"] and one["file"] == _file_digest(one["test"])
    }


def _keep_reached(kept: Path, modules: str, reached: Iterable[Reached]) -> None:
    STORE.mkdir(parents=True, exist_ok=True)
    each = [{**asdict(one), "file": _file_digest(one.test)} for one in reached]
    kept.write_text(json.dumps({"modules": modules, "reached": each}), encoding="utf-8")


def _file_digest(test: str) -> str:
    file = ROOT / test.partition("::")[0]
    return _digest(str(file)) if file.exists() else ""


def _change(mutant: Mutant) -> Change:
    return Change(mutant.module, mutant.function, compile(mutant.tree(), str(file_of(mutant.module)), "exec"))


@cache
def _test_files(room: Room) -> tuple[str, ...]:
    files = [
        file for path in room.tests for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("*.py"))
    ]
    return tuple(sorted(str(file) for file in files))


@cache
def _digest(*files: str) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update((ROOT / file).read_bytes())
    return whole.hexdigest()[:16]


@cache
def _importers(module: str) -> frozenset[str]:
    files = [*(ROOT / "harness" / "rocketdiff").rglob("*.py")]
    return frozenset(
        module_of(str(file.relative_to(ROOT)))
        for file in files
        if f"from {module} import" in Path(file).read_text(encoding="utf-8")
    )
