"""A thread of the client runs its jobs one after another."""

from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.worker import VirtualWorker
from rocketmq_reference.client.effects import Body, Signal, Wait
from rocketmq_reference.client.memory import Thread
from tests.simulation.virtual.running import run_out


def test_jobs_wait_for_the_one_before_them() -> None:
    """Each job takes 5 ms, so the second one ends at 10."""
    kernel = Kernel()
    worker = VirtualWorker(kernel, Thread("own"))
    done: list[tuple[str, int]] = []

    def job(name: str) -> Body:
        yield Wait(until_ms=kernel.now_ms + 5)
        done.append((name, kernel.now_ms))

    worker.submit(lambda _own: job("first"))
    worker.submit(lambda _own: job("second"))
    run_out(kernel)
    assert done == [("first", 5), ("second", 10)]


def test_a_job_begins_after_what_is_due_already() -> None:
    """A submitted job begins after the events already due in its millisecond."""
    kernel = Kernel()
    worker = VirtualWorker(kernel, Thread("own"))
    done: list[str] = []
    kernel.at(1, lambda: worker.submit(lambda _own: done.append("job")))
    kernel.at(1, lambda: done.append("event"))
    run_out(kernel)
    assert done == ["event", "job"]


def test_a_fixed_rate_makes_up_for_a_long_run() -> None:
    """With a period of 10 ms a run of 25 ms delays the second and third; the fourth is on time."""
    kernel = Kernel()
    worker = VirtualWorker(kernel, Thread("own"))
    began: list[int] = []
    fourth = Signal()

    def job(_own: Thread) -> Body:
        began.append(kernel.now_ms)
        if len(began) == 4:
            kernel.give(fourth)
        yield Wait(until_ms=35 if len(began) == 1 else kernel.now_ms)

    worker.schedule(10, job, period_ms=10)
    kernel.run_until(fourth)
    assert began == [10, 35, 35, 40]


def test_timed_jobs_of_one_thread_keep_their_order() -> None:
    """Timed jobs run by due time, then in the order of scheduling."""
    kernel = Kernel()
    worker = VirtualWorker(kernel, Thread("own"))
    done: list[str] = []
    for due_ms, name in ((7, "third"), (5, "first"), (5, "second")):
        worker.schedule(due_ms, lambda _own, name=name: done.append(name))  # type: ignore[misc]
    run_out(kernel)
    assert done == ["first", "second", "third"]


def test_a_job_that_falls_due_hurries_the_one_under_way() -> None:
    """If the next job is due in the millisecond of the signal, the waiting job resumes before other actors."""
    kernel = Kernel()
    worker = VirtualWorker(kernel, Thread("own"))
    answer, seen = Signal(), list[str]()

    def other() -> Body:
        yield Wait(answer)
        seen.append("other")

    def job(_own: Thread) -> Body:
        yield Wait(answer)
        seen.append("job")

    kernel.start(other())
    worker.submit(job)
    kernel.at(5, lambda: kernel.give(answer))
    worker.schedule(5, lambda _own: seen.append("due"))
    run_out(kernel)
    assert seen == ["job", "due", "other"]
