"""
What a producer has below its calls: connections, routes, background work, and what is known about brokers (MQClientInstance).

A producer's own, where Java's producers of one process share them if their client ids are equal.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from rocketmq_reference.application.listener import Listener, RouteChanged
from rocketmq_reference.application.settings import ProducerSettings
from rocketmq_reference.connections.async_requests import AsyncRequests
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.live.async_calls import AsyncCalls
from rocketmq_reference.live.calls import Calls
from rocketmq_reference.live.detection import Detector
from rocketmq_reference.live.heartbeat import Heartbeats
from rocketmq_reference.live.kernel import Kernel
from rocketmq_reference.live.name_servers import NameServers
from rocketmq_reference.live.route_table import PublishedTopic, RouteTable
from rocketmq_reference.live.schedule import Schedule
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.remoting.versions import mq_version
from rocketmq_reference.rules.client.background import DETECTION_PERIOD_MS, FIRST_DETECTION_MS
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.direct_send import no_route
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.tape import Tape


class Client:
    """One client and its threads; safe for threads. ``calls`` and ``async_calls`` carry sends out."""

    def __init__(
        self,
        name_servers: Sequence[str],
        group: str,
        dialect: Dialect,
        settings: ProducerSettings,
        listener: Listener | None,
        tapes: Callable[[], Tape],
    ) -> None:
        self.dialect = dialect
        self.faults = FaultTable(dialect.fault_table)
        self._group = group
        self._settings = settings
        self._listener = listener
        self._tapes = tapes
        self._threads = threading.local()
        self._channels = Channels(dialect.remoting, on_connected=self._connected)
        asked = NameServers(name_servers, self._channels, dialect.remoting, settings.serialization)
        self.routes = RouteTable(dialect, settings, asked, self._route_changed)
        client_id = f"127.0.0.1@{os.getpid()}#{time.monotonic_ns()}"
        version = mq_version(dialect.releases.first)
        self.heartbeats = Heartbeats(client_id, group, settings, self._channels, self.routes, version)
        self._callbacks = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="NettyClientPublicExecutor")
        self._requests = AsyncRequests(dialect.remoting, self._channels, self._callbacks, group)
        kernel = Kernel(dialect, settings, group, self._channels, self.routes, self._requests)
        self.calls = Calls(kernel, listener)
        self.async_calls = AsyncCalls(
            kernel, listener, self._callbacks, self.selector, self.routes.known.master, asked.chosen
        )
        self._schedule = Schedule(f"scheduled-{group}")
        self._scans = Schedule(f"scan-{group}")
        self._detections = Schedule(f"detector-{group}")
        topic = self.routes.known.any_topic
        self._detector = Detector(self.faults, self._channels, kernel.known_address, topic, settings.serialization)

    def start(self) -> None:
        """Begin polling routes, sending heartbeats, looking for expired requests and probing brokers; needs no server to be up."""
        settings, scan = self._settings, self.dialect.remoting.scan
        self._schedule.add(
            self.routes.poll, first_ms=settings.first_poll_ms, period_ms=settings.poll_name_server_interval_ms
        )
        self._schedule.add(
            self.heartbeats.beat, first_ms=settings.first_heartbeat_ms, period_ms=settings.heartbeat_broker_interval_ms
        )
        self._scans.add(self._requests.scan, first_ms=scan.first_ms, period_ms=scan.period_ms)
        self._schedule.start()
        self._scans.start()
        if self.dialect.detects(settings):
            self._detections.add(self._detector.probe_all, first_ms=FIRST_DETECTION_MS, period_ms=DETECTION_PERIOD_MS)
            self._detections.start()
        if self.dialect.remoting.heartbeat_on_connect:
            name = f"connections-{self._group}"
            threading.Thread(target=self.heartbeats.follow_connections, name=name, daemon=True).start()

    def shutdown(self, *, was_started: bool) -> None:
        """Say good-bye to the brokers and close all connections; calls under way fail."""
        if was_started:
            self._schedule.stop()
            self._scans.stop()
            self._detections.stop()
            self.heartbeats.stop()
            self.async_calls.close()
            if self._settings.unregister_on_shutdown:
                self.heartbeats.unregister()
        self._channels.close()
        self._requests.close()
        self._callbacks.shutdown(wait=False)

    def published(self, topic: str, *, by_selector: bool) -> PublishedTopic:
        """
        The publish list of a topic.

        Raises MQClientException where there is none, and IllegalStateException where no name server answers, from 4.6.0.
        """
        published = self.routes.find(topic)
        if published is not None:
            return published
        end = no_route(self.dialect, name_servers_set=True, name_server_reached=True, by_selector=by_selector)
        raise MQClientException(f"No route info of this topic: {topic}", -1 if end.code is None else end.code)

    def selector(self, info: PublishInfo) -> Selector:
        """A selector of the calling thread's own, whose counter has not been used."""
        threads = self._threads
        if not hasattr(threads, "tape"):
            threads.tape = self._tapes()
            threads.worst_index = ThreadIndex(self.dialect.index)
        return Selector(info, ThreadIndex(self.dialect.index), self.faults, threads.worst_index, threads.tape)

    def _connected(self, address: str) -> None:
        if self.dialect.remoting.heartbeat_on_connect:
            self.heartbeats.connected(address)

    def _route_changed(self, event: RouteChanged) -> None:
        if self._listener is not None:
            self._listener.route_changed(event)
