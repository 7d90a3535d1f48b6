"""Evidence of each check from manually built counts."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts, TallyKey
from rocketdiff.analysis.checks.sending.by_rules import attempts, avoidance, callbacks, error_kind, queue_choice
from rocketdiff.analysis.checks.sending.by_rules.replay_checks import JUDGED, RULES, UNAVAILABLE
from rocketdiff.analysis.checks.storage import content, delay, duplication, loss, order
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Divergence, Example, Severity
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.settings import ClientSettings
from tests.analysis.by_hand import ENTRY, SUBJECTS, S, fault

Tallies = dict[TallyKey, tuple[int, float]]
DECISIVE, INDECISIVE = Standing.DECISIVE, Standing.INDECISIVE
NOT_APPLICABLE, INVALID = Standing.NOT_APPLICABLE, Standing.INVALID
FOUND = (Divergence("x", SUBJECTS[Arm.CANDIDATE], 1, Example(0, 0, None, "calm", "a", "b")),)
LATENCY = replace(ENTRY, settings=ClientSettings(send_latency_fault_enable=True))


def counted(baseline: int, candidate: int, name: str, key: str, total: float = 0.0) -> Tallies:
    """One tally per arm, without zeros."""
    both = zip(Arm, (baseline, candidate), strict=True)
    return {(name, arm, "calm", key): (n, total * n) for arm, n in both if n}


def case(*tallies: Tallies, check: str = "", kinds: tuple[FaultKind, ...] = ()) -> CaseFacts:
    """Tallies of a case. check: one with a divergence."""
    together = {key: value for each in tallies for key, value in each.items()}
    faults = tuple(fault(S, 2 * S, kind) for kind in kinds)
    return CaseFacts(
        "r1", SUBJECTS, ENTRY, tallies=together, faults=faults, divergences={check: FOUND} if check else {}
    )


def standing(evidence: Evidence) -> tuple[Standing, str, int]:
    return evidence.standing, evidence.reason, evidence.decisions


LACKING: list[tuple[ModuleType, str, str, str]] = [
    (content, "content", "copy", "no stored message of {} has its properties in the trace"),
    (order, "order", "pair", "no two messages of one key of {} share a queue"),
    (delay, "delay", "message", "no delayed message of {} was acknowledged"),
    (duplication, "duplication", "accounted", "no stored message of {} has a witnessed attempt to account for it"),
    (loss, "loss", "stored", "no send of {} was acknowledged"),
    (callbacks, "callbacks", "once", "{} reported no asynchronous send"),
]


@pytest.mark.parametrize(("check", "name", "key", "reason"), LACKING, ids=lambda one: getattr(one, "NAME", ""))
def test_a_witness_must_have_seen_both_arms(check: ModuleType, name: str, key: str, reason: str) -> None:
    """A check is indecisive without observations of both arms, or if queues were not read back."""
    assert standing(check.evaluate(case(counted(2, 3, name, key)))) == (DECISIVE, "", 5)
    assert standing(check.evaluate(case(counted(2, 0, name, key)))) == (INDECISIVE, reason.format("python:5.3.3"), 2)
    assert standing(check.evaluate(case(counted(0, 3, name, key)))) == (INDECISIVE, reason.format("java:5.3.3"), 3)
    for each in ((1, 0), (0, 1)) if check is not callbacks else ():
        unread = check.evaluate(case(counted(2, 3, name, key), counted(*each, "unread", "queues")))
        whose = "java:5.3.3" if each[0] else "python:5.3.3"
        assert standing(unread) == (INDECISIVE, f"what the brokers hold of {whose} was not read back", 5)
        nothing = check.evaluate(case(counted(*each, "unread", "queues")))
        assert standing(nothing) == (INDECISIVE, f"what the brokers hold of {whose} was not read back", 0)


def figures(evidence: Evidence) -> list[tuple[str, float, str, int]]:
    return [(one.name, one.value, one.unit, one.n) for one in evidence.measures]


@pytest.mark.parametrize(
    ("check", "tallies", "names"),
    [
        (content, [("content", "copy")], ["messages-compared"]),
        (order, [("order", "pair")], ["neighbours-compared"]),
        (delay, [("delay.lateness", "delivered")], ["delivered"]),
        (duplication, [("duplication", "stored-twice")], ["stored-more-than-once"]),
        (
            duplication,
            [("duplication", "stored-twice"), ("duplication.refused", "stored")],
            ["stored-more-than-once", "stored-though-refused"],
        ),
        (
            loss,
            [("loss", "ghost"), ("loss", "stored-late"), ("foreign", "message")],
            ["ghosts", "stored-late", "foreign-messages"],
        ),
        (
            loss,
            [("loss", "ghost"), ("loss", "stored-late"), ("foreign", "message"), ("loss", "one-way stored")],
            ["ghosts", "stored-late", "foreign-messages", "one-way-stored"],
        ),
        (
            attempts,
            [("attempts.seen", key) for key in ("failed", "not-store-ok", "retry")],
            ["failed-attempts", "not-store-ok", "retries"],
        ),
    ],
)
def test_every_figure_is_told_of_each_arm(check: ModuleType, tallies: list[tuple[str, str]], names: list[str]) -> None:
    """Each measure is reported for both arms, out of 100 and 90 sends."""
    told = [counted(3 + n, 5 + n, *one) for n, one in enumerate(tallies)]
    evidence = check.evaluate(case(*told, counted(100, 90, "sends", "ok")))
    wanted = [
        (f"{name} {arm}", value, "count", of)
        for n, name in enumerate(names)
        for arm, value, of in (("baseline", 3 + n, 100), ("candidate", 5 + n, 90))
    ]
    assert figures(evidence)[: len(wanted)] == wanted


def test_figures_of_what_is_told_besides() -> None:
    """Mean lateness, exceptions, callbacks and excused callbacks are measures."""
    late = delay.evaluate(case(counted(2, 4, "delay.lateness", "delivered", 7.5)))
    assert figures(late)[2:] == [
        ("delivered-late-by baseline", 7.5, "ms", 2),
        ("delivered-late-by candidate", 7.5, "ms", 4),
    ]
    assert figures(delay.evaluate(case(counted(2, 0, "delay.lateness", "delivered", 7.5))))[2:] == [
        ("delivered-late-by baseline", 7.5, "ms", 2)
    ]
    seen = case(
        counted(1, 2, "error-kind.seen", "A"), counted(0, 3, "error-kind.seen", "B"), counted(9, 8, "sends", "ok")
    )
    assert figures(error_kind.evaluate(seen)) == [
        ("A baseline", 1, "count", 9),
        ("A candidate", 2, "count", 8),
        ("B candidate", 3, "count", 8),
    ]
    called = [
        counted(5, 6, "callbacks", "once"),
        counted(1, 2, "callbacks", "more"),
        counted(3, 4, "callbacks", "never"),
    ]
    assert figures(callbacks.evaluate(case(*called, counted(9, 9, "sends", "ok")))) == [
        ("called-back baseline", 6, "count", 9),
        ("called-back candidate", 8, "count", 9),
        ("never-called-back baseline", 3, "count", 9),
        ("never-called-back candidate", 4, "count", 9),
    ]
    excused = callbacks.evaluate(case(*called, counted(0, 1, "callbacks.excused", "never")))
    assert figures(excused)[4:] == [
        ("never-called-back-by-rule baseline", 0, "count", 9),
        ("never-called-back-by-rule candidate", 1, "count", 12),
    ]


ONEWAY_REASON = "one-way messages to a broker at fault have no guarantee, and none was sent well before a fault"


@pytest.mark.parametrize(
    ("one_way", "judged", "kinds", "wanted"),
    [
        ((5, 5), (5, 5), (), (DECISIVE, "", 10)),
        ((5, 5), (3, 2), (FaultKind.PAUSE,), (DECISIVE, "", 5)),
        ((5, 5), (3, 0), (FaultKind.PAUSE,), (NOT_APPLICABLE, ONEWAY_REASON, 3)),
        ((5, 5), (0, 3), (FaultKind.PAUSE,), (NOT_APPLICABLE, ONEWAY_REASON, 3)),
        ((5, 0), (0, 0), (FaultKind.PAUSE,), (NOT_APPLICABLE, ONEWAY_REASON, 0)),
        ((5, 5), (0, 0), (), (DECISIVE, "", 0)),
        ((5, 0), (5, 0), (), (INDECISIVE, "no send of python:5.3.3 was acknowledged", 5)),
    ],
)
@pytest.mark.parametrize("key", ["one-way stored", "one-way absent"])
def test_one_way_messages_are_promised_where_all_is_well(
    one_way: tuple[int, int],
    judged: tuple[int, int],
    kinds: tuple[FaultKind, ...],
    wanted: tuple[Standing, str, int],
    key: str,
) -> None:
    """One-way messages are judged without a fault, or if each arm sent one well before it."""
    told = counted(*one_way, "loss", key), counted(*judged, "loss", "one-way judged")
    assert standing(loss.evaluate(case(*told, kinds=kinds))) == wanted


BY_RULES = [
    (queue_choice, "decision"),
    (attempts, "failed"),
    (attempts, "not-store-ok"),
    (attempts, "retry"),
    (error_kind, "X"),
]
SOUND = (counted(100, 100, "attempt", "broker-a"), counted(100, 100, RULES, JUDGED), counted(100, 100, "sends", "ok"))
Open = Callable[[], CaseFacts]


@pytest.mark.parametrize(("check", "key"), BY_RULES)
def test_checks_by_the_rules_need_the_candidate_in_their_situation(check: ModuleType, key: str) -> None:
    """
    A check decides if the candidate met its situation, or diverged.

    If only the baseline met it, it is indecisive; if neither did, it does not apply.
    """
    name: str = check.NAME
    for made, wanted, severity in (
        ((4, 6), (DECISIVE, "", 10), Severity.MUST),
        ((0, 6), (DECISIVE, "", 6), Severity.MUST),
        ((4, 0), (INDECISIVE, "python:5.3.3 never came into the situation this check asks about", 4), Severity.SHOULD),
    ):
        evidence = check.evaluate(case(*SOUND, counted(*made, name, key)))
        assert (standing(evidence), evidence.severity) == (wanted, severity)
        found = check.evaluate(case(*SOUND, counted(*made, name, key), check=name))
        assert standing(found) == (DECISIVE, "", sum(made))
    nobody = check.evaluate(case(*SOUND))
    assert (nobody.standing, nobody.severity) == (NOT_APPLICABLE, Severity.MUST)
    assert check.evaluate(case(*SOUND, check=name)).standing is DECISIVE


@pytest.mark.parametrize(
    ("lacks", "reason"),
    [
        (counted(0, 0, "", ""), ""),
        ({("attempt", "candidate", "calm", "broker-a"): (0, 0.0)}, "no attempt of python:5.3.3 was witnessed"),
        ({("attempt", "baseline", "calm", "broker-a"): (0, 0.0)}, "no attempt of java:5.3.3 was witnessed"),
        ({(RULES, "baseline", "calm", JUDGED): (0, 0.0)}, "no send of java:5.3.3 returned"),
        ({(RULES, "candidate", "calm", "too many"): (5, 0.0)}, ""),
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
    evidence = check.evaluate(case(*SOUND, counted(4, 6, check.NAME, key), lacks))
    assert (evidence.standing, evidence.reason) == ((INDECISIVE, reason) if reason else (DECISIVE, ""))
    assert evidence.severity is Severity.MUST
    if check is attempts:
        assert len(evidence.measures) == 6


@pytest.mark.parametrize(
    ("baseline", "candidate", "wanted"), [(0.9, 0.9, DECISIVE), (0.91, 0.1, INDECISIVE), (0.1, 0.91, INDECISIVE)]
)
def test_the_larger_legal_share_of_both_counts(baseline: float, candidate: float, wanted: Standing) -> None:
    """If the larger legal share of both arms exceeds 0.9, the check is indecisive and gates."""
    shares: Tallies = {
        ("queue-choice.legal", "baseline", "calm", "decision"): (10, 10 * baseline),
        ("queue-choice.legal", "candidate", "calm", "decision"): (10, 10 * candidate),
    }
    evidence = queue_choice.evaluate(case(*SOUND, counted(10, 10, "queue-choice", "decision"), shares))
    assert (evidence.standing, evidence.severity) == (wanted, Severity.MUST)
    assert evidence.legal_share == pytest.approx(max(baseline, candidate))
    assert attempts.evaluate(case(*SOUND, counted(4, 6, "attempts", "failed"))).legal_share is None


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
    evidence = check.evaluate(case(*SOUND, counted(blocked, 0, "blocked", "broker-b"), kinds=kinds))
    assert evidence.standing is wanted
    if wanted is INDECISIVE:
        assert (evidence.reason, evidence.severity) == (
            "no attempt of either arm met a faulty broker",
            Severity.SHOULD,
        )
    met = check.evaluate(case(*SOUND, counted(2, 2, check.NAME, "failed"), kinds=kinds))
    assert met.standing is DECISIVE


def test_avoidance_is_asked_where_a_client_keeps_a_table() -> None:
    """``avoidance`` needs fault latency and a choice under avoidance; if no attempt met the fault, it is indecisive."""
    asked = counted(3, 4, "avoidance", "decision")
    off = avoidance.evaluate(case(*SOUND, asked))
    assert (off.standing, off.reason) == (NOT_APPLICABLE, "fault latency is off: the client keeps no fault table")

    def on(*tallies: Tallies, kinds: tuple[FaultKind, ...] = ()) -> tuple[Standing, str]:
        evidence = avoidance.evaluate(replace(case(*SOUND, *tallies, kinds=kinds), entry=LATENCY))
        return evidence.standing, evidence.reason

    paused = (FaultKind.PAUSE,)
    assert on(asked) == on(asked, kinds=paused) == (DECISIVE, "")
    assert on(kinds=paused) == (INDECISIVE, "no attempt of either arm met a faulty broker")
    never = (NOT_APPLICABLE, "no attempt was slow enough to have its broker avoided")
    assert on(counted(1, 0, "blocked", "broker-b"), kinds=paused) == on() == never
