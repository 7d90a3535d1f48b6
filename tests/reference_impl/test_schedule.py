"""Repeated actions on one thread."""

import threading

from rocketmq_reference.live.schedule import Schedule


def test_actions_repeat_and_failures_do_not_stop_them() -> None:
    """An action that raises is run again, and so is its neighbour."""
    enough = threading.Event()
    ran: list[str] = []

    def fail() -> None:
        ran.append("fail")
        raise RuntimeError("once more")

    def work() -> None:
        ran.append("work")
        if ran.count("work") >= 3 and ran.count("fail") >= 3:
            enough.set()

    schedule = Schedule("test")
    schedule.add(fail, first_ms=0, period_ms=1)
    schedule.add(work, first_ms=1, period_ms=1)
    schedule.start()
    assert enough.wait(10)
    schedule.stop()


def test_nothing_runs_after_stop() -> None:
    """A stopped schedule begins nothing more."""
    ran: list[int] = []
    schedule = Schedule("test")
    schedule.add(lambda: ran.append(1), first_ms=3_600_000, period_ms=1)
    schedule.start()
    schedule.stop()
    schedule._thread.join(10)
    assert ran == [] and not schedule._thread.is_alive()
