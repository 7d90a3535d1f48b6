"""
What a producer is asked to send, and the order of what it may report of it. Pure: the clock is a parameter.

Routes after setup; after go routes, attempts and sends. Within a thread, sends are answered once, in plan order, each
after its attempts. Asynchronous sends are answered in any order. Their attempts and callbacks may follow the answer. These
and routes may come even after done, because the client continues until shutdown.
"""

from dataclasses import dataclass

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import ROUTES, Attempt, CalledBackAgain, RouteSeen, Send
from rocketdiff.core.records.session import Done
from rocketdiff.core.security import secrets_in
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendMode
from rocketdiff.protocol.commands import SubjectSetup, encode_plan, encode_setup
from rocketdiff.protocol.records import type_of
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.subjects.claims import require_claim
from rocketdiff.subjects.conversation import Stage, broken, require_bound, require_past, require_stage
from rocketdiff.subjects.limits import OutputBounds
from rocketdiff.subjects.sending.claims import require_attempt_claim, require_attempts, require_mode
from rocketdiff.subjects.sending.limits import SendBounds, longest_send_s, output_bounds_of, send_bounds_of

_EARLY_TOLERANCE_NS = 1_000_000
"""Timers of some clients round to whole milliseconds, up or down."""


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


class SendingTalk:
    """
    The sends of one producer; see ``RoleTalk``.

    attempt_timeout_ms: of a client that ignores the setting; 0 for the value in hello. bounds, limit_ns: instead of those
    that follow from plan and settings; limit_ns is the longest time of a send from when it could begin.
    """

    def __init__(
        self,
        plan: Plan,
        setup: SubjectSetup,
        attempt_timeout_ms: int = 0,
        *,
        bounds: SendBounds | None = None,
        limit_ns: int | None = None,
    ) -> None:
        self.bounds: OutputBounds = output_bounds_of(plan, setup.settings)
        self.secrets: tuple[str, ...] = secrets_in(setup.security)
        self._plan, self._setup = plan, setup
        self._own_ms = attempt_timeout_ms
        self._most = bounds or send_bounds_of(plan, setup.settings)
        self._limit_ns = limit_ns
        self._threads = [_Thread([]) for _ in range(plan.threads)]
        self._planned: dict[int, PlannedSend] = {}
        for send in plan.sends:
            self._threads[send.thread].plan.append(send)
            self._planned[send.send] = send
        self._attempts: dict[int, int] = {}
        self._answered: set[int] = set()
        self._again: dict[int, int] = {}
        self._route_queues = 0
        self._heard_ns = 0
        self._start_ns = 0
        self._transcript = Transcript()

    def prepare(self, transcript: Transcript, heard_ns: int, margin_s: float) -> bytes:
        self._transcript, self._heard_ns = transcript, heard_ns
        if self._limit_ns is None:
            self._limit_ns = int((self._longest_s() + margin_s) * 1e9)
        return b"".join([*encode_plan(self._plan), encode_setup(self._setup, self._plan.threads)])

    def _longest_s(self) -> float:
        setup, hello = self._setup, self._transcript.hello
        own_ms = self._own_ms or (hello.attempt_timeout_ms if hello else None)
        longest_s = longest_send_s(setup.settings, len(setup.name_servers), own_ms)
        if any(send.mode is SendMode.ASYNC for send in self._plan.sends):
            return max(longest_s, setup.callback_limit_ms / 1_000)
        return longest_s

    def go(self, start_ns: int) -> None:
        self._start_ns = start_ns
        for thread in self._threads:
            thread.progress_ns = start_ns

    @property
    def ended(self) -> int:
        return len(self._answered)

    @property
    def progress(self) -> str:
        return f"{self.ended} sends answered"

    @property
    def is_finished(self) -> bool:
        return len(self._answered) == len(self._planned)

    def take(self, record: Record, stage: Stage, now_ns: int) -> None:
        match record:
            case RouteSeen():
                self._take_route(record, stage, now_ns)
            case Attempt():
                self._take_attempt(record, stage, now_ns)
            case Send():
                self._take_send(record, stage, now_ns)
            case CalledBackAgain():
                self._take_again(record, stage, now_ns)
            case _:
                raise broken("out-of-order", "records of a producer", type_of(record))

    def overdue(self, now_ns: int) -> SubjectBroken | None:
        """The violation of the first thread that was silent for longer than its next send may take."""
        assert self._limit_ns is not None
        for number, thread in enumerate(self._threads):
            send = thread.expected
            if send is None:
                continue
            begun_ns = max(thread.progress_ns, self._start_ns + send.due_ns)
            if now_ns - begun_ns > self._limit_ns:
                expected = f"an answer to send {send.send} of thread {number} within {self._limit_ns / 1e9:.1f} s"
                return broken("stalled", expected, f"nothing for {(now_ns - begun_ns) / 1e9:.1f} s")
        return None

    def _take_route(self, route: RouteSeen, stage: Stage, now_ns: int) -> None:
        if stage < Stage.PREPARING:
            raise broken("out-of-order", "routes after setup", f"a route in stage {stage.name}")
        require_claim(self._transcript.hello, ROUTES, f"route {route.route}")
        expected = len(self._transcript.routes) + 1
        if route.route != expected:
            raise broken("route-order", f"route {expected}", f"route {route.route}")
        if route.at_ns < self._heard_ns - _EARLY_TOLERANCE_NS:
            raise broken("impossible-times", "a route noticed after hello", f"route {route.route} at {route.at_ns}")
        require_past(f"route {route.route}", route.at_ns, now_ns)
        self._route_queues += len(route.queues)
        require_bound(expected, self._most.routes, "routes")
        require_bound(self._route_queues, self._most.route_queues, "queues in all routes")
        self._transcript.keep(route)

    def _take_attempt(self, attempt: Attempt, stage: Stage, now_ns: int) -> None:
        thread = self._open_send(
            stage, attempt.send, attempt.thread, f"attempt {attempt.attempt}", "attempt-after-send"
        )
        require_attempt_claim(self._transcript.hello, attempt, self._planned[attempt.send].mode)
        number = self._attempts.get(attempt.send, 0)
        if attempt.attempt != number:
            expected = f"attempt {number} of send {attempt.send}"
            raise broken("attempt-order", expected, f"attempt {attempt.attempt}")
        require_bound(number + 1, self._most.attempts_a_send, f"attempts of send {attempt.send}")
        self._require_times(attempt, now_ns)
        self._attempts[attempt.send] = number + 1
        if self._planned[attempt.send].mode is SendMode.ASYNC:
            thread.progress_ns = now_ns  # for a synchronous send the limit covers all attempts
        self._transcript.keep(attempt)

    def _take_send(self, send: Send, stage: Stage, now_ns: int) -> None:
        thread = self._open_send(stage, send.send, send.thread, "the answer", "answered-twice")
        self._require_times(send, now_ns)
        if send.returned_ns is not None:
            if send.returned_ns < send.start_ns:
                raise broken("impossible-times", "a return after its call", f"send {send.send}")
            require_past(f"the return of send {send.send}", send.returned_ns, now_ns)
        require_mode(self._planned[send.send], send)
        for route in (send.route, send.route_after):
            if not 0 <= route <= len(self._transcript.routes):
                raise broken("unknown-route", f"send {send.send} to name a reported route", f"route {route}")
        thread.progress_ns = now_ns
        self._answered.add(send.send)
        thread.pass_answered(self._answered)
        self._transcript.keep(send)

    def _take_again(self, again: CalledBackAgain, stage: Stage, now_ns: int) -> None:
        what = f"a callback of send {again.send}"
        if stage is not Stage.DONE:
            require_stage(stage, Stage.RUNNING, what)
        planned = self._planned.get(again.send)
        if planned is None or planned.mode is not SendMode.ASYNC:
            raise broken("unknown-send", "callbacks of asynchronous sends of the plan only", what)
        if again.send not in self._answered:
            raise broken("out-of-order", f"the answer to send {again.send} before its callback is called again", what)
        if again.at_ns < self._start_ns + planned.due_ns - _EARLY_TOLERANCE_NS:
            raise broken("impossible-times", "a callback after its send was due", f"{what} at {again.at_ns}")
        require_past(what, again.at_ns, now_ns)
        self._again[again.send] = times = self._again.get(again.send, 0) + 1
        require_bound(times, self._most.callbacks_a_send, f"callbacks of send {again.send}")
        self._transcript.keep(again)

    def require_complete(self, done: Done) -> None:
        missing = sorted(self._planned.keys() - self._answered)
        if missing:
            seen = f"done with {len(missing)} sends unanswered, the first is {missing[0]}"
            raise broken("incomplete", f"{len(self._planned)} sends answered before done", seen)
        if done.operations != len(self._answered):
            raise broken("incomplete", f"done to count {len(self._answered)} sends", f"{done.operations}")
        require_attempts(self._transcript.hello, self._transcript.sends, self._transcript.attempts)

    def _open_send(self, stage: Stage, number: int, thread_number: int, what: str, if_answered: str) -> _Thread:
        """Return the thread of a send that may have records now; raise SubjectBroken for any other send."""
        planned = self._planned.get(number)
        is_async = planned is not None and planned.mode is SendMode.ASYNC
        may_follow = is_async and if_answered == "attempt-after-send"
        if not (may_follow and stage is Stage.DONE):
            require_stage(stage, Stage.RUNNING, f"{what} of send {number}")
        if planned is None:
            raise broken("unknown-send", "sends of the plan only", f"{what} of send {number}")
        if number in self._answered and not may_follow:
            raise broken(if_answered, f"nothing more about send {number} after its answer", what)
        if thread_number != planned.thread:
            expected = f"send {number} on thread {planned.thread}"
            raise broken("wrong-thread", expected, f"{what} from thread {thread_number}")
        thread = self._threads[thread_number]
        if not is_async and (thread.expected is None or thread.expected.send != number):
            turn = "none" if thread.expected is None else f"send {thread.expected.send}"
            raise broken("out-of-order", f"{turn} next on thread {thread_number}", f"{what} of send {number}")
        return thread

    def _require_times(self, record: Attempt | Send, now_ns: int) -> None:
        what = f"{'the answer to' if isinstance(record, Send) else 'an attempt of'} send {record.send}"
        if record.end_ns < record.start_ns:
            raise broken(
                "impossible-times", "an end after its beginning", f"{what}: {record.start_ns} to {record.end_ns}"
            )
        require_past(what, record.end_ns, now_ns)
        due_ns = self._start_ns + self._planned[record.send].due_ns
        if record.start_ns < due_ns - _EARLY_TOLERANCE_NS:
            early_ms = (due_ns - record.start_ns) / 1e6
            raise broken("early", f"send {record.send} not before it is due", f"{early_ms:.1f} ms early")
