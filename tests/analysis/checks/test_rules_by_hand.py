"""What the checks by the rules note for manually judged sends."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.sending.by_rules import attempts, avoidance, error_kind, queue_choice
from rocketdiff.analysis.checks.sending.by_rules.attempts import Attempts
from rocketdiff.analysis.checks.sending.by_rules.avoidance import Avoidance
from rocketdiff.analysis.checks.sending.by_rules.error_kind import ErrorKind
from rocketdiff.analysis.checks.sending.by_rules.queue_choice import QueueChoice
from rocketdiff.analysis.send_view import Copy, Phase
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import OTHER_CLASS, OUT_OF_TURN, USED_AVOIDED_BROKER, WENT_ON
from rocketdiff.oracle.producer.judgement import Decision, DifferenceKind, RuleDifference, SendJudgement
from tests.analysis.by_hand import ENTRY, MS, S, facts_of, fault, made, pair, signatures, tried

BASELINE, CANDIDATE = Arm.BASELINE, Arm.CANDIDATE
SLOW, RESERVE = "RemotingTimeoutException", "FLUSH_DISK_TIMEOUT"
PAUSE = fault(10 * S, 12 * S)


KNOWN = {
    DifferenceKind.QUEUE: OUT_OF_TURN,
    DifferenceKind.AVOIDANCE: USED_AVOIDED_BROKER,
    DifferenceKind.ATTEMPTS: WENT_ON,
    DifferenceKind.ERROR: OTHER_CLASS,
}
"""A signature of each kind of difference."""


def decision(attempt: int = 0, legal: int = 1, total: int = 8, avoided: int = 0) -> Decision:
    return Decision(attempt, total, legal, avoided)


def judged(
    *decisions: Decision,
    kind: DifferenceKind | None = None,
    attempt: int | None = None,
    undecided: str | None = None,
) -> SendJudgement:
    found = None if kind is None else RuleDifference(kind, KNOWN[kind].name, attempt, "this", "that", {"why": 1})
    return SendJudgement(0, 0, decisions, found, 1, undecided)


def facts(make: Any, *sides: Any, faults: tuple[FaultRecord, ...] = (), entry: Any = ENTRY) -> CaseFacts:
    """Each side is a send that its arm made alone."""
    alone = [pair(one, None) if one.arm is BASELINE else pair(None, one) for one in sides]
    return facts_of(alone, make, faults=faults, entry=entry)


def send(judgement: SendJudgement | None, *each: Attempt, arm: Arm = CANDIDATE, **row: Any) -> Any:
    return made(arm, 0, *each, judgement=judgement, faults=(PAUSE,), **row)


CHECKS = [
    (QueueChoice, "queue-choice", DifferenceKind.QUEUE),
    (Avoidance, "avoidance", DifferenceKind.AVOIDANCE),
    (Attempts, "attempts", DifferenceKind.ATTEMPTS),
    (ErrorKind, "error-kind", DifferenceKind.ERROR),
]


@pytest.mark.parametrize(("make", "check", "mine"), CHECKS, ids=[one[1] for one in CHECKS])
@pytest.mark.parametrize("kind", DifferenceKind)
@pytest.mark.parametrize("arm", Arm)
def test_each_kind_of_difference_belongs_to_one_check(
    make: Any, check: str, mine: DifferenceKind, kind: DifferenceKind, arm: Arm
) -> None:
    """Each kind of difference belongs to one check, with the oracle's text; the baseline's blames the rules."""
    late = tried(10 * S, 12 * S, SLOW), tried(13 * S, 13 * S + MS, attempt=1)
    found = facts(make, send(judged(kind=kind, attempt=1), *late, arm=arm), faults=(PAUSE,))
    assert signatures(found) == ([f"{'rules/' * (arm is BASELINE)}{KNOWN[kind].name} 1"] if kind is mine else [])
    if kind is mine:
        ((one,),) = found.divergences.values()
        assert check in found.divergences
        assert (one.example.attempt, one.example.phase) == (1, Phase.AFTER)
        assert (one.example.expected, one.example.observed) == ("this", "that")
        assert one.example.figures["rules"] == {"why": 1}
    assert signatures(facts(make, send(None, *late, arm=arm))) == []


FAILED, OK = tried(10 * S, 11 * S, SLOW), tried(11 * S, 11 * S + MS, attempt=1)
STORED = tried(10 * S, 11 * S, status=RESERVE)


@pytest.mark.parametrize(
    ("each", "judgement", "seen", "bound"),
    [
        ((tried(0, 1),), judged(), {}, {}),
        ((FAILED, OK), judged(), {"failed": 1, "retry": 1}, {"failed": 1, "retry": 1}),
        ((STORED, OK), judged(), {"not-store-ok": 1, "retry": 1}, {"not-store-ok": 1, "retry": 1}),
        ((FAILED, OK), None, {"failed": 1, "retry": 1}, {}),
        ((FAILED, OK), judged(undecided="why"), {"failed": 1, "retry": 1}, {}),
        ((FAILED, OK), judged(kind=DifferenceKind.QUEUE, attempt=1), {"failed": 1, "retry": 1}, {"failed": 1}),
        ((FAILED, OK), judged(kind=DifferenceKind.ATTEMPTS, attempt=0), {"failed": 1, "retry": 1}, {}),
        ((FAILED, OK), judged(kind=DifferenceKind.QUEUE), {"failed": 1, "retry": 1}, {}),
        (
            (FAILED, OK),
            judged(kind=DifferenceKind.ERROR, attempt=0),
            {"failed": 1, "retry": 1},
            {"failed": 1, "retry": 1},
        ),
        (
            (FAILED, replace(FAILED, attempt=1), replace(OK, attempt=2)),
            judged(),
            {"failed": 2, "retry": 2},
            {"failed": 2, "retry": 2},
        ),
    ],
)
def test_which_attempts_are_decisions(
    each: tuple[Attempt, ...], judgement: SendJudgement | None, seen: dict[str, int], bound: dict[str, int]
) -> None:
    """Attempts before a wrong queue or attempt are decisions; each situation is met once per send."""
    found = facts(Attempts, send(judgement, *each))
    for name, wanted in (("attempts.seen", seen), ("attempts", bound)):
        assert {key: found.n(name, key, arm=CANDIDATE) for key in found.keys(name, "candidate")} == wanted, name
    assert {key: found.n("attempts.met", key) for key in found.keys("attempts.met", "candidate")} == dict.fromkeys(
        bound, 1
    )


def test_attempts_are_counted_in_their_own_phase() -> None:
    """Attempts count in their own phase, under or after the pause; the send belongs to the pause."""
    found = facts(Attempts, send(judged(), FAILED, tried(13 * S, 14 * S, attempt=1)))
    assert found.n("attempts", "failed", phase="paused") == found.n("attempts", "retry", phase="after") == 1
    assert found.n("attempts.met", phase="paused") == 2


@pytest.mark.parametrize(
    ("row", "judgement", "seen", "met"),
    [
        ({}, judged(), None, None),
        ({"error": SLOW, "status": None}, judged(), SLOW, "failed"),
        ({"status": RESERVE}, judged(), RESERVE, RESERVE),
        ({"error": SLOW, "status": None}, None, SLOW, None),
        ({"error": SLOW, "status": None}, judged(kind=DifferenceKind.QUEUE, attempt=1), SLOW, None),
        ({"error": SLOW, "status": None}, judged(kind=DifferenceKind.ERROR), SLOW, "failed"),
        ({"status": None}, judged(), None, None),
    ],
)
def test_which_ends_are_decisions(
    row: dict[str, Any], judgement: SendJudgement | None, seen: str | None, met: str | None
) -> None:
    """All ends other than SEND_OK are counted; those judged to the end are decisions."""
    found = facts(ErrorKind, send(judgement, tried(0, 1), **row))
    assert found.keys("error-kind.seen", "candidate") == ((seen,) if seen else ())
    assert found.keys("error-kind", "candidate") == ((seen,) if seen and met else ())
    assert found.keys("error-kind.met", "candidate") == ((met,) if met else ())


def test_choices_among_queues_are_counted_with_their_legal_share() -> None:
    """Two of three choices had several queues: 1 of 8 and 2 of 4 were legal."""
    choices = decision(0), decision(1, 2, 4), decision(2, 1, 1)
    each = tried(9 * S, 9 * S + 1, SLOW), replace(OK, attempt=1), tried(13 * S, 14 * S, attempt=2)
    found = facts(QueueChoice, send(judged(*choices), *each))
    assert found.n("queue-choice", "decision", arm=CANDIDATE) == 2
    assert found.mean("queue-choice.legal", "decision") == pytest.approx((1 / 8 + 2 / 4) / 2)
    assert [found.n("queue-choice", phase=phase) for phase in ("calm", "paused", "after")] == [1, 1, 0]
    assert found.n("queue-choice.met", "choice") == 1
    for nothing in (None, judged(), judged(decision(0, 1, 1))):
        assert facts(QueueChoice, send(nothing, *each)).tallies == {}


def test_choices_under_avoidance_are_counted_with_their_legal_share() -> None:
    """Two of three choices, made while a broker was avoided, count with their legal share."""
    choices = decision(0, 4, avoided=1), decision(1, avoided=2), decision(2, 8)
    found = facts(Avoidance, send(judged(*choices), tried(0, 1)))
    assert found.n("avoidance", "decision", arm=CANDIDATE) == 2
    assert found.mean("avoidance.legal") == pytest.approx((4 / 8 + 1 / 8) / 2)


def failing(send: int, start_s: float, broker: str = "broker-b", **named: Any) -> Any:
    start_ns = round(start_s * S)
    return made(CANDIDATE, send, tried(start_ns, start_ns + S // 2, SLOW, broker=broker), **named)


def well(send: int, start_s: float, broker: str = "broker-b", **named: Any) -> Any:
    start_ns = round(start_s * S)
    return made(CANDIDATE, send, tried(start_ns, start_ns + MS, broker=broker), **named)


def absences(*sides: Any) -> dict[str, float]:
    """Measures of absences from brokers, by name."""
    found = facts(Avoidance, *sides, entry=replace(ENTRY, settings=ClientSettings(send_latency_fault_enable=True)))
    for arm in Arm:
        found = replace(found, tallies={**found.tallies, ("attempt", arm, "calm", "b"): (1, 0.0)})
    measures = avoidance.evaluate(found).measures
    assert all(one.unit == "ms" for one in measures)
    return {f"{one.name} n={one.n}": one.value for one in measures}


@pytest.mark.parametrize(
    ("sides", "wanted"),
    [
        ([well(0, 1), well(1, 2)], {}),
        ([failing(0, 1), well(1, 4)], {"away-until-return candidate n=1": 2_500}),
        ([failing(0, 1), well(1, 4), well(2, 9)], {"away-until-return candidate n=1": 2_500}),
        ([failing(0, 1), failing(1, 4), well(2, 9)], {"away-until-return candidate n=2": 3_500}),
        ([failing(0, 1), well(1, 4, "broker-a")], {"away-at-least candidate n=1": 2_500}),
        ([failing(0, 1)], {"away-at-least candidate n=1": 0}),
        ([failing(0, 1), well(1, 4, thread=1)], {"away-at-least candidate n=1": 0}),
        (
            [failing(0, 1), failing(1, 1, thread=1), well(2, 2), well(3, 6.5, "broker-a", thread=1)],
            {"away-until-return candidate n=1": 500, "away-at-least candidate n=1": 5_000},
        ),
    ],
)
def test_how_long_a_thread_kept_away_from_a_broker(sides: list[Any], wanted: dict[str, float]) -> None:
    """An absence lasts until the thread's next attempt there, or at least to its last anywhere."""
    assert absences(*sides) == pytest.approx(wanted)


