"""
Java clients 5.0.0 to 5.5.0: each dialect states its changes since its parent; the line branches from 4.9 at 4.9.4.

Read in the same classes as line_4 up to 5.3.3; 5.4.0 and 5.5.0 were compared with 5.3.3 as byte code. All were compared with the
executed classes.
"""

from dataclasses import replace

from rocketmq_reference.dialects.line_4 import JAVA_4_9_4
from rocketmq_reference.rules.client.remoting_rules import CloseOnTimeout, GoAway, LateClose, NameServerScan, ScanTimes
from rocketmq_reference.rules.dialect import Releases
from rocketmq_reference.rules.queue_choice import avoidance, fault_table, index, penalties

SYSTEM_BUSY, GO_AWAY = 2, 1500

JAVA_5_0_0 = replace(
    JAVA_4_9_4,
    name="java-5.0.0",
    releases=Releases("5.0.0", "5.0.0"),
    parent="java-4.9.4",
    index=index.MASKED_RAW_START,
    remoting=replace(JAVA_4_9_4.remoting, name_server_scan=NameServerScan.AT_ONCE),
)
"""The raw start of the index may be negative, which the mask hides. The client connects to name servers in advance."""

JAVA_5_1_0 = replace(
    JAVA_5_0_0,
    name="java-5.1.0",
    releases=Releases("5.1.0", "5.1.0"),
    parent="java-5.0.0",
    select_queue=avoidance.walk_available_unclamped,
)
"""An overflow in a walk throws an exception, which is caught; plain rotation then selects the queue."""

JAVA_5_1_1 = replace(
    JAVA_5_1_0,
    name="java-5.1.1",
    releases=Releases("5.1.1", "5.1.2"),
    parent="java-5.1.0",
    select_queue=avoidance.walk_available_not_last,
    create_topic_key_ignored=True,
    remoting=replace(
        JAVA_5_1_0.remoting,
        scan=ScanTimes(first_ms=3_100, period_ms=1_100),
        name_server_scan=NameServerScan.BY_WHEEL,
    ),
)
"""With fault latency on, a retry avoids the broker that just failed; a wheel timer scans for expired requests."""

JAVA_5_1_3 = replace(
    JAVA_5_1_1,
    name="java-5.1.3",
    releases=Releases("5.1.3", "5.1.3"),
    parent="java-5.1.1",
    remoting=replace(JAVA_5_1_1.remoting, fin_fails_pending=True),
)
"""A clean close by the broker fails the requests pending on the connection (#3929)."""

JAVA_5_1_4 = replace(
    JAVA_5_1_3,
    name="java-5.1.4",
    releases=Releases("5.1.4", "5.1.4"),
    parent="java-5.1.3",
    index=index.RESETTABLE,
    select_queue=avoidance.available_then_reachable_then_any,
    fault_table=fault_table.EXTENDING_WITH_REACHABILITY,
    penalties=penalties.SECONDS,
    failure_counts_as_ms=10_000,
    selector_restarts_time=True,
    loop=replace(JAVA_5_1_3.loop, client_error_isolates=False, broker_error_is_unreachable=True),
    remoting=replace(
        JAVA_5_1_3.remoting,
        writes_without_time_left=False,
        close_on_timeout=CloseOnTimeout.IF_TIME_WAS_LEFT,
    ),
)
"""
The rewrite: tiers instead of a fallback, avoidance of seconds that is only extended, a random restart of the index on a retry.

A broker can be unreachable as well as slow. An error answer makes it unreachable until the detector reaches it, without the
detector (the default) forever (#7812). A client-side error no longer isolates the broker.
"""

JAVA_5_2_0 = replace(
    JAVA_5_1_4,
    name="java-5.2.0",
    releases=Releases("5.2.0", "5.2.0"),
    parent="java-5.1.4",
    fault_table=fault_table.EXTENDING,
    detector_can_be_switched_on=True,
    remoting=replace(JAVA_5_1_4.remoting, heartbeat_on_connect=True, futures=True, go_away=GoAway.ONCE_A_MINUTE),
)
"""
An unreachable broker can be available again; a new connection begins with a heartbeat.

Requests are futures: the exception of a failed asynchronous send has a cause, although wrapped (#9119).
"""

JAVA_5_3_0 = replace(
    JAVA_5_2_0,
    name="java-5.3.0",
    releases=Releases("5.3.0", "5.3.0"),
    parent="java-5.2.0",
    loop=replace(JAVA_5_2_0.loop, retry_codes=JAVA_5_2_0.loop.retry_codes | {SYSTEM_BUSY}),
    remoting=replace(
        JAVA_5_2_0.remoting,
        tries_every_name_server=False,
        name_server_scan=NameServerScan.NEVER,
        connects_in_background=True,
        late_async_fails_twice=True,
    ),
)
"""
SYSTEM_BUSY is retried (#5838); one call tries one name server.

Asynchronous and one-way sends do not wait for a connection (#7815). An asynchronous send without time left after the connect
fails and is still sent, so its callback can be called twice.
"""

JAVA_5_3_1 = replace(
    JAVA_5_3_0,
    name="java-5.3.1",
    releases=Releases("5.3.1", "5.3.1"),
    parent="java-5.3.0",
    loop=replace(JAVA_5_3_0.loop, retry_codes=JAVA_5_3_0.loop.retry_codes | {GO_AWAY}),
    remoting=replace(JAVA_5_3_0.remoting, go_away=GoAway.RECONNECTS, late_close=LateClose.EVICTS_AFTER_FAILURE),
)
"""
GO_AWAY, the answer of a broker that shuts down gracefully, is retried (#8599).

A condition was inverted by mistake: closing a failed connection evicts the connection that has replaced it.
"""

JAVA_5_3_2 = replace(
    JAVA_5_3_1,
    name="java-5.3.2",
    releases=Releases("5.3.2", "5.3.2"),
    parent="java-5.3.1",
    asynchronous=replace(JAVA_5_3_1.asynchronous, unwraps_failures=True, needs_time_to_retry=True),
    remoting=replace(JAVA_5_3_1.remoting, go_away=GoAway.FAILS),
)
"""An asynchronous send without time left is not retried (#8998), and its callback gets the real cause (#9119)."""

JAVA_5_3_3 = replace(
    JAVA_5_3_2,
    name="java-5.3.3",
    releases=Releases("5.3.3", "5.3.3"),
    parent="java-5.3.2",
    loop=replace(JAVA_5_3_2.loop, per_request_cap=True),
)
"""Every attempt but the last can have its own timeout limit (#8997)."""

JAVA_5_4_0 = replace(
    JAVA_5_3_3,
    name="java-5.4.0",
    releases=Releases("5.4.0", "5.5.0"),
    parent="java-5.3.3",
    remoting=replace(JAVA_5_3_3.remoting, late_async_fails_twice=False, late_close=LateClose.EVICTS),
)
"""
An asynchronous send whose connect took all its time fails once, not twice.

A connection keeps its table entry as an attribute. So a second thread that closes it, such as a heartbeat beside a send, evicts
the connection that has replaced it.
"""

LINE_5 = (
    JAVA_5_0_0,
    JAVA_5_1_0,
    JAVA_5_1_1,
    JAVA_5_1_3,
    JAVA_5_1_4,
    JAVA_5_2_0,
    JAVA_5_3_0,
    JAVA_5_3_1,
    JAVA_5_3_2,
    JAVA_5_3_3,
    JAVA_5_4_0,
)
