"""
A mutant at work: a forked process in which one function, or one module, of the rules is the changed one.

The parent has everything loaded already. A changed function gets its new code in place, which takes a few milliseconds; only
for a change at module level are the rules, and whoever imported them, loaded anew.
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
"""Packages that hold, or copy names from, the rules: imported anew where a whole module of the rules is changed."""

KEPT = "tests.mutants"
"""For any other module everything of this project is imported anew but the hunt itself."""

MEMORY_BYTES = 1 << 30
"""How much a child may take beyond what it begins with; a mutant whose loop collects for ever ends there."""

STATM = Path("/proc/self/statm")

ENDLESS = "took too long"
CRASHED = "ended the process"

WAITING = 20
"""Seconds of the clock for each of the processor: a child that sleeps ends too, and one on a busy machine is not taken for endless."""


@dataclass(frozen=True, slots=True)
class Change:
    """A module by name and the code that takes its place; function: the only one that is different, None for a whole module."""

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
    """Put the change into this process."""
    if not put_in_place(change):
        _anew(change)


def put_in_place(change: Change) -> bool:
    """Put the change of a function into this process, for all who hold it; False if that cannot be."""
    return change.function is not None and _in_place(change, change.function)


def _in_place(change: Change, name: str) -> bool:
    """Give the function its changed code, for all who hold it; False if it is not there or not of the same shape."""
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
    """The code of a function within that of its module."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    for one in inner:
        found = one if one.co_qualname == name else _code_of(one, name)
        if found is not None:
            return found
    return None


def _anew(change: Change) -> None:
    """Forget the module and whoever imported it; from now on the changed module is found instead of the real one."""
    spec = importlib.util.find_spec(change.module)
    assert spec is not None
    assert spec.origin is not None
    for name in [name for name in sys.modules if _is_forgotten(name, change.module)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(change, spec.origin))


def _is_forgotten(name: str, changed: str) -> bool:
    if changed.startswith("rocketmq_reference"):
        return name.startswith(RULES_FRESH)
    return name.partition(".")[0] in {"rocketdiff", "rocketmq_reference", "tests"} and not name.startswith(KEPT)


def in_children(
    tasks: Iterable[Task], work: Callable[[Task], Any], limit_s: float, workers: int
) -> Iterator[tuple[Task, Any]]:
    """
    Result of each task, done in a forked child of its own, so many at a time, in the order in which they end.

    A child that takes more than limit_s of the processor, or ends without a word, has ENDLESS or CRASHED for a result.
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
    if STATM.exists():  # not on macOS, where a mutant may take what it likes for the length of its time limit
        used = int(STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))
    result = work(task)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    with contextlib.suppress(BrokenPipeError):
        pipe.send(result)
    os._exit(0)
