"""The checks ``timing`` and ``failover-time`` on manually built sends, to the nanosecond."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.checks.durations import failover_time, timing
from rocketdiff.analysis.sending.checks.durations.failover_time import PER_TIMEOUT, WHOLE, FailoverTime
from rocketdiff.analysis.sending.checks.durations.timing import Timing
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from tests.analysis.builders import MS, S, facts_of, fault, made, pair, tried
from tests.analysis.sending.checks.builders import PAUSE, SLOW

AT = 10 * S + 100 * MS


def facts(*attempts: Sequence[Attempt], faults: Sequence[FaultRecord] = (PAUSE,), **row: Any) -> CaseFacts:
    sends = [pair(None, made(Arm.CANDIDATE, n, *each, faults=faults, **row)) for n, each in enumerate(attempts)]
    return facts_of(sends, Timing, FailoverTime, faults=faults)


def values(facts: CaseFacts, sample: str) -> list[tuple[int, float, int, str]]:
    """Episode, value in ms, count, ending."""
    return [
        (value.episode, value.value_ns / MS, value.n, value.ended) for value in facts.episodes if value.sample == sample
    ]


def blocked(start_ns: int, for_ns: int = 500 * MS, **named: Any) -> Attempt:
    return tried(start_ns, start_ns + for_ns, SLOW, **named)


@pytest.mark.parametrize(
    ("start_ns", "to_ns", "counts"),
    [
        (11 * S + 500 * MS, 12 * S, True),
        (11 * S + 500 * MS + 1, 12 * S, False),
        (11 * S + 900 * MS, None, True),
        (9 * S, 12 * S, False),
        (10 * S - 500 * MS, 12 * S, False),
        (10 * S - 500 * MS + 1, 12 * S, True),
    ],
)
def test_a_whole_timeout_of_the_pause_must_be_left(start_ns: int, to_ns: int | None, counts: bool) -> None:
    """A blocked attempt counts if it met the pause, by 1 ns at least, and began 500 ms (a timeout) before its end."""
    found = facts([blocked(start_ns)], faults=[fault(10 * S, to_ns)])
    assert values(found, "blocked-send-duration") == ([(1, 500, 1, "failover")] if counts else [])


def test_only_the_first_attempt_of_a_send_is_timed_by_the_whole_send() -> None:
    """If the first attempt is blocked, the whole send is timed; a blocked retry does not count."""
    ok = tried(AT, AT + MS, broker="broker-a")
    assert values(facts([ok, blocked(AT + MS, attempt=1)]), "blocked-send-duration") == []
    whole = facts([blocked(AT), tried(AT + 500 * MS, AT + 501 * MS, broker="broker-a", attempt=1)])
    assert values(whole, "blocked-send-duration") == [(1, 501, 1, "failover")]
    long = facts([blocked(AT), tried(12 * S - MS, 12 * S, broker="broker-a", attempt=1)])
    assert values(long, "blocked-send-duration") == [(1, 1_900, 1, "failover")]
    assert facts([], [tried(AT, AT + MS)]).episodes == ()
    gone = replace(made(Arm.CANDIDATE, 0, blocked(AT), faults=[PAUSE]), row=None)
    assert facts_of([pair(None, gone)], Timing, FailoverTime, faults=[PAUSE]).episodes == ()


def test_the_upper_of_two_middle_durations_stands_for_a_spell() -> None:
    """The upper median of an outage counts: 503 of 100, 500, 503 and 900 ms. A kill and WIRE_SWALLOW are no outages."""
    each = [[blocked(AT + n * S // 10, by * MS)] for n, by in enumerate((100, 900, 503, 500))]
    assert values(facts(*each), "blocked-send-duration") == [(1, 503, 4, "failover")]
    for kind in (FaultKind.KILL, FaultKind.WIRE_SWALLOW):
        assert facts(*each, faults=[fault(10 * S, 12 * S, kind)]).episodes == ()


NEXT = tried(AT + 600 * MS, AT + 602 * MS, broker="broker-a")


def test_a_failover_lasts_from_the_first_blocked_attempt_to_the_next_success() -> None:
    """A failover lasts from the first blocked attempt to the next success: 602 ms, with 502 in sends and 500 of waiting."""
    found = facts([blocked(AT)], [NEXT])
    assert values(found, WHOLE.sample) == [(1, 602, 1, "failover")]
    assert values(found, PER_TIMEOUT.sample) == [(1, 502, 1, "failover")]


def test_time_before_the_first_blocked_attempt_is_excluded() -> None:
    """A failover does not include the 40 ms of its send before the first blocked attempt."""
    before = tried(AT - 40 * MS, AT - 20 * MS, "RemotingConnectException", broker="broker-a")
    found = facts([tried(AT - 90 * MS, AT - 80 * MS, broker="broker-a")], [before, blocked(AT, attempt=1)], [NEXT])
    assert values(found, WHOLE.sample) == [(1, 602, 1, "failover")]
    assert values(found, PER_TIMEOUT.sample) == [(1, 502, 1, "failover")]


@pytest.mark.parametrize(("waited_ms", "is_judged"), [(250, True), (249, False)])
def test_half_a_timeout_must_have_been_waited(waited_ms: int, is_judged: bool) -> None:
    """A time per timeout needs half a timeout of waiting: 252 ms in sends for 250 ms are 504 ms."""
    found = facts([blocked(AT, waited_ms * MS)], [NEXT])
    assert [one[0] for one in values(found, WHOLE.sample)] == [1]
    assert values(found, PER_TIMEOUT.sample) == ([(1, 504, 1, "failover")] if is_judged else [])


def test_two_blocked_attempts_are_waited_for_together() -> None:
    """Two blocked attempts of 125 ms are added, with 252 ms in sends: 504 ms per timeout."""
    found = facts([blocked(AT, 125 * MS), blocked(AT + 125 * MS, 125 * MS, attempt=1)], [NEXT])
    assert values(found, PER_TIMEOUT.sample) == [(1, 504, 1, "failover")]


@pytest.mark.parametrize(
    ("success", "faults", "ending"),
    [
        (tried(11 * S, 12 * S - 1, broker="broker-a"), [PAUSE], "failover"),
        (tried(11 * S, 12 * S, broker="broker-a"), [PAUSE], "resumed"),
        (tried(11 * S, 12 * S + 1), [PAUSE], "resumed"),
        (tried(11 * S, 90 * S, broker="broker-a"), [fault(10 * S, None)], "failover"),
        (tried(11 * S, 90 * S), [fault(10 * S, None)], "failover"),
        (
            tried(11 * S, 11 * S + 200 * MS, broker="broker-c"),
            [PAUSE, fault(10 * S, 11 * S, node="broker-a", episode=2)],
            "failover",
        ),
        (
            tried(11 * S, 11 * S + 200 * MS, broker="broker-a"),
            [PAUSE, fault(10 * S, 11 * S + 200 * MS, node="broker-a", episode=2)],
            "resumed",
        ),
        (
            tried(11 * S, 11 * S + 200 * MS - 1, broker="broker-a"),
            [PAUSE, fault(10 * S, 11 * S + 200 * MS, node="broker-a", episode=2)],
            "failover",
        ),
    ],
)
def test_a_success_during_the_outage_is_a_failover(success: Attempt, faults: list[FaultRecord], ending: str) -> None:
    """A success during the outage, on a broker not just resumed, is a failover; otherwise the pause was over first."""
    ((_, _, _, ended),) = values(facts([blocked(AT)], [success], faults=faults), WHOLE.sample)
    assert ended == ending
    tried_before = [blocked(10 * S + 700 * MS, 100 * MS), replace(success, attempt=1)]
    assert [one[3] for one in values(facts([blocked(AT)], tried_before, faults=faults), WHOLE.sample)] == [ending]


def test_a_paused_proxy_is_an_outage_of_its_sends() -> None:
    """A pause of a proxy, the server that gRPC clients know, counts like that of a broker."""
    paused = fault(10 * S, 12 * S, FaultKind.PAUSE_PROXY, "proxy-1")
    goes_on = replace(NEXT, broker="proxy-2")
    found = facts([blocked(AT, broker="proxy-1")], [goes_on], faults=[paused])
    assert values(found, "blocked-send-duration") == [(1, 500, 1, "failover")]
    assert values(found, WHOLE.sample) == [(1, 602, 1, "failover")]


def test_without_a_success_it_is_open_until_the_last_send() -> None:
    """Without a success the failover is open until the last send ends, here after 900 ms."""
    found = facts([blocked(AT)], [blocked(AT + 600 * MS, 300 * MS)])
    assert values(found, WHOLE.sample) == [(1, 900, 1, "open")]


def test_only_the_first_failover_of_a_thread_counts_in_a_spell() -> None:
    """In each outage a thread's first failover counts: plain rotation soon meets the broker again."""
    again = [[blocked(AT + 700 * MS)], [tried(AT + 1_300 * MS, AT + 1_301 * MS, broker="broker-a")]]
    assert values(facts([blocked(AT)], [NEXT], *again), WHOLE.sample) == [(1, 602, 1, "failover")]
    later = fault(20 * S, 22 * S, episode=2)
    second = [[blocked(20 * S)], [tried(20 * S + 600 * MS, 20 * S + 603 * MS, broker="broker-a")]]
    both = facts([blocked(AT)], [NEXT], *second, faults=[PAUSE, later])
    assert values(both, WHOLE.sample) == [(1, 602, 1, "failover"), (2, 603, 1, "failover")]


