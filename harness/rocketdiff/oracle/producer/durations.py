"""
Attempts that exceeded their timeout or gave up before it, and one-way calls that waited.

Only durations impossible for a correct client on a busy machine are differences; statistics cover finer ones.
"""

from dataclasses import dataclass, replace

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import GAVE_UP_BEFORE_TIMEOUT, OUTLASTED_TIMEOUT, WAITED_FOR_AN_ANSWER
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.interval import bounds
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.sentences import duration_text
from rocketmq_reference.rules.client.remoting_rules import CloseOnTimeout, RemotingRules
from rocketmq_reference.rules.producer.attempt import Try
from rocketmq_reference.rules.producer.producer_rules import LoopRules

BUSY_MS = 1_000
"""
Most that a busy machine may delay an event: one that wakes a thread later makes the case invalid (guard ``awake-machine``).
"""

BUSY_LEAST_MS = 150
"""
Lateness tolerated of any attempt. Garbage collection and class loading at a first timeout cost so much: seen on a machine
at load 28, at most 132 ms.
"""

WAITED_MS = 300
"""
How long a one-way call may last: less than any shipped scenario keeps an answer back for longer than its timeout. More is excused
by what the machine did to the other arm.
"""

CONNECTING_MS = 6_000
"""3 s waiting for another thread that is connecting, and 3 s for the connection itself (constants of every release)."""

ROUNDED_MS = 5
"""Largest rounding error of a client that adds up whole milliseconds of two or three stages."""

IS_CERTAIN = "certain"
"""Key in the detail of a difference OUTLASTED_TIMEOUT: neither machine load nor a new connection excuses it."""

# What may excuse the differences found here in one send: GAVE_UP_BEFORE_TIMEOUT, the client's other requests
# (``analysis.sending.steps.torn_connections``); OUTLASTED_TIMEOUT, the other attempts of both arms (``analysis.sending.steps.excuses``);
# WAITED_FOR_AN_ANSWER, the faults of the case (``analysis.sending.steps.replayed``).


@dataclass(frozen=True, slots=True)
class Tearing:
    """Effects of closing a connection. pending_fail: its pending requests fail. timeouts_close: a request's timeout closes it."""

    pending_fail: bool
    timeouts_close: bool

    @classmethod
    def of(cls, rules: RemotingRules) -> "Tearing":
        return cls(rules.fails_fast_on_close, rules.close_on_timeout is not CloseOnTimeout.NEVER)


ANSWERS = (None, "MQBrokerException")
"""Ends of an attempt that imply an answer of the broker."""

UNBOUNDED = ("RemotingConnectException",)
"""Connecting includes looking up the broker's name, which no client timeout bounds."""


@dataclass(frozen=True, slots=True)
class Outlasted:
    """Duration of an attempt in ms, its timeout, and whether connecting may be part of it."""

    took_ms: int
    timeout_ms: int
    may_connect: bool

    @classmethod
    def of(cls, found: RuleDifference) -> "Outlasted":
        took_ms, timeout_ms = found.detail["took_ms"], found.detail["timeout_ms"]
        assert isinstance(took_ms, int)
        assert isinstance(timeout_ms, list)
        return cls(took_ms, timeout_ms[1], bool(found.detail["may_connect"]))


@dataclass(slots=True)
class Allowance:
    """
    Timeout of one attempt by the rules, over all hidden states that explain it.

    chosen_ns: the client started counting no earlier.
    """

    lo_ms: int
    hi_ms: int
    chosen_ns: int

    def widen(self, step: Try) -> None:
        lo_ms, hi_ms = bounds(step.timeout_ms)
        self.lo_ms, self.hi_ms = min(self.lo_ms, lo_ms), max(self.hi_ms, hi_ms)


