"""
Judges the end of an asynchronous send by enumerating all ends that the rules allow for the durations of its attempts.

The cause of a failed attempt is rarely recorded (hooks see only the last attempt's end), so every cause that fits the
duration is tried. A retry without a connection may be invisible. Connections fail only where a broker was in trouble;
elsewhere an attempt was answered, refused, or timed out. An end that no combination allows is a difference. If the
client itself constructs the exception, its cause must fit as well. Queues are not judged here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, Attempt, Send
from rocketdiff.core.sends.outcome import is_error_word, may_be
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.signatures import OTHER_CAUSE, OTHER_CLASS, OTHER_STATUS, STOPPED_EARLY, WENT_ON
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.difference import causes_alike, ends_alike, error_alike, expected_error
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.sentences import end_text, finish_text
from rocketmq_reference.rules.client.publish import PublishInfo, Queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.async_rules import AsyncThread
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import AsyncStep, CallBack, Invoke, Throw
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.tape import RandomTape

_GRACE_MS = 1_000
"""Added to a request's timeout by the scan for expired requests (scanResponseTable, every release)."""

_ROUNDING_MS = 5
"""Two clocks, each read in whole milliseconds; a hook runs shortly before or after its event."""

_ACTED_LATE_MS = 500
"""
Delay from a failure to its visible effect (next request, callback): a task queue, perhaps a new connection, a busy
machine. Over 100 ms were measured. Half the grace, so that a timeout never passes for an earlier failure.
"""

_AT_ONCE_MS = 100
"""A request without time left fails before it is written: 0.04 ms measured; a busy machine may delay its thread."""

_FORMS = {SendKind.QUEUE: Form.GIVEN_QUEUE, SendKind.SELECTOR: Form.SELECTOR}

_TIMEOUT, _LOST = "RemotingTimeoutException", "RemotingSendRequestException"
_CONNECT, _TOO_MUCH = "RemotingConnectException", "RemotingTooMuchRequestException"

Troubled = Callable[[str | None, int, int], bool]
"""True if a broker (None: any) may have lost or refused a connection between two instants in ns."""


@dataclass(frozen=True, slots=True)
class _End:
    """
    One possible end. attempts: visible ones. finish: None if the callback is lost or the rules go on.

    is_half_seen: assumes invisible retries.
    """

    attempts: int
    finish: Finish | None
    is_half_seen: bool = False

    def explains(self, send: Send, seen: int) -> bool:
        """
        True if the observed end is this one.

        Invisible attempts, and a connection that came too late, need the send's cause as evidence: a timeout lasts as
        long.
        """
        if self.finish is None or self.attempts != seen or not ends_alike(self.finish, send):
            return False
        must_report = self.is_half_seen or self.finish.cause == _TOO_MUCH
        return not must_report or self.finish.cause in (None, send.cause) or is_error_word(send.error)


@dataclass(frozen=True, slots=True)
class _Cause:
    """
    A possible cause of a failed attempt. thrown: raised during hand-over, otherwise reported afterwards.

    seen_late_ms: delay until the failure became visible.
    """

    error: str
    thrown: bool = False
    direct: bool = False
    code: int | None = None
    seen_late_ms: int = 0


def async_difference(
    dialect: Dialect, settings: SendSettings, send: Send, troubled: Troubled, *, causes_reported: bool = True
) -> RuleDifference | None:
    """Return the difference in a send's number of attempts or its end; None if the rules allow both."""
    if send.error == NEVER_CALLED_BACK:
        return None  # the check ``callbacks`` reports it
    attempts = tuple(attempt for attempt in send.attempts if attempt.attempt == 0 or attempt.start_ns < send.end_ns)
    seen = len(attempts)
    if (lie := _other_status(dialect, send, attempts)) is not None:
        return lie
    ends: dict[_End, None] = {}  # ordered, so that the report is deterministic
    for end in _Explorer(dialect, settings, send, attempts, troubled).ends():
        if (
            end.explains(send, seen)
            and end.finish is not None
            and (not causes_reported or causes_alike(end.finish, send))
        ):
            return None
        ends[end] = None
    but_for_causes = [end.finish for end in ends if end.finish is not None and end.explains(send, seen)]
    return _other_cause(send, seen, but_for_causes) if but_for_causes else _difference(send, seen, tuple(ends))


@dataclass(slots=True)
class _State:
    """
    A state of one path: the rules, their step, and how many of the attempts made were visible.

    late_ms: time of the next attempt already spent when the failure before it was handled.
    """

    rules: AsyncSend
    step: AsyncStep | None
    now_ms: int
    seen: int = 0
    made: int = 0
    late_ms: int = 0

    def key(self) -> tuple[object, ...]:
        return self.step, self.now_ms, self.seen, self.made, self.late_ms, self.rules.failures, self.rules.attempts


