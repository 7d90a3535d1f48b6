"""
Judges the asynchronous sends of one arm.

Judged exactly: the queue of every first attempt, along the counter of the client thread that chose it (from 4.3.0 a
pool thread, recorded in the trace), and the end of the send, given its attempts' durations (``asynchronous.ends``). Of a retry
the broker is judged (``retry_brokers``), the queue is not. ``core.sends.knowable`` lists what is unknowable.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, Send
from rocketdiff.core.sends.knowable import Sending, unknown
from rocketdiff.core.sends.outcome import may_be
from rocketdiff.core.tables.checks import Aspect
from rocketdiff.core.tables.signatures import STOPPED_EARLY
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.asynchronous.ends import Troubled, async_difference
from rocketdiff.oracle.producer.asynchronous.retry_brokers import retry_broker_difference
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference, SendJudgement
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.replay import Replay
from rocketdiff.oracle.producer.sentences import end_text
from rocketmq_reference.rules.producer.async_rules import AsyncThread

POOL = 1_000_000
"""Offset of the client's thread numbers, above every application thread's number."""

_ROUNDING_MS = 5
"""Two clocks, each read in whole milliseconds."""

_NEVER_BEGAN = STOPPED_EARLY.text("first")
_NO_ADDRESS = "MQClientException"
_WITHOUT_TIME = ("RemotingTooMuchRequestException", _NO_ADDRESS)


@dataclass(frozen=True, slots=True)
class Choice:
    """A use of a thread's counter by a first attempt or by a retry, which moves it an unknown number of steps."""

    at_ns: int
    thread: int
    send: Send
    is_retry: bool


def judge_asynchronous(
    replay: Replay, sends: Iterable[Send], troubled: Troubled, *, choosers_reported: bool = True
) -> Iterator[SendJudgement]:
    """
    Return judgements in the order in which queues were chosen; sends without an attempt come first.

    choosers_told: the witness records which client thread chose each attempt's queue, if one did.
    """
    choices: list[Choice] = []
    unseen: list[Send] = []
    for send in sends:
        if not send.attempts:
            yield _never_tried(replay, send, troubled)
            unseen.append(send)
            continue
        for attempt in send.attempts:
            thread = send.thread if attempt.chooser is None else POOL + attempt.chooser
            choices.append(Choice(attempt.start_ns, thread, send, attempt.attempt > 0))
    choices += _unseen_choices(replay, unseen, {choice.thread for choice in choices})
    for choice in sorted(choices, key=lambda choice: (choice.at_ns, choice.send.send)):
        is_chooser_unseen = not (choosers_reported or replay.calls_itself)
        judgement = judge_choice(replay, choice, troubled, is_chooser_unseen=is_chooser_unseen)
        if judgement is not None:
            yield judgement


def _unseen_choices(replay: Replay, unseen: Iterable[Send], threads: set[int]) -> Iterator[Choice]:
    """Sends without an attempt may have moved the counter of any choosing thread, like a retry."""
    for send in unseen:
        for thread in (send.thread,) if replay.calls_itself else sorted(threads):
            yield Choice(send.start_ns, thread, send, is_retry=True)


def _never_tried(replay: Replay, send: Send, troubled: Troubled) -> SendJudgement:
    """A send without an attempt differs if queues were known, unless time ran out or an address may have been missing."""
    is_told = replay.witnessed and send.error not in (None, NEVER_CALLED_BACK)
    if not (is_told and replay.routes.get(send.route) and replay.routes.get(send.route_after)):
        return SendJudgement(send.send, send.thread, (), None, 0, "no attempt of it was witnessed")
    waited_ms = (send.end_ns - send.start_ns) // NS_PER_MS + _ROUNDING_MS
    had_no_time = may_be(send.error, *_WITHOUT_TIME) and waited_ms >= replay.settings.send_msg_timeout_ms
    may_lack_address = send.route != send.route_after or troubled(None, send.start_ns, send.end_ns)
    had_no_address = may_be(send.error, _NO_ADDRESS) and may_lack_address
    if had_no_time or had_no_address:
        return SendJudgement(send.send, send.thread, (), None, 0)
    detail: dict[str, object] = {"attempts": 0, "error": send.error}
    expected = "a first attempt: there were queues and time, and no broker was at fault"
    found = RuleDifference(DifferenceKind.ATTEMPTS, _NEVER_BEGAN, None, expected, end_text(send), detail)
    return SendJudgement(send.send, send.thread, (), found, 0)


def judge_choice(
    replay: Replay, choice: Choice, troubled: Troubled, *, is_chooser_unseen: bool = False
) -> SendJudgement | None:
    """Judge the send that a first attempt begins; None for a retry. Choices of a client are judged in the order of their times."""
    if choice.is_retry:
        replay.reopen(choice.thread)
        return None
    send = choice.send
    judgement = _first_choice(replay, choice, is_chooser_unseen=is_chooser_unseen)
    if judgement.difference is None and judgement.undecided is None:
        causes_reported = replay.transitions.causes_reported
        found = async_difference(replay.dialect, replay.settings, send, troubled, causes_reported=causes_reported)
        found = found or retry_broker_difference(replay, send, troubled)
        return replace(judgement, difference=found)
    return judgement


def _first_choice(replay: Replay, choice: Choice, *, is_chooser_unseen: bool) -> SendJudgement:
    """Judge the queue of the first attempt; if unknowable, return a judgement without a decision."""
    send = choice.send
    latency = replay.settings.send_latency_fault_enable
    sending = Sending(send.mode, send.kind, latency, is_chooser_unseen=is_chooser_unseen)
    if unknown(Aspect.FIRST_QUEUE, sending):
        unjudged = Observation(replay.transitions, send).judged_without_rules(replay.witnessed)
        return unjudged or SendJudgement(send.send, send.thread, (), None, 0)
    judgement = replay.judge_observation(Observation(replay.transitions, replace(send, thread=choice.thread)))
    if _may_have_chosen_again(replay, send):
        replay.reopen(choice.thread)
    return replace(judgement, thread=send.thread)


def _may_have_chosen_again(replay: Replay, send: Send) -> bool:
    """
    True if the thread of the first choice may have chosen again unseen.

    A failed hand-over is retried at once in the same thread, and that attempt may be invisible. Another thread notices
    a timeout. In pools that also run callbacks, any thread may retry any send.
    """
    first = send.attempts[0]
    if first.error is None:
        return False
    at_once = first.end_ns - first.start_ns < replay.settings.send_msg_timeout_ms * NS_PER_MS
    return at_once or replay.dialect.producer.asynchronous.runs_on is AsyncThread.CALLBACKS
