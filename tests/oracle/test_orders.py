"""Which decision points of several threads may be next, which orders are skipped, and how many are followed."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.producer import interleave
from rocketdiff.oracle.producer.interleave import (
    TOO_LATE,
    _certainly_past_ms,
    _enabled,
    _Lane,
    _may_avoid,
    _misread,
    _note_ends,
    _reach,
    _rivals,
    _settled,
    _soonest,
)
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.replay import replay_for
from rocketdiff.oracle.producer.states.belief import Belief
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint
from rocketdiff.oracle.producer.states.hidden_state import HiddenState, PendingReads
from rocketdiff.oracle.producer.states.uncertain import UncertainPublishInfo
from rocketmq_reference.dialects import dialect_of
from tests.oracle.histories import MS, attempt_of, history, routes, send_of
from tests.oracle.judging import judged

CALM = Belief([HiddenState(dialect_of("5.3.3"), ChoiceExplorer(), latency_on=True)])
QUICK, SLOW = attempt_of(0, "a", 0, 0, MS), attempt_of(0, "a", 0, 0, 600 * MS)
FAILED = attempt_of(0, "a", 0, 0, MS, "RemotingConnectException")


def avoiding(until_ms: int) -> Belief:
    state = HiddenState(dialect_of("5.3.3"), ChoiceExplorer(), latency_on=True)
    state.faults.update("a", 600, until_ms, True, 0)
    return Belief([state])


def choice(from_ns: int, to_ns: int) -> DecisionPoint:
    send = send_of(0, 0, SendKind.PLAIN, 0, from_ns, to_ns)
    return DecisionPoint(send, 0, from_ns, to_ns, None, chooses=True, followed_by=QUICK)


def note(from_ns: int, to_ns: int, settled: Attempt = FAILED) -> DecisionPoint:
    send = send_of(0, 0, SendKind.PLAIN, 0, 0, to_ns, attempts=(settled,))
    return DecisionPoint(send, 1, from_ns, to_ns, settled, chooses=False, followed_by=None)


def lane(*points: DecisionPoint) -> _Lane:
    made = _Lane(0)
    made.points = list(points)
    return made


def enabled(*lanes: _Lane, progress: tuple[int, ...] = (0, 0), here: Belief = CALM) -> list[int]:
    return _enabled(list(lanes), progress, here)


@pytest.mark.parametrize(("from_ns", "expected"), [(20, [0, 1]), (21, [0])])
def test_a_moment_may_be_next_unless_another_is_certainly_over_before(from_ns: int, expected: list[int]) -> None:
    """A point may be next unless another's window ends before its own begins."""
    assert enabled(lane(note(10, 20)), lane(note(from_ns, 30))) == expected
    assert enabled(lane(note(from_ns, 30)), lane(note(10, 20))) == [1 - one for one in expected][::-1]


def test_a_thread_at_its_end_is_not_asked() -> None:
    """A thread without further points is never next."""
    lanes = lane(note(10, 20)), lane(note(10, 20), note(90, 95))
    assert enabled(*lanes, progress=(1, 0)) == [1]
    assert enabled(*lanes, progress=(0, 1)) == [0]


def test_of_choices_alone_one_order_is_enough_in_calm() -> None:
    """In calm one order of choices is enough, because none changes another; with an avoidance all are tried."""
    assert enabled(lane(choice(10, 20)), lane(choice(10, 20))) == [0]
    assert enabled(lane(choice(10, 20)), lane(choice(10, 20)), here=avoiding(60_000)) == [0, 1]
    either = Belief([*CALM.states, *avoiding(60_000).states])
    assert enabled(lane(choice(10, 20)), lane(choice(10, 20)), here=either) == [0, 1]


def test_an_avoidance_that_is_over_is_calm() -> None:
    """An avoidance until 1 ms is over for a choice that begins then, but not a nanosecond earlier."""
    for from_ns, expected in ((MS, [0]), (MS - 1, [0, 1])):
        assert enabled(lane(choice(from_ns, 2 * MS)), lane(choice(from_ns, 2 * MS)), here=avoiding(1)) == expected


