"""
The push consumer of Java clients 4.0.0-incubating to 5.5.0: each generation states its changes since its parent.

Read in DefaultMQPushConsumerImpl, RebalanceImpl, RebalancePushImpl, RebalanceService, RemoteBrokerOffsetStore and MQClientInstance of
every release up to 5.3.3; the first pull, the rounds and the client's own send of a failed message were also seen with the executed
classes, those of 5.4.0 and 5.5.0 included. Consumers have a catalogue of their own, because their ranges break at other releases.
"""

from dataclasses import replace

from rocketmq_reference.dialects.catalogue import dialect_of, releases_of
from rocketmq_reference.dialects.generation import Generation
from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules
from rocketmq_reference.rules.dialect import Releases

CONSUMER_4_0_0 = Generation(
    Releases("4.0.0-incubating", "4.0.0-incubating"),
    None,
    ConsumerRules(
        first_pull_delay_ms=0,
        round_min_interval_ms=0,
        pull_failure_delay_ms=3_000,
        broker_flow_control_delay_ms=None,
        wrong_offset_delay_ms=10_000,
        pull_batch_bytes=None,
        beats_on_connect=False,
        first_round_needs_heartbeat=False,
        leaves_after_failed_start=False,
        shutdown_wait_ms=0,
        drops_waiting_calls=False,
        any_error_is_no_offset=True,
        queries_master_first=False,
        commits_to_master_first=False,
        tries_next_slave=False,
        announces_unknown_topic=False,
        leaves_empty_lists=False,
        keeps_origin_id=False,
        sends_back_by_name=True,
        sends_expired_back_by_name=False,
        machine_room_counts_its_queues=False,
        machine_room_checks=False,
        announces_changes=False,
        stops_all_first=False,
        understands_no_offset=True,
        local_offsets_are_merged=False,
        new_queue_is_locked=False,
        refused_lock_delay_ms=0,
        pulls_without_offset=True,
        pulls_without_query=True,
        renews_dropped_queues=True,
        renews_locks_twice=False,
        locks_in_full_table=False,
        unlocks_at_once=False,
        locks_to_broadcast=True,
        resend_counts_itself=False,
        resend_keeps_origin_id=False,
        resend_ends_transaction=False,
        counts_bytes=False,
        resets_bytes=False,
        takes_empty_bodies=True,
        uncounts_expired=False,
        cleaning_can_die=True,
        names_transaction=False,
        hooks_see_first_topic=False,
        pulling_can_die=True,
        renewing_can_die=True,
        resets_in_turn=False,
        resets_after_call=False,
    ),
)
"""Everything at once, but three seconds after a pull that failed."""

CONSUMER_4_1_0 = CONSUMER_4_0_0.followed(
    "4.1.0-incubating",
    "4.1.0-incubating",
    replace(CONSUMER_4_0_0.rules, announces_changes=True, shutdown_wait_ms=1_000),
)
"""Brokers learn of changed queues by heartbeats; a shutdown waits a second for what is delayed."""

CONSUMER_4_2_0 = CONSUMER_4_1_0.followed(
    "4.2.0", "4.2.0", replace(CONSUMER_4_1_0.rules, counts_bytes=True, takes_empty_bodies=False, uncounts_expired=True)
)
"""The size of messages holds pulls back too."""

CONSUMER_4_3_0 = CONSUMER_4_2_0.followed("4.3.0", "4.5.0", replace(CONSUMER_4_2_0.rules, names_transaction=True))
"""A listener is shown the id of a message's transaction (PullAPIWrapper.processPullResult)."""

CONSUMER_4_5_1 = CONSUMER_4_3_0.followed("4.5.1", "4.5.2", replace(CONSUMER_4_3_0.rules, hooks_see_first_topic=True))
"""A hook sees a retried message as the listener does (resetRetryAndNamespace)."""

CONSUMER_4_6_0 = CONSUMER_4_5_1.followed("4.6.0", "4.6.0", replace(CONSUMER_4_5_1.rules, pull_failure_delay_ms=1_000))
"""One second after a pull that failed (pullTimeDelayMillsWhenException)."""

