"""A client thread, which runs jobs one after another, and timed jobs when they are due."""

from collections import deque
from collections.abc import Iterable

from rocketdiff.simulation.virtual.kernel import Kernel
from rocketmq_reference.client.consuming.lite_pulling import PULL_THREADS
from rocketmq_reference.client.effects import Body, Job, Signal, Wait
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.client.timed_jobs import TimedJob, TimedJobs


class VirtualWorker:
    """
    A pool as a single thread, whatever the pool's size in the client; it starts with its first job. Lasting jobs have a thread each.

    The first job that is submitted while the thread is idle wakes it with one event; then it runs all submitted jobs. A
    fixed-rate job catches up on runs that were missed while the thread was busy, as in Java.
    """

    __slots__ = ("_body", "_idle", "_kernel", "_later", "_ready", "_thread")

    def __init__(self, kernel: Kernel, thread: Thread) -> None:
        self._kernel = kernel
        self._thread = thread
        self._ready: deque[Job] = deque()
        self._later = TimedJobs()
        self._idle = Signal()
        self._body: Body | None = None

    def submit(
        self,
        job: Job,
        *,
        together_with: Iterable[Signal] = (),
        instant: bool = False,  # noqa: ARG002 - the host simulates every wake-up
        lasting: bool = False,
    ) -> None:
        """Queue a job, unless it is lasting; the given signals wake other threads at the same instant as this one."""
        if lasting:
            body = job(self._thread)
            if body is not None:
                self._kernel.start(body)
            return
        self._ready.append(job)
        self._ensure_started()
        self._kernel.give_together((self._idle, *together_with))

    def schedule(self, due_ms: int, job: Job, period_ms: int = 0) -> None:
        """Run a job at due_ms, and then every period_ms unless that is 0."""
        self._later.add(due_ms, job, period_ms)
        self._ensure_started()
        self._kernel.at(due_ms, self._look)

    def _look(self) -> None:
        """A task is due. A thread that is running another one is woken too and rechecks its wait."""
        self._kernel.give_at_once(self._idle)
        if self._body is not None:
            self._kernel.hurry(self._body)

    def _ensure_started(self) -> None:
        if self._body is None:
            self._body = self._work()
            self._kernel.start_hurried(self._body)

    def _work(self) -> Body:
        while True:
            if self._ready:
                actor = self._ready.popleft()(self._thread)
                if actor is not None:
                    yield from actor
            elif (due_ms := self._later.first_ms) is not None and due_ms <= self._kernel.now_ms:
                yield from self._do(self._later.take())
            else:
                self._idle = Signal()
                yield Wait(self._idle)

    def _do(self, task: TimedJob) -> Body:
        actor = task.job(self._thread)
        if actor is not None:
            yield from actor
        if task.period_ms:
            self.schedule(task.due_ms + task.period_ms, task.job, task.period_ms)


class VirtualPool:
    """A pool whose jobs may each wait for long: every job has a thread of its own, which begins in its turn."""

    __slots__ = ("_kernel", "_thread")

    def __init__(self, kernel: Kernel, thread: Thread) -> None:
        self._kernel = kernel
        self._thread = thread

    def submit(
        self,
        job: Job,
        *,
        together_with: Iterable[Signal] = (),  # noqa: ARG002 - the host simulates every wake-up
        instant: bool = False,  # noqa: ARG002
        lasting: bool = False,  # noqa: ARG002 - all are
    ) -> None:
        """Begin a job."""
        self.schedule(self._kernel.now_ms, job)

    def schedule(self, due_ms: int, job: Job, period_ms: int = 0) -> None:
        """Begin a job at due_ms; none is repeated."""
        assert not period_ms
        self._kernel.at(due_ms, lambda: self._begin(job))

    def _begin(self, job: Job) -> None:
        body = job(self._thread)
        if body is not None:
            self._kernel.start(body)


class VirtualHost(Kernel):
    """The kernel, with threads for the client's coroutines."""

    __slots__ = ()

    def worker(self, name: str) -> VirtualWorker | VirtualPool:
        return VirtualPool(self, Thread(name)) if name == PULL_THREADS else VirtualWorker(self, Thread(name))
