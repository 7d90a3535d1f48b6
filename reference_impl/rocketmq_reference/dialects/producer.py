"""
The producer's part of Java clients 4.0.0-incubating to 5.5.0: each generation states its changes since its parent.

Read in MQFaultStrategy, LatencyFaultToleranceImpl, TopicPublishInfo, ThreadLocalIndex, DefaultMQProducerImpl and MQClientAPIImpl of
every release up to 5.3.3; 5.4.0 and 5.5.0 were compared with 5.3.3 as byte code. All were compared with the executed classes. The
5 line branches from 4.9 at 4.9.4.
"""

from dataclasses import replace

from rocketmq_reference.dialects.generation import Generation
from rocketmq_reference.rules.dialect import Releases
from rocketmq_reference.rules.producer.async_rules import AsyncRules, AsyncThread
from rocketmq_reference.rules.producer.producer_rules import LoopRules, ProducerRules
from rocketmq_reference.rules.queue_choice import avoidance, fault_table, index, penalties, selection

TOPIC_NOT_EXIST, SERVICE_NOT_AVAILABLE, SYSTEM_ERROR = 17, 14, 1
NO_PERMISSION, NO_BUYER_ID, NOT_IN_CURRENT_UNIT = 16, 204, 205
SYSTEM_BUSY, GO_AWAY = 2, 1500

PRODUCER_4_0_0 = Generation(
    Releases("4.0.0-incubating", "4.0.0-incubating"),
    None,
    ProducerRules(
        index=index.CLAMPED,
        select_plain=selection.walk_past_last_broker,
        select_queue=avoidance.walk_only_last_broker,
        reads_broker_again=True,
        fault_table=fault_table.OVERWRITING_SHUFFLED,
        penalties=penalties.MINUTES,
        failure_counts_as_ms=30_000,
        write_queues_need_permission=False,
        default_topic="TBW102",
        create_topic_key_ignored=False,
        selector_restarts_time=False,
        detector_can_be_switched_on=False,
        loop=LoopRules(
            shared_budget=False,
            retry_codes=frozenset(
                {TOPIC_NOT_EXIST, SERVICE_NOT_AVAILABLE, SYSTEM_ERROR, NO_PERMISSION, NO_BUYER_ID, NOT_IN_CURRENT_UNIT}
            ),
            codes_can_be_added=False,
            client_error_isolates=True,
            broker_error_is_unreachable=False,
            per_request_cap=False,
        ),
        asynchronous=AsyncRules(
            runs_on=AsyncThread.CALLER,
            retries_given_queue=False,
            retry_has_time_left=False,
            thrown_is_retried=False,
            unwraps_failures=False,
            needs_time_to_retry=False,
        ),
    ),
)
"""Every attempt has the whole timeout; with fault latency on, a retry goes only to the broker that failed."""

PRODUCER_4_1_0 = PRODUCER_4_0_0.followed(
    "4.1.0-incubating",
    "4.2.0",
    replace(PRODUCER_4_0_0.rules, asynchronous=replace(PRODUCER_4_0_0.rules.asynchronous, retries_given_queue=True)),
)
"""A failed asynchronous send to a given queue calls its callback (ROCKETMQ-101)."""

PRODUCER_4_3_0 = PRODUCER_4_1_0.followed(
    "4.3.0",
    "4.3.0",
    replace(
        PRODUCER_4_1_0.rules,
        loop=replace(PRODUCER_4_1_0.rules.loop, shared_budget=True),
        default_topic="AUTO_CREATE_TOPIC_KEY",
        asynchronous=replace(PRODUCER_4_1_0.rules.asynchronous, runs_on=AsyncThread.CALLBACKS),
    ),
)
"""
All attempts share one timeout (ROCKETMQ-355), so a paused broker uses it up.

Asynchronous sends run in the callback pool instead of the caller's thread. Only 4.3.0 uses a default topic that brokers of other
releases do not have, so new topics get no route from them.
"""

