"""The runner's end of the guardian: start servers under its guard, learn how they ended, end all of them."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocketdiff.cluster.interface import Span
from rocketdiff.cluster.processes.server import ServerProcess
from rocketdiff.core.errors import ClusterError, EnvironmentMissing

# The guardian forks and executes at once; on a machine so loaded that this takes longer nothing could be measured.
_ANSWER_TIMEOUT_S = 10.0

# A killed JVM gives back its memory in a few ms.
_END_TIMEOUT_S = 10.0


class Guard:
    """Parent by proxy of all servers of one cluster; safe for threads. close() leaves nothing running."""

    def __init__(self, log: Path) -> None:
        """Start the guardian; what it says on stderr, normally nothing, goes to ``log``."""
        program = Path(__file__).with_name("guardian.py")
        with log.open("ab") as stderr:
            self._guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", str(program), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
        self._log = log
        self._order = threading.Lock()
        self._told = threading.Condition()
        self._answers: list[dict[str, Any]] = []
        self._statuses: dict[int, int] = {}
        self._is_over = False
        self._listener = threading.Thread(target=self._listen, name="guard", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """Process id of the guardian."""
        return self._guardian.pid

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
        Start a server in a process group of its own; its stdout and stderr are appended to ``output``.

        scratch: folders that are removed when all servers have been ended, also when the runner was killed.

        Raises EnvironmentMissing if its program cannot be started.
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
        """
        Stop a server; returns when the kernel says that all its threads have stopped.

        Raises ClusterError if it has ended or does not stop.
        """
        return self._signalled("stop", pid)

    def go_on(self, pid: int) -> Span:
        """
        Let a stopped server go on; returns when the kernel says that it has.

        Raises ClusterError if it has ended or was not stopped.
        """
        return self._signalled("continue", pid)

    def await_exit(self, pid: int, timeout_s: float) -> int | None:
        """Exit status as the guardian's waitpid gave it (negative: the signal that ended it), None if not in time."""
        with self._told:
            self._told.wait_for(lambda: pid in self._statuses or self._is_over, timeout_s)
            return self._statuses.get(pid)

    def close(self) -> None:
        """End every server and the guardian; a second call does nothing."""
        assert self._guardian.stdin is not None
        with contextlib.suppress(OSError):
            self._guardian.stdin.close()
        try:
            self._guardian.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._guardian.kill()  # the kernel then kills the servers: see guardian
            self._guardian.wait()
        self._listener.join()

    def _signalled(self, verb: str, pid: int) -> Span:
        answer = self._ask({verb: pid})
        if "refused" in answer:
            raise ClusterError(f"process {pid} to {verb} when told to", seen=answer["why"])
        return Span(answer["begin_ns"], answer["end_ns"])

    def _ask(self, order: Mapping[str, object]) -> dict[str, Any]:
        with self._order:
            self._say(order)
            return self._await_answer()

    def _say(self, order: Mapping[str, object]) -> None:
        assert self._guardian.stdin is not None
        try:
            self._guardian.stdin.write(json.dumps(order).encode() + b"\n")
            self._guardian.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._lost() from error

    def _await_answer(self) -> dict[str, Any]:
        deadline = time.monotonic() + _ANSWER_TIMEOUT_S
        with self._told:
            self._told.wait_for(lambda: self._answers or self._is_over, deadline - time.monotonic())
            if not self._answers:
                raise self._lost()
            return self._answers.pop()

    def _listen(self) -> None:
        assert self._guardian.stdout is not None
        with self._guardian.stdout as lines:
            for line in lines:
                message = json.loads(line)
                with self._told:
                    if "exited" in message:
                        self._statuses[message["exited"]] = message["status"]
                    else:
                        self._answers.append(message)
                    self._told.notify_all()
        with self._told:
            self._is_over = True
            self._told.notify_all()

    def _lost(self) -> ClusterError:
        said = self._log.read_text(errors="replace").strip()[-500:]
        return ClusterError(
            "the guardian of the servers to live as long as the cluster",
            seen=f"it does not answer (exit status {self._guardian.poll()}) {said}".strip(),
            hint="run again; all servers of this cluster have been ended",
        )
