"""
The tests of one room, collected once by pytest and run in forked children.

A plugin replaces pytest's loop over the tests, so a child has everything loaded and starts with its first test. A mutant that
acts on import needs a pytest session of its own in the child.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from maintenance.mutants.corpus import Function
from maintenance.mutants.mutants import ROOT, module_of

NOT_LIVE = "not cluster and not container and not spark and not browser and not slow"


@dataclass(frozen=True, slots=True)
class Reached:
    """One test without a mutant: its duration, its result, and the functions of the product that it entered."""

    test: str
    took_s: float
    passed: bool
    functions: tuple[Function, ...]


class Loop:
    """Replaces pytest's loop: calls ``inside`` with the collected tests by name."""

    def __init__(self, inside: Callable[["Loop"], None]) -> None:
        self._inside = inside
        self._items: dict[str, pytest.Item] = {}
        self._failed = False
        self.error: Exception | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        try:
            self._inside(self)
        except Exception as error:  # noqa: BLE001 - pytest would print it to the discarded output and continue
            self.error = error
        return True

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed |= report.failed

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(self._items)

    def passes(self, test: str, following: str | None) -> bool:
        """Run one test; ``following`` is the next one in this process, which keeps shared fixtures."""
        self._failed = False
        item, after = self._items[test], None if following is None else self._items[following]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return not self._failed

    def first_failure(self, tests: Sequence[str]) -> str | None:
        chosen = [test for test in tests if test in self._items]
        pairs = zip(chosen, [*chosen[1:], None], strict=True)
        return next((test for test, following in pairs if not self.passes(test, following)), None)

    def reached(self, tests: Sequence[str]) -> list[Reached]:
        return [self._reached(test, after) for test, after in zip(tests, [*tests[1:], None], strict=True)]

    def _reached(self, test: str, following: str | None) -> Reached:
        codes: set[Any] = set()
        began = time.process_time()
        with _noting(codes):
            passed = self.passes(test, following)
        return Reached(test, time.process_time() - began, passed, tuple(sorted(set(_functions(codes)))))


def with_tests(paths: Sequence[str], inside: Callable[[Loop], None]) -> None:
    """Collect the tests that start no server and call ``inside``; pytest's output is discarded."""
    arguments = ["-q", "-p", "no:cacheprovider", "--disable-plugin-autoload", "-m", NOT_LIVE, *paths]
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        loop = Loop(inside)
        pytest.main(arguments, plugins=[loop])
    if loop.error is not None:
        raise loop.error


@contextlib.contextmanager
def _noting(codes: set[Any]) -> Iterator[None]:
    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    sys.setprofile(note)
    threading.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _functions(codes: set[Any]) -> Iterator[Function]:
    root = f"{ROOT}/"
    for code in codes:
        file = code.co_filename.removeprefix(root)
        if file.startswith(("harness/", "reference_impl/")):
            yield module_of(file), code.co_qualname.partition(".<locals>")[0]
