"""
The rules explain every trace that they generated, and no changed trace or trace of other rules.

All runs use the same examples; for a wider search raise max_examples and drop derandomize.
"""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocketdiff.core.records.sending import Send
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.judgement import DifferenceKind, SendJudgement
from rocketdiff.oracle.producer.replay import replay_for
from rocketmq_reference.dialects import DIALECTS
from tests.oracle.generated import Trouble, World, changed, generated, random_world

RELEASES = [dialect.releases.first for dialect in DIALECTS]

TWO_BROKERS = tuple((broker, number) for broker in ("broker-a", "broker-b") for number in range(4))

PAUSES = (
    Trouble("broker-b", 1, 2, "paused"),
    Trouble("broker-a", 2.5, 2.7, "refused"),
    Trouble("broker-b", 3, 3.2, "busy"),
    Trouble("broker-a", 4, 5, "paused"),
    Trouble("broker-b", 4, 5, "paused"),
    Trouble("broker-b", 16, 17, "slow-700"),
)
"""One broker after the other, both at once, then a slow one; avoidances of 10 s end in between."""


def judge(state: World, trace: list[Send], release: str | None = None) -> list[SendJudgement]:
    replay = replay_for(release or state.release, state.settings, {1: state.queues})
    return list(replay.judge_all(trace))


def differences(judgements: list[SendJudgement]) -> list[str]:
    assert all(one.undecided is None for one in judgements)
    return [one.difference.signature for one in judgements if one.difference is not None]


def is_seen(expected: str, state: World, release: str) -> bool:
    """True if the rules of a release differ from the trace by a signature; judges no send after the first that does."""
    replay = replay_for(release, state.settings, {1: state.queues})
    seen = (one.difference for one in replay.judge_all(generated(state)))
    return any(difference is not None and difference.signature == expected for difference in seen)


def steady(release: str, *, on: bool, sends: int = 1_000, threads: int = 1) -> World:
    """Two brokers of four queues, a timeout of 500 ms, the troubles of PAUSES."""
    made = ClientSettings(send_latency_fault_enable=on, send_msg_timeout_ms=500)
    return World(release, TWO_BROKERS, made, PAUSES, sends, threads, 15, seed=1)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), release=st.sampled_from(RELEASES))