@pytest.mark.parametrize("settled", [FAILED, SLOW])
@pytest.mark.parametrize(("from_ns", "expected"), [(20, [1]), (21, [0])])
def test_a_thread_that_may_note_an_avoidance_goes_first(settled: Attempt, from_ns: int, expected: list[int]) -> None:
    """A thread that may note a failure or slow answer before another's choice ends goes first."""
    assert enabled(lane(choice(10, 20)), lane(choice(10, 20), note(from_ns, 700 * MS, settled))) == expected


def test_where_each_may_come_before_the_other_s_choice_both_orders_are_tried() -> None:
    """If each thread may note a failure before the other's choice, both orders are tried."""
    assert enabled(*(lane(choice(10, 20), note(20, 30)) for _ in range(2))) == [0, 1]


def test_a_quick_answer_does_not() -> None:
    """A quick answer, or the thread's own note, does not require another order."""
    assert enabled(lane(choice(10, 20)), lane(note(10, 20, QUICK))) == [0]
    assert enabled(lane(choice(10, 20), note(15, 20)), lane(choice(10, 20))) == [0]


def test_a_failure_already_noted_does_not_count() -> None:
    """A failure already noted does not require another order."""
    assert enabled(lane(choice(10, 20)), lane(note(10, 20), choice(10, 20)), progress=(0, 1)) == [0]


def test_a_note_is_never_passed_over() -> None:
    """Notes are tried in every order; a choice beside a harmless note goes first."""
    assert enabled(lane(note(10, 20, QUICK)), lane(note(10, 20, QUICK))) == [0, 1]
    assert enabled(lane(note(10, 20)), lane(choice(10, 20))) == [0, 1]
    assert enabled(lane(note(10, 20, QUICK)), lane(choice(10, 20))) == [1]


RETRY = replace(choice(10, 20), number=1)
LATE = replace(choice(10, 20), followed_by=None, send=send_of(0, 1, SendKind.PLAIN, 0, 10, 20, TOO_LATE))


@pytest.mark.parametrize(
    ("point", "may"),
    [
        (note(10, 20), True),
        (note(10, 700 * MS, SLOW), True),
        (note(10, 20, QUICK), False),
        (choice(10, 20), False),
        (RETRY, True),
        (replace(RETRY, followed_by=None), False),
    ],
    ids=["failure", "slow answer", "quick answer", "first choice", "retry", "end after an attempt"],
)
def test_calls_that_may_begin_an_avoidance(point: DecisionPoint, may: bool) -> None:
    """A note of a failure or a slow answer, and the choice of a retry, which refuses the broker that failed."""
    assert _may_avoid(point) is may


@pytest.mark.parametrize(
    ("others", "here", "expected"),
    [
        ((choice(10, 20),), CALM, []),
        ((choice(10, 20),), avoiding(60_000), [0]),
        ((note(10, 20), choice(20, 30)), CALM, [1]),
        ((choice(10, 20), RETRY), CALM, [0, 1]),
        ((choice(MS, 2 * MS), choice(MS + 1, 2 * MS)), avoiding(60_000), [0]),
        ((replace(choice(10, 20), send=send_of(0, 1, SendKind.SELECTOR, 0, 10, 20)),), avoiding(60_000), []),
        ((LATE,), avoiding(60_000), [0]),
        ((replace(LATE, send=replace(LATE.send, error="MQClientException")),), avoiding(60_000), []),
    ],
    ids=["calm", "an avoided broker", "a failure before it", "a retry", "after the attempt", "selector", "late", "end"],
)
def test_choices_that_may_rewrite_what_another_thread_selected(
    others: tuple[DecisionPoint, ...], here: Belief, expected: list[int]
) -> None:
    """Of another thread, before the attempt's end at 1 ms, if the client selects the queue; also if the call then finds its time spent."""
    found = _rivals([lane(choice(10, 20)), lane(*others)], (0, 0), 0, here, 3_000)
    assert list(found) == [others[number] for number in expected]


def test_an_avoidance_that_is_over_makes_no_choice_rewrite() -> None:
    """An avoidance until 1 ms is over for a choice that begins then, but not a nanosecond earlier."""
    for from_ns, expected in ((MS - 1, 1), (MS, 0)):
        lanes = [lane(choice(from_ns, MS)), lane(choice(from_ns, MS))]
        assert len(_rivals(lanes, (0, 0), 0, avoiding(1), 3_000)) == expected