CONSUMER_4_6_1 = CONSUMER_4_6_0.followed("4.6.1", "4.7.0", replace(CONSUMER_4_6_0.rules, resend_ends_transaction=True))
"""The client's own send of a failed message is no half of a transaction any more."""

CONSUMER_4_7_1 = CONSUMER_4_6_1.followed("4.7.1", "4.7.1", replace(CONSUMER_4_6_1.rules, drops_waiting_calls=True))
"""A shutdown leaves messages to others whose calls have not begun (awaitTerminationMillisWhenShutdown)."""

CONSUMER_4_8_0 = CONSUMER_4_7_1.followed(
    "4.8.0", "4.8.0", replace(CONSUMER_4_7_1.rules, tries_next_slave=True, machine_room_counts_its_queues=True)
)
"""A missing slave is replaced by the next one; machine rooms are divided as meant."""

CONSUMER_4_9_0 = CONSUMER_4_8_0.followed(
    "4.9.0", "4.9.2", replace(CONSUMER_4_8_0.rules, pulls_without_offset=False, resets_in_turn=True)
)
"""No pull in order without a known offset; one reset of offsets at a time."""

CONSUMER_4_9_3 = CONSUMER_4_9_0.followed(
    "4.9.3",
    "4.9.3",
    replace(
        CONSUMER_4_9_0.rules,
        queries_master_first=True,
        commits_to_master_first=True,
        machine_room_checks=True,
        cleaning_can_die=False,
        renewing_can_die=False,
    ),
)
"""Offsets belong to the master; a message that waits for its call does not end the search for calls that take too long."""

CONSUMER_4_9_4 = CONSUMER_4_9_3.followed(
    "4.9.4", "4.9.4", replace(CONSUMER_4_9_3.rules, resend_keeps_origin_id=True, locks_in_full_table=True)
)
"""Dead letters of an orderly member name their first id; brokers are asked for locks in another order."""

CONSUMER_4_9_5 = CONSUMER_4_9_4.followed(
    "4.9.5", "4.9.7", replace(CONSUMER_4_9_4.rules, broker_flow_control_delay_ms=20, new_queue_is_locked=True)
)
"""A pull is soon repeated after the broker's flow control; a queue consumed in order is pulled from as soon as it is locked."""

CONSUMER_4_9_8 = CONSUMER_4_9_5.followed(
    "4.9.8", "4.9.8", replace(CONSUMER_4_9_5.rules, local_offsets_are_merged=True, resets_bytes=True)
)
"""The file of a broadcasting member keeps the offsets of queues that it has lost."""

CONSUMER_5_0_0 = CONSUMER_4_9_8.followed(
    "5.0.0",
    "5.0.0",
    replace(
        CONSUMER_4_9_8.rules,
        first_pull_delay_ms=500,
        stops_all_first=True,
        broker_flow_control_delay_ms=None,
        pull_batch_bytes=256 * 1024,
        any_error_is_no_offset=False,
        commits_to_master_first=False,
        announces_unknown_topic=True,
        sends_back_by_name=False,
        local_offsets_are_merged=False,
        refused_lock_delay_ms=500,
        pulls_without_query=False,
        renews_dropped_queues=False,
        renews_locks_twice=True,
        locks_in_full_table=False,
        resets_bytes=False,
    ),
)
"""The first pull of a queue comes half a second after the round that took it; made without some changes since 4.9.4."""

CONSUMER_5_1_0 = CONSUMER_5_0_0.followed(
    "5.1.0", "5.1.0", replace(CONSUMER_5_0_0.rules, broker_flow_control_delay_ms=20)
)
"""As 4.9.5 after the broker's flow control."""

CONSUMER_5_1_1 = CONSUMER_5_1_0.followed("5.1.1", "5.1.4", replace(CONSUMER_5_1_0.rules, resend_counts_itself=True))
"""Dead letters of an orderly member count their last failure."""

