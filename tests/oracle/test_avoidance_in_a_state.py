"""When a hidden state avoids a broker, and when avoidances no longer matter."""

import pytest

from rocketdiff.oracle.interval import Reading, as_ms, bounds
from rocketdiff.oracle.producer.states.hidden_state import OVER_MS
from tests.oracle.states import DEMON, between, set_reachable, set_shown, state


@pytest.mark.parametrize(("now_ms", "avoided"), [(49, True), (50, False)])
def test_a_broker_is_avoided_while_that_is_certain(now_ms: int, avoided: bool) -> None:
    """A broker avoided until 50–60 ms is certainly avoided before 50; an unknown one never is."""
    made = state()
    assert (made.avoids("a", now_ms), made.avoids("b", now_ms)) == (avoided, False)


@pytest.mark.parametrize(("release", "avoided"), [("4.9.7", False), ("5.1.4", True), ("5.2.0", False)])
def test_an_unreachable_broker_is_avoided_for_ever_where_that_counts(release: str, avoided: bool) -> None:
    """Only 5.1.4 avoids an unreachable broker for ever."""
    made = state(release)
    set_reachable(made)
    assert made.avoids("a", 1_000) is avoided
    assert made.is_calm(1_000) is not avoided


@pytest.mark.parametrize(("now_ms", "calm"), [(59, False), (60, True)])
def test_all_is_calm_once_no_avoidance_may_go_on(now_ms: int, calm: bool) -> None:
    """A state is calm at the latest possible end of all avoidances; an end that the clock has shown is over."""
    made = state()
    made.faults.update("b", 1, 0, True, 0)
    made.faults.items["b"].start_ms = 0
    assert made.is_calm(now_ms) is calm
    set_shown(made)
    assert made.is_calm(0)


def test_a_broker_that_can_be_reached_is_calm_when_its_time_is_over() -> None:
    """In 5.1.4, too, a reachable broker is calm after its avoidance."""
    assert state("5.1.4").is_calm(60)


@pytest.mark.parametrize(("now_ms", "start"), [(59, (50, 60)), (60, (OVER_MS, OVER_MS))])
def test_avoidances_that_are_over_are_forgotten_where_they_are_only_extended(
    now_ms: int, start: tuple[int, int]
) -> None:
    """5.3.3 forgets avoidances that are certainly over; in 4.9.7 their start still counts."""
    for release, expected in (("5.3.3", start), ("4.9.7", (50, 60))):
        made = state(release)
        made.faults.update("b", 1, 0, True, 0)
        made.faults.items["b"].start_ms = 0
        made.forget_ended_avoidances(now_ms)
        assert bounds(made.faults.items["a"].start_ms) == expected
        assert bounds(made.faults.items["b"].start_ms) == (0, 0)


@pytest.mark.parametrize(
    ("start_ms", "latency_ms", "cause"),
    [
        (between(50, 60), 1, True),
        (OVER_MS, 1, True),
        (0, 1, False),
        (between(0, 60), 1, False),
        (as_ms(Reading(50, 60, DEMON) + 0), 1, False),
        (0, 49, False),
        (0, 50, True),
        (0, between(40, 50), True),
        (0, between(40, 49), False),
    ],
)
def test_cause_to_avoid_is_an_avoidance_or_fifty_milliseconds(start_ms: int, latency_ms: int, cause: bool) -> None:
    """A past avoidance or a latency of 50 ms, the lowest threshold, is cause to avoid; a success is none."""
    made = state()
    made.faults.items["a"].start_ms, made.faults.items["a"].latency_ms = start_ms, latency_ms
    assert (made.has_cause_to_avoid("a"), made.has_cause_to_avoid("b")) == (cause, False)
