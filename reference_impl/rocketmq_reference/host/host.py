"""
Runs the client's coroutines live: each in a thread, with the monotonic clock.

Theory of operation. A client has one lock. A thread holds it while it runs a coroutine of the client or reports a network event.
It releases the lock while the coroutine waits, and while it runs code that is not the client's (an application's callback,
encoding). So between two waits events happen one after the other, as in virtual time, and no state of the client needs another
lock. No blocking call is made with the lock held.

A thread that waits for an answer reads the connection on which the answer will arrive (`Signal.source`), for itself and for all
others that wait there: it is the leader. When its own answer has arrived, or its deadline has passed, it wakes another thread
that waits there, which becomes the leader. So a single sender never waits for another thread to be scheduled, which is most of
the cost of a request on a fast network. For answers without a waiting thread a connection has a watcher (`network.py`).

| A waiting thread | is woken by |
|---|---|
| that leads | bytes on the connection, its deadline, a close from this side, its signal (given elsewhere) |
| that sleeps | its signal, a leader that leaves, its deadline |
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from rocketmq_reference.client.effects import Job, Result, Running, Signal, Wait
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.client.timed_jobs import TimedJobs

_LOG = logging.getLogger(__name__)
_NS_PER_MS = 1_000_000
_NEVER_NS = 2**62
_LONG_S = 3_600.0
"""One hour: longest single sleep, because the system calls accept no longer timeouts."""


class Source(Protocol):
    """
    A connection as seen by threads that wait for an answer on it; call all but await_bytes with the client's lock held.

    has_reader: a thread leads. is_awaited: the leader waits for bytes. sleepers: threads that could lead next.
    """

    has_reader: bool
    is_awaited: bool
    sleepers: "list[Sleeper]"

    @property
    def is_open(self) -> bool:
        """True if bytes can still arrive."""
        ...

    def await_bytes(self, remaining_ns: int) -> bool:
        """Wait for bytes, at most remaining_ns, or until the reader is roused; without the lock. True if there are bytes."""
        ...

    def rouse(self) -> None: ...

    def read(self) -> bool:
        """Read the bytes that have arrived and report them to the client; False if there were none."""
        ...

    def resign(self) -> None:
        """Hand the reading over to another thread, because the reader leaves."""
        ...


class Outside(Wait):
    """A Wait that runs an action without the client's lock."""

    __slots__ = ("action", "result")

    def __init__(self, action: Callable[[], Any]) -> None:
        super().__init__()
        self.action = action
        self.result: Any = None


