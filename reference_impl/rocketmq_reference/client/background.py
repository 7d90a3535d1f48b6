"""Background tasks of the client: route polls, heartbeats, scans, each on its thread as in Java."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rocketmq_reference.client.codec import ClientCodec
from rocketmq_reference.client.effects import Body, Host, Job, Lock, Running, Signal, Wait, Worker
from rocketmq_reference.client.memory import ClientMemory, Member, Thread
from rocketmq_reference.client.remoting import Remoting
from rocketmq_reference.client.routes import Routes
from rocketmq_reference.remoting.errors import RemotingException
from rocketmq_reference.rules.client.background import (
    FIRST_HEARTBEAT_MS,
    FIRST_ROUTE_POLL_MS,
    LOCK_TIMEOUT_MS,
)
from rocketmq_reference.rules.client.remoting_rules import ScanTimes

SCHEDULED = "scheduled"
"""The thread of a client's own tasks."""

CONSUMER_ROUNDS_MS = ((10_000, 2**31 - 1), (60_000, 60_000))
"""
First time and period of the consumer tasks on the thread of polls and heartbeats (persistAllConsumerOffset, adjustThreadPool).

A producer has no consumers, but the thread wakes up and does its other due tasks, before a scan that was scheduled later. The
Java host gives the first task the longest possible period, so it runs once.
"""


@dataclass(frozen=True, slots=True)
class Rounds:
    """Periods of route polls and heartbeats, their first times after the client's start, and the timeout of both."""

    poll_ms: int
    heartbeat_ms: int
    timeout_ms: int
    first_poll_ms: int = FIRST_ROUTE_POLL_MS
    first_heartbeat_ms: int = FIRST_HEARTBEAT_MS


@dataclass(frozen=True, slots=True)
class Task:
    """Work that is repeated at a fixed rate; first_ms: from the client's start. thread: name of the client's thread that does it."""

    first_ms: int
    period_ms: int
    job: Job
    thread: str = SCHEDULED