PRODUCER_4_3_1 = PRODUCER_4_3_0.followed("4.3.1", "4.3.2", replace(PRODUCER_4_3_0.rules, default_topic="TBW102"))
"""New topics get the route of TBW102 again."""

PRODUCER_4_4_0 = PRODUCER_4_3_1.followed(
    "4.4.0",
    "4.6.1",
    replace(PRODUCER_4_3_1.rules, asynchronous=replace(PRODUCER_4_3_1.rules.asynchronous, runs_on=AsyncThread.OWN)),
)
"""Asynchronous sends have their own thread pool."""

PRODUCER_4_7_0 = PRODUCER_4_4_0.followed(
    "4.7.0",
    "4.7.1",
    replace(PRODUCER_4_4_0.rules, asynchronous=replace(PRODUCER_4_4_0.rules.asynchronous, retry_has_time_left=True)),
)
"""An asynchronous retry has the rest of the timeout (#1781), none after a timeout."""

PRODUCER_4_8_0 = PRODUCER_4_7_0.followed(
    "4.8.0",
    "4.8.0",
    replace(
        PRODUCER_4_7_0.rules,
        index=index.ABSOLUTE,
        select_plain=selection.draw_past_last_broker,
        select_queue=avoidance.walk_available,
    ),
)
"""A retry takes a tick for each queue it passes (#2223) and, with fault latency on, may go anywhere (#1576)."""

PRODUCER_4_9_0 = PRODUCER_4_8_0.followed("4.9.0", "4.9.1", replace(PRODUCER_4_8_0.rules, index=index.READ_ABSOLUTE))
"""Only the overflow of the index changed (#2783)."""

PRODUCER_4_9_2 = PRODUCER_4_9_0.followed(
    "4.9.2",
    "4.9.2",
    replace(PRODUCER_4_9_0.rules, loop=replace(PRODUCER_4_9_0.rules.loop, codes_can_be_added=True)),
)
"""An application can add response codes to retry (#2726)."""

PRODUCER_4_9_3 = PRODUCER_4_9_2.followed(
    "4.9.3",
    "4.9.3",
    replace(PRODUCER_4_9_2.rules, asynchronous=replace(PRODUCER_4_9_2.rules.asynchronous, thrown_is_retried=True)),
)
"""An asynchronous send is retried even if its first hand-over throws (#3556); a retry without time isolates its broker too."""

PRODUCER_4_9_4 = PRODUCER_4_9_3.followed(
    "4.9.4", "4.9.7", replace(PRODUCER_4_9_3.rules, index=index.MASKED, fault_table=fault_table.OVERWRITING)
)
"""Equally bad brokers are taken in hash order instead of at random; the index works after an overflow (#4349)."""

PRODUCER_4_9_8 = PRODUCER_4_9_4.followed(
    "4.9.8",
    "4.9.8",
    replace(
        PRODUCER_4_9_4.rules,
        select_queue=avoidance.walk_available_with_own_queue,
        write_queues_need_permission=True,
    ),
)
"""The fallback no longer rewrites the shared list and knows only writable brokers (#7779); never merged into 5.x."""

PRODUCER_5_0_0 = PRODUCER_4_9_4.followed(
    "5.0.0", "5.0.0", replace(PRODUCER_4_9_4.rules, index=index.MASKED_RAW_START, reads_broker_again=False)
)
"""The raw start of the index may be negative, which the mask hides; a result names the broker that was asked."""

PRODUCER_5_1_0 = PRODUCER_5_0_0.followed(
    "5.1.0", "5.1.0", replace(PRODUCER_5_0_0.rules, select_queue=avoidance.walk_available_unclamped)
)
"""An overflow in a walk throws an exception, which is caught; plain rotation then selects the queue."""

PRODUCER_5_1_1 = PRODUCER_5_1_0.followed(
    "5.1.1",
    "5.1.3",
    replace(PRODUCER_5_1_0.rules, select_queue=avoidance.walk_available_not_last, create_topic_key_ignored=True),
)
"""With fault latency on, a retry avoids the broker that just failed."""

