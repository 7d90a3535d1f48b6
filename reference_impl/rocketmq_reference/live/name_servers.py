"""Asking a name server: one connection at a time, the next server when it is lost (NettyRemotingClient, every release)."""

import random
import threading
from collections.abc import Sequence

from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.answers import parse_route
from rocketmq_reference.remoting.errors import RemotingConnectException
from rocketmq_reference.remoting.frames import Command, Serialization
from rocketmq_reference.remoting.requests import get_route
from rocketmq_reference.remoting.routes import TopicRoute
from rocketmq_reference.rules.client.remoting_rules import RemotingRules

_FIRST_INDEX_BELOW = 999  # initValueIndex of NettyRemotingClient


class NameServers:
    """
    The name servers of one client.

    The server chosen stays chosen while its connection is open. Then the next in turn is: to 5.2.0 the first of all that
    can be reached, from 5.3.0 just the next one, reachable or not. A paused server is left only where the release closes
    the connection after a timeout (from 4.9.1 on).
    """

    def __init__(
        self,
        addresses: Sequence[str],
        channels: Channels,
        rules: RemotingRules,
        serialization: Serialization = Serialization.JSON,
    ) -> None:
        self.addresses = tuple(addresses)
        self._channels = channels
        self._tries = len(self.addresses) if rules.tries_every_name_server else 1
        self._serialization = serialization
        self._lock = threading.Lock()
        self._index = random.randrange(_FIRST_INDEX_BELOW)
        self._chosen: str | None = None

    def get_route(self, topic: str, timeout_ms: int) -> TopicRoute:
        """
        The route of a topic (MQClientAPIImpl.getTopicRouteInfoFromNameServer).

        Raises MQClientException with the server's code where it answers something else (17: no such topic), and
        RemotingException where none answers within ``timeout_ms`` milliseconds.
        """
        return parse_route(self.invoke(get_route(topic, serialization=self._serialization), timeout_ms))

    def invoke(self, command: Command, timeout_ms: int) -> Command:
        """
        Ask the chosen name server, choosing one first where needed.

        Raises RemotingConnectException, RemotingSendRequestException and RemotingTimeoutException.
        """
        return self._channels.invoke(self.chosen(), command, timeout_ms)

    def chosen(self) -> str:
        """
        The address of the server that is asked now, connected to if need be.

        Raises RemotingConnectException.
        """
        with self._lock:
            if self._chosen is not None and self._channels.is_open(self._chosen):
                return self._chosen
            if not self.addresses:
                raise RemotingConnectException("no name server")
            for _ in range(self._tries):
                self._index += 1
                self._chosen = self.addresses[self._index % len(self.addresses)]
                try:
                    self._channels.connect(self._chosen)
                except RemotingConnectException:
                    continue
                return self._chosen
        raise RemotingConnectException(", ".join(self.addresses))
