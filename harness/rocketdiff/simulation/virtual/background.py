"""What the client does by itself: route polls, heartbeats, scans, probes; each on the thread it has in the client."""

from collections.abc import Callable, Generator

from rocketdiff.simulation.script.vocabulary import ScriptSettings
from rocketdiff.simulation.virtual.client import Client
from rocketdiff.simulation.virtual.kernel import Body, Kernel, Signal, Wait
from rocketdiff.simulation.virtual.network import NAME_SERVER, vip_address
from rocketdiff.simulation.virtual.remoting import Remoting
from rocketdiff.simulation.virtual.routes import Routes
from rocketdiff.simulation.virtual.thrown import Thrown
from rocketdiff.simulation.virtual.worker import Worker
from rocketmq_reference.rules.client.background import (
    API_TIMEOUT_MS,
    DETECT_TIMEOUT_MS,
    DETECTION_PERIOD_MS,
    FIRST_DETECTION_MS,
    FIRST_HEARTBEAT_MS,
    FIRST_ROUTE_POLL_MS,
)
from rocketmq_reference.rules.client.remoting_rules import ScanTimes
from rocketmq_reference.rules.producer.detector import DetectorRound

CONSUMER_ROUNDS_MS = ((10_000, 2**31 - 1), (60_000, 60_000))
"""
First time and period of what the thread of polls and heartbeats does for consumers (persistAllConsumerOffset,
adjustThreadPool). A producer has none, but the thread wakes up, and does what else is due: before a scan that was planned
later. The Java host gives the first one the longest period there is, so that it comes once.
"""


class Background:
    """The client's timers; begins when the client starts, which is at 0 ms."""

    def __init__(self, client: Client, kernel: Kernel, routes: Routes, remoting: Remoting) -> None:
        self._client = client
        self._kernel = kernel
        self._routes = routes
        self._remoting = remoting
        self._beating = False
        self._events = Worker(kernel)
        self._scheduled = Worker(kernel)
        self._scanning = Worker(kernel)

    def start(self, settings: ScriptSettings) -> None:
        """Begin (MQClientInstance.start, NettyRemotingClient.start)."""
        dialect = self._client.dialect
        self._keep_house(dialect.remoting.scan, self._remoting.scan)
        self._keep_house(dialect.remoting.name_server_scan.times, self._scan_name_servers)
        self._scheduled.schedule(FIRST_ROUTE_POLL_MS, self._routes.poll, settings.poll_name_server_interval_ms)
        self._scheduled.schedule(FIRST_HEARTBEAT_MS, self._clean_and_beat, settings.heartbeat_broker_interval_ms)
        for first_ms, period_ms in CONSUMER_ROUNDS_MS:
            self._scheduled.schedule(first_ms, _nothing, period_ms)
        if dialect.detects(self._client.settings):
            Worker(self._kernel).schedule(FIRST_DETECTION_MS, self._detect, DETECTION_PERIOD_MS)
        if dialect.remoting.heartbeat_on_connect:
            self._remoting.on_active = lambda address: self._events.submit(lambda: self._greet(address))
            self._remoting.on_end = lambda: self._events.submit(_nothing)

    def poll(self) -> Body:
        """For an actor: have the client's thread ask for all routes now, and wait for it."""
        return self._now(self._routes.poll)

    def beat(self) -> Body:
        """For an actor: have the client's thread do a round of heartbeats now, and wait for it."""
        return self._now(self._clean_and_beat)

    def _now(self, job: Callable[[], Body]) -> Body:
        done = Signal()

        def noted() -> Body:
            yield from job()
            self._kernel.give(done)

        self._scheduled.schedule(self._kernel.now_ms, noted)
        yield Wait(done)

    def _keep_house(self, times: ScanTimes | None, task: Callable[[], None]) -> None:
        """Again and again, what takes no time and so needs no thread."""
        if times is not None:
            self._keep_house_from(times.first_ms, times.period_ms, task)

    def _keep_house_from(self, due_ms: int, period_ms: int, task: Callable[[], None]) -> None:
        def tick() -> None:
            task()
            self._keep_house_from(due_ms + period_ms, period_ms, task)

        self._kernel.at(due_ms, tick)

    def _scan_name_servers(self) -> None:
        self._scanning.submit(lambda: self._remoting.reach(NAME_SERVER))

    def _clean_and_beat(self) -> Body:
        """Forget offline brokers, then heartbeats."""
        yield from self._routes.drop_offline()
        yield from self._beat()

    def _beat(self) -> Body:
        """A heartbeat to every master, one after the other, unless heartbeats are under way elsewhere."""
        if self._beating:
            return
        self._beating = True
        for address in self._routes.known.masters():
            yield from self._heartbeat(address)
        self._beating = False

    def _greet(self, address: str) -> Body:
        """A heartbeat on a new connection to a broker, unless heartbeats are under way (from 5.2.0)."""
        if self._routes.known.is_known(address) and not self._beating:
            self._beating = True
            yield from self._heartbeat(address)
            self._beating = False

    def _heartbeat(self, address: str) -> Body:
        try:
            yield from self._remoting.invoke(address, API_TIMEOUT_MS)
        except Thrown:
            return

    def _detect(self) -> Body:
        """One round of the broker detector (from 5.1.4)."""
        detection = DetectorRound(self._client.faults)
        while (broker := detection.next(self._kernel.now_ms)) is not None:
            address = self._routes.known.master(broker)
            if address is None:
                detection.no_address()
            elif (yield from self._probe(address)):
                detection.answered()

    def _probe(self, address: str) -> Generator[Wait, bool, bool]:
        if self._client.dialect.uses_vip_channel(self._client.settings):
            address = vip_address(address)
        try:
            answer = yield from self._remoting.invoke(address, DETECT_TIMEOUT_MS)
        except Thrown:
            return False
        return answer.code == 0


def _nothing() -> None:
    """Wakes the thread that does it, at the end of a connection or at a round for consumers; it may have more to do by then."""
