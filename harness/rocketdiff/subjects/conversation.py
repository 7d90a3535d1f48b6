"""
The protocol's state machine: checks the order of a subject's records. Pure: the clock is a parameter.

hello; after setup routes and ready; after go routes, attempts and sends; then done. Within a thread, sends are answered once,
in plan order, each after its attempts. Asynchronous sends are answered in any order. Their attempts and callbacks may follow
the answer, even after done, because the client continues until shutdown.
"""

from dataclasses import dataclass
from enum import IntEnum

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Attempt, CalledBackAgain, RouteSeen, Send
from rocketdiff.core.records.session import PROTOCOL, Done, Hello, Ready, SubjectFailed
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.protocol.transcript import Transcript, words_of
from rocketdiff.subjects.claims import (
    ROUTES,
    require_attempt_claim,
    require_attempts,
    require_claim,
    require_mode,
)
from rocketdiff.subjects.limits import Bounds

WRONG_SUBJECT = "protocol.wrong-subject"

_AHEAD_TOLERANCE_NS = 1_000_000
"""All processes of a host share a clock, so no time is in the future; some clocks have a resolution of 1 ms."""

_EARLY_TOLERANCE_NS = 1_000_000
"""Timers of some clients round to whole milliseconds, up or down."""


class Stage(IntEnum):
    """Progress of the conversation; it only grows."""

    STARTED = 0
    HELLO = 1
    PREPARING = 2
    READY = 3
    RUNNING = 4
    DONE = 5


@dataclass(slots=True)
class _Thread:
    """One sender thread. plan: its sends in order. first_open: index of the first unanswered send."""

    plan: list[PlannedSend]
    first_open: int = 0
    progress_ns: int = 0

    @property
    def expected(self) -> PlannedSend | None:
        return self.plan[self.first_open] if self.first_open < len(self.plan) else None

    def pass_answered(self, answered: set[int]) -> None:
        while self.first_open < len(self.plan) and self.plan[self.first_open].send in answered:
            self.first_open += 1


