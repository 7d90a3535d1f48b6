"""One hidden state: its key, what a copy shares, its events, and when it avoids a broker."""

from collections.abc import Callable

import pytest

from rocketdiff.oracle.interval import Reading, as_ms, bounds, was_read
from rocketdiff.oracle.producer.states.hidden_state import OVER_MS, HiddenState, PendingReads, PendingRewrite
from rocketdiff.oracle.producer.states.uncertain import UncertainPublishInfo
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Ending, Finish
from rocketmq_reference.rules.queue_choice.events import IndexRead
from tests.oracle.states import DEMON, TAPE, between, set_reachable, set_shown, state


def set_finish(one: HiddenState) -> None:
    one.thread_state(0).finish = Finish(Ending.RESULT, status="SEND_OK")


def set_index(one: HiddenState) -> None:
    one.thread_state(0).index.value = 4


def set_worst_index(one: HiddenState) -> None:
    one.thread_state(0).worst_index.value = None


def set_version(one: HiddenState) -> None:
    one.thread_state(0).version = 2


def set_attempts(one: HiddenState) -> None:
    loop = one.thread_state(0).loop
    assert loop is not None
    loop.attempts = 1


def set_pick(one: HiddenState) -> None:
    loop = one.thread_state(0).loop
    assert loop is not None
    loop.pick = Queue("a", 0)


def set_result_kept(one: HiddenState) -> None:
    loop = one.thread_state(0).loop
    assert loop is not None
    loop.result_kept = Finish(Ending.RESULT, 0, "FLUSH_DISK_TIMEOUT")


def end_loop(one: HiddenState) -> None:
    one.thread_state(0).loop = None


def add_thread(one: HiddenState) -> None:
    one.thread_state(1)


OF_A_THREAD = (
    set_finish, set_index, set_worst_index, set_version, set_attempts, set_pick, set_result_kept, end_loop, add_thread,
)  # fmt: skip


def set_list(one: HiddenState) -> None:
    one.infos[1].queues[0] = Queue("c", 0)


def set_answer(one: HiddenState) -> None:
    one.infos[1].answered["c"] = -1


def add_list(one: HiddenState) -> None:
    one.infos[2] = UncertainPublishInfo([("a", 0)], {}, DEMON)


def add_rewrite(one: HiddenState) -> None:
    one.rewritings[1] = PendingRewrite(1, 0, "b", 1, 10, 20)


def add_reading(one: HiddenState) -> None:
    one.readings[1] = PendingReads(1, 0, ("b", 1), None, 20)


SHARED = (set_reachable, set_shown, set_list, set_answer, add_list, add_rewrite, add_reading)


@pytest.mark.parametrize("change", [*OF_A_THREAD, *SHARED])
def test_states_that_may_behave_differently_have_different_keys(change: Callable[[HiddenState], None]) -> None:
    """States that differ in any part have different keys; equal states have equal keys."""
    other = state()
    assert state().key() == other.key()
    change(other)
    assert state().key()[0] != other.key()[0]


@pytest.mark.parametrize("change", SHARED)
def test_without_fault_latency_shared_parts_never_matter(change: Callable[[HiddenState], None]) -> None:
    """Without fault latency shared parts are not in the key, because nothing writes them."""
    other = state(latency_on=False)
    change(other)
    assert state(latency_on=False).key() == other.key()


@pytest.mark.parametrize(
    ("release", "latency_on", "times"),
    [
        ("4.9.7", True, ((1, 2), (3, 4), (50, 60), (10, 12))),
        ("5.3.3", True, ((1, 2), (3, 4), (50, 60))),
        ("5.3.3", False, ((1, 2), (3, 4))),
    ],
)
def test_a_key_lists_uncertain_times(release: str, latency_on: bool, times: tuple[tuple[int, int], ...]) -> None:
    """The key lists times of pending calls, then of the fault table, with latencies only if it is ever sorted."""
    assert state(release, latency_on=latency_on).key()[1] == times


@pytest.mark.parametrize(
    ("release", "brokers", "is_alike"),
    [
        ("4.9.7", ["a", "b", "c"], True),
        ("5.3.3", ["a", "b", "c"], True),
        ("4.7.1", ["broker-b", "x"], True),
        ("4.9.7", ["broker-b", "x"], False),
        ("5.3.3", ["broker-b", "x"], True),
    ],
)
def test_brokers_of_a_table_are_listed_alike_however_they_came_in(
    release: str, brokers: list[str], is_alike: bool
) -> None:
    """The order does not change the key, but of two in one bucket of Java's table, unless it is shuffled or never sorted."""
    one, other = (HiddenState(dialect_of(release), DEMON, latency_on=True) for _ in range(2))
    for made, given in ((one, brokers), (other, brokers[::-1])):
        for broker in given:
            made.faults.update(broker, between(1, 2), 0, True, 5)
    assert (one.key() == other.key()) is is_alike


