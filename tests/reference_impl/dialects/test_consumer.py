"""Differences between the consumers of releases, each written down by hand from the release's classes."""

from dataclasses import fields

import pytest

from rocketmq_reference.dialects import RELEASES, consumer_rules_of

CHANGES = {
    "4.1.0-incubating": {"announces_changes": True, "shutdown_wait_ms": 1_000},
    "4.2.0": {"counts_bytes": True, "takes_empty_bodies": False, "uncounts_expired": True},
    "4.3.0": {"names_transaction": True},
    "4.5.1": {"hooks_see_first_topic": True},
    "4.6.0": {"pull_failure_delay_ms": 1_000},
    "4.6.1": {"resend_ends_transaction": True},
    "4.7.1": {"drops_waiting_calls": True},
    "4.8.0": {"tries_next_slave": True, "machine_room_counts_its_queues": True},
    "4.9.0": {"pulls_without_offset": False, "resets_in_turn": True},
    "4.9.3": {
        "queries_master_first": True,
        "commits_to_master_first": True,
        "machine_room_checks": True,
        "cleaning_can_die": False,
        "renewing_can_die": False,
    },
    "4.9.4": {"resend_keeps_origin_id": True, "locks_in_full_table": True},
    "4.9.5": {"broker_flow_control_delay_ms": 20, "new_queue_is_locked": True},
    "4.9.8": {"local_offsets_are_merged": True, "resets_bytes": True},
    "5.0.0": {
        "first_pull_delay_ms": 500,
        "stops_all_first": True,
        "pulls_without_query": False,
        "locks_in_full_table": False,
        "broker_flow_control_delay_ms": None,
        "pull_batch_bytes": 262_144,
        "any_error_is_no_offset": False,
        "commits_to_master_first": False,
        "announces_unknown_topic": True,
        "sends_back_by_name": False,
        "local_offsets_are_merged": False,
        "refused_lock_delay_ms": 500,
        "renews_dropped_queues": False,
        "renews_locks_twice": True,
        "resets_bytes": False,
    },
    "5.1.0": {"broker_flow_control_delay_ms": 20},
    "5.1.1": {"resend_counts_itself": True},
    "5.2.0": {
        "round_min_interval_ms": 1_000,
        "wrong_offset_delay_ms": 0,
        "beats_on_connect": True,
        "first_round_needs_heartbeat": True,
        "local_offsets_are_merged": True,
        "unlocks_at_once": True,
        "resets_bytes": True,
    },
    "5.3.1": {"sends_back_by_name": True, "sends_expired_back_by_name": True},
    "5.3.2": {"leaves_after_failed_start": True, "locks_to_broadcast": False, "takes_empty_bodies": True},
    "5.3.3": {"pulling_can_die": False},
    "5.4.0": {"keeps_origin_id": True},
    "5.5.0": {"leaves_empty_lists": True, "resets_after_call": True},
}


@pytest.mark.parametrize("release", RELEASES[1:])
def test_changes_of_a_release(release: str) -> None:
    """A release differs from the one before in the listed values alone."""
    before, now = consumer_rules_of(RELEASES[RELEASES.index(release) - 1]), consumer_rules_of(release)
    names = [field.name for field in fields(now)]
    changed = {name: getattr(now, name) for name in names if getattr(now, name) != getattr(before, name)}
    assert changed == CHANGES.get(release, {})
