"""Cached calls are judged as by the rules, and the cache is often used."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.producer import replay
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.replay import replay_for
from rocketdiff.oracle.producer.states import transition
from rocketdiff.oracle.producer.states.belief import Belief
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketdiff.oracle.producer.states.known_calls import KnownCall, Shape, shape_of
from rocketmq_reference.dialects import DIALECTS, dialect_of
from tests.oracle.generated import World, changed, generated, random_world
from tests.oracle.histories import MS, history, routes

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
    judging = replay_for(world.release, world.settings, {1: world.queues})
    assert list(judging.judge_all(trace)) == found
    assert len(judging.known) <= 3


(CALL,) = history("20 a1 1 refused > b0 2")


def attempts_with(number: int, **changes: Any) -> dict[str, Any]:
    made = list(CALL.attempts)
    made[number] = replace(made[number], **changes)
    return {"attempts": tuple(made)}


def shape(
    send: Send, *, thread: int = 0, states: int = 1, complete: bool = True, on: bool = False, narrated: bool = False
) -> Shape | None:
    """The shape of a call after one state, which a thread has called in."""
    state = HiddenState(dialect_of("5.3.3"), ChoiceExplorer(), latency_on=on)
    state.thread_state(thread)
    if narrated:
        state.collect_story(thread)
    return shape_of(Belief([state] * states, complete), send)


@pytest.mark.parametrize(
    "changes",
    [
        {"error": "MQClientException"},
        {"end_ns": CALL.end_ns + MS},
        attempts_with(0, broker="b"),
        attempts_with(0, queue_id=2),
        attempts_with(0, error="RemotingTimeoutException"),
        attempts_with(0, code=2),
        attempts_with(1, status="FLUSH_DISK_TIMEOUT"),
        attempts_with(0, start_ns=CALL.attempts[0].start_ns + MS),
        attempts_with(0, end_ns=CALL.attempts[0].end_ns + MS),
        attempts_with(1, end_ns=CALL.attempts[1].end_ns + MS),
    ],
)
def test_calls_that_the_rules_distinguish_have_different_shapes(changes: dict[str, Any]) -> None:
    """What was observed, and when in whole milliseconds."""
    assert shape(replace(CALL, **changes)) != shape(CALL)


@pytest.mark.parametrize(
    "changes",
    [attempts_with(0, start_ns=CALL.start_ns - 5 * MS), {"end_ns": CALL.attempts[1].end_ns - MS}],
    ids=["an attempt before its call", "an end before the last attempt's"],
)
def test_an_impossible_time_is_the_next_possible_one(changes: dict[str, Any]) -> None:
    """Clocks of a witness and of a client may differ a little."""
    assert shape(replace(CALL, **changes)) == shape(CALL)


@pytest.mark.parametrize(
    ("mode", "given"),
    [
        (SendMode.ASYNC, {}),
        (SendMode.ONEWAY, {}),
        (SendMode.SYNC, {"states": 2}),
        (SendMode.SYNC, {"complete": False}),
        (SendMode.SYNC, {"on": True}),
        (SendMode.SYNC, {"thread": 1}),
        (SendMode.SYNC, {"narrated": True}),
    ],
)
def test_calls_without_a_shape(mode: SendMode, given: dict[str, Any]) -> None:
    """Of another mode, after several states, beside fault latency, another thread's, or with events to collect."""
    assert shape(replace(CALL, mode=mode), **given) is None
    assert shape(CALL) is not None


@pytest.mark.parametrize(
    ("text", "ways", "known"),
    [("0 a0 1", 8, 1), ("0 a0 1", 7, 0), ("0 a0 1 | 20 b0 1", 8, 1), ("0 a0 1 | 20 r1-2 a1 1", 8, 1)],
    ids=["explained", "an outcome left out", "a difference", "two states left"],
)
def test_the_known_beginnings_of_a_call(text: str, ways: int, known: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only an explained call with one state after it, if no outcome was dropped."""
    monkeypatch.setattr(transition, "WAYS_FOLLOWED", ways)
    judging = replay_for("5.3.3", ClientSettings(), routes("a4 b4", "a4"))
    list(judging.judge_all(history(text)))
    assert len(judging.known) == known


JUDGEMENT_OF = Observation.judgement_of

QUEUES = tuple((broker, number) for broker in ("broker-a", "broker-b") for number in range(4))
