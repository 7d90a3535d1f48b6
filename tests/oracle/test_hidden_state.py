"""One hidden state: its key, what a copy shares, and its events."""

from collections.abc import Callable

import pytest

from rocketdiff.oracle.interval import bounds, was_read
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
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


SHARED = (set_reachable, set_shown, set_list, set_answer, add_list)


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


def test_brokers_of_a_table_are_listed_alike_however_they_came_in() -> None:
    """The order in which brokers entered a fault table does not change the key."""
    for release in ("4.9.7", "5.3.3"):
        one, other = (HiddenState(dialect_of(release), DEMON, latency_on=True) for _ in range(2))
        for made, brokers in ((one, "abc"), (other, "cab")):
            for broker in brokers:
                made.faults.update(broker, between(1, 2), 0, True, ord(broker))
        assert one.key() == other.key()


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
