"""
Virtual time: events in the order of their due time, and actors that wait for them.

An actor is one thread of the client: a coroutine of `rocketmq_reference.client.effects`. Events of the same millisecond run in
the order in which they were scheduled; an actor that a signal wakes is scheduled at that moment, after all that is due already.

On most machines a wait that expires ends a little after its deadline. Whether it does here is for the script to say (extra_ms).
"""

import heapq
from collections.abc import Callable, Iterable

from rocketdiff.core.errors import UsageError
from rocketmq_reference.client.effects import Body, Result, Running, Signal, Wait

Action = Callable[[], None]

MAX_EVENTS = 10_000_000
MAX_SILENT_EVENTS = 1_000_000
MAX_MS = 100 * 365 * 24 * 3_600_000
"""
Limits of a script, the same in the Java host: a century, or a number of events no sensible script comes near, at all or
from one answer to the next: a host that is silent for a minute is killed.
"""


class _Waiting:
    """One wait of one actor; over once it has been resumed, by the signal or the deadline, whichever event comes first."""

    __slots__ = ("body", "number", "over", "signal")

    def __init__(self, body: Body, signal: Signal | None, number: int) -> None:
        self.body = body
        self.signal = signal
        self.number = number
        self.over = False


class Kernel:
    """The clock, and everything that will happen."""

    __slots__ = ("_answered", "_events", "_extra_ms", "_heap", "_hurried", "_waits", "now_ms")

    def __init__(self, extra_ms: int = 0) -> None:
        self.now_ms = 0
        self._extra_ms = extra_ms
        self._events = 0
        self._answered = 0
        self._waits = 0
        self._heap: list[tuple[int, int, Action]] = []
        self._hurried: dict[Body, _Waiting | None] = {}

    def at(self, due_ms: int, action: Action) -> None:
        """Run an action at a time; one that lies in the past is now."""
        self._events += 1
        heapq.heappush(self._heap, (max(due_ms, self.now_ms), self._events, action))

    def after(self, delay_ms: int, action: Action) -> None:
        """Run an action delay_ms from now."""
        self.at(self.now_ms + delay_ms, action)

    def soon(self, action: Action) -> None:
        """Run an action now, in its turn."""
        self.at(self.now_ms, action)

    def every(self, first_ms: int, period_ms: int, action: Action) -> None:
        """Run an action first_ms from now and then again and again."""
        self._every(self.now_ms + first_ms, period_ms, action)

    def outside(self, action: Callable[[], Result]) -> Running[Result]:
        """Code that is not the client's takes no time here."""
        result = action()
        yield from ()
        return result

    def start(self, body: Body) -> None:
        """Let an actor begin, now, in its turn."""
        self.at(self.now_ms, lambda: self._resume(body, answer=None))

    def start_hurried(self, body: Body) -> None:
        """Start an actor that may be hurried."""
        self._hurried[body] = None
        self.start(body)

    def hurry(self, body: Body) -> None:
        """An actor whose signal is given, and whose turn has not come, goes on at once."""
        waiting = self._hurried[body]
        if waiting is not None and waiting.signal is not None and waiting.signal.given:
            self._end(waiting)

    def run(self, body: Body) -> None:
        """Let an actor begin at once, before anything else that is due."""
        self._resume(body, answer=None)

    def answered(self) -> None:
        """The script has answered something, so it makes progress."""
        self._answered = self._events

    def give(self, signal: Signal) -> None:
        """Give a signal: everyone who waits for it goes on, now, in turn; once given it stays given."""
        self.give_together((signal,))

    def give_together(self, signals: Iterable[Signal]) -> None:
        """Give several signals at once: the actor that has waited longest goes on first."""
        waiting: list[_Waiting] = []
        for signal in signals:
            signal.given = True
            waiting += signal.waiting
            signal.waiting = []
        for wait in sorted(waiting, key=_number) if len(waiting) > 1 else waiting:
            if not wait.over:
                self.at(self.now_ms, _wake(self, wait))

    def give_at_once(self, signal: Signal) -> None:
        """Give a signal in an event that is the waking itself: the actors that wait for it go on before anything else."""
        signal.given = True
        waiting, signal.waiting = signal.waiting, []
        for wait in waiting:
            self._end(wait)

    def run_until(self, signal: Signal) -> None:
        """Let things happen until the signal is given; what is due then and has not run yet stays due."""
        while not signal.given and self._heap:
            self._run_next()

    @property
    def is_due(self) -> bool:
        """Whether anything is left to happen before time passes."""
        return bool(self._heap) and self._heap[0][0] <= self.now_ms

    def turn(self) -> Body:
        """For an actor: let all that is due already go first."""
        if self.is_due:
            mine = Signal()
            self.at(self.now_ms, lambda: self.give_at_once(mine))
            yield Wait(mine)

    def settle(self) -> Body:
        """For an actor: let everything happen that can happen without time passing."""
        while self.is_due:
            yield from self.turn()

    def _every(self, due_ms: int, period_ms: int, action: Action) -> None:
        def tick() -> None:
            action()
            self._every(due_ms + period_ms, period_ms, action)

        self.at(due_ms, tick)

    def _run_next(self) -> None:
        due_ms, _, action = heapq.heappop(self._heap)
        self.now_ms = due_ms
        silent = self._events - self._answered
        if silent > MAX_SILENT_EVENTS or self._events > MAX_EVENTS or due_ms > MAX_MS:
            raise UsageError(
                "a script that comes to an end within a century",
                seen=f"{self._events:,} events up to {due_ms:,} ms, {silent:,} of them since the last answer",
                hint="longer intervals, or less time",
            )
        action()

    def _resume(self, body: Body, *, answer: bool | None) -> None:
        try:
            wait = next(body) if answer is None else body.send(answer)
            while (known := self._known(wait)) is not None:
                wait = body.send(known)
        except StopIteration:
            return
        self._waits += 1
        waiting = _Waiting(body, wait.signal, self._waits)
        if body in self._hurried:
            self._hurried[body] = waiting
        if wait.signal is not None:
            wait.signal.waiting.append(waiting)
        if wait.until_ms is not None:
            extra_ms = 0 if wait.signal is None else self._extra_ms
            self.at(wait.until_ms + extra_ms, lambda: self._end(waiting))

    def _known(self, wait: Wait) -> bool | None:
        """The answer to a wait that is over at once, because the signal is given or the time is up."""
        if wait.signal is not None and wait.signal.given:
            return True
        return False if wait.until_ms is not None and wait.until_ms <= self.now_ms else None

    def _end(self, waiting: _Waiting) -> None:
        """The actor goes on; at its deadline with True if the signal has just been given."""
        if not waiting.over:
            waiting.over = True
            self._resume(waiting.body, answer=waiting.signal is not None and waiting.signal.given)


def _number(waiting: _Waiting) -> int:
    return waiting.number


def _wake(kernel: Kernel, waiting: _Waiting) -> Action:
    return lambda: kernel._end(waiting)  # noqa: SLF001 - the kernel's own, kept out of the loop above
