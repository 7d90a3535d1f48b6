"""
Program for test_killed.py: adds and judges two runs, is killed by SIGKILL in each phase, and repeats the commands.

Every phase gets a forked process with its own record, a copy of one on which the commands before were complete. The parent opens
no record, because threads do not survive a fork.
"""

import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pyarrow.acero  # noqa: F401 - once, before all forks
import scipy.stats  # noqa: F401 - as above

from rocketdiff.record.commands import add, compact, judge
from rocketdiff.record.conclude import concluding
from rocketdiff.record.rules import rules_now
from rocketdiff.record.storage import store
from rocketdiff.record.storage.files import PartWriter, RecordPlace
from rocketdiff.record.work import Here
from tests.record.rows import all_rows

STEPS: tuple[tuple[Any, str], ...] = (
    (PartWriter, "close"),
    (store, "_made"),
    (store, "_append"),
    (store, "_append_batch"),
)
"""Functions that change files or tables."""

PHASES = (
    "add: _made",
    *(
        f"{command}: {step}"
        for command in ("add", "judge", "compact")
        for step in ("close", "_append", "_append_batch")
    ),
)
"""
A command and the step whose first call it is killed after.

A table was made and is empty (_made), a file belongs to no table (close), one table has files that no batch names (_append), the
batch is visible and nothing follows (_append_batch).
"""


def commands(place: RecordPlace, runs: list[Path], began: Callable[[str], object] = str) -> None:
    """Call ``began`` with the name of each command before it begins."""
    began("add")
    add(place, runs, Here())
    began("judge")
    judge(place, Here(), print_line=_quiet, runs_a_batch=1, concluded_a_batch=1)
    began("compact")
    compact(place, Here(), keep_hours=1, print_line=_quiet)


def watched(after: Callable[[str], None]) -> None:
    """Call ``after`` with the name of each step once it is done."""
    for owner, name in STEPS:
        setattr(owner, name, _watched(getattr(owner, name), partial(after, name)))


def _watched(step: Callable[..., Any], done: Callable[[], object]) -> Callable[..., Any]:
    @wraps(step)
    def called(*given: Any, **named: Any) -> Any:
        result = step(*given, **named)
        done()
        return result

    return called


def _quiet(_: str) -> None:
    pass


def forked(work: Callable[[], str]) -> tuple[int, str]:
    """Wait status and result of ``work`` in a forked process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.write(writer, work().encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as reported:
        given = reported.read()
    return os.waitpid(child, 0)[1], given


def killed(place: RecordPlace, runs: list[Path], phase: str) -> str:
    running: list[str] = []

    def after(step: str) -> None:
        if f"{running[-1]}: {step}" == phase:
            os.kill(os.getpid(), signal.SIGKILL)

    watched(after)
    commands(place, runs, running.append)
    return "alive"


class Reached(Exception):
    """The command before which a record is wanted."""


def record_before(place: RecordPlace, runs: list[Path], command: str) -> str:
    """Run the commands before this one. Of the first there are none, and no record."""

    def began(name: str) -> None:
        if name == command:
            raise Reached

    with suppress(Reached):
        commands(place, runs, began)
    return ""


def repeated(place: RecordPlace, runs: list[Path]) -> str:
    commands(place, runs)
    return digest(place)


def digest(place: RecordPlace) -> str:
    return hashlib.sha256(repr(sorted(all_rows(place).items())).encode()).hexdigest()[:12]


def main() -> None:
    folder, runs = Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]]
    rules_now(), concluding()  # once, before all forks
    _, undisturbed = forked(lambda: repeated(RecordPlace.named(str(folder / "undisturbed")), runs))
    before = {command: folder / f"before-{command}" for command in ("judge", "compact")}
    for command, there in before.items():
        place = RecordPlace.named(str(there))
        forked(lambda place=place, command=command: record_before(place, runs, command))  # type: ignore[misc]  # bound for this turn
    for number, phase in enumerate(PHASES):
        command = phase.partition(":")[0]
        if command in before:
            shutil.copytree(before[command], folder / str(number))
        place = RecordPlace.named(str(folder / str(number)))
        died_of, _ = forked(lambda place=place, phase=phase: killed(place, runs, phase))  # type: ignore[misc]  # bound for this turn
        _, rows = forked(lambda place=place: repeated(place, runs))  # type: ignore[misc]  # as above
        answer = {"phase": phase, "died_of": died_of, "rows": rows, "undisturbed": undisturbed}
        sys.stdout.write(f"{json.dumps(answer)}\n")


if __name__ == "__main__":
    main()