def test_a_retry_at_the_same_broker_is_no_return() -> None:
    """A retry is no return: a send that failed at 1.5 s and 2.1 s is back at 4 s."""
    twice = made(CANDIDATE, 0, tried(S, 3 * S // 2, SLOW), tried(1_600 * MS, 2_100 * MS, SLOW, attempt=1))
    assert absences(twice, well(1, 4)) == pytest.approx({"away-until-return candidate n=1": 1_900})


def test_a_difference_says_how_long_the_broker_was_left_alone() -> None:
    """The difference names the 2.5 s since the last failed attempt there, if any."""
    wrong = judged(kind=DifferenceKind.AVOIDANCE, attempt=0)
    for sides, wanted in (
        ([failing(0, 1), well(1, 4, judgement=wrong)], "that, 2.5 s after its last failed attempt there"),
        ([failing(0, 1), well(1, 4, "broker-a", judgement=wrong)], "that"),
        ([failing(0, 1), well(1, 4, thread=1, judgement=wrong)], "that"),
        ([failing(0, 1), well(1, 4, judgement=judged(kind=DifferenceKind.AVOIDANCE, attempt=7))], "that"),
    ):
        ((one,),) = facts(Avoidance, *sides).divergences.values()
        assert one.example.observed == wanted


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
def test_a_message_lies_where_its_result_says(
    row: dict[str, Any], where: list[tuple[str, int, int]], is_wrong: bool
) -> None:
    """A stored message must be where its result says, as far as it says so."""
    copies = [Copy(*place, 0, True) for place in where]
    told: dict[str, Any] = {"broker": "broker-b", "queue_id": 3, "queue_offset": 7} | row
    found = facts(QueueChoice, made(CANDIDATE, 0, tried(0, 1), copies=copies, **told))
    assert signatures(found) == (["witness.queue-or-offset-wrong 1"] if is_wrong else [])


@pytest.mark.parametrize(("level", "queue_id", "is_wrong"), [(4, 3, False), (4, 4, True), (None, 3, False)])
def test_a_delayed_message_lies_among_those_of_its_level(level: int | None, queue_id: int, is_wrong: bool) -> None:
    """Level 4 is queue 3 of the kept-back messages, whatever queue the result names."""
    side = made(
        CANDIDATE, 0, tried(0, 1), copies=[Copy(*PLACE, 0, True)], queue_id=3, queue_offset=7, delay_level=level
    )
    kept = replace(side, kept=(Copy("broker-b", queue_id, 7, 0, True),) if level else ())
    assert signatures(facts(QueueChoice, kept)) == (["witness.queue-or-offset-wrong 1"] if is_wrong else [])


def test_names_of_checks_are_those_of_their_evidence() -> None:
    """Each check's evidence has the check's name."""
    for check in (attempts, avoidance, error_kind, queue_choice):
        assert check.evaluate(facts(Attempts)).check == check.NAME