def test_a_trace_of_any_release_has_no_false_alarm(seed: int, release: str) -> None:
    """A trace of one thread has no difference, in any release with any troubles."""
    state = random_world(seed, release)
    assert differences(judge(state, generated(state))) == []


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), release=st.sampled_from(RELEASES), threads=st.sampled_from([2, 2, 4]))
def test_no_false_alarm_with_threads(seed: int, release: str, threads: int) -> None:
    """Threads that share a fault table have no difference; too many hidden states may leave a send undecided."""
    state = random_world(seed, release, threads=threads, sends=100)
    assert [one.difference for one in judge(state, generated(state)) if one.difference is not None] == []


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), release=st.sampled_from(RELEASES), threads=st.sampled_from([2, 4]))
def test_no_false_alarm_where_others_come_between_two_reads_of_a_choice(seed: int, release: str, threads: int) -> None:
    """
    Threads that act between two reads of a choice cause no false alarm.

    Both brokers fail at once, so up to 5.1.3 every thread falls back and rewrites the list; one read in twenty takes
    some ms.
    """
    troubles = tuple(
        Trouble(broker, from_s, from_s + 0.4, kind)
        for from_s, kind in ((0.1, "paused"), (0.8, "refused"))
        for broker in ("broker-a", "broker-b")
    )
    made = ClientSettings(send_latency_fault_enable=True, send_msg_timeout_ms=200)
    state = World(release, TWO_BROKERS, made, troubles, 100, threads, 15, seed, interrupted=0.05)
    assert [one.difference for one in judge(state, generated(state)) if one.difference is not None] == []


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), release=st.sampled_from(RELEASES), place=st.integers(20, 79), step=st.integers(1, 7))
def test_a_queue_taken_out_of_turn_is_noticed(seed: int, release: str, place: int, step: int) -> None:
    """One send to a wrong queue in calm is a queue difference."""
    made = ClientSettings(send_latency_fault_enable=seed % 2 == 1)
    state = World(release, TWO_BROKERS, made, (), 100, 1, 15, seed)
    trace = generated(state)

    def elsewhere(send: Send) -> Send:
        seen = send.attempts[0]
        at = TWO_BROKERS.index((seen.broker, seen.queue_id))
        broker, number = TWO_BROKERS[(at + step) % 8]
        return replace(send, attempts=(replace(seen, broker=broker, queue_id=number),))

    found = [one for one in judge(state, changed(trace, place, elsewhere)) if one.difference is not None]
    assert found and found[0].send == trace[place].send
    assert found[0].difference is not None and found[0].difference.kind is DifferenceKind.QUEUE


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), release=st.sampled_from(RELEASES), on=st.booleans())
def test_a_missing_last_attempt_is_noticed(seed: int, release: str, on: bool) -> None:
    """A retry removed from the trace is noticed."""
    made = ClientSettings(send_latency_fault_enable=on)
    state = World(release, TWO_BROKERS, made, (Trouble("broker-b", 0.2, 1.2, "refused"),), 100, 1, 15, seed)
    trace = generated(state)
    place = next(place for place, send in enumerate(trace) if len(send.attempts) > 1)

    def cut(send: Send) -> Send:
        first = send.attempts[0]
        return replace(send, attempts=(first,), error=first.error, status=first.status, end_ns=first.end_ns + 1_000)

    found = [one for one in judge(state, changed(trace, place, cut)[: place + 1]) if one.difference is not None]
    assert [one.send for one in found] == [trace[place].send]


@pytest.mark.parametrize(
    ("subject", "rules", "on", "expected"),
    [
        ("4.7.1", "5.3.3", True, "avoidance.used-avoided-broker/retry"),
        ("5.3.3", "4.7.1", True, "queue.mutated-list/retry"),
        ("4.7.1", "5.3.3", False, "queue.out-of-turn/first"),
        ("5.1.3", "5.1.4", True, "avoidance.stayed-away-from-available-broker/first"),
        ("5.1.4", "5.1.3", True, "avoidance.used-avoided-broker/first"),
        ("4.9.8", "4.9.7", True, "queue.mutated-list/first"),
        ("4.9.7", "4.9.8", True, "queue.out-of-turn/first"),
        ("5.2.0", "5.3.0", False, "attempts.stopped-early/retry"),
        ("4.2.0", "4.3.0", False, "attempts.went-on/retry"),
        ("4.3.0", "4.2.0", False, "attempts.stopped-early/retry"),
        ("4.8.0", "4.7.1", True, "queue.mutated-list/retry"),
    ],
)
def test_other_rules_are_noticed(subject: str, rules: str, on: bool, expected: str) -> None:
    """A trace differs from the rules of another release by the expected signature."""
    assert is_seen(expected, steady(subject, on=on), rules)


def test_other_rules_are_noticed_with_threads() -> None:
    """Two threads that avoid for 10 s differ from rules of 10 min."""
    state = steady("5.1.4", on=True, threads=2, sends=1_500)
    assert is_seen("avoidance.used-avoided-broker/first", state, "5.1.3")


def test_the_oracle_is_decisive() -> None:
    """In a run with pauses fewer than 1.2 queues are legal per choice, so no difference is evidence."""
    for release in ("4.7.1", "4.9.8", "5.1.3", "5.3.3"):
        state = steady(release, on=True)
        decisions = [decision for one in judge(state, generated(state)) for decision in one.decisions]
        assert sum(decision.queues_legal for decision in decisions) / len(decisions) < 1.2
        assert sum(decision.avoided > 0 for decision in decisions) > 300