def reading(*threads: int, hook: tuple[str | int, ...] = ("b", 0)) -> HiddenState:
    """A state in which these threads are still to read what their hooks reported."""
    state = HiddenState(dialect_of("4.9.7"), ChoiceExplorer(), latency_on=True)
    state.readings = {thread: PendingReads(1, 0, hook, ("b", 0), 90) for thread in threads}
    return state


@pytest.mark.parametrize(
    ("frontier", "expected"),
    [
        ([((1, 1), reading(0, 1))], 1),
        ([((1, 1), reading(0))], 0),
        ([((1, 0), reading(0, 1))], 0),
        ([((0, 1), reading(0))], None),
        ([((2, 1), reading(0))], None),
        ([((1, 1), reading(0)), ((1, 1), reading(1))], None),
        ([((1, 1), reading(0)), ((2, 1), reading(1))], 0),
        ([((2, 1), reading(1)), ((1, 1), reading(0))], 1),
        ([((1, 1), reading(0)), ((2, 2), reading(1))], None),
        ([((1, 1), reading(0, 1, hook=()))], None),
    ],
)
def test_the_thread_whose_hook_reported_what_no_element_was(
    frontier: list[tuple[tuple[int, int], HiddenState]], expected: int | None
) -> None:
    """In every state and order some thread in doubt, after its first choice, has not read it; of two the one that chose first."""
    replay = replay_for("4.9.7", ClientSettings(send_latency_fault_enable=True), routes("a4"))
    doubtful, clear = (Observation(replay.transitions, send) for send in history("0 a0 1 | 20 a2 1"))
    doubtful.doubt = RuleDifference(DifferenceKind.QUEUE, "queue.out-of-turn", 0, "", "")
    lanes = [lane(choice(10, 30), choice(35, 35)), lane(choice(10, 20), choice(50, 60))]
    for thread, each in enumerate(lanes):
        each.thread, each.observations = thread, [doubtful, clear]
    followed: dict[tuple[int, ...], Belief] = {}
    for progress, state in frontier:
        followed.setdefault(progress, Belief([])).states.append(state)
    assert _misread(lanes, followed) == expected


ATTEMPTS = (
    attempt_of(0, "a", 0, 10 * MS, 20 * MS),
    attempt_of(1, "b", 0, 30 * MS, 40 * MS),
    attempt_of(2, "a", 1, 50 * MS, 60 * MS),
)


@pytest.mark.parametrize(("number", "chosen_after_ms"), [(1, 5), (2, 20), (3, 40)])
def test_an_answer_within_half_a_second_of_its_choice_is_harmless(number: int, chosen_after_ms: int) -> None:
    """An answer within 500 ms of the call, or of the previous attempt's end, is harmless; failures and choices are not."""
    send = send_of(0, 0, SendKind.PLAIN, 0, 5 * MS, 900 * MS, attempts=ATTEMPTS)
    for to_ns, harmless in (((chosen_after_ms + 500) * MS - 1, True), ((chosen_after_ms + 500) * MS, False)):
        settled = ATTEMPTS[number - 1]
        point = DecisionPoint(send, number, settled.end_ns, to_ns, settled, chooses=False, followed_by=None)
        assert point.is_harmless is harmless
    assert not note(10, 20).is_harmless
    assert not choice(10, 20).is_harmless


@pytest.mark.parametrize(
    ("settled", "after"),
    [
        (QUICK, {True}),
        (SLOW, {True, False}),
        (FAILED, {False}),
        (replace(FAILED, error="MQBrokerException"), {False}),
        (replace(FAILED, error="MQClientException"), {True, False}),
    ],
)
def test_whether_a_broker_is_available_after_a_note(settled: Attempt, after: set[bool]) -> None:
    """After a quick answer, not after a failure of the connection or an error of the broker, otherwise perhaps."""
    transitions = replay_for("5.3.3", ClientSettings(send_latency_fault_enable=True), routes("a4")).transitions
    assert transitions._available_after(note(10, settled.end_ns, settled), settled) == after


