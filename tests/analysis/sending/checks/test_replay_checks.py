"""The checks by the rules: the differences each notes, and evidence from manually built counts."""

import math
from types import ModuleType
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.checks.by_rules import attempts, avoidance, error_kind, queue_choice
from rocketdiff.analysis.sending.checks.by_rules.attempts import Attempts
from rocketdiff.analysis.sending.checks.by_rules.avoidance import Avoidance
from rocketdiff.analysis.sending.checks.by_rules.error_kind import ErrorKind
from rocketdiff.analysis.sending.checks.by_rules.queue_choice import QueueChoice
from rocketdiff.analysis.sending.checks.by_rules.replay_checks import (
    JUDGED,
    RULES,
    UNAVAILABLE,
    chance_of_one_arm_only,
    judged_before,
)
from rocketdiff.analysis.sending.send_view import Phase
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.oracle.producer.judgement import DifferenceKind, SendJudgement
from tests.analysis.builders import MS, S, signatures, tried
from tests.analysis.sending.checks.builders import (
    BASELINE,
    DECISIVE,
    INDECISIVE,
    NOT_APPLICABLE,
    OPEN,
    PASSES,
    PAUSE,
    SHOWN,
    SIGNATURE_OF,
    SLOW,
    SOUND,
    Ended,
    Tallies,
    case_of,
    end_of,
    facts_alone,
    judged,
    send,
    sound_case,
    standing_of,
    tallied,
)

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
    found = facts_alone(make, send(judged(kind=kind, attempt=1), *late, arm=arm), faults=(PAUSE,))
    assert signatures(found) == ([f"{'rules/' * (arm is BASELINE)}{SIGNATURE_OF[kind].name} 1"] if kind is mine else [])
    if kind is mine:
        ((one,),) = found.divergences.values()
        assert check in found.divergences
        assert (one.example.where.attempt, one.example.phase) == (1, Phase.AFTER)
        assert (one.example.expected, one.example.observed) == ("this", "that")
        assert one.example.figures["rules"] == {"why": 1}
    assert signatures(facts_alone(make, send(None, *late, arm=arm))) == []


def test_names_of_checks_are_those_of_their_evidence() -> None:
    """Each check's evidence has the check's name."""
    for check in (attempts, avoidance, error_kind, queue_choice):
        assert check.evaluate(facts_alone(Attempts)).check == check.NAME


BY_RULES = [
    (queue_choice, "decision"),
    (attempts, "failed"),
    (attempts, "not-store-ok"),
    (attempts, "retry"),
    (error_kind, "X"),
]


@pytest.mark.parametrize(("check", "key"), BY_RULES)
def test_checks_by_the_rules_need_the_candidate_in_their_situation(check: ModuleType, key: str) -> None:
    """
    A check decides if the candidate met its situation, or diverged.

    If only the baseline met it, it is indecisive; if neither did, it does not apply.
    """
    name: str = check.NAME
    for met_by, wanted, severity in (
        ((4, 6), (DECISIVE, "", 10), Severity.MUST),
        ((0, 6), (DECISIVE, "", 6), Severity.MUST),
        ((4, 0), (INDECISIVE, "python:5.3.3 never came into the situation this check asks about", 4), Severity.SHOULD),
    ):
        evidence = check.evaluate(case_of(*SOUND, tallied(*met_by, name, key)))
        assert (standing_of(evidence), evidence.severity) == (wanted, severity)
        found = check.evaluate(case_of(*SOUND, tallied(*met_by, name, key), check=name))
        assert standing_of(found) == (DECISIVE, "", sum(met_by))
    nobody = check.evaluate(case_of(*SOUND))
    assert (nobody.standing, nobody.severity) == (NOT_APPLICABLE, Severity.MUST)
    assert check.evaluate(case_of(*SOUND, check=name)).standing is DECISIVE


