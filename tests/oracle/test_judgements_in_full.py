"""Judgements besides their difference: decisions, undecided sends, further differences."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.records.sending import UNSEEN_ROUTE
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.judgement import Decision, SendJudgement
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.replay import Replay, replay_for
from rocketdiff.oracle.producer.states import transition
from rocketmq_reference.dialects import dialect_of
from tests.oracle.histories import MS, attempt_of, history, routes, send_of
from tests.oracle.judging import judged

EITHER = Decision(0, queues_total=8, queues_legal=8, avoided=0)


FAILED_B = "0 a3 1 | 20 b0 502 timeout ! too-much"
LATENT = {"on": True, "timeout": 500}


@pytest.mark.parametrize(
    ("text", "lists", "settings", "decisions"),
    [
        # the index starts at random for each list and thread
        ("0 b2 2 | 20 b3 2 | 40 a0 2", (), {}, [[(8, 8, 0)], [(8, 1, 0)], [(8, 1, 0)]]),
        ("0 a0 1 | 20 r2 c1 1 | 40 r2 a0 1", ("a4 b4", "a2 c2"), {}, [[(8, 8, 0)], [(4, 4, 0)], [(4, 1, 0)]]),
        ("t0 0 a0 1 | t1 0.5 b2 1 | t0 20 a1 1", (), {}, [[(8, 8, 0)], [(8, 8, 0)], [(8, 1, 0)]]),
        # with fault latency a retry of 5.1.4 or later draws a new one, and avoided brokers are counted
        (
            "0 a0 1 | 20 a1 1 refused > b3 1 | 40 b0 1",
            (),
            LATENT,
            [[(8, 8, 0)], [(8, 1, 0), (8, 4, 1)], [(8, 1, 1)]],
        ),
        (f"{FAILED_B} | 600 a2 1 | 620 a3 1", (), LATENT, [[(8, 8, 0)], [(8, 1, 0)], [(8, 4, 1)], [(8, 1, 1)]]),
        ("0 a3 1 | 20 b0 700 | 820 a0 1", (), {"on": True}, [[(8, 8, 0)], [(8, 1, 0)], [(8, 1, 1)]]),
        ("0 a3 1 | 20 b0 700 | 820 b1 1", (), {}, [[(8, 8, 0)], [(8, 1, 0)], [(8, 1, 0)]]),
        # a wrong choice counts, too
        ("0 a0 1 | 20 b3 1", (), {}, [[(8, 8, 0)], [(8, 1, 0)]]),
        # while the list changes the older one is counted; legal are the five of the new one, a1, and b0 after an unseen attempt
        ("0 a0 1 | 20 r1-2 a1 1", ("a4 b4", "a2 c2 d1"), {}, [[(8, 8, 0)], [(8, 6, 0)]]),
    ],
)
def test_decisions(
    text: str, lists: tuple[str, ...], settings: dict[str, Any], decisions: list[list[tuple[int, int, int]]]
) -> None:
    """Each attempt has a decision: all queues, legal ones, and avoided brokers."""
    expected = [
        tuple(Decision(attempt, *counts) for attempt, counts in enumerate(of_a_send)) for of_a_send in decisions
    ]
    assert [one.decisions for one in judged("5.3.3", text, *lists, **settings)] == expected


def test_two_queues_of_a_broker_that_has_left_the_list_are_legal() -> None:
    """In 4.7.1 the fallback chooses of two queues of each broker, the one that left, too."""
    judgements = judged("4.7.1", "0 a0 700 | 800 b0 1 | 1000 r2 b0 1", "a2 b2", "a2", on=True, retries=0)
    assert [decision.queues_legal for one in judgements for decision in one.decisions] == [4, 1, 4]


def test_a_send_that_the_rules_explain() -> None:
    """A judgement has number, thread, decisions and hidden states of a send."""
    assert judged("5.3.3", "0 a0 1") == [SendJudgement(0, 0, (EITHER,), None, 1)]


def test_while_the_list_changes_a_difference_is_of_its_older_version() -> None:
    """While the list changes, a difference states the older list's eight queues."""
    (_, judgement) = judged("5.3.3", "0 a0 1 | 20 r1-2 b3 1", "a4 b4", "a2 c2")
    assert judgement.difference is not None
    assert "of 8 queues" in judgement.difference.expected


