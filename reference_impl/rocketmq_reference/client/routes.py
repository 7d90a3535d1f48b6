"""Routes of a client's topics, and the name servers they are fetched from (MQClientInstance, every release)."""

from typing import Any, Protocol

from rocketmq_reference.client.codec import ClientCodec, Transport
from rocketmq_reference.client.effects import Body, Host, Lock, Running
from rocketmq_reference.client.memory import ClientMemory
from rocketmq_reference.remoting.errors import (
    IllegalStateException,
    MQClientException,
    RemotingConnectException,
    RemotingException,
)
from rocketmq_reference.rules.client.background import LOCK_TIMEOUT_MS
from rocketmq_reference.rules.client.remoting_rules import RemotingRules
from rocketmq_reference.rules.client.route import TopicRoute, route_of_new_topic


class RouteSettings(Protocol):
    """Settings of routes; times in milliseconds."""

    @property
    def default_topic_queue_nums(self) -> int: ...
    @property
    def mq_client_api_timeout_ms(self) -> int: ...


class NameServers:
    """
    The name servers of one client (NettyRemotingClient.getAndCreateNameserverChannel).

    The chosen server stays chosen while its connection is open. Then, up to 5.2.0, the next one that can be reached is chosen;
    from 5.3.0 the next one, reachable or not. A paused server is abandoned only if the release closes the connection after a
    timeout (from 4.9.1). index: position before the first server to choose.
    """

    def __init__(
        self, addresses: tuple[str, ...], host: Host, transport: Transport[Any, Any], rules: RemotingRules, index: int
    ) -> None:
        self.addresses = addresses
        self.index = index
        self._transport = transport
        self._tries_all = rules.tries_every_name_server
        self._lock = Lock(host)
        self._chosen: str | None = None

    def chosen(self) -> Running[str]:
        """
        Return the address of the server to ask; up to 5.2.0, connect to it first if there are several.

        Raises RemotingConnectException.
        """
        if len(self.addresses) == 1:
            return self.addresses[0]
        yield from self._lock.acquire(None)
        try:
            return (yield from self._choose())
        finally:
            self._lock.release()

    def _choose(self) -> Running[str]:
        for _ in self.addresses:
            if self._chosen is not None and self._transport.is_open(self._chosen):
                return self._chosen
            self.index += 1
            self._chosen = self.addresses[self.index % len(self.addresses)]
            if not self._tries_all:
                return self._chosen
            yield from self._transport.reach(self._chosen)
        if self._chosen is not None and self._transport.is_open(self._chosen):
            return self._chosen
        raise RemotingConnectException(", ".join(self.addresses) or "no name server")


class Routes:
    """
    Routes of one client; a changed one goes to every role of the client.

    An unchanged or unavailable route changes nothing: roles keep what they have indefinitely.
    """

    def __init__(
        self,
        memory: ClientMemory,
        host: Host,
        transport: Transport[Any, Any],
        codec: ClientCodec[Any, Any],
        name_servers: NameServers,
        settings: RouteSettings,
    ) -> None:
        self._memory = memory
        self._host = host
        self._transport = transport
        self._codec = codec
        self._settings = settings
        self._lock = Lock(host)
        self.name_servers = name_servers
        self.known = memory.known

    def refresh(self, topic: str, asked: str | None = None) -> Body:
        """
        Fetch the route of a topic; asked: fetch this topic's route instead and use it with fewer queues.

        From 4.6.0 raises IllegalStateException if no name server answers; before, that is the same as no route.
        """
        # The lock is held across the request: other threads that need any route wait, at most LOCK_TIMEOUT_MS, and then
        # go on without one.
        if not (yield from self._lock.acquire(self._host.now_ms + LOCK_TIMEOUT_MS)):
            return
        try:
            route = yield from self._ask(asked or topic)
            if asked is not None:
                route = route_of_new_topic(route, self._settings.default_topic_queue_nums)
            self._take(topic, route)
        except MQClientException:
            return
        except RemotingException as error:
            if self._memory.dialect.client.remoting.name_server_failure_is_illegal_state:
                raise IllegalStateException(f"{type(error).__name__}: {error}") from error
        finally:
            self._lock.release()

    def poll(self, *, is_started: bool = True) -> Body:
        """
        Fetch the route of every topic; a name server that does not answer ends the round (from 4.6.0).

        is_started: if False, the stand-in topic has no entry yet and is skipped.
        """
        try:
            for topic in self.known.polled_topics():
                if is_started or topic != self.known.stand_in:
                    yield from self.refresh(topic)
        except IllegalStateException:
            return

    def drop_offline(self) -> Body:
        """Remove addresses that no route contains any more (cleanOfflineBroker); skipped if the lock is not free in time."""
        if (yield from self._lock.acquire(self._host.now_ms + LOCK_TIMEOUT_MS)):
            self.known.drop_offline()
            self._lock.release()

    def _ask(self, topic: str) -> Running[TopicRoute]:
        server = yield from self.name_servers.chosen()
        question = self._codec.route(topic)
        answer = yield from self._transport.invoke(server, self._settings.mq_client_api_timeout_ms, question)
        return self._codec.read_route(topic, answer)

    def _take(self, topic: str, route: TopicRoute) -> None:
        roles = self._memory.roles
        if self.known.take(topic, route, can_select=not any(role.needs_route(topic) for role in roles)):
            for role in roles:
                role.take_route(topic, route)
