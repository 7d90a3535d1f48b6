"""
Interface between the client's coroutines and the host that runs them.

A coroutine represents one thread of the client. It yields a Wait and is resumed with True when the signal was given, with False
when the deadline passed. Between two waits nothing else of the same client runs: in virtual time there is one thread, and live
each client has one lock, released only while a coroutine waits. So the client needs only locks that it holds across a wait.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rocketmq_reference.client.memory import Thread

Result = TypeVar("Result")


class Signal:
    """
    A one-time event and its waiters; the attributes below belong to the host.

    source: the connection to read while waiting (live host). leader: the connection that a waiter of this signal reads now.
    """

    __slots__ = ("given", "leader", "source", "waiting")

    def __init__(self) -> None:
        self.given = False
        self.leader: Any = None
        self.source: Any = None
        self.waiting: list[Any] = []


@dataclass(slots=True)  # not frozen: one is made for every wait of every send
class Wait:
    """Wait for the signal, at most until until_ms; without a signal, until until_ms."""

    signal: Signal | None = None
    until_ms: int | None = None


Running = Generator[Wait, bool, Result]
Body = Generator[Wait, bool, None]

Job = Callable[[Thread], Body | None]
"""Work for a worker, called with its thread; work that takes time is returned as a coroutine."""


class Worker(Protocol):
    """Threads of the client that do jobs in order."""

    def submit(
        self, job: Job, *, together_with: Iterable[Signal] = (), instant: bool = False, lasting: bool = False
    ) -> None:
        """
        Queue a job behind those already queued.

        together_with: signals that will be given at the same instant. instant: the job takes no time and any thread may do it,
        so if a thread is free, none need be woken. lasting: the job may take seconds, which other threads of its pool do not wait for.
        """
        ...

    def schedule(self, due_ms: int, job: Job, period_ms: int = 0) -> None:
        """Do a job at a time, then at a fixed rate if period_ms is not 0; missed rounds are made up."""
        ...


class Host(Protocol):
    """Runs coroutines, in virtual time or live."""

    @property
    def now_ms(self) -> int:
        """Time of the client's clock in milliseconds."""
        ...

    def give(self, signal: Signal) -> None:
        """Give a signal: all its waiters continue; it stays given."""
        ...

    def give_together(self, signals: Iterable[Signal]) -> None:
        """Give several signals at once; waiters continue longest wait first."""
        ...

    def soon(self, action: Callable[[], None]) -> None:
        """Run an action that takes no time as the next event."""
        ...

    def every(self, first_ms: int, period_ms: int, action: Callable[[], None]) -> None:
        """Run an action that takes no time first_ms from now, then every period_ms."""
        ...

    def worker(self, name: str) -> Worker:
        """Make a worker: one thread, or a pool for callbacks."""
        ...

    def outside(self, action: Callable[[], Result]) -> Running[Result]:
        """Run code that is not the client's or takes time, such as an application's callback."""
        ...


class Lock:
    """A lock that a coroutine may hold across waits."""

    __slots__ = ("_free", "_held", "_host")

    def __init__(self, host: Host) -> None:
        self._host = host
        self._held = False
        self._free = Signal()

    def acquire(self, until_ms: int | None) -> Running[bool]:
        """Take the lock; False if it is still held at until_ms."""
        # All waiters are woken by a release; the first to run takes the lock, the others wait again.
        while self._held:
            if not (yield Wait(self._free, until_ms)):
                return False
        self._held = True
        return True

    def release(self) -> None:
        # A given signal stays given, so the next holder needs a new one.
        self._held = False
        freed, self._free = self._free, Signal()
        self._host.give(freed)
