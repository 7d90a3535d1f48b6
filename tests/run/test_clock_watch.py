"""The watch keeps the samples between which the offset of the clocks changed."""

import pytest

from rocketdiff.core.clock import ClockAnchor
from rocketdiff.run.case import clock_watch
from rocketdiff.run.case.clock_watch import ClockWatch

MS = 1_000_000


class Clocks:
    """The module ``time``: each reading of the monotonic clock takes ``takes_ns``."""

    def __init__(self) -> None:
        self.now_ns, self.ahead_ns, self.takes_ns = 0, 300_000, 1_000

    def monotonic_ns(self) -> int:
        self.now_ns += self.takes_ns
        return self.now_ns

    def time_ns(self) -> int:
        return self.now_ns + self.ahead_ns


def test_a_step_is_kept_with_the_last_sample_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples at 0, 100, …, 500 ms; a step of 31 ms between 200 and 300 ms, and less than half a millisecond later."""
    clocks = Clocks()
    monkeypatch.setattr(clock_watch, "time", clocks)
    watch = ClockWatch(ClockAnchor(0, 0))
    for at_ms, ahead_ns in ((100, 0), (200, 100_000), (300, 31 * MS), (400, 31 * MS + 400_000), (500, 31 * MS)):
        clocks.now_ns, clocks.ahead_ns = at_ms * MS, 300_000 + ahead_ns
        watch._look()
    assert [(round(at_ns / MS), ahead_ns) for at_ns, ahead_ns in watch.seen.offsets] == [
        (0, 0),
        (200, 100_000),
        (300, 31 * MS),
    ]
    assert watch.slip_ms == 31


def test_a_steady_clock_has_no_samples_and_a_disturbed_one_is_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings with more than 0.1 ms between them are not compared."""
    clocks = Clocks()
    monkeypatch.setattr(clock_watch, "time", clocks)
    watch = ClockWatch(ClockAnchor(0, 0))
    clocks.takes_ns, clocks.ahead_ns = 200_000, 50 * MS
    watch._look()
    assert watch.seen == ClockAnchor(0, 0)