PRODUCER_5_1_4 = PRODUCER_5_1_1.followed(
    "5.1.4",
    "5.1.4",
    replace(
        PRODUCER_5_1_1.rules,
        index=index.RESETTABLE,
        select_queue=avoidance.available_then_reachable_then_any,
        fault_table=fault_table.EXTENDING_WITH_REACHABILITY,
        penalties=penalties.SECONDS,
        failure_counts_as_ms=10_000,
        selector_restarts_time=True,
        loop=replace(PRODUCER_5_1_1.rules.loop, client_error_isolates=False, broker_error_is_unreachable=True),
    ),
)
"""
The rewrite: tiers instead of a fallback, avoidance of seconds that is only extended, a random restart of the index on a retry.

A broker can be unreachable as well as slow. An error answer makes it unreachable until the detector reaches it, without the
detector (the default) forever (#7812). A client-side error no longer isolates the broker.
"""

PRODUCER_5_2_0 = PRODUCER_5_1_4.followed(
    "5.2.0",
    "5.2.0",
    replace(PRODUCER_5_1_4.rules, fault_table=fault_table.EXTENDING, detector_can_be_switched_on=True),
)
"""An unreachable broker can be available again."""

PRODUCER_5_3_0 = PRODUCER_5_2_0.followed(
    "5.3.0",
    "5.3.0",
    replace(
        PRODUCER_5_2_0.rules,
        loop=replace(PRODUCER_5_2_0.rules.loop, retry_codes=PRODUCER_5_2_0.rules.loop.retry_codes | {SYSTEM_BUSY}),
    ),
)
"""SYSTEM_BUSY is retried (#5838)."""

PRODUCER_5_3_1 = PRODUCER_5_3_0.followed(
    "5.3.1",
    "5.3.1",
    replace(
        PRODUCER_5_3_0.rules,
        loop=replace(PRODUCER_5_3_0.rules.loop, retry_codes=PRODUCER_5_3_0.rules.loop.retry_codes | {GO_AWAY}),
    ),
)
"""GO_AWAY, the answer of a broker that shuts down gracefully, is retried (#8599)."""

PRODUCER_5_3_2 = PRODUCER_5_3_1.followed(
    "5.3.2",
    "5.3.2",
    replace(
        PRODUCER_5_3_1.rules,
        asynchronous=replace(PRODUCER_5_3_1.rules.asynchronous, unwraps_failures=True, needs_time_to_retry=True),
    ),
)
"""An asynchronous send without time left is not retried (#8998), and its callback gets the real cause (#9119)."""

PRODUCER_5_3_3 = PRODUCER_5_3_2.followed(
    "5.3.3",
    "5.5.0",
    replace(PRODUCER_5_3_2.rules, loop=replace(PRODUCER_5_3_2.rules.loop, per_request_cap=True)),
)
"""Every attempt but the last can have its own timeout limit (#8997)."""

PRODUCER = (
    PRODUCER_4_0_0,
    PRODUCER_4_1_0,
    PRODUCER_4_3_0,
    PRODUCER_4_3_1,
    PRODUCER_4_4_0,
    PRODUCER_4_7_0,
    PRODUCER_4_8_0,
    PRODUCER_4_9_0,
    PRODUCER_4_9_2,
    PRODUCER_4_9_3,
    PRODUCER_4_9_4,
    PRODUCER_4_9_8,
    PRODUCER_5_0_0,
    PRODUCER_5_1_0,
    PRODUCER_5_1_1,
    PRODUCER_5_1_4,
    PRODUCER_5_2_0,
    PRODUCER_5_3_0,
    PRODUCER_5_3_1,
    PRODUCER_5_3_2,
    PRODUCER_5_3_3,
)
"""Every generation, oldest first; a parent comes before its children."""
