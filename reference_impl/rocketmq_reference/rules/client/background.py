"""
When a client does what nobody asked it to do (MQClientInstance, NettyRemotingClient, LatencyFaultToleranceImpl).

The same in every release unless said otherwise; milliseconds, counted from the client's start where something is first.
What differs between releases is in RemotingRules: the scan for expired requests, and the heartbeat on a new connection.
"""

FIRST_ROUTE_POLL_MS = 10
FIRST_HEARTBEAT_MS = 1_000
"""Route poll and heartbeat then come at their settings' intervals, at a fixed rate, both in one thread."""

FIRST_DETECTION_MS = 3_000
DETECTION_PERIOD_MS = 3_000
"""Rounds of the broker detector (from 5.1.4), in a thread of its own, at a fixed rate."""

DETECT_TIMEOUT_MS = 200
DETECT_INTERVAL_MS = 2_000
"""How long a probe waits, and how long a broker is left alone after one (detectTimeout, detectInterval)."""

EXPIRY_GRACE_MS = 1_000
"""A scan ends a request so long after its time was up."""

API_TIMEOUT_MS = 3_000
"""Of route requests and heartbeats: fixed to 4.9.1, then the default of mqClientApiTimeout."""

CONNECT_TIMEOUT_MS = 3_000
IDLE_MS = 120_000
"""A connection on which nothing was read or written for so long is closed."""

LOCK_TIMEOUT_MS = 3_000
"""Longest wait for the route table's lock."""
