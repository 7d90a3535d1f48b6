"""Things a client does again and again, on one thread of its own (MQClientFactoryScheduledThread, every release)."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Task:
    due_ns: int
    period_ns: int
    action: Callable[[], None]


class Schedule:
    """
    Runs actions at fixed rates, one at a time, in a daemon thread; one that takes long delays the others.

    As with Java's scheduleAtFixedRate, runs that came due meanwhile are made up for, one after the other. What an action
    raises is logged and forgotten; the next run takes place all the same.
    """

    def __init__(self, name: str) -> None:
        self._tasks: list[_Task] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def add(self, action: Callable[[], None], *, first_ms: int, period_ms: int) -> None:
        """Run ``action`` first_ms from now and then every period_ms; only before start()."""
        due_ns = time.monotonic_ns() + first_ms * 1_000_000
        self._tasks.append(_Task(due_ns, period_ms * 1_000_000, action))

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing any more; an action under way ends on its own and is not waited for."""
        self._stop.set()

    def _run(self) -> None:
        while self._tasks:
            task = min(self._tasks, key=lambda candidate: candidate.due_ns)
            if self._stop.wait(max(0, task.due_ns - time.monotonic_ns()) / 1e9):
                return
            task.due_ns += task.period_ns
            try:
                task.action()
            except Exception as error:  # noqa: BLE001 - whatever it is, the client must live on; Java catches Throwable
                _LOG.debug("scheduled action failed: %r", error)
