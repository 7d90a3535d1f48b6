"""
What the client's coroutines ask of whoever runs them.

A coroutine stands for one thread of the client. It yields a Wait and is resumed with True when the signal was given, with
False when the deadline passed. Between two waits nothing else of the same client runs, whoever the host is: in virtual time
there is one thread, and live a lock for each client is given back only while a coroutine waits. So the client needs no
locks of its own but those that it holds across a wait.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rocketmq_reference.client.memory import Thread

Result = TypeVar("Result")


class Signal:
    """
    Something that happens once, and those who wait for it (the host's business).

    source: what a live host reads meanwhile, leader: what it is reading just now on behalf of whoever waits.
    """

    __slots__ = ("given", "leader", "source", "waiting")

    def __init__(self) -> None:
        self.given = False
        self.leader: Any = None
        self.source: Any = None
        self.waiting: list[Any] = []


@dataclass(slots=True)  # not frozen: one is made for every wait of every send
class Wait:
    """Until the signal is given, but not beyond until_ms; without a signal simply until then."""

    signal: Signal | None = None
    until_ms: int | None = None


Running = Generator[Wait, bool, Result]
Body = Generator[Wait, bool, None]

Job = Callable[[Thread], Body | None]
"""What a worker does, in the thread it is told; what takes time is given back as a coroutine."""


class Worker(Protocol):
    """Threads of the client's own that take jobs in turn."""

    def submit(self, job: Job, *, together_with: Iterable[Signal] = (), instant: bool = False) -> None:
        """
        Do a job after those that wait already.

        together_with: signals that are about to be given at the same instant. instant: the job takes no time, and what
        thread does it does not matter to it, so that none need be woken if one is free to do it.
        """
        ...

    def schedule(self, due_ms: int, job: Job, period_ms: int = 0) -> None:
        """Do a job at a time, and then again at a fixed rate if period_ms is not 0; what came due meanwhile is made up for."""
        ...


class Host(Protocol):
    """Runs coroutines: in virtual time or for real."""

    @property
    def now_ms(self) -> int:
        """The clock."""
        ...

    def give(self, signal: Signal) -> None:
        """Give a signal: everyone who waits for it goes on; once given it stays given."""
        ...

    def give_together(self, signals: Iterable[Signal]) -> None:
        """Give several signals at once: whoever has waited longest goes on first."""
        ...

    def soon(self, action: Callable[[], None]) -> None:
        """Do something that takes no time as the next event."""
        ...

    def every(self, first_ms: int, period_ms: int, action: Callable[[], None]) -> None:
        """Do something that takes no time at a time of the clock that counts from now, and then again and again."""
        ...

    def worker(self, name: str) -> Worker:
        """A thread of the client's own, or, for callbacks, as many as the client has."""
        ...

    def outside(self, action: Callable[[], Result]) -> Running[Result]:
        """Have something done that is not the client's or takes its time, such as an application's callback."""
        ...


class Lock:
    """A lock that is held across waits; whoever wants it waits in turn."""

    __slots__ = ("_free", "_held", "_host")

    def __init__(self, host: Host) -> None:
        self._host = host
        self._held = False
        self._free = Signal()

    def acquire(self, until_ms: int | None) -> Running[bool]:
        """Take the lock; False if it is not to be had by then."""
        while self._held:
            if not (yield Wait(self._free, until_ms)):
                return False
        self._held = True
        return True

    def release(self) -> None:
        """Let the next one in."""
        self._held = False
        freed, self._free = self._free, Signal()
        self._host.give(freed)