def test_times_are_replaced_in_order_and_stay_shown() -> None:
    """Times are replaced in that order and stay marked as shown; a call is copied first, because states share it."""
    made = state()
    set_shown(made)
    shared = made.thread_state(0).loop
    made.set_times([(1, 2), (3, 7), (50, 55), (10, 12)], DEMON)
    assert made.key()[1] == ((1, 2), (3, 7), (50, 55), (10, 12))
    assert was_read(made.faults.items["a"].start_ms)
    assert not was_read(made.faults.items["a"].latency_ms)
    assert shared is not None
    assert bounds(shared.attempt_began_ms) == (3, 4)
    assert made.thread_state(0).loop is not shared


def test_a_call_whose_times_stay_is_not_copied() -> None:
    """A call is not copied if only times of the fault table change."""
    made = state()
    shared = made.thread_state(0).loop
    made.set_times([(1, 2), (3, 4), (50, 55), (10, 12)], DEMON)
    assert made.thread_state(0).loop is shared


@pytest.mark.parametrize("change", [*OF_A_THREAD, *SHARED])
def test_a_copy_is_a_state_of_its_own(change: Callable[[HiddenState], None]) -> None:
    """Changes of a copy leave the original unchanged."""
    made = state()
    change(made.copy(TAPE, 0))
    assert made.key() == state().key()


def test_a_copy_shares_the_minds_of_other_threads() -> None:
    """A copy shares other threads' states and, without fault latency, fault table and lists."""
    made = state()
    made.thread_state(1).version = 1
    copied = made.copy(TAPE, 0)
    assert copied.thread_state(1) is made.thread_state(1)
    assert copied.thread_state(0) is not made.thread_state(0)
    assert (copied.faults is made.faults, copied.infos[1] is made.infos[1]) == (False, False)
    plain = state(latency_on=False)
    copied = plain.copy(TAPE, 0)
    assert (copied.faults is plain.faults, copied.infos[1] is plain.infos[1]) == (True, True)
    copied.infos.clear()
    assert list(plain.infos) == [1]


def test_the_rules_in_a_copy_work_on_the_copy() -> None:
    """A copied call selects from the copy's list, counters and fault table."""
    copied = state().copy(TAPE, 0)
    loop = copied.thread_state(0).loop
    assert loop is not None
    selector = loop.selector
    assert selector.info is copied.infos[1]
    assert (selector.index, selector.worst_index) == (copied.thread_state(0).index, copied.thread_state(0).worst_index)
    assert selector.faults is copied.faults


def test_a_story_is_that_of_one_thread() -> None:
    """Events are collected for one thread, from empty; a copy continues its own."""
    made = state()
    made.thread_state(1).version = 1
    assert made.selector(0, made.thread_state(0), TAPE).observer is None
    made.collect_story(0)
    assert made.story == []
    observer = made.selector(0, made.thread_state(0), TAPE).observer
    assert observer is not None
    observer(IndexRead(3))
    assert made.selector(1, made.thread_state(1), TAPE).observer is None
    copied = made.copy(TAPE, 0)
    assert (copied.story, copied.story_thread) == ([IndexRead(3)], 0)
    assert copied.story is not made.story
    made.collect_story(1)
    assert (made.story, made.story_thread) == ([], 1)


def test_a_mind_is_fresh_at_the_first_call_of_its_thread() -> None:
    """A thread's state is new at its first call, then kept."""
    made = state()
    thread_state = made.thread_state(4)
    assert (
        thread_state.index.value,
        thread_state.worst_index.value,
        thread_state.version,
        thread_state.loop,
        thread_state.finish,
    ) == (
        None,
        None,
        0,
        None,
        None,
    )
    assert made.thread_state(4) is thread_state


def test_a_forgotten_index_may_stand_anywhere() -> None:
    """Forgetting the index makes both counters unknown; list and call stay."""
    made = state()
    before = made.thread_state(0)
    made.forget_index(0)
    after = made.thread_state(0)
    assert (after.index.value, after.worst_index.value) == (None, None)
    assert (after.version, after.loop) == (1, before.loop)
    assert before.index.value == 3


def test_lists_that_no_thread_holds_are_dropped() -> None:
    """Lists that no thread holds are dropped."""
    made = state()
    for version in (2, 3):
        made.infos[version] = UncertainPublishInfo([("a", 0)], {}, DEMON)
    made.thread_state(1).version = 3
    made.forget_unused_lists()
    assert list(made.infos) == [1, 3]


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
    """In 5.1.4, too, a reachable broker is calm, and not avoided, after its avoidance."""
    assert state("5.1.4").is_calm(60)
    assert not state("5.1.4").avoids("a", 60)


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