def test_threads_are_followed_by_themselves_and_the_slowest_decides() -> None:
    """The slowest thread gives the arm's time and ending; waiting times are added."""
    sides = [
        made(Arm.CANDIDATE, 0, blocked(AT), faults=[PAUSE]),
        made(Arm.CANDIDATE, 1, NEXT, faults=[PAUSE]),
        made(Arm.CANDIDATE, 2, blocked(AT, 900 * MS), faults=[PAUSE], thread=1),
    ]
    found = facts_of([pair(None, side) for side in sides], FailoverTime, faults=[PAUSE])
    assert values(found, WHOLE.sample) == [(1, 900, 2, "open")]
    assert values(found, PER_TIMEOUT.sample) == [(1, pytest.approx(1_402 / 1_400 * 500), 2, "open")]


@pytest.mark.parametrize(("kind", "counts"), [(SendKind.BATCH, 1), (SendKind.QUEUE, 0), (SendKind.SELECTOR, 0)])
def test_only_calls_that_leave_the_choice_to_the_client_fail_over(kind: SendKind, counts: int) -> None:
    """A call with a given queue does not fail over: it has no other queue."""
    assert len(values(facts([blocked(AT)], [NEXT], kind=kind), WHOLE.sample)) == counts


def spells(*values_of: tuple[float, float]) -> CaseFacts:
    """A case with both arms' failover times in ms."""
    later = [fault(n * 10 * S, n * 10 * S + 2 * S, episode=n) for n in range(1, len(values_of) + 1)]
    sends = []
    for n, each in enumerate(values_of, start=1):
        for arm, took in zip(Arm, each, strict=True):
            at_ns = n * 10 * S + 100 * MS
            stuck = made(arm, 2 * n, blocked(at_ns), faults=later)
            free = made(
                arm, 2 * n + 1, tried(at_ns + 550 * MS, at_ns + round(took * MS), broker="broker-a"), faults=later
            )
            sends += [pair(*((one, None) if arm is Arm.BASELINE else (None, one))) for one in (stuck, free)]
    found = facts_of(sends, Timing, FailoverTime, faults=later)
    return replace(found, entry=replace(found.entry, checks=("timing", "failover-time")))


