"""The threads of a client: one lock, signals, repeated jobs, pools."""

import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from rocketmq_reference.client.effects import Body, Job, Lock, Running, Signal, Wait, Worker
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.host.host import LiveHost
from tests.reference_impl.host.requesting import PATIENCE_S, await_that


@pytest.fixture
def host() -> Iterator[LiveHost]:
    """A host whose pool ``two`` has two threads."""
    made = LiveHost("test", {"two": 2})
    yield made
    made.post(made.close)


def test_a_given_signal_wakes_a_waiting_thread(host: LiveHost) -> None:
    """A given signal wakes a waiting thread, and a later thread does not wait."""
    signal = Signal()

    def waits() -> Running[bool]:
        return (yield Wait(signal))

    answers: list[bool] = []
    waiting = threading.Thread(target=lambda: answers.append(host.run(waits())))
    waiting.start()
    await_that(lambda: bool(signal.waiting))
    host.post(lambda: host.give(signal))
    waiting.join(PATIENCE_S)
    assert answers == [True] and host.run(waits())


def test_a_wait_ends_at_its_deadline(host: LiveHost) -> None:
    """A wait returns False after its deadline; a sleep ends at its time."""

    def waits() -> Running[tuple[bool, int]]:
        until_ms = host.now_ms + 20
        yield Wait(until_ms=until_ms)
        answer = yield Wait(Signal(), until_ms + 20)
        return answer, host.now_ms - until_ms

    answer, took_ms = host.run(waits())
    assert not answer and took_ms > 20


def test_between_two_waits_nothing_else_happens(host: LiveHost) -> None:
    """Between two waits of a coroutine no other runs: eight threads count in two steps and lose nothing."""
    count = [0]

    def counts() -> Body:
        for _ in range(200):
            seen = count[0]
            time.sleep(0)  # yields the processor, but keeps the host's lock
            count[0] = seen + 1
            yield from host.outside(lambda: None)

    threads = [threading.Thread(target=lambda: host.run(counts())) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE_S)
    assert count == [1_600]


def test_code_outside_the_lock_may_call_the_client(host: LiveHost) -> None:
    """Code outside the lock, such as a callback, may call the client; its exception reaches the coroutine."""

    def inner() -> Running[int]:
        yield from ()
        return 7

    def fails() -> int:
        raise ValueError

    def outer() -> Running[int]:
        try:
            yield from host.outside(fails)
        except ValueError:
            return (yield from host.outside(lambda: host.run(inner())))
        return 0

    assert host.run(outer()) == 7


def test_a_lock_is_held_across_waits(host: LiveHost) -> None:
    """A coroutine's lock is released when the awaited action raises."""
    lock = Lock(host)

    def holds() -> Body:
        yield from lock.acquire(None)
        try:
            yield from host.outside(lambda: 1 / 0)
        finally:
            lock.release()

    def takes() -> Running[bool]:
        return (yield from lock.acquire(host.now_ms))

    with pytest.raises(ZeroDivisionError):
        host.run(holds())
    assert host.run(takes())


def test_jobs_repeat_and_failures_do_not_stop_them(host: LiveHost) -> None:
    """A job that raises is repeated, and so are other jobs of its pool."""
    ran: list[str] = []

    def fail(_own: Thread) -> None:
        ran.append("fail")
        raise RuntimeError("once more")

    def work(_own: Thread) -> None:
        ran.append("work")

    pool = host.worker("one")
    host.post(lambda: pool.schedule(host.now_ms, fail, 1))
    host.post(lambda: pool.schedule(host.now_ms + 1, work, 1))
    await_that(lambda: ran.count("work") >= 3 and ran.count("fail") >= 3)


def test_a_job_that_blocks_leaves_a_pool_its_other_thread(host: LiveHost) -> None:
    """A pool of two threads starts two jobs at once; the third waits."""
    pool, go_on = host.worker("two"), threading.Event()
    began: list[str] = []

    def blocks(own: Thread) -> Body:
        began.append(own.name)
        yield from host.outside(go_on.wait)

    def quick(own: Thread) -> None:
        began.append(own.name)

    for job in (blocks, blocks, quick):
        host.post(partial(pool.submit, job))
    await_that(lambda: len(began) == 2)
    time.sleep(0.02)
    assert len(began) == 2
    go_on.set()
    await_that(lambda: len(began) == 3)


def test_threads_end_with_the_host() -> None:
    """After close a submitted job still runs, a later scheduled one does not, and the threads end."""
    host = LiveHost("ending")
    pool, done = host.worker("one"), list[str]()
    host.post(lambda: pool.schedule(host.now_ms + 3_600_000, lambda _own: done.append("later"), 1))
    await_that(lambda: bool(_threads("one-ending")))
    host.post(partial(_hand_over_and_close, host, pool, lambda _own: done.append("now")))
    await_that(lambda: not _threads("one-ending"))
    assert done == ["now"]


def _hand_over_and_close(host: LiveHost, pool: Worker, job: Job) -> None:
    pool.submit(job)
    host.close()


def _threads(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]