@pytest.mark.parametrize(
    ("legal", "reason"),
    [
        ((0.5, 0.5), ""),
        ((0.5, 1.0), "100% of the queues were legal on average, so nearly any choice would have passed"),
        ((0.96, 0.5), "96% of the queues were legal on average, so nearly any choice would have passed"),
    ],
)
def test_choices_that_nearly_all_pass_decide_nothing(legal: tuple[float, float], reason: str) -> None:
    """The larger share of legal queues of both arms counts."""
    shares: Tallies = {
        ("queue-choice.legal", str(arm), "calm", "decision"): (9, 9 * share)
        for arm, share in zip(Arm, legal, strict=True)
    }
    evidence = queue_choice.evaluate(case_of(*SOUND, tallied(9, 9, "queue-choice", "decision"), shares))
    assert (evidence.standing, evidence.reason) == (INDECISIVE if reason else DECISIVE, reason)
    assert evidence.legal_share == pytest.approx(max(legal))


def test_a_situation_that_one_arm_alone_met_is_no_luck() -> None:
    """Of 100 sends each eleven and none come so once in 1,369 cases, ten and none in 648."""
    found = {}
    for met in (10, 11):
        situation = tallied(met, 0, "queue-choice.met", "choice")
        evidence = queue_choice.evaluate(case_of(*SOUND, tallied(9, 9, "queue-choice", "decision"), situation))
        found[met] = (evidence.standing, evidence.reason)
    assert found[10] == (DECISIVE, "")
    reason = (
        "11 of 100 sends of java:5.3.3 came into the situation 'choice', none of 100 of python:5.3.3 in the same"
        " phases: by chance that happens once in 1,369 cases"
    )
    assert found[11] == (INDECISIVE, reason)
    both = tallied(60, 1, "queue-choice.met", "choice")
    assert queue_choice.evaluate(case_of(*SOUND, tallied(9, 9, "queue-choice", "decision"), both)).standing is DECISIVE


@pytest.mark.parametrize(
    ("lacks", "reason"),
    [
        (tallied(0, 0, "", ""), ""),
        ({("attempt", "candidate", "calm", "broker-a"): (0, 0.0)}, "no attempt of python:5.3.3 was witnessed"),
        ({("attempt", "baseline", "calm", "broker-a"): (0, 0.0)}, "no attempt of java:5.3.3 was witnessed"),
        ({(RULES, "baseline", "calm", JUDGED): (0, 0.0)}, "no send of java:5.3.3 returned"),
        ({(RULES, "candidate", "calm", "too many"): (5, 0.0)}, ""),
        ({(RULES, "candidate", "calm", JUDGED): (95, 0.0), (RULES, "candidate", "calm", "too many"): (5, 0.0)}, ""),
        (
            {(RULES, "candidate", "calm", "too many"): (6, 0.0)},
            "6 of 106 sends of python:5.3.3 could not be judged: too many",
        ),
        ({(RULES, "baseline", "calm", f"{UNAVAILABLE}nobody knows"): (1, 0.0)}, "nobody knows"),
        ({(RULES, "candidate", "calm", f"{UNAVAILABLE}nobody knows"): (1, 0.0)}, "nobody knows"),
    ],
)
@pytest.mark.parametrize(("check", "key"), BY_RULES[:2])
def test_where_the_rules_could_not_judge(lacks: Tallies, reason: str, check: ModuleType, key: str) -> None:
    """An arm that could not be judged leaves the check indecisive, which gates; five of 105 sends may be open."""
    evidence = check.evaluate(case_of(*SOUND, tallied(4, 6, check.NAME, key), lacks))
    assert (evidence.standing, evidence.reason) == ((INDECISIVE, reason) if reason else (DECISIVE, ""))
    assert evidence.severity is Severity.MUST
    if check is attempts:
        assert len(evidence.measures) == 6


@pytest.mark.parametrize("check", [attempts, error_kind])
@pytest.mark.parametrize(
    ("kinds", "blocked", "wanted"),
    [
        ((FaultKind.PAUSE,), 0, INDECISIVE),
        ((FaultKind.PAUSE,), 1, NOT_APPLICABLE),
        ((FaultKind.PAUSE_SLAVE, FaultKind.KILL), 0, INDECISIVE),
        ((FaultKind.READ_ONLY,), 0, NOT_APPLICABLE),
        ((), 0, NOT_APPLICABLE),
    ],
)
def test_a_faulty_broker_that_both_missed_is_luck(
    check: ModuleType, kinds: tuple[FaultKind, ...], blocked: int, wanted: Standing
) -> None:
    """A faulty broker that neither arm met leaves the check indecisive without gating; without one it does not apply."""
    evidence = check.evaluate(case_of(*SOUND, tallied(blocked, 0, "blocked", "broker-b"), kinds=kinds))
    assert evidence.standing is wanted
    if wanted is INDECISIVE:
        assert (evidence.reason, evidence.severity) == (
            "no attempt of either arm met a faulty broker",
            Severity.SHOULD,
        )
    met = check.evaluate(case_of(*SOUND, tallied(2, 2, check.NAME, "failed"), kinds=kinds))
    assert met.standing is DECISIVE


