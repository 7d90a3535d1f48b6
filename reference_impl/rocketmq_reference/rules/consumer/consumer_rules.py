"""Type of the consumer's differences between releases; the values are in rocketmq_reference.dialects.consumer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsumerRules:
    """
    What differs between releases in a push consumer; times in ms.

    first_pull_delay_ms: from taking a queue to its first pull. round_min_interval_ms: least time between two rounds of rebalancing,
    and from the start to the first; 0: a request for a round is served at once. pull_failure_delay_ms: from a pull that failed, or was
    refused, to the next, unless set. broker_flow_control_delay_ms: the same after FLOW_CONTROL; None: as after any failure.
    wrong_offset_delay_ms: from an answer OFFSET_ILLEGAL to the repair; 0: at once, with a frozen offset, and a round follows.
    pull_batch_bytes: bytes that a pull asks for at most; None: no such field.

    beats_on_connect: a new connection to a broker begins with a heartbeat and asks for a round; else the broker knows the member
    again with its next periodic heartbeat. first_round_needs_heartbeat: a start without a known broker asks for no round.
    leaves_after_failed_start: a consumer whose start throws shuts down; else it lives on. shutdown_wait_ms: how long a shutdown waits for
    delayed pulls and repairs; what is due by then is still done. drops_waiting_calls: at a shutdown messages that wait for their call are left
    to others; else they are still consumed.

    any_error_is_no_offset: a broker's error answer to the question for an offset means that the group has none; else only
    QUERY_NOT_FOUND. queries_master_first, commits_to_master_first: without a master the route is looked up before a slave is asked.
    tries_next_slave: a missing slave is replaced by the next id before any.

    announces_unknown_topic: a round of a topic without a route sends heartbeats as a change does. leaves_empty_lists: without queues,
    or without ids, a topic is left as it is, and no ids are asked for; else the strategy fails. keeps_origin_id: the client's own
    send of a failed message names its first id; else it shares the message's properties, and only a later send-back names it.
    sends_back_by_name: a failed message goes back to the broker of its queue, wherever that is now; else to the address that it was stored at.
    sends_expired_back_by_name: likewise one whose call takes too long.
    announces_changes: a round that changed the member's queues sends heartbeats. stops_all_first: a round stops the work on all queues
    that it gives up before it commits the first; else one after the other. understands_no_offset: QUERY_NOT_FOUND means that the
    group has no offset; else that is an error, and the queue is not taken.
    counts_bytes: a queue's messages are also limited by their size. resets_bytes: a queue without messages has no bytes, whatever was counted.
    takes_empty_bodies: a message without a body is like any other; else it ends its pull with an error. uncounts_expired: a message that
    was sent back because its call takes too long counts no more. cleaning_can_die: a message whose call has not begun ends the search for such
    messages for ever.

    names_transaction: a message that was sent in a transaction has the id of it, which is its own.
    hooks_see_first_topic: a hook of consumption sees a retried message with the topic that it was sent to first; else with the retry topic.

    pulling_can_die: an error of the application's code in the thread of pulls ends that thread, and with it all pulls; else only those of its
    queue. renewing_can_die: one at the renewal of locks ends all renewals.

    resets_in_turn: a broker's request for other offsets waits for the end of the one before. resets_after_call: of queues that are consumed in
    order it waits for the end of each call under way; else, as of all queues, for RESET_WAIT_MS.

    machine_room_counts_its_queues, machine_room_checks: see ``allocation.by_machine_room``. local_offsets_are_merged: see
    ``LocalOffsets``.

    Of queues that are consumed in order. new_queue_is_locked: a new queue counts as locked, since the broker has locked it; else it waits
    for the next renewal. refused_lock_delay_ms: from a refused lock to a round; 0: the next one in turn. pulls_without_offset,
    pulls_without_query: if the end of the queue, or the group's offset, cannot be asked for, the first offset becomes −1, which the
    broker refuses; else the pull is put off. renews_dropped_queues: the locks
    of queues that are being given up too. renews_locks_twice: the service of pop consumption renews them as well. locks_in_full_table: brokers are asked
    in the order of a table without spare room; else of one with 16 buckets. unlocks_at_once: a queue that is given up is unlocked then; else, if messages wait in it, 20 s
    later. locks_to_broadcast: a broadcasting member locks too. resend_counts_itself: a message that has failed too often is sent
    with one reconsume time more. resend_keeps_origin_id: with its first id.

    resend_ends_transaction: the client's own send of a failed message that was sent in a transaction is an ordinary one; else it is
    the first half of one, which no broker delivers.
    """

    first_pull_delay_ms: int
    round_min_interval_ms: int
    pull_failure_delay_ms: int
    broker_flow_control_delay_ms: int | None
    wrong_offset_delay_ms: int
    pull_batch_bytes: int | None
    beats_on_connect: bool
    first_round_needs_heartbeat: bool
    leaves_after_failed_start: bool
    shutdown_wait_ms: int
    drops_waiting_calls: bool
    any_error_is_no_offset: bool
    queries_master_first: bool
    commits_to_master_first: bool
    tries_next_slave: bool
    announces_unknown_topic: bool
    leaves_empty_lists: bool
    keeps_origin_id: bool
    sends_back_by_name: bool
    sends_expired_back_by_name: bool
    machine_room_counts_its_queues: bool
    machine_room_checks: bool
    announces_changes: bool
    stops_all_first: bool
    understands_no_offset: bool
    local_offsets_are_merged: bool
    new_queue_is_locked: bool
    refused_lock_delay_ms: int
    pulls_without_offset: bool
    pulls_without_query: bool
    renews_dropped_queues: bool
    renews_locks_twice: bool
    locks_in_full_table: bool
    unlocks_at_once: bool
    locks_to_broadcast: bool
    resend_counts_itself: bool
    resend_keeps_origin_id: bool
    resend_ends_transaction: bool
    counts_bytes: bool
    resets_bytes: bool
    takes_empty_bodies: bool
    uncounts_expired: bool
    cleaning_can_die: bool
    names_transaction: bool
    hooks_see_first_topic: bool
    pulling_can_die: bool
    renewing_can_die: bool
    resets_in_turn: bool
    resets_after_call: bool
