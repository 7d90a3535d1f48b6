"""Routes of a client's topics, and the name servers they are fetched from (MQClientInstance, every release)."""

from collections.abc import Callable
from typing import Any, Protocol

from rocketmq_reference.client.codec import Codec, Transport
from rocketmq_reference.client.effects import Body, Host, Lock, Running
from rocketmq_reference.client.memory import Memory, Published
from rocketmq_reference.remoting.errors import (
    IllegalStateException,
    MQClientException,
    RemotingConnectException,
    RemotingException,
)
from rocketmq_reference.rules.client.background import LOCK_TIMEOUT_MS
from rocketmq_reference.rules.client.known_routes import KnownRoutes
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.client.remoting_rules import RemotingRules
from rocketmq_reference.rules.client.route import TopicRoute, publish_info, route_of_new_topic
from rocketmq_reference.rules.producer.direct_send import no_route


class RouteSettings(Protocol):
    """Settings of routes; times in milliseconds. create_topic_key None: the release's own."""

    @property
    def create_topic_key(self) -> str | None: ...
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
    Routes of every topic ever sent to.

    A changed route makes a new publish list; an unchanged or unavailable one keeps the old list indefinitely. on_change gets a
    list before it is used.
    """

    def __init__(
        self,
        memory: Memory,
        host: Host,
        transport: Transport[Any, Any],
        codec: Codec[Any, Any, Any, Any],
        name_servers: NameServers,
        settings: RouteSettings,
        on_change: Callable[[str, int, PublishInfo], None] | None = None,
    ) -> None:
        self._memory = memory
        self._host = host
        self._transport = transport
        self._codec = codec
        self._settings = settings
        self._on_change = on_change
        self._lock = Lock(host)
        self.name_servers = name_servers
        dialect = memory.dialect
        self.known = KnownRoutes(
            dialect.producer.default_topic,
            settings.create_topic_key,
            key_ignored=dialect.producer.create_topic_key_ignored,
        )

    def published(self, topic: str, *, by_selector: bool) -> Running[Published]:
        """
        Return the publish list of a topic, looked up if necessary.

        Raises MQClientException if there is none, and from 4.6.0 IllegalStateException if no name server answers.
        """
        published = self._memory.published(topic)
        if not published.info.queues:
            published = yield from self._find(topic)
        if published.info.queues:
            return published
        end = no_route(self._memory.dialect, name_servers_set=True, name_server_reached=True, by_selector=by_selector)
        raise MQClientException(f"No route info of this topic: {topic}", -1 if end.code is None else end.code)

    def address_of(self, topic: str, broker: str) -> Running[str]:
        """
        Return the address of a broker's master; if it is unknown, look up the topic's route first.

        Raises MQClientException if it stays unknown.
        """
        address = self.known.master(broker)
        if address is None:
            if not self._memory.published(topic).info.queues:
                yield from self._find(topic)
            address = self.known.master(broker)
            if address is None:
                raise MQClientException(f"The broker[{broker}] not exist")
        return address

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

    def _find(self, topic: str) -> Running[Published]:
        """
        Look up a publish list (tryToFindTopicPublishInfo).

        A topic that the name server does not know gets the route of the default topic, so that the first send creates it.
        """
        # Only a topic's first lookup sets the empty list; a later one must not discard what another thread has fetched.
        if self.known.want(topic):
            self._memory.publish_nothing(topic)
        yield from self.refresh(topic)
        if not self._memory.published(topic).version:
            yield from self.refresh(topic, self.known.stand_in)
        return self._memory.published(topic)

    def _ask(self, topic: str) -> Running[TopicRoute]:
        server = yield from self.name_servers.chosen()
        question = self._codec.route(topic)
        answer = yield from self._transport.invoke(server, self._settings.mq_client_api_timeout_ms, question)
        return self._codec.read_route(topic, answer)

    def _take(self, topic: str, route: TopicRoute) -> None:
        # A topic without a usable list takes even an unchanged route.
        last = self._memory.published(topic)
        if not self.known.take(topic, route, can_select=bool(last.info.queues)):
            return
        info = publish_info(route, writable_only=self._memory.dialect.producer.write_queues_need_permission)
        if self._on_change is not None:
            self._on_change(topic, last.version + 1, info)
        self._memory.publish(topic, info)