def test_failover_times_are_given_as_restricted_means() -> None:
    """Up to 700 ms, failovers of 600 and 700 ms have the same mean as those of 600 and 900 ms: 650 ms."""
    (evidence,) = failover_time.pooled([spells((600, 600), (700, 900))])
    means = {
        measure.name: (measure.value, measure.unit, measure.n)
        for measure in evidence.measures
        if measure.name.startswith("restricted")
    }
    assert means == {
        "restricted-mean-failover-time baseline": (pytest.approx(650), "ms", 2),
        "restricted-mean-failover-time candidate": (pytest.approx(650), "ms", 2),
    }


def test_restricted_means_need_both_arms() -> None:
    """If only the candidate met the outage, there is no common horizon, and no mean."""
    found = facts([blocked(AT)], [NEXT])
    case = replace(found, entry=replace(found.entry, checks=("failover-time",)))
    (evidence,) = failover_time.pooled([case])
    assert not [measure for measure in evidence.measures if measure.name.startswith("restricted")]


@pytest.mark.parametrize(
    ("count", "standing", "reason"),
    [
        (1, Standing.INDECISIVE, "1 complete pair of spells here"),
        (3, Standing.INDECISIVE, "3 complete pairs of spells here"),
        (4, Standing.DECISIVE, ""),
    ],
)
def test_a_case_answers_for_information_from_four_spells_on(count: int, standing: Standing, reason: str) -> None:
    """A case decides from four outages on, only for information."""
    case = spells(*[(600.0, 601.0)] * count)
    for check in (timing, failover_time):
        evidence = check.evaluate(case)
        assert (evidence.standing, evidence.severity) == (standing, Severity.INFO)
        assert evidence.reason.startswith(reason)
        assert evidence.decisions == (count if standing is Standing.DECISIVE else 0)
