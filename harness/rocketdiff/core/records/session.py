"""
Records of every session, whatever the client's role: first and last lines, readiness, failure, and what hello claims.

Times are nanoseconds of the host's monotonic clock (Java ``nanoTime``, Python ``monotonic_ns``), which all processes
of a host share.
"""

from dataclasses import dataclass, field

from rocketdiff.core.records.field_types import Int32, Int64, Name

PROTOCOL = 1

LINE_NAME = "line name"
"""Metadata of a field that has another name on the line."""


@dataclass(frozen=True, slots=True)
class Hello:
    """
    First line of a subject.

    attempt_timeout_ms: longest attempt of a client that does not obey ``send_msg_timeout_ms``.
    roles: what the client can be used as; without them a producer.
    """

    protocol: Int64
    client: Name
    version: Name
    capabilities: tuple[str, ...]
    pid: Int64
    clock_ns: Int64
    attempt_timeout_ms: Int32 | None = None
    roles: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """The client is started, connections and code are warm, the route is known."""

    clock_ns: Int64


@dataclass(frozen=True, slots=True)
class Done:
    """Everything that was planned has ended. operations: the answered sends of a producer; calls: of a consumer's listener."""

    operations: Int64 | None = field(default=None, metadata={LINE_NAME: "sends"})
    calls: Int64 | None = None


@dataclass(frozen=True, slots=True)
class SubjectFailed:
    """The subject cannot continue; stage and message in its own words."""

    stage: str
    message: str


SessionRecord = Hello | Ready | Done | SubjectFailed

SESSION_RECORDS: dict[str, type[SessionRecord]] = {
    "hello": Hello,
    "ready": Ready,
    "done": Done,
    "failed": SubjectFailed,
}
"""By the ``type`` of a line."""
