"""
Attempts that lasted longer than their timeout allows, or gave up before it was over; one-way calls that waited.

What the client may do within its timeout is not looked at; only what no client that keeps it can do, however busy the
machine, is a difference. Finer ones are left to statistics.
"""

from dataclasses import dataclass, replace

from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.sends.records import NS_PER_MS, Attempt, Send
from rocketdiff.oracle.interval import bounds
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.sentences import duration_text
from rocketmq_reference.rules.client.remoting_rules import CloseOnTimeout, RemotingRules
from rocketmq_reference.rules.producer.attempt import Try

BUSY_MS = 1_000
"""
What a client on a loaded machine may be late, at least; more only where the other arm was late as well (``steps.excuses``).

A pause for garbage, classes loaded at a first call and a crowded processor cost a few hundred milliseconds, however long the
timeout. A machine that wakes a sleeping thread more than a second late makes the case invalid (guard ``awake-machine``).
"""

CONNECTING_MS = 6_000
"""3 s waiting for another thread that is connecting, and 3 s for the connection itself (constants of every release)."""

ROUNDED_MS = 5
"""A client that adds up whole milliseconds of two or three stages gives up so much early, at most."""

GAVE_UP_EARLY = "attempts.gave-up-before-timeout"
"""Found in one send alone; the client's other requests may excuse it (``steps.torn_connections``)."""

OUTLASTED = "attempts.outlasted-timeout"
"""Found in one attempt alone; the other attempts of both arms may excuse it (``steps.excuses``)."""

IS_CERTAIN = "certain"
"""In the detail of such a difference: no machine and no connection that had to be made excuses it."""

WAITED = "attempts.waited-for-an-answer"
"""Found in a one-way send alone; the faults of the case may excuse it (``steps.replayed``)."""


@dataclass(frozen=True, slots=True)
class Tearing:
    """What closing a connection does to others in a release. pending_fail: requests on it end; timeouts_close: one is closed by them."""

    pending_fail: bool
    timeouts_close: bool

    @classmethod
    def of(cls, rules: RemotingRules) -> "Tearing":
        """As the rules of a release say it."""
        return cls(rules.fails_fast_on_close, rules.close_on_timeout is not CloseOnTimeout.NEVER)


ANSWERS = (None, "MQBrokerException")
"""Ends of an attempt that a broker's answer brings about."""

UNBOUNDED = ("RemotingConnectException",)
"""Connecting includes looking up the broker's name, which no timeout of the client ends."""


@dataclass(frozen=True, slots=True)
class Outlasted:
    """How long an attempt took, in ms, its timeout, and whether connecting may have been a part of it."""

    took_ms: int
    timeout_ms: int
    may_connect: bool

    @classmethod
    def of(cls, found: RuleDifference) -> "Outlasted":
        """What the detail of an OUTLASTED difference says."""
        took_ms, timeout_ms = found.detail["took_ms"], found.detail["timeout_ms"]
        assert isinstance(took_ms, int)
        assert isinstance(timeout_ms, list)
        return cls(took_ms, timeout_ms[1], bool(found.detail["may_connect"]))


@dataclass(slots=True)
class Allowance:
    """
    Timeout of one attempt by the rules, in every hidden state that explains it.

    chosen_ns: before this the client had not yet begun to count.
    """

    lo_ms: int
    hi_ms: int
    chosen_ns: int

    def widen(self, step: Try) -> None:
        """Another hidden state explains the attempt, too."""
        lo_ms, hi_ms = bounds(step.timeout_ms)
        self.lo_ms, self.hi_ms = min(self.lo_ms, lo_ms), max(self.hi_ms, hi_ms)


def allowance_of(step: Try, chosen_ns: int) -> Allowance:
    """What one hidden state allows."""
    return Allowance(*bounds(step.timeout_ms), chosen_ns)


def duration_difference(attempt: Attempt, allowed: Allowance, *, connecting_counts: bool) -> RuleDifference | None:
    """
    An attempt that certainly did not keep its timeout.

    connecting_counts: the timeout covers the connection (from 4.3.0), so an answer never comes later than it.
    One that lasted too long is told whenever BUSY_MS do not explain it; its detail says what else may.
    """
    lo_ms, hi_ms = max(allowed.lo_ms, 0), max(allowed.hi_ms, 0)
    took_ms = (attempt.end_ns - attempt.start_ns) // NS_PER_MS
    connecting_ms = 0 if connecting_counts and attempt.error in ANSWERS else CONNECTING_MS
    if attempt.error not in UNBOUNDED and took_ms > hi_ms + BUSY_MS:
        found = _difference(OUTLASTED, attempt, (lo_ms, hi_ms), took_ms)
        is_certain = took_ms > hi_ms + connecting_ms + max(BUSY_MS, hi_ms)
        return replace(found, detail=found.detail | {IS_CERTAIN: is_certain, "may_connect": connecting_ms > 0})
    since_chosen_ms = (attempt.end_ns - allowed.chosen_ns) // NS_PER_MS
    if attempt.error == "RemotingTimeoutException" and since_chosen_ms < lo_ms - ROUNDED_MS:
        return _difference(GAVE_UP_EARLY, attempt, (lo_ms, hi_ms), took_ms)
    return None


def waiting_difference(send: Send) -> RuleDifference | None:
    """
    A one-way call that was not over when its request was written, but long after.

    The call and not the attempt, which a witness on the wire ends where it saw the request.
    """
    if send.mode is not SendMode.ONEWAY or send.error is not None or not send.attempts:
        return None
    last = send.attempts[-1]
    waited_ms = (send.end_ns - last.start_ns) // NS_PER_MS
    if waited_ms <= BUSY_MS:
        return None
    return RuleDifference(
        DifferenceKind.ATTEMPTS,
        WAITED,
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