def met(check: str, by: Arm, times: int, sends: int, others: int) -> CaseFacts:
    """One arm met a situation in some of its sends, the other never; all sends were judged."""
    tallies: Tallies = {
        (f"{check}.met", by, "calm", "failed"): (times, 0.0),
        (check, by, "calm", "failed"): (times, 0.0),
    }
    for arm in Arm:
        n = sends if arm is by else others
        tallies["sends", arm, "calm", "ok"] = (n, 0.0)
        tallies["attempt", arm, "calm", "broker-a"] = (n, 0.0)
        tallies[RULES, arm, "", JUDGED] = (n, 0.0)
    return sound_case(tallies)


@pytest.mark.parametrize("check", [attempts, error_kind])
@pytest.mark.parametrize(
    ("by", "times", "sends", "others", "end"),
    [
        (Arm.BASELINE, 10, 100, 100, SHOWN),
        (Arm.BASELINE, 11, 100, 100, OPEN),
        (Arm.CANDIDATE, 10, 100, 100, PASSES),
        (Arm.CANDIDATE, 11, 100, 100, OPEN),
        (Arm.BASELINE, 999, 999, 1, OPEN),
        (Arm.BASELINE, 998, 998, 1, SHOWN),
        (Arm.BASELINE, 2, 2, 50, SHOWN),
        (Arm.CANDIDATE, 2, 2, 50, PASSES),
        (Arm.BASELINE, 10, 12, 100, SHOWN),
        (Arm.BASELINE, 11, 12, 100, OPEN),
    ],
)
def test_luck_ends_at_once_in_a_thousand(
    check: object, by: Arm, times: int, sends: int, others: int, end: Ended
) -> None:
    """
    A situation that one arm alone met is luck down to a probability of one in 1,000.

    With 100 sends per arm, ten to none have a probability of 15 in 10,000, eleven to none 7 in 10,000; all of 999 to none of
    one have exactly one in 1,000. An arm that was blocked began fewer sends, but as many were due. If only the candidate met it,
    by luck, it was judged and passes.
    """
    name = check.NAME  # type: ignore[attr-defined]  # both are checks
    assert end_of(check.evaluate(met(name, by, times, sends, others))) == end  # type: ignore[attr-defined]  # the same


def test_the_chance_is_fishers() -> None:
    """
    Fisher's probability: 1 of 10 to none is one half per tail, 3 of 3 to none 2 / 20.

    Unequal arms count one tail.
    """
    assert chance_of_one_arm_only(1, 10, 10) == pytest.approx(1.0)
    assert chance_of_one_arm_only(3, 3, 3) == pytest.approx(2 / 20)
    assert chance_of_one_arm_only(1, 1, 9) == pytest.approx(1 / 10)
    assert chance_of_one_arm_only(2, 10, 0) == 1.0


@pytest.mark.parametrize(
    ("judgement", "before"),
    [
        (None, 0),
        (judged(), math.inf),
        (judged(undecided="why"), 0),
        (judged(kind=DifferenceKind.QUEUE, attempt=2), 2),
        (judged(kind=DifferenceKind.ATTEMPTS), 0),
        (judged(kind=DifferenceKind.ERROR, attempt=2), math.inf),
    ],
)
def test_which_attempts_were_judged_to_their_end(judgement: SendJudgement | None, before: float) -> None:
    """All before the one with a difference; all if only the result differs, none if the rules could not judge."""
    assert judged_before(send(judgement, tried(0, MS))) == before


def test_a_refused_send_has_no_difference_of_the_rules() -> None:
    """Whether it may be refused is asked by ``refusals``."""
    wrong = judged(kind=DifferenceKind.ATTEMPTS)
    assert signatures(facts_alone(Attempts, send(wrong, error="RuntimeException"))) == []
    assert len(signatures(facts_alone(Attempts, send(wrong, error=SLOW)))) == 1
