"""When a member's rounds of rebalancing run (RebalanceService)."""

from rocketmq_reference.rules.consumer.consumer_rules import ConsumerRules
from rocketmq_reference.rules.consumer.settings import ConsumeSettings


class Rounds:
    """
    Times of one client's rounds, serial in their thread.

    A round comes when its interval is over or it is asked for. From 5.2.0 it never comes sooner than the least interval after the
    last one, or after the service was made, and a round that left a topic unbalanced is repeated after that interval.
    """

    __slots__ = ("_interval_ms", "_last_ms", "_least_ms", "_wait_ms")

    def __init__(self, rules: ConsumerRules, settings: ConsumeSettings, now_ms: int) -> None:
        self._interval_ms = self._wait_ms = settings.rebalance_wait_interval_ms
        own_ms = settings.rebalance_min_interval_ms
        self._least_ms = rules.round_min_interval_ms if own_ms is None or not rules.round_min_interval_ms else own_ms
        self._last_ms = now_ms

    @property
    def wait_ms(self) -> int:
        """How long the thread waits now, unless it is woken."""
        return self._wait_ms

    def is_due(self, now_ms: int) -> bool:
        """Called at the end of a wait; if False the thread waits again for the rest of the least interval."""
        left_ms = self._least_ms - (now_ms - self._last_ms)
        if left_ms <= 0:
            return True
        self._wait_ms = left_ms
        return False

    def ended(self, now_ms: int, *, balanced: bool) -> None:
        self._wait_ms = self._interval_ms if balanced or not self._least_ms else self._least_ms
        self._last_ms = now_ms