class Background:
    """
    The client's timers; tasks: the client's own, to which roles add theirs before the start.

    monitor: that of MQClientInstance, which a reset of offsets holds from 4.9.0 on. on_greeted: called when a broker has answered the
    heartbeat on a new connection (from 5.2.0).
    """

    def __init__(
        self,
        memory: ClientMemory,
        host: Host,
        routes: Routes,
        remoting: Remoting[Any, Any],
        codec: ClientCodec[Any, Any],
        rounds: Rounds,
    ) -> None:
        self._memory = memory
        self._host = host
        self._routes = routes
        self._remoting = remoting
        self._codec = codec
        self._rounds = rounds
        self._beating = Lock(host)
        self.monitor = Lock(host)
        self.on_greeted: Callable[[], None] | None = None
        self._is_stopped = False
        self._workers: dict[str, Worker] = {}
        self.tasks = [
            Task(rounds.first_poll_ms, rounds.poll_ms, lambda _own: routes.poll()),
            Task(rounds.first_heartbeat_ms, rounds.heartbeat_ms, lambda _own: self.clean_and_beat()),
            *(Task(first_ms, period_ms, _nothing) for first_ms, period_ms in CONSUMER_ROUNDS_MS),
        ]

    def start(self) -> None:
        """Start all timers (MQClientInstance.start, NettyRemotingClient.start)."""
        rules, now_ms = self._memory.dialect.client.remoting, self._host.now_ms
        self._thread(SCHEDULED)
        self._keep_house(rules.scan, self._remoting.scan)
        if rules.name_server_scan.times is not None:
            for address in self._routes.name_servers.addresses:  # each has a thread, so a silent one holds up no other
                scanning = self._host.worker("name-servers")
                reach = partial(scanning.submit, partial(self._reach, address))
                self._keep_house(rules.name_server_scan.times, reach)
        for task in self.tasks:
            self._thread(task.thread).schedule(now_ms + task.first_ms, partial(self._due, task.job), task.period_ms)
        if rules.heartbeat_on_connect:
            events = self._host.worker("connections")
            self._remoting.on_active = lambda address: events.submit(lambda _own: self._greet(address))
            # The thread gets the ends of connections too: it only wakes up, which may make it greet another one
            # earlier.
            self._remoting.on_end = lambda: events.submit(_nothing)

    def stop(self) -> None:
        """Begin no periodic task any more."""
        self._is_stopped = True

    def _due(self, job: Job, own: Thread) -> Body | None:
        return None if self._is_stopped else job(own)

    def poll(self) -> Body:
        """Run a route poll now in the client's thread, and wait for its end."""
        return self._now(lambda _own: self._routes.poll())

    def beat(self) -> Body:
        """Run a round of heartbeats now in the client's thread, and wait for its end."""
        return self._now(lambda _own: self.clean_and_beat())

    def clean_and_beat(self) -> Body:
        """Remove offline brokers, then send heartbeats."""
        yield from self._routes.drop_offline()
        yield from self.beat_all()

    def beat_all(self) -> Running[bool]:
        """
        Send a heartbeat to every master in turn, to slaves too if the client has consumers.

        False if another thread is sending heartbeats, or no broker is known, or all groups have been unregistered.
        """
        # A skipped round is not made up for: Java tries a lock.
        if not (yield from self._beating.acquire(self._host.now_ms)):
            return False
        known, sent = self._routes.known, False
        try:
            members = known.members() if self._memory.consumers else known.masters()
            for address in members if self._has_groups else ():
                yield from self._heartbeat(address)
                sent = True
        finally:
            self._beating.release()
        return sent

    @property
    def _has_groups(self) -> bool:
        return bool(self._memory.consumers or self._memory.producer_groups)

    def await_reset(self) -> Body:
        """Wait for the end of a reset of offsets before a consumer is unregistered (from 4.9.1, with a method that is synchronized)."""
        if not self._memory.dialect.client.remoting.unregisters_between_heartbeats:
            yield from self._enter()

    def _enter(self) -> Body:
        yield from self.monitor.acquire(None)
        self.monitor.release()

    def unregister_client(self) -> Body:
        """Unregister the client's groups from every known broker and ignore failures; consumers do nothing more meanwhile (unregisterClient)."""
        for consumer in list(self._memory.consumers):
            self._memory.consumers.remove(consumer)
            yield from self._unregister(self._codec.unregister_consumer(consumer.group))
        yield from self._enter()  # the shutdown of the client is synchronized in every release
        for group in list(self._memory.producer_groups):
            self._memory.producer_groups.remove(group)
            yield from self._unregister(self._codec.unregister(group))

    def _unregister(self, goodbye: Any) -> Body:
        locks = self._memory.dialect.client.remoting.unregisters_between_heartbeats
        if locks and not (yield from self._beating.acquire(self._host.now_ms + LOCK_TIMEOUT_MS)):
            return
        try:
            for address in self._routes.known.members():
                yield from self._notify(address, goodbye)
        finally:
            if locks:
                self._beating.release()

    def repeat_for(self, consumer: Member, first_ms: int, period_ms: int, job: Job) -> None:
        """Repeat a job, from the client's start on, until the consumer is unregistered."""
        self.tasks.append(
            Task(first_ms, period_ms, lambda own: job(own) if consumer in self._memory.consumers else None)
        )

    def later(self, delay_ms: int, job: Job) -> None:
        """Do a job in the client's thread after a time, or when that is done with what it does then."""
        self._thread(SCHEDULED).schedule(self._host.now_ms + delay_ms, job)

    def _thread(self, name: str) -> Worker:
        worker = self._workers.get(name)
        if worker is None:
            worker = self._workers[name] = self._host.worker(name)
        return worker

    def _now(self, job: Job) -> Body:
        done = Signal()

        def noted(own: Thread) -> Body:
            body = job(own)
            if body is not None:
                yield from body
            self._host.give(done)

        self._thread(SCHEDULED).schedule(self._host.now_ms, noted)
        yield Wait(done)

    def _keep_house(self, times: ScanTimes | None, task: Callable[[], None]) -> None:
        """Repeat a task that takes no time and so needs no thread."""
        if times is not None:
            self._host.every(times.first_ms, times.period_ms, task)

    def _reach(self, address: str, _own: Thread) -> Body:
        yield from self._remoting.reach(address)

    def _greet(self, address: str) -> Body:
        """Send a heartbeat on a new connection to a broker, unless heartbeats are under way (from 5.2.0)."""
        if (
            self._has_groups
            and self._routes.known.is_known(address)
            and (yield from self._beating.acquire(self._host.now_ms))
        ):
            try:
                is_answered = yield from self._heartbeat(address)
            finally:
                self._beating.release()
            if is_answered and self.on_greeted is not None:
                self.on_greeted()

    def _heartbeat(self, address: str) -> Running[bool]:
        groups = [consumer.as_group() for consumer in self._memory.consumers]
        return self._notify(address, self._codec.heartbeat(self._memory.producer_groups, groups))

    def _notify(self, address: str, question: Any) -> Running[bool]:
        try:
            yield from self._remoting.invoke(address, self._rounds.timeout_ms, question)
        except RemotingException:
            return False
        return True


def _nothing(_own: Thread) -> None:
    """Do nothing; the thread wakes up at the end of a connection or for a consumer task, and may find more jobs by then."""