def tolerated_ms(timeout_ms: int) -> int:
    """
    By how much an attempt may exceed its timeout without a further reason: by half of it.

    Shipped pauses last longer than that. More is excused only by what the machine did to the other arm
    (``analysis.sending.steps.excuses``).
    """
    return max(BUSY_LEAST_MS, min(BUSY_MS, timeout_ms // 2))


def allowance_of(step: Try, chosen_ns: int) -> Allowance:
    """The allowance of one hidden state."""
    return Allowance(*bounds(step.timeout_ms), chosen_ns)


@dataclass(frozen=True, slots=True)
class AttemptTimeouts:
    """The time that the rules give one attempt of a synchronous send, in whole ms."""

    settings: ClientSettings
    loop: LoopRules

    @property
    def shortest_ms(self) -> int:
        """Half of a whole timeout: a shorter rest of one depends on when the last attempt ended."""
        cap_ms, timeout_ms = self.settings.send_msg_max_timeout_per_request_ms, self.settings.send_msg_timeout_ms
        return (min(timeout_ms, cap_ms) if cap_ms > -1 else timeout_ms) // 2

    def of(self, number: int | None, spent_ms: int) -> tuple[int, bool]:
        """Timeout of an attempt, and whether another may follow it. number: None for a call without retries."""
        left_ms = self.loop.left_ms(self.settings.send_msg_timeout_ms, spent_ms) or 0
        if number is None or number >= self.settings.retry_times_when_send_failed:
            return left_ms, False
        cap_ms = self.settings.send_msg_max_timeout_per_request_ms
        is_capped = self.loop.per_request_cap and -1 < cap_ms < left_ms
        return (cap_ms if is_capped else left_ms), is_capped or not self.loop.shared_budget


def duration_difference(attempt: Attempt, allowed: Allowance, *, connecting_counts: bool) -> RuleDifference | None:
    """
    Return the difference of an attempt that certainly did not keep its timeout.

    connecting_counts: the timeout covers the connection (from 4.3.0), so an answer never comes later. More than
    ``tolerated_ms`` beyond the timeout is always reported; the detail records what else may excuse it.
    """
    lo_ms, hi_ms = max(allowed.lo_ms, 0), max(allowed.hi_ms, 0)
    took_ms = (attempt.end_ns - attempt.start_ns) // NS_PER_MS
    connecting_ms = 0 if connecting_counts and attempt.error in ANSWERS else CONNECTING_MS
    if attempt.error not in UNBOUNDED and took_ms > hi_ms + tolerated_ms(hi_ms):
        found = _difference(OUTLASTED_TIMEOUT.name, attempt, (lo_ms, hi_ms), took_ms)
        is_certain = took_ms > hi_ms + connecting_ms + max(BUSY_MS, hi_ms)
        return replace(found, detail=found.detail | {IS_CERTAIN: is_certain, "may_connect": connecting_ms > 0})
    since_chosen_ms = (attempt.end_ns - allowed.chosen_ns) // NS_PER_MS
    if attempt.error == "RemotingTimeoutException" and since_chosen_ms < lo_ms - ROUNDED_MS:
        return _difference(GAVE_UP_BEFORE_TIMEOUT.name, attempt, (lo_ms, hi_ms), took_ms)
    return None


def waiting_difference(send: Send) -> RuleDifference | None:
    """
    Return the difference of a one-way call that returned long after its request was written.

    A witness on the wire ends the attempt where it saw the request, so the call's end is compared.
    """
    if send.mode is not SendMode.ONEWAY or send.error is not None or not send.attempts:
        return None
    last = send.attempts[-1]
    waited_ms = (send.end_ns - last.start_ns) // NS_PER_MS
    if waited_ms <= WAITED_MS:
        return None
    return RuleDifference(
        DifferenceKind.ATTEMPTS,
        WAITED_FOR_AN_ANSWER.name,
        last.attempt,
        "a one-way call that is over when its request is written",
        f"the call returned {waited_ms:,} ms after it began its request",
        {"waited_ms": waited_ms, "status": last.status},
    )


def _difference(signature: str, attempt: Attempt, timeout_ms: tuple[int, int], took_ms: int) -> RuleDifference:
    return RuleDifference(
        DifferenceKind.ATTEMPTS,
        signature,
        attempt.attempt,
        f"attempt {attempt.attempt + 1} keeps its timeout of {duration_text(*timeout_ms)}",
        f"attempt {attempt.attempt + 1} ended after {took_ms:,} ms with {attempt.error or attempt.status or 'an answer'}",
        {"timeout_ms": list(timeout_ms), "took_ms": took_ms, "error": attempt.error},
    )
