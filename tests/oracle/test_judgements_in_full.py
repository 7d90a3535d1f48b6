"""Judgements besides their difference: decisions, undecided sends, further differences."""

from dataclasses import replace

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
ONLY_A = Decision(0, queues_total=8, queues_legal=1, avoided=0)


def test_sends_that_the_rules_explain() -> None:
    """A first send may go to all eight queues, the second to the next one; one hidden state remains."""
    assert judged("5.3.3", "0 a0 1 | 20 a1 1") == [
        SendJudgement(0, 0, (EITHER,), None, 1),
        SendJudgement(1, 0, (ONLY_A,), None, 1),
    ]


def test_a_choice_that_differed_was_decisive_too() -> None:
    """A wrong choice counts as a decision with one legal queue of eight."""
    (_, judgement) = judged("5.3.3", "0 a0 1 | 20 b3 1")
    assert (judgement.decisions, judgement.states) == ((ONLY_A,), 1)
    assert judgement.difference is not None


def test_while_the_list_changes_its_older_version_is_counted() -> None:
    """
    While the list changes, queues_total counts the older version: eight.

    Legal are all five queues of the new list, which starts anywhere, and of the old one a1 and, after an invisible
    attempt, b0.
    """
    (_, judgement) = judged("5.3.3", "0 a0 1 | 20 r1-2 a1 1", "a4 b4", "a2 c2 d1")
    assert judgement.decisions == (Decision(0, queues_total=8, queues_legal=6, avoided=0),)


def test_while_the_list_changes_a_difference_is_of_its_older_version() -> None:
    """While the list changes, a difference states the older list's eight queues."""
    (_, judgement) = judged("5.3.3", "0 a0 1 | 20 r1-2 b3 1", "a4 b4", "a2 c2")
    assert judgement.difference is not None
    assert "of 8 queues" in judgement.difference.expected


@pytest.mark.parametrize(("latency", "avoided"), [(False, 0), (True, 1)])
def test_avoided_brokers_are_counted_with_fault_latency_on(latency: bool, avoided: int) -> None:
    """With fault latency on, b is avoided for 2 s after 700 ms and counted 100 ms later."""
    judgements = judged("5.3.3", "0 a3 1 | 20 b0 700 | 820 a0 1", on=latency)
    assert [one.avoided for judgement in judgements[:2] for one in judgement.decisions] == [0, 0]
    assert [one.avoided for one in judgements[2].decisions] == [avoided]


def test_the_first_difference_of_a_send_counts() -> None:
    """Of two wrong attempts the first is reported."""
    (_, judgement) = judged("5.3.3", "0 a0 1 | 20 b1 1 refused > b3 1")
    assert judgement.difference is not None
    assert (judgement.difference.attempt, judgement.difference.signature) == (0, "queue.out-of-turn/first")
    assert judgement.further == ()


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
