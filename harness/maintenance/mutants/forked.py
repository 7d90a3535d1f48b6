"""
Run a mutant in a forked process in which one function or module is changed.

The parent has everything loaded. A changed function gets its new code in place, in a few milliseconds; a change at module level
reloads the module and its importers.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

Task = TypeVar("Task")

RULES_FRESH = (
    "rocketmq_reference",
    "rocketdiff.simulation.virtual",
    "rocketdiff.oracle",
    "tests.reference_impl",
    "tests.oracle",
)
"""Packages imported again if a whole module of the rules is changed: the rules, and importers of their names."""

PROJECT = {"maintenance", "rocketdiff", "rocketmq_reference", "tests"}

KEPT = "maintenance.mutants"
"""If any other module is changed, all of this project except the hunt itself is imported again."""

MEMORY_BYTES = 1 << 30
"""Memory that a child may use beyond its initial size; ends a mutant whose endless loop collects values."""

STATM = Path("/proc/self/statm")

ENDLESS = "took too long"
CRASHED = "ended the process"

WAITING = 20
"""Wall-clock limit as a multiple of the CPU limit: ends a sleeping child, but not one on a busy machine."""


@dataclass(frozen=True, slots=True)
class Change:
    """Replacement code for a module; function: the only function that differs, None for the whole module."""

    module: str
    function: str | None
    code: CodeType


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads the changed code under the real name and path."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - there is one
        return self._code


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, change: Change, path: str) -> None:
        self._change = change
        self._path = path

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:  # noqa: ARG002
        if fullname != self._change.module:
            return None
        loader = _Loader(fullname, self._path, self._change.code)
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


def install(change: Change) -> None:
    if not put_in_place(change):
        _anew(change)


def put_in_place(change: Change) -> bool:
    """Change a function for every module that holds it; False if that is not possible."""
    return change.function is not None and _in_place(change, change.function)


def _in_place(change: Change, name: str) -> bool:
    """Replace the function's code object; False if the function is missing or has other free variables."""
    found: Any = importlib.import_module(change.module)
    for part in name.split("."):
        found = vars(found).get(part)
        if found is None:
            return False
    for wrapper in ("fget", "__func__", "func"):  # property, class or static method, cached property
        found = getattr(found, wrapper, None) or found
    found = getattr(found, "__wrapped__", found)
    code = _code_of(change.code, name)
    if not isinstance(found, FunctionType) or code is None or code.co_freevars != found.__code__.co_freevars:
        return False
    found.__code__ = code
    return True


def _code_of(code: CodeType, name: str) -> CodeType | None:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    for one in inner:
        found = one if one.co_qualname == name else _code_of(one, name)
        if found is not None:
            return found
    return None


def _anew(change: Change) -> None:
    """Unload the module and its importers; imports then find the changed module."""
    spec = importlib.util.find_spec(change.module)
    assert spec is not None
    assert spec.origin is not None
    for name in [name for name in sys.modules if _is_forgotten(name, change.module)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(change, spec.origin))


def _is_forgotten(name: str, changed: str) -> bool:
    if changed.startswith("rocketmq_reference"):
        return name.startswith(RULES_FRESH)
    return name.partition(".")[0] in PROJECT and not name.startswith(KEPT)


def in_children(
    tasks: Iterable[Task], work: Callable[[Task], Any], limit_s: float, workers: int
) -> Iterator[tuple[Task, Any]]:
    """
    Run each task in its own forked child, ``workers`` at a time; yield the results in the order of completion.

    The result is ENDLESS if a child uses more than limit_s of CPU time, and CRASHED if it ends without a result.
    """
    context = multiprocessing.get_context("fork")
    rest = iter(tasks)
    running: dict[Connection, tuple[Task, Any]] = {}
    while True:
        while len(running) < workers and (task := next(rest, None)) is not None:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_live, args=(theirs, work, task, limit_s))
            process.start()
            theirs.close()
            running[ours] = (task, process)
        if not running:
            return
        for pipe in wait(list(running)):
            assert isinstance(pipe, Connection)
            task, process = running.pop(pipe)
            yield task, _heard(pipe, process)


def _heard(pipe: Connection, process: Any) -> Any:
    try:
        result = pipe.recv()
    except EOFError:
        process.join()
        result = ENDLESS if -process.exitcode in {signal.SIGALRM, signal.SIGPROF} else CRASHED
    pipe.close()
    process.join()
    return result


def _live(pipe: Connection, work: Callable[[Task], Any], task: Task, limit_s: float) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    signal.setitimer(signal.ITIMER_REAL, limit_s * WAITING)
    if STATM.exists():  # not on macOS, where only the time limit bounds a mutant's memory
        used = int(STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))
    result = work(task)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    with contextlib.suppress(BrokenPipeError):
        pipe.send(result)
    os._exit(0)
