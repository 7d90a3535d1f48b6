"""What the reference can do as a member of a group: its driver claims it, and its kind offers it."""

from rocketdiff.core.records.consuming import ALLOCATIONS, LISTENER, OFFSETS, OWNED, PROPERTY

FIRST_RELEASE = "5.2.0"
"""As ``rocketmq_reference.api.push_consumer`` has it."""

CAPABILITIES = (
    *("concurrent", "clustering", ALLOCATIONS, OWNED, OFFSETS),
    *(LISTENER + what for what in ("later", "level", "throw", "null", "ack-index")),
    "setting:pull_time_delay_when_exception_ms",
    PROPERTY + "rebalance_min_interval_ms",
)


def is_consumer(release: str) -> bool:
    """True if the reference consumes as this release does."""
    # Imported here because most users of kinds need nothing of the reference.
    from rocketmq_reference.dialects import RELEASES  # noqa: PLC0415

    base = release.partition("+")[0]
    return base in RELEASES and RELEASES.index(base) >= RELEASES.index(FIRST_RELEASE)