class Conversation:
    """State of one subject's conversation; ``take`` raises SubjectBroken on a violation."""

    def __init__(self, subject: SubjectId) -> None:
        self.stage = Stage.STARTED
        self.transcript = Transcript()
        self._subject = subject
        self._threads: list[_Thread] = []
        self._planned: dict[int, PlannedSend] = {}
        self._attempts: dict[int, int] = {}
        self._answered: set[int] = set()
        self._again: dict[int, int] = {}
        self._route_queues = 0
        self._bounds = Bounds()
        self._heard_ns = 0
        self._start_ns = 0
        self._limit_ns = 0

    def prepared(self, plan: Plan, bounds: Bounds | None = None) -> None:
        """Record that the runner has sent plan and setup."""
        self._bounds = bounds or self._bounds
        self._threads = [_Thread([]) for _ in range(plan.threads)]
        for send in plan.sends:
            self._threads[send.thread].plan.append(send)
            self._planned[send.send] = send
        self.stage = Stage.PREPARING

    def started(self, start_ns: int, limit_ns: int) -> None:
        """Record that the runner has sent go. limit_ns: longest time of a send from when it could begin."""
        self._start_ns, self._limit_ns = start_ns, limit_ns
        for thread in self._threads:
            thread.progress_ns = start_ns
        self.stage = Stage.RUNNING

    def take(self, record: Record, now_ns: int) -> None:
        """Check one record against all earlier ones and keep it."""
        match record:
            case Hello():
                self._take_hello(record)
                self._heard_ns = now_ns
            case RouteSeen():
                self._take_route(record, now_ns)
            case Ready():
                self._require_stage(Stage.PREPARING, "ready")
                self.transcript.keep(record)
                self.stage = Stage.READY
            case Attempt():
                self._take_attempt(record, now_ns)
            case Send():
                self._take_send(record, now_ns)
            case CalledBackAgain():
                self._take_again(record, now_ns)
            case Done():
                self._take_done(record)
            case SubjectFailed():
                raise _broken("failed", "the subject to go on", words_of(record))

    def overdue(self, now_ns: int) -> SubjectBroken | None:
        """Return the violation of the first thread that was silent for longer than its next send may take, or None."""
        for number, thread in enumerate(self._threads):
            send = thread.expected
            if send is None:
                continue
            begun_ns = max(thread.progress_ns, self._start_ns + send.due_ns)
            if now_ns - begun_ns > self._limit_ns:
                expected = f"an answer to send {send.send} of thread {number} within {self._limit_ns / 1e9:.1f} s"
                return _broken("stalled", expected, f"nothing for {(now_ns - begun_ns) / 1e9:.1f} s")
        return None

    def is_all_answered(self) -> bool:
        return len(self._answered) == len(self._planned)

    def _take_hello(self, hello: Hello) -> None:
        self._require_stage(Stage.STARTED, "hello")
        if hello.protocol != PROTOCOL:
            raise _broken("version", f"protocol {PROTOCOL}", f"protocol {hello.protocol}")
        if (hello.client, hello.version) != (self._subject.client, self._subject.release):
            raise SubjectBroken(WRONG_SUBJECT, expected=f"{self._subject}", seen=f"{hello.client}:{hello.version}")
        self.transcript.keep(hello)
        self.stage = Stage.HELLO

    def _take_route(self, route: RouteSeen, now_ns: int) -> None:
        if self.stage not in (Stage.PREPARING, Stage.READY, Stage.RUNNING):
            raise _broken("out-of-order", "routes between setup and done", f"a route in stage {self.stage.name}")
        require_claim(self.transcript.hello, ROUTES, f"route {route.route}")
        expected = len(self.transcript.routes) + 1
        if route.route != expected:
            raise _broken("route-order", f"route {expected}", f"route {route.route}")
        if route.at_ns < self._heard_ns - _EARLY_TOLERANCE_NS:
            raise _broken("impossible-times", "a route noticed after hello", f"route {route.route} at {route.at_ns}")
        _require_past(f"route {route.route}", route.at_ns, now_ns)
        self._route_queues += len(route.queues)
        self._require_bound(expected, self._bounds.routes, "routes")
        self._require_bound(self._route_queues, self._bounds.route_queues, "queues in all routes")
        self.transcript.keep(route)

    def _take_attempt(self, attempt: Attempt, now_ns: int) -> None:
        thread = self._open_send(attempt.send, attempt.thread, f"attempt {attempt.attempt}", "attempt-after-send")
        require_attempt_claim(self.transcript.hello, attempt, self._planned[attempt.send].mode)
        number = self._attempts.get(attempt.send, 0)
        if attempt.attempt != number:
            expected = f"attempt {number} of send {attempt.send}"
            raise _broken("attempt-order", expected, f"attempt {attempt.attempt}")
        self._require_bound(number + 1, self._bounds.attempts_a_send, f"attempts of send {attempt.send}")
        self._require_times(attempt, now_ns)
        self._attempts[attempt.send] = number + 1
        if self._planned[attempt.send].mode is SendMode.ASYNC:
            thread.progress_ns = now_ns  # for a synchronous send the limit covers all attempts
        self.transcript.keep(attempt)

    def _take_send(self, send: Send, now_ns: int) -> None:
        thread = self._open_send(send.send, send.thread, "the answer", "answered-twice")
        self._require_times(send, now_ns)
        if send.returned_ns is not None:
            if send.returned_ns < send.start_ns:
                raise _broken("impossible-times", "a return after its call", f"send {send.send}")
            _require_past(f"the return of send {send.send}", send.returned_ns, now_ns)
        require_mode(self._planned[send.send], send)
        for route in (send.route, send.route_after):
            if not 0 <= route <= len(self.transcript.routes):
                raise _broken("unknown-route", f"send {send.send} to name a reported route", f"route {route}")
        thread.progress_ns = now_ns
        self._answered.add(send.send)
        thread.pass_answered(self._answered)
        self.transcript.keep(send)

    def _take_again(self, again: CalledBackAgain, now_ns: int) -> None:
        what = f"a callback of send {again.send}"
        if self.stage is not Stage.DONE:
            self._require_stage(Stage.RUNNING, what)
        planned = self._planned.get(again.send)
        if planned is None or planned.mode is not SendMode.ASYNC:
            raise _broken("unknown-send", "callbacks of asynchronous sends of the plan only", what)
        if again.send not in self._answered:
            raise _broken("out-of-order", f"the answer to send {again.send} before its callback is called again", what)
        if again.at_ns < self._start_ns + planned.due_ns - _EARLY_TOLERANCE_NS:
            raise _broken("impossible-times", "a callback after its send was due", f"{what} at {again.at_ns}")
        _require_past(what, again.at_ns, now_ns)
        self._again[again.send] = times = self._again.get(again.send, 0) + 1
        self._require_bound(times, self._bounds.callbacks_a_send, f"callbacks of send {again.send}")
        self.transcript.keep(again)

    def _take_done(self, done: Done) -> None:
        self._require_stage(Stage.RUNNING, "done")
        missing = sorted(self._planned.keys() - self._answered)
        if missing:
            seen = f"done with {len(missing)} sends unanswered, the first is {missing[0]}"
            raise _broken("incomplete", f"{len(self._planned)} sends answered before done", seen)
        if done.operations != len(self._answered):
            raise _broken("incomplete", f"done to count {len(self._answered)} sends", f"{done.operations}")
        require_attempts(self.transcript.hello, self.transcript.sends, self.transcript.attempts)
        self.transcript.keep(done)
        self.stage = Stage.DONE

    def _open_send(self, number: int, thread_number: int, what: str, if_answered: str) -> _Thread:
        """Return the thread of a send that may have records now; raise SubjectBroken for any other send."""
        planned = self._planned.get(number)
        is_async = planned is not None and planned.mode is SendMode.ASYNC
        may_follow = is_async and if_answered == "attempt-after-send"
        if not (may_follow and self.stage is Stage.DONE):
            self._require_stage(Stage.RUNNING, f"{what} of send {number}")
        if planned is None:
            raise _broken("unknown-send", "sends of the plan only", f"{what} of send {number}")
        if number in self._answered and not may_follow:
            raise _broken(if_answered, f"nothing more about send {number} after its answer", what)
        if thread_number != planned.thread:
            expected = f"send {number} on thread {planned.thread}"
            raise _broken("wrong-thread", expected, f"{what} from thread {thread_number}")
        thread = self._threads[thread_number]
        if not is_async and (thread.expected is None or thread.expected.send != number):
            turn = "none" if thread.expected is None else f"send {thread.expected.send}"
            raise _broken("out-of-order", f"{turn} next on thread {thread_number}", f"{what} of send {number}")
        return thread

    def _require_times(self, record: Attempt | Send, now_ns: int) -> None:
        what = f"{'the answer to' if isinstance(record, Send) else 'an attempt of'} send {record.send}"
        if record.end_ns < record.start_ns:
            raise _broken(
                "impossible-times", "an end after its beginning", f"{what}: {record.start_ns} to {record.end_ns}"
            )
        _require_past(what, record.end_ns, now_ns)
        due_ns = self._start_ns + self._planned[record.send].due_ns
        if record.start_ns < due_ns - _EARLY_TOLERANCE_NS:
            early_ms = (due_ns - record.start_ns) / 1e6
            raise _broken("early", f"send {record.send} not before it is due", f"{early_ms:.1f} ms early")

    def _require_stage(self, stage: Stage, what: str) -> None:
        if self.stage is not stage:
            raise _broken("out-of-order", f"{what} in stage {stage.name}", f"{what} in stage {self.stage.name}")

    @staticmethod
    def _require_bound(count: int, most: int, what: str) -> None:
        if count > most:
            raise _broken("too-much", f"at most {most} {what}", f"{count}")


def _require_past(what: str, time_ns: int, now_ns: int) -> None:
    if time_ns > now_ns + _AHEAD_TOLERANCE_NS:
        ahead_ms = (time_ns - now_ns) / 1e6
        raise _broken("impossible-times", f"{what} reported after it happened", f"{ahead_ms:.1f} ms in the future")


def _broken(signature: str, expected: str, seen: str) -> SubjectBroken:
    return SubjectBroken(f"protocol.{signature}", expected=expected, seen=seen)
