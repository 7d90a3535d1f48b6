"""
Java clients 4.0.0-incubating to 4.9.8: each dialect states its changes since its parent.

Read in MQFaultStrategy, LatencyFaultToleranceImpl, TopicPublishInfo, ThreadLocalIndex, DefaultMQProducerImpl,
MQClientAPIImpl, MQClientInstance and NettyRemotingClient of every release, and compared with the executed classes.
"""

from dataclasses import replace

from rocketmq_reference.rules.async_rules import AsyncRules, AsyncThread
from rocketmq_reference.rules.client.remoting_rules import (
    CloseOnTimeout,
    GoAway,
    LateClose,
    NameServerScan,
    RemotingRules,
    ScanTimes,
)
from rocketmq_reference.rules.dialect import Dialect, LoopRules, Releases
from rocketmq_reference.rules.queue_choice import avoidance, fault_table, index, penalties, selection

TOPIC_NOT_EXIST, SERVICE_NOT_AVAILABLE, SYSTEM_ERROR = 17, 14, 1
NO_PERMISSION, NO_BUYER_ID, NOT_IN_CURRENT_UNIT = 16, 204, 205

JAVA_4_0_0 = Dialect(
    name="java-4.0.0",
    releases=Releases("4.0.0-incubating", "4.0.0-incubating"),
    parent=None,
    index=index.CLAMPED,
    select_plain=selection.walk_past_last_broker,
    select_queue=avoidance.walk_only_last_broker,
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
        scan=ScanTimes(first_ms=3_000, period_ms=1_000),
        name_server_scan=NameServerScan.NEVER,
        futures=False,
        connects_in_background=False,
        late_async_fails_twice=False,
        go_away=GoAway.NOTHING,
        retry_takes_next_number=True,
        late_close=LateClose.SPARES,
    ),
)
"""Every attempt has the whole timeout; with fault latency on, a retry goes only to the broker that failed."""

JAVA_4_1_0 = replace(
    JAVA_4_0_0,
    name="java-4.1.0",
    releases=Releases("4.1.0-incubating", "4.2.0"),
    parent="java-4.0.0",
    asynchronous=replace(JAVA_4_0_0.asynchronous, retries_given_queue=True),
)
"""A failed asynchronous send to a given queue calls its callback (ROCKETMQ-101)."""

JAVA_4_3_0 = replace(
    JAVA_4_1_0,
    name="java-4.3.0",
    releases=Releases("4.3.0", "4.3.0"),
    parent="java-4.1.0",
    loop=replace(JAVA_4_1_0.loop, shared_budget=True),
    default_topic="AUTO_CREATE_TOPIC_KEY",
    asynchronous=replace(JAVA_4_1_0.asynchronous, runs_on=AsyncThread.CALLBACKS),
    remoting=replace(JAVA_4_1_0.remoting, budgeted=True, fails_fast_on_close=True),
)
"""
All attempts share one timeout (ROCKETMQ-355), so a paused broker uses it up; closed connections fail fast.

Asynchronous sends run in the callback pool instead of the caller's thread. Only 4.3.0 uses a default topic that brokers of other
releases do not have, so new topics get no route from them.
"""

JAVA_4_3_1 = replace(
    JAVA_4_3_0,
    name="java-4.3.1",
    releases=Releases("4.3.1", "4.3.2"),
    parent="java-4.3.0",
    default_topic="TBW102",
)
"""New topics get the route of TBW102 again."""

JAVA_4_4_0 = replace(
    JAVA_4_3_1,
    name="java-4.4.0",
    releases=Releases("4.4.0", "4.5.0"),
    parent="java-4.3.1",
    asynchronous=replace(JAVA_4_3_1.asynchronous, runs_on=AsyncThread.OWN),
)
"""Asynchronous sends have their own thread pool."""

JAVA_4_5_1 = replace(
    JAVA_4_4_0,
    name="java-4.5.1",
    releases=Releases("4.5.1", "4.5.2"),
    parent="java-4.4.0",
    remoting=replace(JAVA_4_4_0.remoting, vip_channel=False),
)
"""Requests go to the advertised port."""

JAVA_4_6_0 = replace(
    JAVA_4_5_1,
    name="java-4.6.0",
    releases=Releases("4.6.0", "4.6.1"),
    parent="java-4.5.1",
    remoting=replace(JAVA_4_5_1.remoting, name_server_failure_is_illegal_state=True),
)
"""An unreachable name server surfaces as IllegalStateException (#504)."""

JAVA_4_7_0 = replace(
    JAVA_4_6_0,
    name="java-4.7.0",
    releases=Releases("4.7.0", "4.7.1"),
    parent="java-4.6.0",
    asynchronous=replace(JAVA_4_6_0.asynchronous, retry_has_time_left=True),
    remoting=replace(JAVA_4_6_0.remoting, retry_takes_next_number=False),
)
"""An asynchronous retry has the rest of the timeout (#1781), none after a timeout, and its own request number."""

JAVA_4_8_0 = replace(
    JAVA_4_7_0,
    name="java-4.8.0",
    releases=Releases("4.8.0", "4.8.0"),
    parent="java-4.7.0",
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
"""A timed-out request closes its connection (#2715), which fails the other requests pending on it."""

JAVA_4_9_2 = replace(
    JAVA_4_9_1,
    name="java-4.9.2",
    releases=Releases("4.9.2", "4.9.2"),
    parent="java-4.9.1",
    loop=replace(JAVA_4_9_1.loop, codes_can_be_added=True),
)
"""An application can add response codes to retry (#2726)."""

JAVA_4_9_3 = replace(
    JAVA_4_9_2,
    name="java-4.9.3",
    releases=Releases("4.9.3", "4.9.3"),
    parent="java-4.9.2",
    asynchronous=replace(JAVA_4_9_2.asynchronous, thrown_is_retried=True),
)
"""An asynchronous send is retried even if its first hand-over throws (#3556); a retry without time isolates its broker too."""

JAVA_4_9_4 = replace(
    JAVA_4_9_3,
    name="java-4.9.4",
    releases=Releases("4.9.4", "4.9.7"),
    parent="java-4.9.3",
    index=index.MASKED,
    fault_table=fault_table.OVERWRITING,
    remoting=replace(JAVA_4_9_3.remoting, names_compression=True),
)
"""
Equally bad brokers are taken in hash order instead of at random; the index works after an overflow (#4349).

The system flag of a compressed body names the compression.
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
    JAVA_4_1_0,
    JAVA_4_3_0,
    JAVA_4_3_1,
    JAVA_4_4_0,
    JAVA_4_5_1,
    JAVA_4_6_0,
    JAVA_4_7_0,
    JAVA_4_8_0,
    JAVA_4_9_0,
    JAVA_4_9_1,
    JAVA_4_9_2,
    JAVA_4_9_3,
    JAVA_4_9_4,
    JAVA_4_9_8,
)
