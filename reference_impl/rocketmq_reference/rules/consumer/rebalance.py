"""When a member's rounds of rebalancing run (RebalanceService, from 5.2.0)."""

from rocketmq_reference.rules.consumer.settings import ConsumeSettings


class Rounds:
    """
    Times of one client's rounds, serial in their thread.

    A round comes when its interval is over or it is asked for, but never sooner than the least interval after the last one, or
    after the service was made. A round that left a topic unbalanced is repeated after the least interval.
    """

    __slots__ = ("_last_ms", "_settings", "_wait_ms")

    def __init__(self, settings: ConsumeSettings, now_ms: int) -> None:
        self._settings = settings
        self._last_ms = now_ms
        self._wait_ms = settings.rebalance_wait_interval_ms

    @property
    def wait_ms(self) -> int:
        """How long the thread waits now, unless it is woken."""
        return self._wait_ms

    def is_due(self, now_ms: int) -> bool:
        """Called at the end of a wait; if False the thread waits again for the rest of the least interval."""
        left_ms = self._settings.rebalance_min_interval_ms - (now_ms - self._last_ms)
        if left_ms > 0:
            self._wait_ms = left_ms
        return left_ms <= 0

    def ended(self, now_ms: int, *, balanced: bool) -> None:
        settings = self._settings
        self._wait_ms = settings.rebalance_wait_interval_ms if balanced else settings.rebalance_min_interval_ms
        self._last_ms = now_ms
