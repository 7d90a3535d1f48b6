"""Cached calls are judged as by the rules, and the cache is often used."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer import replay
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.replay import replay_for
from rocketdiff.oracle.producer.states.belief import Belief
from rocketdiff.oracle.producer.states.known_calls import KnownCall
from rocketmq_reference.dialects import DIALECTS
from tests.oracle.generated import World, changed, generated, random_world

RELEASES = [dialect.releases.first for dialect in DIALECTS]

CHANGES = {
    "queue": lambda one: replace(one, queue_id=one.queue_id + 1),
    "broker": lambda one: replace(one, broker="broker-a"),
    "error": lambda one: replace(one, error="RemotingTimeoutException", status=None),
    "later": lambda one: replace(one, end_ns=one.end_ns + 600_000_000),
    "status": lambda one: replace(one, status="FLUSH_DISK_TIMEOUT", error=None),
}


def without_latency(seed: int, release: str) -> World:
    world = random_world(seed, release)
    return replace(world, settings=replace(world.settings, send_latency_fault_enable=False))


def judge(world: World, trace: list[Send]) -> list[SendJudgement]:
    return list(replay_for(world.release, world.settings, {1: world.queues}).judge_all(trace))


def with_attempt(send: Send, at: int, change: str) -> Send:
    if not send.attempts:
        return send
    attempts: list[Attempt] = list(send.attempts)
    attempts[at % len(attempts)] = CHANGES[change](attempts[at % len(attempts)])
    return replace(send, attempts=tuple(attempts), end_ns=max(send.end_ns, attempts[-1].end_ns))


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10**9),
    release=st.sampled_from(RELEASES),
    number=st.integers(0, 149),
    at=st.integers(0, 2),
    change=st.sampled_from(sorted(CHANGES)),
)
def test_it_judges_as_the_rules_do(seed: int, release: str, number: int, at: int, change: str) -> None:
    """150 sends with one changed attempt are judged alike with and without the cache."""
    world = without_latency(seed, release)
    sends = generated(world)
    trace = changed(sends, number % len(sends), lambda send: with_attempt(send, at, change))
    here = judge(world, trace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay, "shape_of", lambda *_: None)
        assert judge(world, trace) == here


def test_most_calls_in_calm_are_answered_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 400 calls in calm fewer than 150 need the rules; a cache of 3 gives the same judgements."""
    world = World("5.3.3", QUEUES, ClientSettings(send_latency_fault_enable=False), (), 400, 1, 15, seed=3)
    trace = generated(world)
    judging, answered = replay_for(world.release, world.settings, {1: world.queues}), []

    def noting(self: Observation, known: KnownCall, belief: Belief) -> SendJudgement:
        answered.append(self)
        return JUDGEMENT_OF(self, known, belief)

    monkeypatch.setattr(Observation, "judgement_of", noting)
    found = list(judging.judge_all(trace))
    assert 0 < len(judging.known) < 150
    assert len(answered) >= 250
    monkeypatch.setattr(replay, "MOST_KNOWN", 3)
    assert judge(world, trace) == found


JUDGEMENT_OF = Observation.judgement_of

QUEUES = tuple((broker, number) for broker in ("broker-a", "broker-b") for number in range(4))
