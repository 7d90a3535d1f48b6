"""
Program for test_killed.py: adds and judges two runs, is killed by SIGKILL at chosen moments, and repeats the commands.

Every moment gets a forked process with its own record. The parent opens no record, because threads do not survive a fork.
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
"""Functions that change files or tables; moments for a kill are before and after each call."""


def commands(place: RecordPlace, runs: list[Path]) -> None:
    add(place, runs, Here())
    judge(place, Here(), print_line=_quiet, runs_a_batch=1, concluded_a_batch=1)
    compact(place, Here(), keep_hours=1, print_line=_quiet)


def watched(moments: Callable[[], None]) -> None:
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


def counted(place: RecordPlace, runs: list[Path]) -> str:
    """Number of moments and digest of the rows, without a kill."""
    seen = [0]

    def count() -> None:
        seen[0] += 1

    watched(count)
    commands(place, runs)
    return json.dumps([seen[0], digest(place)])


def killed(place: RecordPlace, runs: list[Path], moment: int) -> str:
    left = [moment]

    def count() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    watched(count)
    commands(place, runs)
    return "alive"


def repeated(place: RecordPlace, runs: list[Path]) -> str:
    commands(place, runs)
    return digest(place)


def digest(place: RecordPlace) -> str:
    return hashlib.sha256(repr(sorted(all_rows(place).items())).encode()).hexdigest()[:12]


def main() -> None:
    folder, wanted, runs = Path(sys.argv[1]), int(sys.argv[2]), [Path(word) for word in sys.argv[3:]]
    rules_now(), concluding()  # once, before all forks
    _, reported = forked(lambda: counted(RecordPlace.named(str(folder / "undisturbed")), runs))
    moments, undisturbed = json.loads(reported)
    for number in range(wanted):
        place = RecordPlace.named(str(folder / str(number)))
        moment = 1 + number * (moments - 1) // (wanted - 1)
        died_of, _ = forked(lambda place=place, moment=moment: killed(place, runs, moment))  # type: ignore[misc]  # bound for this turn
        _, rows = forked(lambda place=place: repeated(place, runs))  # type: ignore[misc]  # as above
        answer = {"moment": moment, "died_of": died_of, "rows": rows, "undisturbed": undisturbed}
        sys.stdout.write(f"{json.dumps(answer)}\n")


if __name__ == "__main__":
    main()
