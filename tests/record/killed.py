"""
A program for test_killed.py: adds and judges two runs, killed by SIGKILL at chosen moments, then carries the same out again.

Every moment gets a forked process with a record of its own. The parent never opens a record, because threads do not survive a fork.
"""

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from rocketdiff.record.commands import add, compact, judge
from rocketdiff.record.conclude import concluding
from rocketdiff.record.rules import rules_now
from rocketdiff.record.storage import store
from rocketdiff.record.storage.files import PartWriter, RecordPlace
from rocketdiff.record.work import Here
from tests.record.rows import all_rows

STEPS: tuple[tuple[Any, str], ...] = (
    (PartWriter, "_flush"),
    (PartWriter, "close"),
    (store, "_made"),
    (store, "_append"),
    (store, "_append_batch"),
)
"""What changes files or tables: it is killed before and after each call of one."""


def commands(place: RecordPlace, runs: list[Path]) -> None:
    """Everything that writes."""
    add(place, runs, Here())
    judge(place, Here(), say=_quiet, runs_a_batch=1, concluded_a_batch=1)
    compact(place, Here(), keep_hours=1, say=_quiet)


def watched(moments: Callable[[], None]) -> None:
    """Have ``moments`` called before and after each step."""
    for owner, name in STEPS:
        setattr(owner, name, _watched(getattr(owner, name), moments))


def _watched(step: Callable[..., Any], moments: Callable[[], None]) -> Callable[..., Any]:
    @wraps(step)
    def called(*given: Any, **named: Any) -> Any:
        moments()
        result = step(*given, **named)
        moments()
        return result

    return called


def _quiet(_: str) -> None:
    pass


def forked(work: Callable[[], str]) -> tuple[int, str]:
    """Do it in a process of its own; its wait status and what it gave."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.write(writer, work().encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        given = told.read()
    return os.waitpid(child, 0)[1], given


def counted(place: RecordPlace, runs: list[Path]) -> str:
    """An undisturbed record: how many moments there are, and the digest of its rows."""
    seen = [0]

    def count() -> None:
        seen[0] += 1

    watched(count)
    commands(place, runs)
    return json.dumps([seen[0], digest(place)])


def killed(place: RecordPlace, runs: list[Path], moment: int) -> str:
    """Die at a moment."""
    left = [moment]

    def count() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    watched(count)
    commands(place, runs)
    return "alive"


def repeated(place: RecordPlace, runs: list[Path]) -> str:
    """The same once more; what it comes to."""
    commands(place, runs)
    return digest(place)


def digest(place: RecordPlace) -> str:
    """Of all rows."""
    return hashlib.sha256(repr(sorted(all_rows(place).items())).encode()).hexdigest()[:12]


def main() -> None:
    """Arguments: folder for records, number of moments, runs."""
    folder, wanted, runs = Path(sys.argv[1]), int(sys.argv[2]), [Path(word) for word in sys.argv[3:]]
    rules_now(), concluding()  # once, for all that are forked
    _, told = forked(lambda: counted(RecordPlace.named(str(folder / "undisturbed")), runs))
    moments, undisturbed = json.loads(told)
    for number in range(wanted):
        place = RecordPlace.named(str(folder / str(number)))
        moment = 1 + number * (moments - 1) // (wanted - 1)
        died_of, _ = forked(lambda place=place, moment=moment: killed(place, runs, moment))  # type: ignore[misc]  # bound for this turn
        _, rows = forked(lambda place=place: repeated(place, runs))  # type: ignore[misc]  # as above
        answer = {"moment": moment, "died_of": died_of, "rows": rows, "undisturbed": undisturbed}
        sys.stdout.write(f"{json.dumps(answer)}\n")


if __name__ == "__main__":
    main()
