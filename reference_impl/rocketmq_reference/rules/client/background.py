"""
Times of a client's background tasks (MQClientInstance, NettyRemotingClient, LatencyFaultToleranceImpl).

In milliseconds; FIRST_* count from the client's start. The same in every release unless stated. RemotingRules has the tasks
that differ: the scan for expired requests, and the heartbeat on a new connection.
"""

FIRST_ROUTE_POLL_MS = 10
FIRST_HEARTBEAT_MS = 1_000
"""Route poll and heartbeat repeat at their configured intervals, at a fixed rate, both in one thread."""

FIRST_DETECTION_MS = 3_000
DETECTION_PERIOD_MS = 3_000
"""Rounds of the broker detector (from 5.1.4), in its own thread, at a fixed rate."""

DETECT_TIMEOUT_MS = 200
DETECT_INTERVAL_MS = 2_000
"""Timeout of a probe, and least time between two probes of a broker (detectTimeout, detectInterval)."""

EXPIRY_GRACE_MS = 1_000
"""A scan ends a request this long after its timeout."""

API_TIMEOUT_MS = 3_000
"""Timeout of route requests and heartbeats: fixed up to 4.9.1, then the default of mqClientApiTimeout."""

CONNECT_TIMEOUT_MS = 3_000
IDLE_MS = 120_000
"""A connection without reads or writes for this long is closed."""

LOCK_TIMEOUT_MS = 3_000
"""Longest wait for the lock of the route table, and up to 4.9.0 for that of heartbeats, to unregister a group."""