@pytest.mark.parametrize("text", ["0 r7 a0 1", "0 a0 1"])
def test_an_undecided_send_has_no_states_and_no_decisions(text: str) -> None:
    """An undecided send has no decisions and no states: its list, or what its witness saw, is unknown."""
    (send,) = history(text)
    unseen = send if send.route == 7 else replace(send, route_after=UNSEEN_ROUTE)
    (judgement,) = replay_for("5.3.3", ClientSettings(), routes("a4 b4")).judge_all([unseen])
    assert judgement.undecided is not None
    assert judgement == SendJudgement(0, 0, (), None, 0, judgement.undecided)


def test_an_undecided_send_has_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an outcome dropped, an undecided send has no difference, not even for a result that names another queue."""
    monkeypatch.setattr(transition, "WAYS_FOLLOWED", 7)
    for lies in (False, True):
        (send,) = history("0 a0 1")
        replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"))
        (judgement,) = replay.judge_all([replace(send, queue_id=3) if lies else send])
        assert judgement.undecided is not None
        assert (judgement.difference, judgement.further) == (None, ())


def test_without_a_witness_a_result_may_still_contradict_itself() -> None:
    """Without a witness only a result that contradicts itself is a difference."""
    (send,) = history("0 a0 1")
    replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"), witnessed=False)
    (judgement,) = replay.judge_all([replace(send, queue_id=3)])
    assert judgement.difference is not None
    assert (judgement.difference.signature, judgement.states) == ("queue.result-names-other-queue/first", 0)


def test_subjects_show_their_attempts_by_default() -> None:
    """By default a subject shows its attempts, so a send without any stopped early."""
    replay = Replay(dialect_of("5.3.3"), ClientSettings(), routes("a4"))
    assert replay.witnessed
    assert replay.judge(history("0")[0]).difference is not None


ONE_WAY = send_of(
    0, 0, SendKind.PLAIN, 0, 0, 2_000 * MS, route=1, route_after=1,
    attempts=(attempt_of(0, "a", 0, MS, 2 * MS),), mode=SendMode.ONEWAY,
)  # fmt: skip


def test_a_one_way_call_that_waited_differs_although_its_queue_is_right() -> None:
    """A one-way call that waits for 2 s is a difference, although its queue is right."""
    (judgement,) = replay_for("5.3.3", ClientSettings(), routes("a4 b4")).judge_all([ONE_WAY])
    assert judgement.difference is not None
    assert judgement.difference.signature == "attempts.waited-for-an-answer"
    assert judgement.decisions == (EITHER,)


def test_a_result_of_an_asynchronous_send_is_judged_elsewhere() -> None:
    """Of an asynchronous send only the first choice is judged here, not its result."""
    send = replace(ONE_WAY, mode=SendMode.ASYNC, status="SEND_OK", broker="b", queue_id=3)
    (judgement,) = replay_for("5.3.3", ClientSettings(), routes("a4 b4")).judge_all([send])
    assert (judgement.difference, judgement.decisions) == (None, (EITHER,))


@pytest.mark.parametrize("mode", [SendMode.SYNC, SendMode.ONEWAY, SendMode.ASYNC])
def test_a_call_that_is_over_leaves_nothing_in_hand(mode: SendMode) -> None:
    """A finished call leaves no loop and no finish, so that equal states merge."""
    send = replace(ONE_WAY, mode=mode, end_ns=3 * MS, status="SEND_OK" if mode is SendMode.SYNC else None)
    replay = replay_for("5.3.3", ClientSettings(send_latency_fault_enable=mode is SendMode.SYNC), routes("a4 b4"))
    assert replay.judge(send).difference is None
    assert [(state.thread_state(0).loop, state.thread_state(0).finish) for state in replay.belief.states] == [
        (None, None)
    ]


@pytest.mark.parametrize("narrated", [False, True])
def test_a_story_is_collected_when_somebody_wants_it(narrated: bool) -> None:
    """Events are collected only on request."""
    replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"))
    (send,) = history("0 a0 1")
    observation = (
        Observation(replay.transitions, send, narrated=True) if narrated else Observation(replay.transitions, send)
    )
    replay.judge_observation(observation)
    assert (observation.story != []) is narrated
