"""Requests that wait for their answers, as their channel sees them: one with a thread that sleeps, one without."""

import threading
import time
from collections.abc import Callable

from rocketmq_reference.remoting.frames import Command


class Call:
    """One request under way. ``wake`` is a held lock while its thread sleeps; ``leads`` while its thread reads."""

    __slots__ = ("answer", "leads", "lost", "wake")

    def __init__(self) -> None:
        self.answer: Command | None = None
        self.lost = False
        self.leads = False
        self.wake: threading.Lock | None = None

    @property
    def is_over(self) -> bool:
        return self.answer is not None or self.lost

    def sleep(self, deadline_ns: int) -> bool:
        """Wait to be woken; False when the deadline passed first."""
        assert self.wake is not None
        return self.wake.acquire(timeout=max(0, deadline_ns - time.monotonic_ns()) / 1e9)

    def rouse(self) -> None:
        """Wake the thread; only ever called with the channel's lock held, so a lock is not released twice."""
        if self.wake is not None and self.wake.locked():
            self.wake.release()


class AsyncCall(Call):
    """A request nobody waits for; ``on_over`` is told its answer, or None for a lost connection, by the thread that reads."""

    __slots__ = ("on_over",)

    def __init__(self, on_over: Callable[[Command | None], None]) -> None:
        super().__init__()
        self.on_over = on_over
