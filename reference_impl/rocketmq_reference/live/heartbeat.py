"""Telling brokers that the client lives (MQClientInstance.sendHeartbeatToAllBroker, every release)."""

import logging
import queue
import threading

from rocketmq_reference.application.settings import ProducerSettings
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.live.route_table import RouteTable
from rocketmq_reference.remoting import requests
from rocketmq_reference.remoting.answers import expect_success
from rocketmq_reference.remoting.errors import RocketMQException

_LOG = logging.getLogger(__name__)


class Heartbeats:
    """
    Heartbeats of a client with one producer and no consumer, which go to masters only.

    One broker after the other, each with its own timeout, so a paused one delays the rest. A heartbeat that gets no
    answer in time closes the connection like any other request, where the release does that.
    """

    def __init__(
        self,
        client_id: str,
        group: str,
        settings: ProducerSettings,
        channels: Channels,
        routes: RouteTable,
        version: int,
    ) -> None:
        self._client_id = client_id
        self._group = group
        self._settings = settings
        self._channels = channels
        self._routes = routes
        self._version = version
        self._lock = threading.Lock()
        self._connected: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def beat(self) -> None:
        """Forget offline brokers and send to every master; nothing if another thread is at it."""
        self._routes.drop_offline()
        if not self._lock.acquire(blocking=False):
            return
        try:
            for address in self._routes.known.masters():
                self._send(address)
        finally:
            self._lock.release()

    def follow_connections(self) -> None:
        """Send to every broker a new connection was made to, until stop(); for a thread of its own (from 5.2.0 on)."""
        while (address := self._connected.get()) is not None:
            if self._routes.known.is_known(address) and self._lock.acquire(blocking=False):
                try:
                    self._send(address)
                finally:
                    self._lock.release()

    def connected(self, address: str) -> None:
        """Note a new connection (MQClientInstance's onChannelActive)."""
        self._connected.put(address)

    def stop(self) -> None:
        """End follow_connections()."""
        self._connected.put(None)

    def unregister(self) -> None:
        """Tell every known broker that the producer is gone; no answer is no matter (unregisterClient)."""
        command = requests.unregister(self._client_id, self._group, serialization=self._settings.serialization)
        for address in self._routes.known.members():
            try:
                self._channels.invoke(address, command, self._settings.mq_client_api_timeout_ms)
            except RocketMQException as error:
                _LOG.debug("unregister at %s failed: %s", address, error)

    def _send(self, address: str) -> None:
        command = requests.heartbeat(
            self._client_id, [self._group], serialization=self._settings.serialization, version=self._version
        )
        try:
            expect_success(self._channels.invoke(address, command, self._settings.mq_client_api_timeout_ms), address)
        except RocketMQException as error:
            _LOG.debug("heartbeat to %s failed: %s", address, error)
