"""
Java clients 4.0.0-incubating to 4.9.8: each dialect is what changed since its parent.

Read in MQFaultStrategy, LatencyFaultToleranceImpl, TopicPublishInfo, ThreadLocalIndex, DefaultMQProducerImpl,
MQClientInstance and NettyRemotingClient of every release; the selection part was also run against the classes.
"""

from dataclasses import replace

from reference_impl.rules import avoidance, fault_table, index, penalties, selection
from reference_impl.rules.dialect import Dialect, LoopRules, Releases
from reference_impl.rules.remoting_rules import CloseOnTimeout, RemotingRules

TOPIC_NOT_EXIST, SERVICE_NOT_AVAILABLE, SYSTEM_ERROR = 17, 14, 1
NO_PERMISSION, NO_BUYER_ID, NOT_IN_CURRENT_UNIT = 16, 204, 205

JAVA_4_0_0 = Dialect(
    name="java-4.0.0",
    releases=Releases("4.0.0-incubating", "4.2.0"),
    parent=None,
    index=index.CLAMPED,
    select_plain=selection.walk_past_last_broker,
    select_queue=avoidance.walk_only_last_broker,
    fault_table=fault_table.OVERWRITING_SHUFFLED,
    penalties=penalties.MINUTES,
    failure_counts_as_ms=30_000,
    write_queues_need_permission=False,
    create_topic_key_ignored=False,
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
    remoting=RemotingRules(
        budgeted=False,
        writes_without_time_left=True,
        close_on_timeout=CloseOnTimeout.NEVER,
        fails_fast_on_close=False,
        fin_fails_pending=False,
        name_server_failure_is_illegal_state=False,
        tries_every_name_server=True,
        vip_channel=True,
        heartbeat_on_connect=False,
        names_compression=False,
    ),
)
"""Every attempt has the whole timeout; with fault latency on, a retry insists on the broker that failed."""

JAVA_4_3_0 = replace(
    JAVA_4_0_0,
    name="java-4.3.0",
    releases=Releases("4.3.0", "4.5.0"),
    parent="java-4.0.0",
    loop=replace(JAVA_4_0_0.loop, shared_budget=True),
    remoting=replace(JAVA_4_0_0.remoting, budgeted=True, fails_fast_on_close=True),
)
"""All attempts share one timeout (ROCKETMQ-355), so a paused broker eats all of it; closed connections fail fast."""

JAVA_4_5_1 = replace(
    JAVA_4_3_0,
    name="java-4.5.1",
    releases=Releases("4.5.1", "4.5.2"),
    parent="java-4.3.0",
    remoting=replace(JAVA_4_3_0.remoting, vip_channel=False),
)
"""Requests go to the advertised port."""

JAVA_4_6_0 = replace(
    JAVA_4_5_1,
    name="java-4.6.0",
    releases=Releases("4.6.0", "4.7.1"),
    parent="java-4.5.1",
    remoting=replace(JAVA_4_5_1.remoting, name_server_failure_is_illegal_state=True),
)
"""An unreachable name server surfaces as IllegalStateException (#504)."""

JAVA_4_8_0 = replace(
    JAVA_4_6_0,
    name="java-4.8.0",
    releases=Releases("4.8.0", "4.8.0"),
    parent="java-4.6.0",
    index=index.ABSOLUTE,
    select_plain=selection.draw_past_last_broker,
    select_queue=avoidance.walk_available,
)
"""A retry takes a tick for each queue it passes (#2223) and, with fault latency on, may go anywhere (#1576)."""

JAVA_4_9_0 = replace(
    JAVA_4_8_0,
    name="java-4.9.0",
    releases=Releases("4.9.0", "4.9.0"),
    parent="java-4.8.0",
    index=index.READ_ABSOLUTE,
)
"""Only the overflow of the index changed (#2783)."""

JAVA_4_9_1 = replace(
    JAVA_4_9_0,
    name="java-4.9.1",
    releases=Releases("4.9.1", "4.9.1"),
    parent="java-4.9.0",
    remoting=replace(JAVA_4_9_0.remoting, close_on_timeout=CloseOnTimeout.ALWAYS),
)
"""A request without an answer costs its connection (#2715), and with it the others that wait on it."""

JAVA_4_9_2 = replace(
    JAVA_4_9_1,
    name="java-4.9.2",
    releases=Releases("4.9.2", "4.9.3"),
    parent="java-4.9.1",
    loop=replace(JAVA_4_9_1.loop, codes_can_be_added=True),
)
"""Response codes worth a retry can be added (#2726)."""

JAVA_4_9_4 = replace(
    JAVA_4_9_2,
    name="java-4.9.4",
    releases=Releases("4.9.4", "4.9.7"),
    parent="java-4.9.2",
    index=index.MASKED,
    fault_table=fault_table.OVERWRITING,
    remoting=replace(JAVA_4_9_2.remoting, names_compression=True),
)
"""
Equally bad brokers are taken in hash order instead of at random; the index survives its overflow (#4349).

A compressed body says how it is compressed.
"""

JAVA_4_9_8 = replace(
    JAVA_4_9_4,
    name="java-4.9.8",
    releases=Releases("4.9.8", "4.9.8"),
    parent="java-4.9.4",
    select_queue=avoidance.walk_available_with_own_queue,
    write_queues_need_permission=True,
)
"""The fallback no longer rewrites the shared list and knows only writable brokers (#7779); never merged into 5.x."""

LINE_4 = (
    JAVA_4_0_0,
    JAVA_4_3_0,
    JAVA_4_5_1,
    JAVA_4_6_0,
    JAVA_4_8_0,
    JAVA_4_9_0,
    JAVA_4_9_1,
    JAVA_4_9_2,
    JAVA_4_9_4,
    JAVA_4_9_8,
)
