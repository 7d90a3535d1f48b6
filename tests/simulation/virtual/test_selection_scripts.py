"""Scripts of depth "selection", with manually calculated results."""

import pytest

from tests.simulation.virtual.running import lines_of, queues_of, state_of

TWO = {"a": 2, "b": 1}


def test_rotation_goes_on_from_the_start_index() -> None:
    """After 11 come 12, 13, 14 and 15, modulo three queues a0, a1, b0 and a0."""
    script = {"route": TWO, "start_index": 11, "steps": [{"do": "select"}] * 4}
    assert queues_of("5.3.3", script) == ["a0", "a1", "b0", "a0"]


@pytest.mark.parametrize(("release", "chosen"), [("4.7.1", ["b0", "a1"]), ("4.8.0", ["b0", "a0"])])
def test_a_retry_spends_one_tick_or_one_for_each_queue_it_passes(release: str, chosen: list[str]) -> None:
    """
    Up to 4.7.1 a retry past broker a takes one tick (12), from 4.8.0 on three (12, 13, 14).

    The next choice shows it: 13 is a1, 15 is a0.
    """
    script = {"route": TWO, "start_index": 11, "steps": [{"do": "select", "last_broker": "a"}, {"do": "select"}]}
    assert queues_of(release, script) == chosen


def test_an_unset_counter_starts_at_the_tapes_draw() -> None:
    """Seed 0 draws 0x7B1DCDAF, 2,065,550,767; the next number, 2,065,550,768, is 2 modulo three."""
    assert queues_of("5.3.3", {"route": TWO, "steps": [{"do": "select"}]}) == ["b0"]


def test_threads_count_for_themselves() -> None:
    """Each thread has its own counter: 12 is a0, 6 is a0, 13 is a1."""
    steps = [{"do": "select"}, {"do": "select", "thread": 1}, {"do": "select"}]
    assert queues_of("5.3.3", {"route": TWO, "start_index": [11, 5], "steps": steps}) == ["a0", "a0", "a1"]


def test_an_isolated_broker_is_avoided_until_its_time_is_up() -> None:
    """From 5.1.4 on a failed broker is avoided for 10 s: still at 9,999 ms, not at 10,000 ms."""
    steps = [
        {"do": "update", "broker": "a", "latency_ms": 5, "isolation": True},
        {"do": "advance", "ms": 9_999},
        {"do": "select"},
        {"do": "advance", "ms": 1},
        {"do": "select"},
    ]
    settings = {"send_latency_fault_enable": True}
    assert queues_of("5.3.3", {"route": TWO, "settings": settings, "start_index": 11, "steps": steps}) == ["b0", "a0"]


def test_an_update_without_fault_latency_leaves_no_trace() -> None:
    """Without fault latency an update leaves the table empty."""
    steps = [
        {"do": "update", "broker": "a", "latency_ms": 9_000, "isolation": True},
        {"do": "dump", "parts": ["faults"]},
    ]
    assert state_of("4.7.1", {"route": TWO, "steps": steps}) == {"faults": {}}


def test_the_fault_table_counts_from_the_start_of_the_script() -> None:
    """At 100 ms a latency of 600 ms costs 30 s in 4.x; 5 ms cost nothing, for which 5.x stores no time."""
    steps = [
        {"do": "advance", "ms": 100},
        {"do": "update", "broker": "a", "latency_ms": 600, "isolation": False},
        {"do": "update", "broker": "b", "latency_ms": 5, "isolation": False},
        {"do": "dump", "parts": ["faults"]},
    ]
    script = {"route": TWO, "settings": {"send_latency_fault_enable": True}, "steps": steps}
    assert state_of("4.7.1", script)["faults"] == {
        "a": {"latency_ms": 600, "available_at_ms": 30_100, "reachable": True},
        "b": {"latency_ms": 5, "available_at_ms": 100, "reachable": True},
    }
    assert state_of("5.3.3", script)["faults"] == {
        "a": {"latency_ms": 600, "available_at_ms": 2_100, "reachable": True},
        "b": {"latency_ms": 5, "available_at_ms": None, "reachable": True},
    }


def test_a_changed_route_is_learnt_at_a_poll_and_begins_with_a_new_counter() -> None:
    """After the poll c0 is chosen, with a newly drawn counter (0x7B1DCDAF) increased by one."""
    steps = [
        {"do": "route", "route": {"c": 1}},
        {"do": "select"},
        {"do": "poll_routes"},
        {"do": "select"},
        {"do": "dump", "parts": ["index", "queues"]},
    ]
    script = {"route": TWO, "start_index": 11, "steps": steps}
    assert queues_of("5.3.3", script) == ["a0", "c0"]
    assert state_of("5.3.3", script) == {"index": 0x7B1DCDB0, "queues": ["c0"]}


def test_without_a_route_there_is_nothing_to_choose() -> None:
    """Without a route Java divides by zero queues."""
    assert lines_of("5.3.3", {"route": None, "steps": [{"do": "select"}]}) == [
        '{"script": "S", "step": 0, "select": {"exception": "ArithmeticException"}}'
    ]


def test_counters_can_be_set_and_shown() -> None:
    """Counters can be set; an unused one is shown as null."""
    steps = [{"do": "index", "value": -3}, {"do": "dump", "parts": ["index", "worst_index", "clock"]}]
    assert state_of("5.3.3", {"route": TWO, "steps": steps}) == {
        "index": -3,
        "worst_index": None,
        "clock": {"now_ms": 0},
    }


def test_a_timeline_runs_in_the_order_of_time_with_the_environment_first() -> None:
    """At 5 ms the isolation of broker a comes before thread 1's select."""
    timeline = [
        {"at_ms": 5, "action": {"do": "select", "thread": 1}},
        {"at_ms": 1, "action": {"do": "select"}},
        {"at_ms": 5, "action": {"do": "update", "broker": "a", "latency_ms": 1, "isolation": True}},
    ]
    script = {
        "route": TWO,
        "settings": {"send_latency_fault_enable": True},
        "start_index": [11, 11],
        "steps": [{"do": "timeline", "entries": timeline}],
    }
    assert lines_of("5.3.3", script) == [
        '{"script": "S", "step": 0, "at": 1, "select": {"broker": "a", "queue_id": 0}}',
        '{"script": "S", "step": 0, "at": 0, "select": {"broker": "b", "queue_id": 0}}',
    ]


def test_names_are_printed_as_json_prints_them() -> None:
    """Quotes in names are escaped; a queue is broker and number joined."""
    script = {"route": {'a"': 1}, "start_index": 0, "steps": [{"do": "select"}, {"do": "dump", "parts": ["queues"]}]}
    assert lines_of("5.3.3", script) == [
        '{"script": "S", "step": 0, "select": {"broker": "a\\"", "queue_id": 0}}',
        '{"script": "S", "step": 1, "dump": {"queues": ["a\\"0"]}}',
    ]
