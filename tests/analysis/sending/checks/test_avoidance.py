"""The check ``avoidance`` on manually judged sends and counts."""

from dataclasses import replace
from typing import Any, cast

import pytest

from rocketdiff.analysis.facts import Tally
from rocketdiff.analysis.sending.checks.by_rules import avoidance
from rocketdiff.analysis.sending.checks.by_rules.absence import STAYED_AWAY
from rocketdiff.analysis.sending.checks.by_rules.avoidance import Avoidance
from rocketdiff.analysis.sending.checks.context import CalmBefore
from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.judgement import DifferenceKind
from tests.analysis.builders import ENTRY, MS, S, context_of, made, pair, tried
from tests.analysis.sending.checks.builders import (
    CANDIDATE,
    DECISIVE,
    INDECISIVE,
    NOT_APPLICABLE,
    SLOW,
    SOUND,
    Tallies,
    case_of,
    decision,
    facts_alone,
    judged,
    send,
    tallied,
)


def test_choices_under_avoidance_are_counted_with_their_legal_share() -> None:
    """Two of three choices, made while a broker was avoided, count with their legal share."""
    choices = decision(0, 4, avoided=1), decision(1, avoided=2), decision(2, 8)
    found = facts_alone(Avoidance, send(judged(*choices), tried(0, 1)))
    assert found.n("avoidance", "decision", arm=CANDIDATE) == 2
    assert found.mean("avoidance.legal", "decision") == pytest.approx((4 / 8 + 1 / 8) / 2)


def failing(send: int, start_s: float, broker: str = "broker-b", **named: Any) -> Any:
    start_ns = round(start_s * S)
    return made(CANDIDATE, send, tried(start_ns, start_ns + S // 2, SLOW, broker=broker), **named)


def well(send: int, start_s: float, broker: str = "broker-b", **named: Any) -> Any:
    start_ns = round(start_s * S)
    return made(CANDIDATE, send, tried(start_ns, start_ns + MS, broker=broker), **named)


ABSENT = ("avoidance.absence", STAYED_AWAY)


def absences(*sides: Any) -> dict[str, float]:
    """Measures of absences from brokers, by name."""
    found = facts_alone(
        Avoidance, *sides, entry=replace(ENTRY, settings=ClientSettings(send_latency_fault_enable=True))
    )
    assert {phase for check, _, phase, key in found.tallies if (check, key) == ABSENT} <= {"calm"}
    for arm in Arm:
        found = replace(found, tallies={**found.tallies, ("attempt", arm, "calm", "b"): (1, 0.0)})
    measures = avoidance.evaluate(found).measures
    assert all(measure.unit == "ms" for measure in measures)
    return {f"{measure.name} n={measure.n}": measure.value for measure in measures}


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


class CalmSends:
    """A thread of the candidate whose last attempt was in calm, at 9 s."""

    def last_attempts(self, arm: Arm) -> list[tuple[int, int]]:
        return [(0, 9 * S)] if arm is CANDIDATE else []


def test_an_absence_lasts_to_the_last_attempt_of_calm_sends_too() -> None:
    """Calm sends after the failure, which are not observed, went elsewhere."""
    context = context_of()
    observer = Avoidance(context)
    observer.observe(pair(None, failing(0, 1)))
    observer.calm_at_end(cast(CalmBefore, CalmSends()))
    observer.finish()
    assert [one.fact.total for one in context.collector.facts() if isinstance(one.fact, Tally)] == [7_500.0]


def test_a_retry_at_the_same_broker_is_no_return() -> None:
    """A retry is no return: a send that failed at 1.5 s and 2.1 s is back at 4 s."""
    twice = made(CANDIDATE, 0, tried(S, 3 * S // 2, SLOW), tried(1_600 * MS, 2_100 * MS, SLOW, attempt=1))
    assert absences(twice, well(1, 4)) == pytest.approx({"away-until-return candidate n=1": 1_900})


def test_a_difference_names_the_time_since_the_last_failure_there() -> None:
    """The difference names the 2.5 s since the last failed attempt there, if any."""
    wrong = judged(kind=DifferenceKind.AVOIDANCE, attempt=0)
    for sides, wanted in (
        ([failing(0, 1), well(1, 4, judgement=wrong)], "that, 2.5 s after its last failed attempt there"),
        ([failing(0, 1), well(1, 4, "broker-a", judgement=wrong)], "that"),
        ([failing(0, 1), well(1, 4, thread=1, judgement=wrong)], "that"),
        ([failing(0, 1), well(1, 4, judgement=judged(kind=DifferenceKind.AVOIDANCE, attempt=7))], "that"),
    ):
        ((one,),) = facts_alone(Avoidance, *sides).divergences.values()
        assert one.example.observed == wanted


LATENCY = replace(ENTRY, settings=ClientSettings(send_latency_fault_enable=True))


def test_avoidance_is_asked_where_a_client_keeps_a_table() -> None:
    """``avoidance`` needs fault latency and a choice under avoidance; if no attempt met the fault, it is indecisive."""
    asked = tallied(3, 4, "avoidance", "decision")
    off = avoidance.evaluate(case_of(*SOUND, asked))
    assert (off.standing, off.reason) == (NOT_APPLICABLE, "fault latency is off: the client keeps no fault table")

    def on(*tallies: Tallies, kinds: tuple[FaultKind, ...] = ()) -> tuple[Standing, str]:
        evidence = avoidance.evaluate(replace(case_of(*SOUND, *tallies, kinds=kinds), entry=LATENCY))
        return evidence.standing, evidence.reason

    paused = (FaultKind.PAUSE,)
    assert on(asked) == on(asked, kinds=paused) == (DECISIVE, "")
    assert on(kinds=paused) == (INDECISIVE, "no attempt of either arm met a faulty broker")
    never = (NOT_APPLICABLE, "no attempt was slow enough to have its broker avoided")
    assert on(tallied(1, 0, "blocked", "broker-b"), kinds=paused) == on() == never