class LiveHost:
    """The threads of one client; sizes: of pools with more than one thread; names: thread names of pools."""

    def __init__(self, group: str, sizes: dict[str, int] | None = None, names: dict[str, str] | None = None) -> None:
        self._group = group
        self._sizes = sizes or {}
        self._names = names or {}
        self._lock = threading.Lock()
        self._local = threading.local()
        self._soon: deque[Callable[[], None]] = deque()
        self._pools: list[Pool] = []
        self._timer: Pool | None = None
        self.is_closed = False

    @property
    def now_ms(self) -> int:
        """The monotonic clock in whole milliseconds, as in Java clients."""
        return time.monotonic_ns() // _NS_PER_MS

    def run(self, running: Running[Result]) -> Result:
        """Run a coroutine to its end in the calling thread."""
        self._lock.acquire()
        try:
            return self.drive(running)
        finally:
            self.leave()

    def drive(self, running: Running[Result]) -> Result:
        """Like run, for a thread that already holds the lock."""
        try:
            wait = next(running)
            while True:
                try:
                    answer = self._await(wait)
                except BaseException as error:  # noqa: BLE001 - the coroutine handles it, and must release its locks
                    wait = running.throw(error)
                else:
                    wait = running.send(answer)
        except StopIteration as end:
            result: Result = end.value
            return result

    def post(self, event: Callable[[], None]) -> None:
        """Report a network event from a thread that does not hold the lock."""
        self._lock.acquire()
        try:
            event()
        finally:
            self.leave()

    def enter(self) -> None:
        self._lock.acquire()

    def leave(self) -> None:
        """Run the actions of soon() and release the client's lock."""
        # Before the release, so that no other thread comes between an event and the next one it caused.
        try:
            while self._soon:
                self._soon.popleft()()
        finally:
            self._lock.release()

    def here(self) -> Thread:
        try:
            thread: Thread = self._local.thread
        except AttributeError:
            thread = self._local.thread = Thread("application")
        return thread

    def give(self, signal: Signal) -> None:
        signal.given = True
        for sleeper in signal.waiting:
            sleeper.rouse()
        # A waiter that leads blocks in a read of its connection and is not among the sleepers.
        if signal.leader is not None:
            signal.leader.rouse()

    def give_together(self, signals: Iterable[Signal]) -> None:
        for signal in signals:
            self.give(signal)

    def soon(self, action: Callable[[], None]) -> None:
        """Run an action before any other thread gets the client's lock."""
        self._soon.append(action)

    def every(self, first_ms: int, period_ms: int, action: Callable[[], None]) -> None:
        """Run an action first_ms from now, then every period_ms, in a timer thread."""

        def job(_own: Thread) -> None:
            action()

        if self._timer is None:
            self._timer = self.worker("scan")
        self._timer.schedule(self.now_ms + first_ms, job, period_ms)

    def worker(self, name: str) -> "Pool":
        pool = Pool(self, name, self._names.get(name, f"{name}-{self._group}"), self._sizes.get(name, 1))
        self._pools.append(pool)
        return pool

    def outside(self, action: Callable[[], Result]) -> Running[Result]:
        outside = Outside(action)
        yield outside
        result: Result = outside.result
        return result

    def close(self) -> None:
        """Close all pools: queued jobs are still done, scheduled ones are dropped."""
        self.is_closed = True
        for pool in self._pools:
            pool.close()

    def sleep(self, signal: Signal, deadline_ns: int, source: Source | None = None) -> None:
        """Wait for a signal, or to become the reader of source; holds the lock before and after."""
        # Registered under the lock: a rouse that comes before the thread sleeps is kept by the sleeper.
        sleeper = Sleeper()
        signal.waiting.append(sleeper)
        if source is not None:
            source.sleepers.append(sleeper)
        self.leave()
        try:
            sleeper.sleep(deadline_ns)
        finally:
            self._lock.acquire()
            signal.waiting.remove(sleeper)
            if source is not None:
                source.sleepers.remove(sleeper)

    def lead(
        self, source: Source, signal: Signal, deadline_ns: int, is_wanted: Callable[[], bool] | None = None
    ) -> None:
        """
        Read a connection for all threads that wait there, until the signal is given or moves to another source, or it is closed.

        is_wanted: for a watcher, which has no answer of its own; it stops when False. Holds the lock before and after.
        """
        source.has_reader = True
        signal.leader = source
        try:
            # GO_AWAY moves a request, and with it signal.source, to another connection; this one is then left to
            # others.
            while source.is_open and not signal.given and signal.source is source:
                remaining_ns = deadline_ns - time.monotonic_ns()
                if remaining_ns <= 0 or (is_wanted is not None and not is_wanted()):
                    break
                # Set before the lock is released: a rouse from then on reaches the alarm, which await_bytes also
                # watches.
                source.is_awaited = True
                self.leave()
                try:
                    is_ready = source.await_bytes(remaining_ns)
                finally:
                    self._lock.acquire()
                    source.is_awaited = False
                if is_ready:
                    source.read()
        finally:
            # Always: without a leader the others that wait there would sleep to their deadlines.
            source.has_reader = False
            signal.leader = None
            source.resign()

    def _await(self, wait: Wait) -> bool:
        if isinstance(wait, Outside):
            self.leave()
            try:
                wait.result = wait.action()
            finally:
                self._lock.acquire()
            return True
        signal, until_ms = wait.signal, wait.until_ms
        if signal is None:
            assert until_ms is not None
            self.sleep(Signal(), until_ms * _NS_PER_MS)
            return False
        if signal.given:
            return True
        # The deadline has passed when the clock shows more than the timeout in whole milliseconds, as for a Java
        # client.
        return self._await_signal(signal, _NEVER_NS if until_ms is None else (until_ms + 1) * _NS_PER_MS)

    def _await_signal(self, signal: Signal, deadline_ns: int) -> bool:
        source: Source | None
        has_slept = False
        while not signal.given:
            # Read again in every round: the connection may have got a leader, closed, or been replaced meanwhile.
            source = signal.source
            if source is None or source.has_reader or not source.is_open:
                has_slept = True
                self.sleep(signal, deadline_ns, source)
            else:
                self.lead(source, signal, deadline_ns)
            if not signal.given and time.monotonic_ns() >= deadline_ns:
                break
        source = signal.source
        if has_slept and source is not None and not source.has_reader:
            source.resign()  # it may have been woken to lead after its own wait was over, so it passes this on
        return signal.given


