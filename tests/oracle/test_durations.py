"""Durations of attempts and one-way calls against what the rules give them."""

from dataclasses import replace

import pytest

from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import GAVE_UP_BEFORE_TIMEOUT, OUTLASTED_TIMEOUT
from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval, as_ms
from rocketdiff.oracle.producer.durations import (
    IS_CERTAIN,
    Allowance,
    AttemptTimeouts,
    Outlasted,
    Tearing,
    allowance_of,
    duration_difference,
    waiting_difference,
)
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.replay import replay_for
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Try
from tests.oracle.histories import MS, attempt_of, history, routes, send_of
from tests.oracle.judging import judged, signatures

OUTLASTED, EARLY = [OUTLASTED_TIMEOUT.name], [GAVE_UP_BEFORE_TIMEOUT.name]
TIMED_OUT, REFUSED, LOST = "RemotingTimeoutException", "RemotingConnectException", "RemotingSendRequestException"
HALF = Allowance(490, 500, 0)
"""490–500 ms, counted from 0."""


def found(took_ms: int, error: str | None, allowed: Allowance = HALF, *, counts: bool = True) -> RuleDifference | None:
    """Return the difference of a second attempt of this duration."""
    attempt = attempt_of(1, "broker-b", 0, 0, took_ms * MS, error, None, None if error else "SEND_OK")
    return duration_difference(attempt, allowed, connecting_counts=counts)


@pytest.mark.parametrize("error", [None, "MQBrokerException", TIMED_OUT, LOST])
@pytest.mark.parametrize(("timeout_ms", "most_ms"), [(20, 170), (150, 300), (500, 750), (1_000, 1_500), (3_000, 4_000)])
def test_an_attempt_may_take_half_its_timeout_more(error: str | None, timeout_ms: int, most_ms: int) -> None:
    """An attempt may take half of its timeout more, but at most 1 s; 150 ms of any."""
    allowed = Allowance(timeout_ms, timeout_ms, 0)
    assert found(most_ms, error, allowed) is None
    late = found(most_ms + 1, error, allowed)
    assert late is not None
    assert (late.signature, late.attempt) == (OUTLASTED_TIMEOUT.name, 1)


@pytest.mark.parametrize(
    ("release", "number", "spent_ms", "cap_ms", "allowed"),
    [
        ("4.2.0", 0, 3_100, -1, (3_000, True)),
        ("4.2.0", 1, 100, 1_000, (3_000, True)),
        ("4.2.0", 2, 100, -1, (3_000, False)),
        ("4.2.0", None, 100, -1, (3_000, False)),
        ("4.9.8", 0, 100, 1_000, (2_900, False)),
        ("5.3.3", 0, 2_999, -1, (1, False)),
        ("5.3.3", 0, 3_100, -1, (0, False)),
        ("5.3.3", 1, 100, 1_000, (1_000, True)),
        ("5.3.3", 1, 100, 0, (0, True)),
        ("5.3.3", 1, 100, 2_899, (2_899, True)),
        ("5.3.3", 1, 100, 2_900, (2_900, False)),
        ("5.3.3", 2, 100, 1_000, (2_900, False)),
        ("5.3.3", None, 100, 1_000, (2_900, False)),
    ],
)
def test_the_time_of_an_attempt(
    release: str, number: int | None, spent_ms: int, cap_ms: int, allowed: tuple[int, bool]
) -> None:
    """
    The time of an attempt of a call of 3 s, and whether another may follow its timeout.

    Up to 4.2.0 each of three attempts has the whole timeout; then they share it, and in 5.x it may be capped but for the last's.
    """
    settings = ClientSettings(send_msg_max_timeout_per_request_ms=cap_ms)
    assert AttemptTimeouts(settings, dialect_of(release).producer.loop).of(number, spent_ms) == allowed


@pytest.mark.parametrize(("cap_ms", "shortest_ms"), [(-1, 1_500), (0, 0), (1_000, 500), (3_001, 1_500)])
def test_half_of_a_whole_timeout_is_the_shortest(cap_ms: int, shortest_ms: int) -> None:
    """Half of the cap, or of the timeout of 3 s if that is shorter."""
    settings = ClientSettings(send_msg_max_timeout_per_request_ms=cap_ms)
    assert AttemptTimeouts(settings, dialect_of("5.3.3").producer.loop).shortest_ms == shortest_ms


def test_a_refused_attempt_has_no_bound() -> None:
    """A refused attempt has no bound: the lookup of a name has none."""
    assert found(900_000, REFUSED) is None


