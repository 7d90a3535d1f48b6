"""The check ``queue-choice`` on manually judged sends and counts."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.by_rules import attempts, queue_choice
from rocketdiff.analysis.sending.checks.by_rules.queue_choice import QueueChoice
from rocketdiff.analysis.sending.send_view import Copy
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.oracle.producer.asynchronous.habits import AsyncHabits
from tests.analysis.builders import MS, S, made, signatures, tried
from tests.analysis.sending.checks.builders import (
    CANDIDATE,
    DECISIVE,
    INDECISIVE,
    OK,
    PAUSE,
    SLOW,
    SOUND,
    Tallies,
    case_of,
    decision,
    examples,
    facts_alone,
    judged,
    send,
    tallied,
)


def test_choices_among_queues_are_counted_with_their_legal_share() -> None:
    """Two of three choices had several queues: 1 of 8 and 2 of 4 were legal."""
    choices = decision(0), decision(1, 2, 4), decision(2, 1, 1)
    each = tried(9 * S, 9 * S + 1, SLOW), replace(OK, attempt=1), tried(13 * S, 14 * S, attempt=2)
    found = facts_alone(QueueChoice, send(judged(*choices), *each))
    assert found.n("queue-choice", "decision", arm=CANDIDATE) == 2
    assert found.mean("queue-choice.legal", "decision") == pytest.approx((1 / 8 + 2 / 4) / 2)
    assert [found.n("queue-choice", phase=phase) for phase in ("calm", "paused", "after")] == [1, 1, 0]
    assert found.n("queue-choice.met", "choice") == 1
    of_two = facts_alone(QueueChoice, send(judged(decision(0, 1, 2)), *each))
    assert of_two.mean("queue-choice.legal", "decision") == 1 / 2
    for nothing in (None, judged(), judged(decision(0, 1, 1))):
        assert facts_alone(QueueChoice, send(nothing, *each)).tallies == {}


PLACE = ("broker-b", 3, 7)


@pytest.mark.parametrize(
    ("row", "where", "is_wrong"),
    [
        ({}, [PLACE], False),
        ({}, [("broker-a", 0, 0), PLACE], False),
        ({}, [("broker-a", 3, 7)], True),
        ({}, [("broker-b", 2, 7)], True),
        ({}, [("broker-b", 3, 8)], True),
        ({"queue_id": None}, [("broker-b", 2, 7)], False),
        ({"broker": None}, [("broker-a", 3, 7)], False),
        ({"queue_id": None}, [("broker-a", 2, 7)], True),
        ({"queue_offset": None}, [("broker-a", 2, 9)], False),
        ({}, [], False),
        ({"error": SLOW}, [("broker-a", 3, 7)], False),
    ],
)
def test_a_message_lies_where_its_result_points(
    row: dict[str, Any], where: list[tuple[str, int, int]], is_wrong: bool
) -> None:
    """A stored message must be where its result says, as far as it says so."""
    copies = [Copy(*place, 0, True) for place in where]
    reported: dict[str, Any] = {"broker": "broker-b", "queue_id": 3, "queue_offset": 7} | row
    found = facts_alone(QueueChoice, made(CANDIDATE, 0, tried(0, 1), copies=copies, **reported))
    assert signatures(found) == (["witness.queue-or-offset-wrong 1"] if is_wrong else [])


@pytest.mark.parametrize(
    ("renames", "offset", "wanted"),
    [
        (False, 7, ("broker-b queue 3 offset 7", "broker-a queue 3 offset 7, broker-a queue 0 offset 7")),
        (True, 7, None),
        (True, 8, ("offset 8", "broker-a queue 3 offset 7, broker-a queue 0 offset 7")),
    ],
)
def test_a_renamed_broker_is_not_compared(renames: bool, offset: int, wanted: tuple[str, str] | None) -> None:
    """Where another thread may rename the broker of a result, only queue and offset are compared."""
    copies = [Copy("broker-a", queue, 7, 0, True) for queue in (3, 0)]
    side = made(CANDIDATE, 0, tried(0, 1), copies=copies, queue_id=3, queue_offset=offset)
    found = examples(facts_alone(QueueChoice, side, renames=renames))
    texts = wanted and (f"the message at {wanted[0]}, as in the result", f"stored at {wanted[1]}")
    assert found == ({} if texts is None else {"queue-or-offset-wrong": texts})


@pytest.mark.parametrize(("level", "queue_id", "is_wrong"), [(4, 3, False), (4, 4, True), (None, 3, False)])
def test_a_delayed_message_lies_among_those_of_its_level(level: int | None, queue_id: int, is_wrong: bool) -> None:
    """Level 4 is queue 3 of the kept-back messages, whatever queue the result names."""
    side = made(
        CANDIDATE,
        0,
        tried(0, 1),
        copies=[Copy(*PLACE, 0, True)],
        queue_id=0 if level else 3,
        queue_offset=7,
        delay_level=level,
    )
    kept = replace(side, kept=(Copy("broker-b", queue_id, 7, 0, True),) if level else ())
    assert signatures(facts_alone(QueueChoice, kept)) == (["witness.queue-or-offset-wrong 1"] if is_wrong else [])


@pytest.mark.parametrize(
    ("baseline", "candidate", "wanted"), [(0.9, 0.9, DECISIVE), (0.91, 0.1, INDECISIVE), (0.1, 0.91, INDECISIVE)]
)
def test_the_larger_legal_share_of_both_counts(baseline: float, candidate: float, wanted: Standing) -> None:
    """If the larger legal share of both arms exceeds 0.9, the check is indecisive and gates."""
    shares: Tallies = {
        ("queue-choice.legal", "baseline", "calm", "decision"): (10, 10 * baseline),
        ("queue-choice.legal", "candidate", "calm", "decision"): (10, 10 * candidate),
    }
    evidence = queue_choice.evaluate(case_of(*SOUND, tallied(10, 10, "queue-choice", "decision"), shares))
    assert (evidence.standing, evidence.severity) == (wanted, Severity.MUST)
    assert evidence.legal_share == pytest.approx(max(baseline, candidate))
    assert attempts.evaluate(case_of(*SOUND, tallied(4, 6, "attempts", "failed"))).legal_share is None


@pytest.mark.parametrize(
    ("start_s", "mode", "is_wrong"), [(11, SendMode.ASYNC, False), (1, SendMode.ASYNC, True), (11, SendMode.SYNC, True)]
)
def test_a_confused_result_may_name_anothers_place_near_a_fault(start_s: int, mode: SendMode, is_wrong: bool) -> None:
    """In calm, and of a call that waits, a result must name its own message's place, in every release."""
    habits = AsyncHabits(loses_callbacks=False, confuses_answers=True)
    attempt = tried(start_s * S, start_s * S + MS)
    side = made(CANDIDATE, 0, attempt, copies=[Copy(*PLACE, 0, True)], queue_offset=8, mode=mode)
    facts = facts_alone(QueueChoice, side, faults=(PAUSE,), habits=habits)
    assert signatures(facts) == ["witness.queue-or-offset-wrong 1"] * is_wrong
