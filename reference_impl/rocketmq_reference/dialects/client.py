"""
The client's part of Java clients 4.0.0-incubating to 5.5.0: each generation states its changes since its parent.

Read in MQClientAPIImpl, MQClientInstance and NettyRemotingClient of every release up to 5.3.3; 5.4.0 and 5.5.0 were compared with
5.3.3 as byte code. All were compared with the executed classes.
"""

from dataclasses import replace

from rocketmq_reference.dialects.generation import Generation
from rocketmq_reference.rules.client.client_rules import ClientRules
from rocketmq_reference.rules.client.remoting_rules import (
    CloseOnTimeout,
    GoAway,
    LateClose,
    NameServerScan,
    RemotingRules,
    ScanTimes,
)
from rocketmq_reference.rules.dialect import Releases

CLIENT_4_0_0 = Generation(
    Releases("4.0.0-incubating", "4.2.0"),
    None,
    ClientRules(
        RemotingRules(
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
            unregisters_between_heartbeats=True,
        )
    ),
)
"""A request has its whole timeout after the connect; nothing but an answer or a scan ends a pending one."""

CLIENT_4_3_0 = CLIENT_4_0_0.followed(
    "4.3.0", "4.5.0", ClientRules(replace(CLIENT_4_0_0.rules.remoting, budgeted=True, fails_fast_on_close=True))
)
"""Connecting uses up the timeout (ROCKETMQ-355); closed connections fail fast."""

CLIENT_4_5_1 = CLIENT_4_3_0.followed(
    "4.5.1", "4.5.2", ClientRules(replace(CLIENT_4_3_0.rules.remoting, vip_channel=False))
)
"""Requests go to the advertised port."""

CLIENT_4_6_0 = CLIENT_4_5_1.followed(
    "4.6.0", "4.6.1", ClientRules(replace(CLIENT_4_5_1.rules.remoting, name_server_failure_is_illegal_state=True))
)
"""An unreachable name server surfaces as IllegalStateException (#504)."""

CLIENT_4_7_0 = CLIENT_4_6_0.followed(
    "4.7.0", "4.9.0", ClientRules(replace(CLIENT_4_6_0.rules.remoting, retry_takes_next_number=False))
)
"""A repeated asynchronous request has its own number (#1781)."""

CLIENT_4_9_1 = CLIENT_4_7_0.followed(
    "4.9.1",
    "4.9.3",
    ClientRules(
        replace(
            CLIENT_4_7_0.rules.remoting,
            close_on_timeout=CloseOnTimeout.ALWAYS,
            unregisters_between_heartbeats=False,
        )
    ),
)
"""A timed-out request closes its connection (#2715), which fails the other requests pending on it; groups leave without waiting."""

CLIENT_4_9_4 = CLIENT_4_9_1.followed(
    "4.9.4", "4.9.8", ClientRules(replace(CLIENT_4_9_1.rules.remoting, names_compression=True))
)
"""The system flag of a compressed body names the compression."""

CLIENT_5_0_0 = CLIENT_4_9_4.followed(
    "5.0.0", "5.1.0", ClientRules(replace(CLIENT_4_9_4.rules.remoting, name_server_scan=NameServerScan.AT_ONCE))
)
"""The client connects to name servers in advance."""

CLIENT_5_1_1 = CLIENT_5_0_0.followed(
    "5.1.1",
    "5.1.2",
    ClientRules(
        replace(
            CLIENT_5_0_0.rules.remoting,
            scan=ScanTimes(first_ms=3_100, period_ms=1_100),
            name_server_scan=NameServerScan.BY_WHEEL,
        )
    ),
)
"""A wheel timer scans for expired requests."""

CLIENT_5_1_3 = CLIENT_5_1_1.followed(
    "5.1.3", "5.1.3", ClientRules(replace(CLIENT_5_1_1.rules.remoting, fin_fails_pending=True))
)
"""A clean close by the broker fails the requests pending on the connection (#3929)."""

CLIENT_5_1_4 = CLIENT_5_1_3.followed(
    "5.1.4",
    "5.1.4",
    ClientRules(
        replace(
            CLIENT_5_1_3.rules.remoting,
            writes_without_time_left=False,
            close_on_timeout=CloseOnTimeout.IF_TIME_WAS_LEFT,
        )
    ),
)
"""A request without time left is not written; a slow connect does not close a good connection."""

CLIENT_5_2_0 = CLIENT_5_1_4.followed(
    "5.2.0",
    "5.2.0",
    ClientRules(
        replace(CLIENT_5_1_4.rules.remoting, heartbeat_on_connect=True, futures=True, go_away=GoAway.ONCE_A_MINUTE)
    ),
)
"""
A new connection begins with a heartbeat.

Requests are futures: the exception of a failed asynchronous send has a cause, although wrapped (#9119).
"""

CLIENT_5_3_0 = CLIENT_5_2_0.followed(
    "5.3.0",
    "5.3.0",
    ClientRules(
        replace(
            CLIENT_5_2_0.rules.remoting,
            tries_every_name_server=False,
            name_server_scan=NameServerScan.NEVER,
            connects_in_background=True,
            late_async_fails_twice=True,
        )
    ),
)
"""
One call tries one name server.

Asynchronous and one-way sends do not wait for a connection (#7815). An asynchronous send without time left after the connect
fails and is still sent, so its callback can be called twice.
"""

CLIENT_5_3_1 = CLIENT_5_3_0.followed(
    "5.3.1",
    "5.3.1",
    ClientRules(
        replace(CLIENT_5_3_0.rules.remoting, go_away=GoAway.RECONNECTS, late_close=LateClose.EVICTS_AFTER_FAILURE)
    ),
)
"""A condition was inverted by mistake: closing a failed connection evicts the connection that has replaced it."""

CLIENT_5_3_2 = CLIENT_5_3_1.followed(
    "5.3.2", "5.3.3", ClientRules(replace(CLIENT_5_3_1.rules.remoting, go_away=GoAway.FAILS))
)
"""A request that cannot be written again after GO_AWAY fails."""

CLIENT_5_4_0 = CLIENT_5_3_2.followed(
    "5.4.0",
    "5.5.0",
    ClientRules(replace(CLIENT_5_3_2.rules.remoting, late_async_fails_twice=False, late_close=LateClose.EVICTS)),
)
"""
An asynchronous send whose connect took all its time fails once, not twice.

A connection keeps its table entry as an attribute. So a second thread that closes it, such as a heartbeat beside a send, evicts
the connection that has replaced it.
"""

CLIENT = (
    CLIENT_4_0_0,
    CLIENT_4_3_0,
    CLIENT_4_5_1,
    CLIENT_4_6_0,
    CLIENT_4_7_0,
    CLIENT_4_9_1,
    CLIENT_4_9_4,
    CLIENT_5_0_0,
    CLIENT_5_1_1,
    CLIENT_5_1_3,
    CLIENT_5_1_4,
    CLIENT_5_2_0,
    CLIENT_5_3_0,
    CLIENT_5_3_1,
    CLIENT_5_3_2,
    CLIENT_5_4_0,
)
"""Every generation, oldest first; a parent comes before its children."""