@pytest.mark.parametrize(
    ("error", "counts", "may_connect", "last_ms"),
    [
        (None, True, False, 1_500),
        (None, False, True, 7_500),
        (TIMED_OUT, True, True, 7_500),
        (TIMED_OUT, False, True, 7_500),
    ],
)
def test_an_overrun_is_certain_beyond_connecting_and_a_busy_second(
    error: str | None, counts: bool, may_connect: bool, last_ms: int
) -> None:
    """
    An overrun is certain after 500 ms, 1 s, and 6 s if it may have connected.

    An answer excludes that, if the timeout covers connecting.
    """
    certain = found(max(last_ms, 1_500) + 1, error, counts=counts)
    assert certain is not None
    assert (certain.detail[IS_CERTAIN], certain.detail["may_connect"]) == (True, may_connect)
    if may_connect:
        uncertain = found(last_ms, error, counts=counts)
        assert uncertain is not None
        assert uncertain.detail[IS_CERTAIN] is False
        assert Outlasted.of(uncertain) == Outlasted(last_ms, 500, True)


def test_a_long_timeout_may_be_doubled_before_it_is_certain() -> None:
    """An overrun of 3 s is reported from 4,001 ms on and certain from 6,001 ms on."""
    three = Allowance(3_000, 3_000, 0)
    each = [found(ms, None, three) for ms in (4_000, 4_001, 6_000, 6_001)]
    assert [one and one.detail[IS_CERTAIN] for one in each] == [None, False, False, True]


def test_a_timeout_may_come_five_milliseconds_early() -> None:
    """A timeout of at least 490 ms may come after 485, counted from the choice; other ends may come earlier."""
    assert found(485, TIMED_OUT) is None
    early = found(484, TIMED_OUT)
    assert early is not None
    assert (early.signature, early.attempt) == (GAVE_UP_BEFORE_TIMEOUT.name, 1)
    assert (found(484, LOST), found(484, None)) == (None, None)
    assert found(285, TIMED_OUT, Allowance(490, 500, -200 * MS)) is None
    assert found(284, TIMED_OUT, Allowance(490, 500, -200 * MS)) is not None


def test_a_negative_timeout_is_zero() -> None:
    """A negative timeout is 0 ms: ending at once is not early, and 150 ms are not long."""
    spent = Allowance(-40, -20, 0)
    assert (found(0, TIMED_OUT, spent), found(150, TIMED_OUT, spent)) == (None, None)
    late = found(151, TIMED_OUT, spent)
    assert late is not None
    assert late.detail["timeout_ms"] == [0, 0]


def test_an_overrun_in_full() -> None:
    """An overrun is reported with expected, observed and figures."""
    late = found(1_501, None)
    assert late is not None
    assert late.expected == "attempt 2 keeps its timeout of 490–500 ms"
    assert (late.kind, late.observed) == (DifferenceKind.ATTEMPTS, "attempt 2 ended after 1,501 ms with SEND_OK")
    assert late.detail == {
        "timeout_ms": [490, 500], "took_ms": 1_501, "error": None, IS_CERTAIN: True, "may_connect": False,
    }  # fmt: skip
    silent = duration_difference(attempt_of(0, "a", 0, 0, 2_000 * MS), HALF, connecting_counts=True)
    assert silent is not None and silent.observed == "attempt 1 ended after 2,000 ms with an answer"


ONE_WAY = send_of(
    0, 0, SendKind.PLAIN, 0, 0, 310 * MS, attempts=(attempt_of(0, "a", 0, 10 * MS, 20 * MS),), mode=SendMode.ONEWAY
)


def test_a_one_way_call_may_take_300_ms_from_its_request_on() -> None:
    """A one-way call may take 300 ms from its request on."""
    assert waiting_difference(ONE_WAY) is None
    assert waiting_difference(replace(ONE_WAY, end_ns=311 * MS)) is not None


@pytest.mark.parametrize(
    "other", [{"mode": SendMode.SYNC}, {"mode": SendMode.ASYNC}, {"error": LOST}, {"attempts": ()}]
)
def test_only_one_way_calls_that_wrote_their_request_are_judged(other: dict[str, object]) -> None:
    """Only one-way calls that wrote their request are judged; others wait rightly or failed."""
    assert waiting_difference(replace(ONE_WAY, end_ns=9_000 * MS, **other)) is None  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize(
    ("release", "pending_fail", "timeouts_close"),
    [
        ("4.0.0-incubating", False, False),
        ("4.2.0", False, False),
        ("4.3.0", True, False),
        ("4.9.0", True, False),
        ("4.9.1", True, True),
        ("5.1.3", True, True),
        ("5.1.4", True, True),
        ("5.5.0", True, True),
    ],
)
def test_effects_of_closing_a_connection(release: str, pending_fail: bool, timeouts_close: bool) -> None:
    """
    Closing a connection fails its pending requests from 4.3.0 on; a timeout closes it from 4.9.1 on.

    From 5.1.4 on it does so only if time was left.
    """
    assert Tearing.of(dialect_of(release).client.remoting) == Tearing(pending_fail, timeouts_close)