def test_the_soonest_is_the_one_whose_window_ends_first() -> None:
    """Of the threads that may be next, the soonest is that whose window ends first."""
    lanes = [lane(note(10, 50)), lane(note(20, 30)), lane(note(1, 2))]
    assert [_soonest(lanes, (0, 0, 0), those) for those in ([0, 1], [0], [0, 1, 2])] == [1, 0, 2]


def test_the_certain_past_ends_at_the_earliest_pending_point() -> None:
    """The certain past ends, in whole ms, at the earliest pending point; without any it is 0."""
    lanes = [lane(note(7 * MS, 9 * MS)), lane(note(5 * MS - 1, 6 * MS), note(8 * MS, 9 * MS))]
    assert [_certainly_past_ms(lanes, progress) for progress in ((0, 0), (0, 1), (1, 1), (1, 2))] == [4, 7, 8, 0]


def test_an_unjudged_call_is_reached_by_the_first_that_may_be_as_late() -> None:
    """An unjudged call is reached when the window of a possible next point ends at or after its start."""
    lanes = [lane(note(10, 20)), lane(note(10, 30))]
    asked = [_reach(lanes, (0, 0), [0, 1], unknown_ns) for unknown_ns in (None, 20, 21, 30, 31)]
    assert asked == [False, True, True, True, False]
    assert not _reach(lanes, (0, 0), [0], 21)


def test_the_belief_at_the_end_of_a_call_is_kept() -> None:
    """The belief at the end of each call is kept once."""
    replay = replay_for("5.3.3", ClientSettings(send_latency_fault_enable=True), routes("a4"))
    first, second, third = (Observation(replay.transitions, send) for send in history("0 a0 1 | 20 a1 1 | 40"))
    made = _Lane(0)
    for each in (first, second, third):
        made.add(each)
    beliefs = [Belief([]) for _ in range(8)]
    ends: dict[int, Belief] = {}
    for number in range(2):
        _note_ends([made], {(number,): beliefs[number]}, ends)
    assert ends == {}
    for number in range(2, 8):
        _note_ends([made], {(number,): beliefs[number]}, ends)
    assert all(ends[id(one)] is beliefs[place] for one, place in ((first, 2), (second, 5), (third, 7)))
    assert len(ends) == 3


@pytest.mark.parametrize(("orders", "kept"), [(1, 10), (12, 10), (13, 9), (20, 8)])
def test_states_are_shared_out_among_orders(orders: int, kept: int) -> None:
    """Orders share 128 states, at least eight each; here each has ten that cannot merge."""
    replay = replay_for("5.3.3", ClientSettings(send_latency_fault_enable=True), routes("a4"))
    found: dict[tuple[int, ...], list[HiddenState]] = {}
    for order in range(orders):
        states = [HiddenState(dialect_of("5.3.3"), replay.transitions.explorer, latency_on=True) for _ in range(10)]
        for number, state in enumerate(states):
            state.infos[1] = UncertainPublishInfo([(f"b{number}", 0)], {}, replay.transitions.explorer)
        found[order,] = states
    frontier = _settled(replay.transitions, [lane()], found, True)
    assert {(len(belief.states), belief.complete) for belief in frontier.values()} == {(kept, kept == 10)}


def test_no_more_orders_are_followed_than_are_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most two orders are followed, and one after a third was dropped."""
    monkeypatch.setattr(interleave, "ORDERS_FOLLOWED", 2)
    monkeypatch.setattr(interleave, "ORDERS_BEYOND", 1)
    settle, followed = interleave._settled, []

    def noting(*arguments: Any) -> dict[tuple[int, ...], Belief]:
        frontier = settle(*arguments)
        followed.append((len(frontier), next(iter(frontier.values())).complete))
        return frontier

    monkeypatch.setattr(interleave, "_settled", noting)
    text = "t0 0 a0 1 | t1 10 a0 1 | t0 20 a1 1 | t0 41 a2 1 refused > b0 1 | t1 41 a1 1 refused > b2 1"
    judged("5.3.3", f"{text} | t2 41 a1 1 refused > b2 1", on=True)
    assert max(orders for orders, _ in followed) == 2
    first, *later = [orders for orders, complete in followed if not complete]
    assert (first, set(later)) == (2, {1})
