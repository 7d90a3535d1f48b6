"""The runner's client of the supervisor of one cluster's servers: start, stop, continue, exit status, end of all."""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocketdiff.cluster.interface import Span
from rocketdiff.cluster.processes.server import ServerProcess
from rocketdiff.core.errors import ClusterError, EnvironmentMissing
from rocketdiff.process.child import SUPERVISOR, Child

# The supervisor answers at once. A machine on which this takes longer is too loaded to measure anything.
_ANSWER_TIMEOUT_S = 10.0

# A killed JVM releases its memory within a few ms.
_END_TIMEOUT_S = 10.0

_HEAR_TIMEOUT_S = 1.0
"""An answer or an exit wakes the listener; it waits for nothing else."""


class SupervisorClient:
    """Starts servers as children of a supervisor (see process/supervisor.py); thread-safe. close() leaves no process running."""

    def __init__(self, log: Path) -> None:
        """Start the supervisor. log: gets its stderr, which is normally empty."""
        self._supervisor = Child(
            [sys.executable, "-I", "-S", str(SUPERVISOR), str(os.getpid()), "serve"],
            stderr=log.open("a+b"),
            environment=os.environ,
            is_supervised=False,
        )
        self._order = threading.Lock()
        self._told = threading.Condition()
        self._answers: list[dict[str, Any]] = []
        self._statuses: dict[int, int] = {}
        self._is_over = False
        self._listener = threading.Thread(target=self._listen, name="supervisor-client", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        return self._supervisor.pid

    def start(
        self,
        name: str,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        output: Path,
        scratch: Sequence[Path] = (),
    ) -> ServerProcess:
        """
        Start a server in its own process group. output: gets stdout and stderr, appended.

        scratch: folders that are removed when all servers have ended, even if the runner was killed. Raises EnvironmentMissing
        if the program cannot be started.
        """
        order: dict[str, object] = {
            "start": name,
            "argv": list(argv),
            "cwd": str(cwd),
            "env": dict(env),
            "output": str(output),
        }
        order["scratch"] = [str(folder) for folder in scratch]
        answer = self._ask(order)
        if "refused" in answer:
            raise EnvironmentMissing(f"to be able to start {argv[0]} for {name}", seen=answer["why"])
        return ServerProcess(answer["pid"])

    def stop(self, pid: int) -> Span:
        """Return when the kernel reports all threads as stopped. Raises ClusterError if the server has ended or does not stop."""
        return _span(self._signalled("stop", pid))

    def go_on(self, pid: int) -> tuple[Span, bool]:
        """
        Return when the kernel reports the server as running, and whether it was stopped all the time since ``stop``.

        Raises ClusterError if it has ended.
        """
        answer = self._signalled("continue", pid)
        return _span(answer), answer["was_held"]

    def await_exit(self, pid: int, timeout_s: float) -> int | None:
        """Exit status from the supervisor's waitpid (negative: signal), or None after the timeout."""
        with self._told:
            self._told.wait_for(lambda: pid in self._statuses or self._is_over, timeout_s)
            return self._statuses.get(pid)

    def close(self) -> None:
        """End every server and the supervisor. A second call does nothing."""
        self._supervisor.close_input()
        self._supervisor.await_end(_END_TIMEOUT_S)
        self._supervisor.kill()  # if it still runs; the kernel then kills the servers
        self._listener.join()
        self._supervisor.close()

    def _signalled(self, verb: str, pid: int) -> dict[str, Any]:
        answer = self._ask({verb: pid})
        if "refused" in answer:
            raise ClusterError(f"process {pid} to obey {verb}", seen=answer["why"])
        return answer

    def _ask(self, order: Mapping[str, object]) -> dict[str, Any]:
        with self._order:
            if self._is_over or not self._supervisor.write(json.dumps(order).encode() + b"\n", _ANSWER_TIMEOUT_S):
                raise self._lost()
            return self._await_answer()

    def _await_answer(self) -> dict[str, Any]:
        deadline = time.monotonic() + _ANSWER_TIMEOUT_S
        with self._told:
            self._told.wait_for(lambda: self._answers or self._is_over, deadline - time.monotonic())
            if not self._answers:
                raise self._lost()
            return self._answers.pop()

    def _listen(self) -> None:
        with contextlib.suppress(EOFError):
            while True:
                for line in self._supervisor.hear(_HEAR_TIMEOUT_S) or ():
                    self._heard(json.loads(line))
        with self._told:
            self._is_over = True
            self._told.notify_all()

    def _heard(self, message: dict[str, Any]) -> None:
        with self._told:
            if "exited" in message:
                self._statuses[message["exited"]] = message["status"]
            else:
                self._answers.append(message)
            self._told.notify_all()

    def _lost(self) -> ClusterError:
        how = self._supervisor.how_it_ended(_ANSWER_TIMEOUT_S if self._is_over else 0.0)
        last_words = self._supervisor.last_words()
        return ClusterError(
            "the supervisor of the servers to run as long as the cluster",
            seen=f"{how}: {last_words}" if last_words else how,
            hint="run again; all servers of this cluster have been ended",
        )


def _span(answer: Mapping[str, Any]) -> Span:
    return Span(answer["begin_ns"], answer["end_ns"])
