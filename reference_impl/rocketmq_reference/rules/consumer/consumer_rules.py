"""Type of the consumer's differences between releases; the values are in rocketmq_reference.dialects.consumer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsumerRules:
    """
    Times (ms) of a push consumer that differ between releases.

    first_pull_delay_ms: from taking a queue to its first pull. round_min_interval_ms: least time between two rounds of rebalancing,
    and from the start to the first; 0: a request for a round is served at once. pull_failure_delay_ms: from a pull that failed, or was
    refused, to the next, unless set. beats_on_connect: a new connection to a broker begins with a heartbeat and asks for a round;
    else the broker knows the member again with its next periodic heartbeat.
    """

    first_pull_delay_ms: int
    round_min_interval_ms: int
    pull_failure_delay_ms: int
    beats_on_connect: bool