class _Explorer:
    """Enumerates all executions of the rules for one send."""

    def __init__(
        self,
        dialect: Dialect,
        settings: SendSettings,
        send: Send,
        attempts: tuple[Attempt, ...],
        troubled: Troubled,
    ) -> None:
        self._dialect = dialect
        # The fault table affects the choice of brokers only.
        self._settings = replace(settings, send_latency_fault_enable=False)
        self._send = send
        self._attempts = attempts
        self._troubled = tuple(troubled(attempt.broker, attempt.start_ns, attempt.end_ns) for attempt in attempts)
        # The broker of an invisible retry is unknown.
        self._is_any_troubled = troubled(None, send.start_ns, send.end_ns)
        self._waited_ms = max((attempts[0].start_ns - send.start_ns) // NS_PER_MS, 0)
        self._selecting = self._selector()
        self._retries_at_once = dialect.producer.asynchronous.runs_on is AsyncThread.OWN

    def ends(self) -> Iterator[_End]:
        """All ends, with duplicates. Breadth-first with merged states: a hundred retries have too many paths to enumerate."""
        states = [self._beginning()]
        while states:
            following: dict[object, _State] = {}
            for state in states:
                if isinstance(state.step, Invoke):
                    for after in self._after(state, state.step):
                        following.setdefault(after.key(), after)
                else:
                    finish = state.step.finish if isinstance(state.step, CallBack | Throw) else None
                    yield _End(state.seen, finish, is_half_seen=finish is not None and state.made > state.seen)
            states = list(following.values())

    def _beginning(self) -> "_State":
        form = _FORMS.get(self._send.kind, Form.SELECTED)
        rules = AsyncSend(self._dialect, self._settings, self._selecting.faults, form)
        rules.accepted(0, self._waited_ms)  # the attempt was observed, so a time left of 0 ms is a rounding error
        return _State(rules, self._begin(rules, self._selecting), self._waited_ms)

    def _after(self, state: "_State", step: Invoke) -> Iterator["_State"]:
        """Every state an attempt may lead to. A first attempt that the hook saw may still have no time left."""
        addressed = state.rules.addressed(step, state.now_ms, known=True) if step.attempt == 0 else step
        if not isinstance(addressed, Invoke):
            yield _State(state.rules, addressed, state.now_ms, 1, 1)
            return
        made, unseen = step.attempt + 1, self._unseen(step)
        if state.seen < len(self._attempts):
            yield from self._after_seen(state, step, made)
        elif not unseen:
            yield _State(state.rules, None, state.now_ms, state.seen, made)
        for cause in unseen:
            yield self._after_failure(state, step, cause, state.now_ms, state.seen, made)

    def _after_seen(self, state: "_State", step: Invoke, made: int) -> Iterator["_State"]:
        attempt, is_troubled, seen = self._attempts[state.seen], self._troubled[state.seen], state.seen + 1
        took_ms = state.late_ms + (attempt.end_ns - attempt.start_ns) // NS_PER_MS
        now_ms = step.began_ms + took_ms
        if self._has_no_time(step):
            causes = self._unconnected(step, took_ms, is_troubled)
        else:
            causes = self._causes(step, took_ms, is_troubled)
            if not causes or (seen == len(self._attempts) and self._send.error is None):
                rules = state.rules.copy()
                result = AttemptResult.ok(self._send.status or "SEND_OK")
                answered = rules.ended(step, None, now_ms, result, written_ms=step.began_ms)
                yield _State(rules, answered, now_ms, seen, made, state.late_ms)
                return
        for cause in causes:
            yield self._after_failure(state, step, cause, now_ms, seen, made)

    def _after_failure(
        self, state: "_State", step: Invoke, cause: _Cause, now_ms: int, seen: int, made: int
    ) -> "_State":
        rules = state.rules.copy()
        failed = _failed(rules, step, now_ms - cause.seen_late_ms, cause)
        return _State(rules, failed, now_ms, seen, made, cause.seen_late_ms)

    def _begin(self, rules: AsyncSend, selector: Selector) -> AsyncStep:
        first = self._attempts[0]
        if rules.form is Form.SELECTED:
            return rules.begin(selector, self._waited_ms)
        return rules.begin_at(Queue(first.broker, first.queue_id), self._waited_ms)

    def _selector(self) -> Selector:
        """A selector over one queue: the choice of the queue is judged elsewhere."""
        first, rules = self._attempts[0], self._dialect.producer.index
        info = PublishInfo.of([(first.broker, first.queue_id)])
        faults = FaultTable(self._dialect.producer.fault_table)
        return Selector(info, ThreadIndex(rules), faults, ThreadIndex(rules), RandomTape(0))

    def _causes(self, invoke: Invoke, took_ms: int, is_troubled: bool) -> list[_Cause]:
        """
        Possible causes of failure of an attempt of this duration; empty if it must have been answered.

        From 4.4.0 to 4.6.1 a retry has a timeout of 0 ms, and invokeAsyncImpl reads the clock twice before it writes
        the request. If the millisecond changes in between, it throws a RemotingTimeoutException, and the client retries
        at once (onExceptionImpl).
        """
        causes = []
        if took_ms + _ROUNDING_MS >= invoke.timeout_ms + _GRACE_MS:
            causes.append(_Cause(_TIMEOUT))
        if may_be(self._send.error, "MQBrokerException"):
            causes.append(_Cause("MQBrokerException", code=self._send.code))
        causes += [_Cause(_LOST)] if is_troubled else []
        causes += self._unconnected(invoke, took_ms, is_troubled)
        if self._retries_at_once and invoke.attempt > 0 and invoke.timeout_ms == 0 and took_ms <= _AT_ONCE_MS:
            causes.append(_Cause(_TIMEOUT, thrown=True))
        late_ms = min(took_ms, _ACTED_LATE_MS)
        if took_ms - late_ms < invoke.timeout_ms <= took_ms:  # otherwise lateness does not affect the time left
            causes += [replace(cause, seen_late_ms=late_ms) for cause in causes if cause.error != _TIMEOUT]
        return causes

    def _unconnected(self, invoke: Invoke, took_ms: int, is_troubled: bool) -> list[_Cause]:
        """Causes of failure before the request is written: no connection, or one that came too late."""
        causes = [self._before_the_request(_CONNECT)] if is_troubled else []
        if self._dialect.client.remoting.async_time_left_ms(invoke.timeout_ms, took_ms + _ROUNDING_MS) is None:
            causes.append(self._before_the_request(_TOO_MUCH))
        return causes

    def _before_the_request(self, error: str) -> _Cause:
        background = self._dialect.client.remoting.connects_in_background
        return _Cause(error, thrown=not background, direct=background)

    def _has_no_time(self, invoke: Invoke) -> bool:
        return self._dialect.client.remoting.async_time_left_ms(invoke.timeout_ms, 0) is None

    def _unseen(self, invoke: Invoke) -> tuple[_Cause, ...]:
        """Causes of an invisible attempt: a first one is visible once its queue is chosen, a retry perhaps only when written."""
        return () if invoke.attempt == 0 else tuple(self._unconnected(invoke, 0, self._is_any_troubled))


def _failed(rules: AsyncSend, invoke: Invoke, now_ms: int, cause: _Cause) -> AsyncStep | None:
    """The step after a failure. No queue is selected for the retry: its broker is judged elsewhere."""
    if cause.thrown:
        return rules.threw(invoke, None, now_ms, cause.error)
    result = AttemptResult.failed(cause.error, cause.code)
    return rules.ended(invoke, None, now_ms, result, direct=cause.direct, written_ms=invoke.began_ms)


def _other_status(dialect: Dialect, send: Send, attempts: Sequence[Attempt]) -> RuleDifference | None:
    """A result with a status of none of the send's answers. Allowed in releases that may swap the answers of two requests."""
    answered = [attempt.status for attempt in attempts if attempt.status is not None]
    if (
        not answered
        or send.status is None
        or send.status in answered
        or dialect.client.remoting.retry_takes_next_number
    ):
        return None
    return RuleDifference(
        DifferenceKind.ERROR,
        OTHER_STATUS.text(f"expected={answered[-1]}/seen={send.status}/{'first' if len(attempts) == 1 else 'retry'}"),
        None,
        finish_text(Finish(Ending.RESULT, status=answered[-1])),
        end_text(send),
        {"expected": [None, None, answered[-1]], "observed": [None, None, send.status]},
    )


def _other_cause(send: Send, seen: int, finishes: Sequence[Finish]) -> RuleDifference:
    causes = sorted({finish.cause or "none" for finish in finishes})
    return RuleDifference(
        DifferenceKind.ERROR,
        OTHER_CAUSE.text(f"expected={causes[0]}/seen={send.cause or 'none'}/{'first' if seen <= 1 else 'retry'}"),
        None,
        " or ".join(sorted({finish_text(finish) for finish in finishes})),
        end_text(send) + (f", because of a {send.cause}" if send.cause else ", without a cause"),
        {"expected": [finishes[0].error, causes], "observed": [send.error, send.code, send.cause]},
    )


def _difference(send: Send, seen: int, ends: tuple[_End, ...]) -> RuleDifference:
    place = "first" if seen <= 1 else "retry"
    here = [end for end in ends if end.attempts == seen]
    others = [end.finish for end in here if end.finish is not None and not end.is_half_seen]
    others = [finish for finish in others if not error_alike(finish, send.error)]
    if others:
        finish = others[0]
        expected = expected_error(finish, send.error) or "none"
        return RuleDifference(
            DifferenceKind.ERROR,
            OTHER_CLASS.text(f"expected={expected}/seen={send.error or 'none'}/{place}"),
            None,
            finish_text(finish),
            end_text(send),
            {"expected": [finish.error, finish.code, finish.status], "observed": [send.error, send.code, send.status]},
        )
    if here:
        name, expected = STOPPED_EARLY.text(place), f"another attempt after {seen}"
    else:
        most = max(end.attempts for end in ends)
        name, expected = WENT_ON.text(place), f"the send over after {most} attempt{'' if most == 1 else 's'}"
    detail: dict[str, object] = {"attempts": seen, "error": send.error}
    return RuleDifference(DifferenceKind.ATTEMPTS, name, seen - 1, expected, end_text(send), detail)
