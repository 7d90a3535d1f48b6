"""
A discrete-event kernel with virtual time, on which actors wait for signals and deadlines.

An actor is one client thread: a coroutine of `rocketmq_reference.client.effects`. Events of the same millisecond run in the
order in which they were scheduled. A signal schedules the actors that it wakes at that moment, after everything already due.

On real machines an expired wait usually ends slightly after its deadline; extra_ms, set by the script, models that delay.
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
Limits of a script, the same in the Java host: events in total, events between two answers, and a century. No reasonable
script comes near them. The limit between answers exists because a host that is silent for a minute is killed.
"""


class _Waiting:
    """One wait of one actor; over once the signal or the deadline, whichever event comes first, has resumed the actor."""

    __slots__ = ("body", "number", "over", "signal")

    def __init__(self, body: Body, signal: Signal | None, number: int) -> None:
        self.body = body
        self.signal = signal
        self.number = number
        self.over = False


class Kernel:
    """The clock and the event queue. busy_ms: set by the application's code, how long it lasts from then on."""

    __slots__ = ("_answered", "_events", "_extra_ms", "_heap", "_hurried", "_waits", "busy_ms", "now_ms")

    def __init__(self, extra_ms: int = 0) -> None:
        self.now_ms = 0
        self.busy_ms = 0
        self._extra_ms = extra_ms
        self._events = 0
        self._answered = 0
        self._waits = 0
        self._heap: list[tuple[int, int, Action]] = []
        self._hurried: dict[Body, _Waiting | None] = {}

    def at(self, due_ms: int, action: Action) -> None:
        """Schedule an action; a time in the past means now."""
        self._events += 1
        heapq.heappush(self._heap, (max(due_ms, self.now_ms), self._events, action))

    def after(self, delay_ms: int, action: Action) -> None:
        self.at(self.now_ms + delay_ms, action)

    def soon(self, action: Action) -> None:
        """Schedule an action now, after everything already due."""
        self.at(self.now_ms, action)

    def every(self, first_ms: int, period_ms: int, action: Action) -> None:
        self._every(self.now_ms + first_ms, period_ms, action)

    def outside(self, action: Callable[[], Result]) -> Running[Result]:
        result = action()
        busy_ms, self.busy_ms = self.busy_ms, 0
        if busy_ms:
            yield Wait(until_ms=self.now_ms + busy_ms)
        return result

    def start(self, body: Body) -> None:
        """Schedule the start of an actor now, after everything already due."""
        self.at(self.now_ms, lambda: self._resume(body, answer=None))

    def start_hurried(self, body: Body) -> None:
        """Schedule the start of an actor on which ``hurry`` may be called."""
        self._hurried[body] = None
        self.start(body)

    def hurry(self, body: Body) -> None:
        """Resume an actor immediately if its signal is given but its event has not run yet."""
        waiting = self._hurried[body]
        if waiting is not None and waiting.signal is not None and waiting.signal.given:
            self._end(waiting)

    def run(self, body: Body) -> None:
        """Start an actor immediately, before anything else that is due."""
        self._resume(body, answer=None)

    def answered(self) -> None:
        self._answered = self._events

    def give(self, signal: Signal) -> None:
        """Give a signal, which schedules its waiting actors now; it stays given."""
        self.give_together((signal,))

    def give_together(self, signals: Iterable[Signal]) -> None:
        """Give several signals at the same instant; the actor that has waited longest resumes first."""
        waiting: list[_Waiting] = []
        for signal in signals:
            signal.given = True
            waiting += signal.waiting
            signal.waiting = []
        for wait in sorted(waiting, key=_number) if len(waiting) > 1 else waiting:
            if not wait.over:
                self.at(self.now_ms, _wake(self, wait))

    def give_at_once(self, signal: Signal) -> None:
        """Give a signal and resume its waiting actors within the current event, before anything else."""
        signal.given = True
        waiting, signal.waiting = signal.waiting, []
        for wait in waiting:
            self._end(wait)

    def run_until(self, signal: Signal) -> None:
        """Run events until the signal is given; remaining events of that time stay due."""
        while not signal.given and self._heap:
            self._run_next()

    @property
    def is_due(self) -> bool:
        return bool(self._heap) and self._heap[0][0] <= self.now_ms

    def turn(self) -> Body:
        """For an actor: wait until everything already due has run."""
        if self.is_due:
            mine = Signal()
            self.at(self.now_ms, lambda: self.give_at_once(mine))
            yield Wait(mine)

    def settle(self) -> Body:
        """For an actor: wait until no event is due at the current time."""
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
        """The result of a wait that ends immediately, because its signal is given or its deadline has passed; else None."""
        if wait.signal is not None and wait.signal.given:
            return True
        return False if wait.until_ms is not None and wait.until_ms <= self.now_ms else None

    def _end(self, waiting: _Waiting) -> None:
        """Resume the actor with True if its signal is given, even when the deadline resumes it."""
        if not waiting.over:
            waiting.over = True
            self._resume(waiting.body, answer=waiting.signal is not None and waiting.signal.given)


def _number(waiting: _Waiting) -> int:
    return waiting.number


def _wake(kernel: Kernel, waiting: _Waiting) -> Action:
    return lambda: kernel._end(waiting)  # noqa: SLF001 - the kernel's own method, bound outside the loop