def test_an_allowance_spans_all_hidden_states() -> None:
    """An allowance spans the timeouts of all hidden states and counts from the choice."""

    def asked(lo: int, hi: int) -> Try:
        return Try(Queue("a", 0), as_ms(Interval(lo, hi, ChoiceExplorer())))

    allowed = allowance_of(asked(500, 510), 77)
    assert allowed == Allowance(500, 510, 77)
    allowed.widen(asked(490, 505))
    assert allowed == Allowance(490, 510, 77)
    allowed.widen(asked(505, 520))
    assert allowed == Allowance(490, 520, 77)
    assert allowance_of(Try(Queue("a", 0), 3_000), 5) == Allowance(3_000, 3_000, 5)


def test_an_early_timeout_in_full() -> None:
    """A timeout after 300 of 490–500 ms is reported in full."""
    attempt = attempt_of(0, "a", 0, 0, 300 * MS, "RemotingTimeoutException")
    assert duration_difference(attempt, Allowance(490, 500, 0), connecting_counts=True) == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.gave-up-before-timeout",
        0,
        "attempt 1 keeps its timeout of 490–500 ms",
        "attempt 1 ended after 300 ms with RemotingTimeoutException",
        {"timeout_ms": [490, 500], "took_ms": 300, "error": "RemotingTimeoutException"},
    )


def test_a_one_way_call_waits_from_its_last_request_on() -> None:
    """A one-way call waits from its last request on: from the second, at 900 ms, 1,100 ms."""
    second = attempt_of(1, "b", 0, 900 * MS, 910 * MS, None, None, "SEND_OK")
    called = replace(ONE_WAY, end_ns=2_000 * MS, attempts=(*ONE_WAY.attempts, second))
    assert waiting_difference(called) == RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.waited-for-an-answer",
        1,
        "a one-way call that is over when its request is written",
        "the call returned 1,100 ms after it began its request",
        {"waited_ms": 1_100, "status": "SEND_OK"},
    )


def test_connecting_may_take_longer_than_the_timeout() -> None:
    """An answer shows from 4.3.0 on that connecting did not take the time; before, connecting did not count."""
    for release, certain in (("5.3.3", True), ("4.2.0", False)):
        (judgement,) = judged(release, "0 a1 2000", timeout=500)
        assert judgement.difference is not None
        assert judgement.difference.detail[IS_CERTAIN] is certain


def test_an_attempt_that_began_late_has_less_to_wait() -> None:
    """A pause of 300 ms between choice and request counts against the timeout."""
    (send,) = history("0 a1 200 timeout ! too-much")
    (attempt,) = send.attempts
    late = replace(attempt, start_ns=attempt.start_ns + 300 * MS, end_ns=attempt.end_ns + 300 * MS)
    stood_still = replace(send, end_ns=send.end_ns + 301 * MS, attempts=(late,))
    replay = replay_for("5.3.3", ClientSettings(send_msg_timeout_ms=500), routes("a4"))
    (judgement,) = replay.judge_all([stood_still])
    assert judgement.difference is None


def test_other_differences_of_a_send_that_gave_up_early_are_kept() -> None:
    """A closed connection may excuse an early end, but not the send's other differences."""
    (send,) = history("0 a1 400 timeout > b0 1")
    replay = replay_for("5.3.3", ClientSettings(send_msg_timeout_ms=500), routes("a4 b4"))
    (judgement,) = replay.judge_all([replace(send, queue_id=3)])
    assert judgement.difference is not None
    assert judgement.difference.signature == EARLY[0]
    assert [other.signature for other in judgement.further] == ["queue.result-names-other-queue/retry"]


@pytest.mark.parametrize(
    ("release", "text", "timeout", "found"),
    [
        # a busy machine may add one second
        ("5.3.3", "0 a1 2000", 500, OUTLASTED),
        ("5.3.3", "0 =q5 b1 2000", 500, OUTLASTED),
        ("5.3.3", "t0 0 a1 2000 | t1 3000 b0 1", 500, OUTLASTED),
        # a retry has the rest of the timeout, before 4.3.0 all of it
        ("5.3.3", "0 a1 600 lost > b0 1300", 700, OUTLASTED),
        ("5.3.3", "0 a1 600 lost > b0 250", 700, []),
        ("4.2.0", "0 a1 600 lost > b0 1000", 700, []),
        # a timeout may not come early
        ("5.3.3", "0 a1 400 timeout > b0 1", 500, EARLY),
    ],
)
def test_attempts_keep_their_timeout(release: str, text: str, timeout: int, found: list[str]) -> None:
    """An attempt takes at most half of its timeout more, and times out no earlier; with fault latency, too."""
    for on in {False, release != "4.2.0"}:  # with fault latency 4.2.0 takes another broker for the retry
        assert signatures(release, text, timeout=timeout, on=on) == found


@pytest.mark.parametrize(("took_ms", "found"), [(450, EARLY), (496, [])])
def test_before_4_3_0_a_retry_times_out_after_the_whole_timeout(took_ms: int, found: list[str]) -> None:
    """Before 4.3.0 a retry has the whole timeout, so it may not time out before that."""
    text = f"0 a1 400 lost > b0 {took_ms} timeout ! client/10002"
    assert signatures("4.2.0", text, timeout=500, retries=1) == found
