"""
A program of its own that outlives a killed run for as long as it takes to leave somebody's cluster as it was.

``python -m rocketdiff.cluster.external.guardian DEBTS`` waits for the end of its stdin, which the kernel brings about when the
run dies by any means, and pays what is then still owed. A run that ends well has paid everything itself.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from rocketdiff.cluster.external.debts import taken_over
from rocketdiff.cluster.external.settling import settle
from rocketdiff.core.resources import import_path


class Guard:
    """The run's end of the guardian."""

    def __init__(self, debts: Path) -> None:
        """Start it; it stands in a session of its own, where Ctrl-C does not reach it."""
        paths = [import_path(), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rocketdiff.cluster.external.guardian", str(debts)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )

    @property
    def pid(self) -> int:
        """Process id of the guardian."""
        return self._process.pid

    def close(self) -> None:
        """Let it go: the run has paid, or has tried as often as the guardian would. A second call does nothing."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


def main(debts: Path) -> int:
    """Wait for the run's end, then pay; what cannot be paid is said on stderr and stays written down."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(sys.stdin.fileno(), 4_096):
        pass
    left = taken_over(debts, wait=True)
    if left is None:
        return 0
    problems = settle(left)
    left.close()
    for problem in problems:
        print(f"rocketdiff: {problem}", file=sys.stderr)  # noqa: T201 - the last that is heard of the run
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
