"""The set of hidden states is kept small without loss, or over-approximated."""

import pytest

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval, as_ms, bounds
from rocketdiff.oracle.producer.replay import replay_for
from rocketdiff.oracle.producer.states import transition
from rocketdiff.oracle.producer.states.belief import settle_belief
from rocketdiff.oracle.producer.states.decision_point import decision_points_of
from rocketdiff.oracle.producer.states.hidden_state import OVER_MS, HiddenState
from rocketdiff.oracle.producer.states.uncertain import UncertainPublishInfo
from rocketmq_reference.dialects import dialect_of
from tests.oracle.histories import history, routes
from tests.oracle.judging import signatures

DEMON = ChoiceExplorer()


def state(
    start: tuple[int, int], latency: tuple[int, int] = (1, 2), *, release: str = "4.9.7", index: int = 0
) -> HiddenState:
    """Return a state with one thread and broker a avoided until ``start``."""
    made = HiddenState(dialect_of(release), DEMON, latency_on=True)
    made.infos[1] = UncertainPublishInfo([("a", 0)], {}, DEMON)
    thread_state = made.thread_state(0)
    thread_state.version, thread_state.index.value = 1, index
    made.faults.update("a", as_ms(Interval(*latency, DEMON)), 1_000, True, 0)
    made.faults.items["a"].start_ms = as_ms(Interval(*start, DEMON))
    return made


def starts(states: list[HiddenState], *, now: int = 0, kept: int = 100) -> tuple[list[tuple[int, int]], bool]:
    belief = settle_belief(states, DEMON, now, complete=True, kept=kept)
    return [bounds(one.faults.items["a"].start_ms) for one in belief.states], belief.complete


def test_equal_worlds_are_one() -> None:
    """Equal states are merged."""
    assert starts([state((5, 6)), state((5, 6))]) == ([(5, 6)], True)


def test_touching_intervals_are_joined() -> None:
    """Touching intervals merge without loss: 5–6 and 7–9 become 5–9."""
    assert starts([state((5, 6)), state((7, 9))]) == ([(5, 9)], True)


def test_intervals_with_a_gap_are_not() -> None:
    """Intervals with a gap stay apart: 7 is not possible."""
    assert starts([state((5, 6)), state((8, 9))]) == ([(5, 6), (8, 9)], True)


def test_as_many_as_are_kept_are_not_made_vaguer() -> None:
    """Two states are kept unchanged if two may be kept."""
    assert starts([state((5, 6)), state((8, 9))], kept=2) == ([(5, 6), (8, 9)], True)


def test_worlds_that_differ_in_two_intervals_are_not_joined() -> None:
    """States with two different intervals stay apart: their hull contains more."""
    assert len(starts([state((5, 6), (1, 2)), state((7, 9), (3, 4))])[0]) == 2


def test_a_world_within_another_is_dropped() -> None:
    """A state within another in all intervals is dropped."""
    assert starts([state((5, 9), (1, 4)), state((6, 7), (2, 3))]) == ([(5, 9)], True)


def test_too_many_are_made_vaguer() -> None:
    """Too many states become their hull, which may contain more, and stay complete."""
    assert starts([state((5, 6)), state((8, 9))], kept=1) == ([(5, 9)], True)
    belief = settle_belief([state((5, 6)), state((8, 9))], DEMON, 0, complete=True, kept=1)
    assert [one.thread_state(0).index.value for one in belief.states] == [0]


def test_indexes_and_times_are_made_vaguer_together_where_neither_is_enough() -> None:
    """If the hull of the times is not enough, the index becomes unknown."""
    two = [state((5, 6)), state((8, 9), index=5)]
    belief = settle_belief(two, DEMON, 0, complete=True, kept=1)
    assert [one.thread_state(0).index.value for one in belief.states] == [None]
    assert starts(two, kept=1) == ([(5, 9)], True)


def test_a_hundred_and_twenty_eight_states_are_kept() -> None:
    """128 states that cannot merge are kept; one more is dropped, and the belief is incomplete."""
    states = []
    for number in range(129):
        states.append(state((5, 6)))
        states[-1].infos[1] = UncertainPublishInfo([(f"b{number}", 0)], {}, DEMON)
    few, many = (settle_belief(states[:most], DEMON, 0, complete=True) for most in (128, 129))
    assert [(len(one.states), one.complete) for one in (few, many)] == [(128, True), (128, False)]


def test_what_was_incomplete_stays_so() -> None:
    """An incomplete belief stays incomplete, with one or several states."""
    for states in ([state((5, 6))], [state((5, 6)), state((8, 9))]):
        assert not settle_belief(states, DEMON, 0, complete=False).complete


def test_too_many_indexes_are_forgotten() -> None:
    """Too many indexes become unknown; the belief stays complete."""
    belief = settle_belief([state((5, 6)), state((5, 6), index=5)], DEMON, 0, complete=True, kept=1)
    assert ([one.thread_state(0).index.value for one in belief.states], belief.complete) == ([None], True)


def test_what_cannot_be_made_vaguer_is_left_out_and_said() -> None:
    """Of two different lists one is dropped, and the belief is incomplete."""
    other = state((5, 6))
    other.infos[1] = UncertainPublishInfo([("b", 0)], {}, DEMON)
    belief = settle_belief([state((5, 6)), other], DEMON, 0, complete=True, kept=1)
    assert (len(belief.states), belief.complete) == (1, False)


def test_avoidances_that_are_over_are_alike_where_they_are_only_extended() -> None:
    """From 5.1.4 on ended avoidances are equal; before, their order counts."""
    two = [state((5, 6), release="5.3.3"), state((8, 9), release="5.3.3")]
    assert starts(two, now=10) == ([(OVER_MS, OVER_MS)], True)
    assert len(starts([state((5, 6)), state((8, 9))], now=10)[0]) == 2


@pytest.mark.parametrize(("followed", "found"), [(8, ["queue.out-of-turn/first"]), (7, ["undecided"])])
def test_where_ways_are_left_out_nothing_is_a_difference(
    followed: int, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With seven of eight outcomes followed, a wrong queue is undecided."""
    monkeypatch.setattr(transition, "WAYS_FOLLOWED", followed)
    assert signatures("5.3.3", "0 a0 1 | 20 a2 1 | 40 a3 1") == found


def test_where_runs_are_left_out_nothing_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """With four runs for eight outcomes, a wrong queue is undecided."""
    monkeypatch.setattr(transition, "RUNS_FOLLOWED", 4)
    assert signatures("5.3.3", "0 a1 1 | 20 a3 1") == ["undecided"]


def test_once_ways_were_left_out_few_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After outcomes were dropped, only two of eight are followed."""
    monkeypatch.setattr(transition, "WAYS_BEYOND", 2)
    replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"))
    (point, _) = decision_points_of(history("0 a1 1")[0], split=False)
    ways = []
    for replay.transitions.left_out in (False, True):
        ways.append(len(replay.transitions.every_outcome(replay.belief.states, point)))
    assert ways == [8, 2]