CONSUMER_5_2_0 = CONSUMER_5_1_1.followed(
    "5.2.0",
    "5.3.0",
    replace(
        CONSUMER_5_1_1.rules,
        round_min_interval_ms=1_000,
        wrong_offset_delay_ms=0,
        beats_on_connect=True,
        first_round_needs_heartbeat=True,
        local_offsets_are_merged=True,
        unlocks_at_once=True,
        resets_bytes=True,
    ),
)
"""A second between rounds; a heartbeat on each new connection; a wrong offset is repaired at once; a queue
is unlocked when it is given up."""

CONSUMER_5_3_1 = CONSUMER_5_2_0.followed(
    "5.3.1",
    "5.3.1",
    replace(CONSUMER_5_2_0.rules, sends_back_by_name=True, sends_expired_back_by_name=True),
)
"""Every failed message goes back to the broker of its queue, not to an address that this may have left."""

CONSUMER_5_3_2 = CONSUMER_5_3_1.followed(
    "5.3.2",
    "5.3.2",
    replace(CONSUMER_5_3_1.rules, leaves_after_failed_start=True, locks_to_broadcast=False, takes_empty_bodies=True),
)
"""A failed start shuts the consumer down; a broadcasting member needs no locks."""

CONSUMER_5_3_3 = CONSUMER_5_3_2.followed("5.3.3", "5.3.3", replace(CONSUMER_5_3_2.rules, pulling_can_die=False))
"""An error costs the pulls of its queue alone."""

CONSUMER_5_4_0 = CONSUMER_5_3_3.followed("5.4.0", "5.4.0", replace(CONSUMER_5_3_3.rules, keeps_origin_id=True))
"""The client's own send of a failed message keeps its first id."""

CONSUMER_5_5_0 = CONSUMER_5_4_0.followed(
    "5.5.0", "5.5.0", replace(CONSUMER_5_4_0.rules, leaves_empty_lists=True, resets_after_call=True)
)
"""A topic without queues is no failure; a reset of offsets in order waits for the call alone (both seen in the byte code)."""

CONSUMER = (
    CONSUMER_4_0_0,
    CONSUMER_4_1_0,
    CONSUMER_4_2_0,
    CONSUMER_4_3_0,
    CONSUMER_4_5_1,
    CONSUMER_4_6_0,
    CONSUMER_4_6_1,
    CONSUMER_4_7_1,
    CONSUMER_4_8_0,
    CONSUMER_4_9_0,
    CONSUMER_4_9_3,
    CONSUMER_4_9_4,
    CONSUMER_4_9_5,
    CONSUMER_4_9_8,
    CONSUMER_5_0_0,
    CONSUMER_5_1_0,
    CONSUMER_5_1_1,
    CONSUMER_5_2_0,
    CONSUMER_5_3_1,
    CONSUMER_5_3_2,
    CONSUMER_5_3_3,
    CONSUMER_5_4_0,
    CONSUMER_5_5_0,
)
"""Every generation, oldest first; a parent comes before its children."""

_BY_RELEASE = {release: each.rules for each in CONSUMER for release in releases_of(each)}
_BY_RELEASE |= {
    "5.0.0-PREVIEW": replace(
        CONSUMER_4_9_0.rules,
        first_pull_delay_ms=500,
        stops_all_first=True,
        announces_unknown_topic=True,
        new_queue_is_locked=True,
        refused_lock_delay_ms=500,
        renews_dropped_queues=False,
        renews_locks_twice=True,
    ),
    # It waits for PULL_NOT_FOUND instead, which no broker answers to a query.
    "5.0.0-ALPHA": replace(CONSUMER_5_0_0.rules, understands_no_offset=False, resend_keeps_origin_id=False),
}


def consumer_rules_of(release: str) -> ConsumerRules:
    """Return the rules of a release, named as in ``dialect_of``, which also raises ValueError for an unknown one."""
    dialect_of(release)
    return _BY_RELEASE[release.partition("+")[0]]
