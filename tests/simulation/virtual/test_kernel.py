"""Virtual time runs events in order, and lets actors wait."""

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.simulation.script import parse_script
from rocketdiff.simulation.virtual import run_reference
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.worker import VirtualHost
from rocketmq_reference.client.effects import Body, Lock, Signal, Wait
from rocketmq_reference.dialects import dialect_of
from tests.simulation.virtual.running import run_out

POLLING = {
    "format": 1,
    "depth": "remoting",
    "route": {"a": 2},
    "settings": {"poll_name_server_interval_ms": 1},
    "steps": [{"do": "send", "mode": "sync"}, {"do": "advance", "ms": 86_400_000}],
}


def test_events_of_one_millisecond_run_in_scheduling_order() -> None:
    """Events of one millisecond run in the order of scheduling."""
    kernel = Kernel()
    seen: list[str] = []

    def first() -> None:
        seen.append("first")
        kernel.at(5, lambda: seen.append("fourth"))

    kernel.at(5, lambda: seen.append("second"))
    kernel.at(3, first)
    kernel.at(5, lambda: seen.append("third"))
    run_out(kernel)
    assert seen == ["first", "second", "third", "fourth"]


def test_a_signal_given_at_the_deadline_but_scheduled_before_the_wait_wins() -> None:
    """An answer after exactly the timeout is an answer."""
    kernel, answer, seen = Kernel(), Signal(), []

    def caller() -> Body:
        kernel.after(10, lambda: kernel.give(answer))
        seen.append((yield Wait(answer, 10)))

    kernel.run(caller())
    run_out(kernel)
    assert seen == [True]


def test_a_wait_that_expires_may_last_a_little_longer() -> None:
    """With one extra millisecond a wait until 10 ends at 11, a sleep until 10 at 10."""
    kernel = Kernel(extra_ms=1)
    seen: list[tuple[str, int, bool]] = []

    def waits() -> Body:
        answer = yield Wait(Signal(), 10)
        seen.append(("wait", kernel.now_ms, answer))

    def sleeps() -> Body:
        answer = yield Wait(until_ms=10)
        seen.append(("sleep", kernel.now_ms, answer))

    kernel.run(waits())
    kernel.run(sleeps())
    run_out(kernel)
    assert seen == [("sleep", 10, False), ("wait", 11, False)]


def test_an_actor_is_woken_after_what_is_due_already() -> None:
    """An actor wakes after the events already due in its millisecond."""
    kernel, signal = Kernel(), Signal()
    seen: list[str] = []

    def actor() -> Body:
        yield Wait(signal)
        seen.append("actor")

    kernel.run(actor())
    kernel.at(4, lambda: kernel.give(signal))
    kernel.at(4, lambda: seen.append("event"))
    run_out(kernel)
    assert seen == ["event", "actor"]


def test_a_lock_is_had_in_turn_or_not_in_time() -> None:
    """The second actor gets the lock at 7, when the first releases it; the third gives up at 5."""
    kernel = VirtualHost()
    lock = Lock(kernel)
    seen: list[tuple[str, bool, int]] = []

    def actor(name: str, until_ms: int) -> Body:
        held = yield from lock.acquire(until_ms)
        seen.append((name, held, kernel.now_ms))
        if held:
            yield Wait(until_ms=kernel.now_ms + 7)
            lock.release()

    for name, until_ms in (("first", 0), ("second", 100), ("third", 5)):
        kernel.run(actor(name, until_ms))
    run_out(kernel)
    assert seen == [("first", True, 0), ("third", False, 5), ("second", True, 7)]


def test_time_that_never_ends_is_refused() -> None:
    """A script over a century is refused."""
    kernel = Kernel()
    kernel.at(4_000_000_000_000, lambda: None)
    with pytest.raises(UsageError, match="comes to an end"):
        run_out(kernel)


def test_a_wait_without_time_is_no_wait() -> None:
    """A wait without time only reads the signal."""
    kernel, late, given = Kernel(extra_ms=1), Signal(), Signal()
    kernel.give(given)
    seen: list[bool] = []

    def actor() -> Body:
        kernel.after(0, lambda: kernel.give(late))
        seen.append((yield Wait(late, 0)))
        seen.append((yield Wait(given, 0)))

    kernel.run(actor())
    assert seen == [False, True]


def test_too_many_events_without_an_answer_are_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer resets the count of silent events."""
    monkeypatch.setattr("rocketdiff.simulation.virtual.kernel.MAX_SILENT_EVENTS", 100)
    kernel = Kernel()
    for _ in range(3):
        for _ in range(90):
            kernel.after(1, lambda: None)
        run_out(kernel)
        kernel.answered()
    for _ in range(101):
        kernel.after(1, lambda: None)
    with pytest.raises(UsageError, match="101 of them since the last answer"):
        run_out(kernel)


def test_a_script_that_polls_every_millisecond_for_a_day_is_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script that polls every millisecond for a day is refused."""
    monkeypatch.setattr("rocketdiff.simulation.virtual.kernel.MAX_SILENT_EVENTS", 2_000)
    script = parse_script(POLLING, "polling")
    with pytest.raises(UsageError, match="comes to an end within"):
        run_reference(dialect_of("5.3.3"), "polling", script)