class Sleeper:
    """A sleeping thread that can be roused."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def sleep(self, deadline_ns: int) -> None:
        """Sleep until roused or until the deadline; without the client's lock."""
        self._lock.acquire(timeout=min(_LONG_S, max(0, deadline_ns - time.monotonic_ns()) / 1e9))

    def rouse(self) -> None:
        """Wake the thread; only with the client's lock held, so that the inner lock is not released twice."""
        if self._lock.locked():
            self._lock.release()


class Pool:
    """
    A pool of the client's threads, which are started on demand and stay until close.

    An exception of a job is logged and dropped, as in Java's threads. A fixed rate makes up missed rounds.
    """

    def __init__(self, host: LiveHost, role: str, name: str, size: int) -> None:
        self._host = host
        self._role = role
        self._name = name
        self._size = size
        self._threads = 0
        self._idle = 0
        self._ready: deque[Job] = deque()
        self._later = TimedJobs()
        self._wake = Signal()
        self._is_closed = False

    def submit(
        self,
        job: Job,
        *,
        together_with: Iterable[Signal] = (),  # noqa: ARG002 - they are given next
        instant: bool = False,
        lasting: bool = False,  # noqa: ARG002 - it has one of the pool's threads
    ) -> None:
        """Queue a job; run an instant one at once if a thread would be free to do it."""
        # The result is the same as in a pool thread, and saves two thread switches.
        if instant and not self._ready and (self._idle or self._threads < self._size):
            job(_NOBODY)
            return
        self._ready.append(job)
        self._call_upon_one()

    def schedule(self, due_ms: int, job: Job, period_ms: int = 0) -> None:
        self._later.add(due_ms, job, period_ms)
        self._give()
        if not self._threads:
            self._begin_one()

    def close(self) -> None:
        """Drop scheduled jobs; threads end after the queued ones."""
        self._is_closed = True
        self._later.clear()
        self._give()

    def _call_upon_one(self) -> None:
        # Idle threads that were woken but have not run yet still count as idle, hence the comparison with all ready
        # jobs.
        if self._idle >= len(self._ready):
            self._give()
        elif self._threads < self._size:
            self._begin_one()

    def _begin_one(self) -> None:
        self._threads += 1
        number = "" if self._size == 1 else f"_{self._threads}"
        threading.Thread(target=self._work, name=f"{self._name}{number}", daemon=True).start()

    def _give(self) -> None:
        # A given signal stays given, so the next sleep needs a new one.
        woken, self._wake = self._wake, Signal()
        self._host.give(woken)

    def _work(self) -> None:
        own = Thread(self._role)
        self._host.enter()
        try:
            while (job := self._next()) is not None:
                try:
                    body = job(own)
                    if body is not None:
                        self._host.drive(body)
                except Exception as error:  # noqa: BLE001 - the client must continue; Java catches Throwable
                    _LOG.debug("a job of %s failed: %r", self._name, error)
        finally:
            self._threads -= 1
            self._host.leave()

    def _next(self) -> Job | None:
        # Queued jobs come before scheduled ones that are due.
        while not self._ready:
            if self._is_closed:
                return None
            due_ms = self._later.first_ms
            if due_ms is not None and due_ms <= self._host.now_ms:
                task = self._later.take()
                if task.period_ms:
                    self._later.add(task.due_ms + task.period_ms, task.job, task.period_ms)
                return task.job
            deadline_ns = _NEVER_NS if due_ms is None else due_ms * _NS_PER_MS
            self._idle += 1
            try:
                self._host.sleep(self._wake, deadline_ns)
            finally:
                self._idle -= 1
        return self._ready.popleft()


_NOBODY = Thread("nobody")
