"""Workers complete all work, return their errors and never outlive their owner."""

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rocketdiff.core.errors import HarnessError, UsageError
from rocketdiff.lab.fuzz.lockstep import as_they_come, pool
from tests.subjects.processes import gone

ROOT = Path(__file__).parents[3]

OWNER = """
import os, sys, time
from rocketdiff.lab.fuzz.lockstep import as_they_come, pool
if __name__ == "__main__":
    with pool(2) as executor:
        print(*{executor.submit(os.getpid).result() for _ in range(20)}, flush=True)
        list(as_they_come(executor, time.sleep, [60, 60], 2))
"""


def doubled(number: int) -> int:
    """Raises for 13 and kills its process for 17."""
    if number == 13:
        raise UsageError("a lucky number", seen="13", hint="14")
    if number == 17:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * 2


def test_all_pieces_are_done_by_all_workers() -> None:
    """All pieces are done, in any order, and the workers end."""
    with pool(2) as executor:
        assert sorted(as_they_come(executor, doubled, range(10), 2)) == [2 * number for number in range(10)]
        assert list(as_they_come(executor, doubled, [], 2)) == []
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(("number", "kind", "message"), [(13, "UsageError", "14"), (17, "HarnessError", "it died")])
def test_errors_of_a_worker_are_raised_here(number: int, kind: str, message: str) -> None:
    """A worker's error is raised with its class and message, and the workers end."""
    with pytest.raises(HarnessError, match=message) as raised, pool(2) as executor:
        list(as_they_come(executor, doubled, [number], 2))
    assert type(raised.value).__name__ == kind
    assert multiprocessing.active_children() == []


def test_kill_9_of_the_owner_ends_the_workers(tmp_path: Path) -> None:
    """Kill -9 of the owner also ends a busy worker."""
    program = tmp_path / "owner.py"
    program.write_text(OWNER)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    owner = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, env=environment)
    assert owner.stdout is not None
    with owner.stdout:
        workers = [int(word) for word in owner.stdout.readline().split()]
    owner.kill()
    owner.wait()
    assert workers and all(gone(worker) for worker in workers)
