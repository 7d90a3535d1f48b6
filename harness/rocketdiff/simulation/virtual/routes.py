"""What the client knows of its topic's route, and how it learns it (MQClientInstance, of every release)."""

from collections.abc import Generator
from contextlib import suppress

from rocketdiff.simulation.virtual.client import Client, Published
from rocketdiff.simulation.virtual.kernel import Kernel, Lock, Wait
from rocketdiff.simulation.virtual.thrown import Thrown
from rocketdiff.simulation.virtual.transport import Transport
from rocketmq_reference.rules.client.background import API_TIMEOUT_MS, LOCK_TIMEOUT_MS
from rocketmq_reference.rules.client.route import TopicRoute
from rocketmq_reference.rules.known_routes import KnownRoutes

TOPIC = "topic"
"""Its name matters only for the order in which topics are polled."""


class Routes:
    """What is known of the one topic, and how an actor asks for it."""

    __slots__ = ("_client", "_kernel", "_lock", "_transport", "known")

    def __init__(self, client: Client, kernel: Kernel, transport: Transport) -> None:
        self._client = client
        self._kernel = kernel
        self._transport = transport
        self._lock = Lock(kernel)
        self.known = KnownRoutes(client.dialect)

    def take(self, route: TopicRoute) -> None:
        """What a name server told, which may bring a new publish list."""
        if self.known.take(TOPIC, route, can_select=bool(self._client.published.info.queues)):
            self._client.publish(route)

    def refresh(self, *, default_topic: bool = False) -> Generator[Wait, bool, None]:
        """
        Ask the name server for the topic, or for the topic that stands in for unknown ones.

        Raises Thrown (IllegalStateException) where it cannot be asked, from 4.6.0 on.
        """
        if not (yield from self._lock.acquire(self._kernel.now_ms + LOCK_TIMEOUT_MS)):
            return
        try:
            route = yield from self._transport.route(API_TIMEOUT_MS, default_topic=default_topic)
        except Thrown as thrown:
            if thrown.is_remoting and self._client.dialect.remoting.name_server_failure_is_illegal_state:
                raise Thrown("IllegalStateException", cause=thrown.error) from thrown
        else:
            self.take(route)
        finally:
            self._lock.release()

    def poll(self, *, is_started: bool = True) -> Generator[Wait, bool, None]:
        """
        Ask for the routes of all known topics; a failure ends the round (from 4.6.0).

        is_started: otherwise the topic that stands in for others has no entry yet, and is not asked about.
        """
        with suppress(Thrown):
            for topic in self.known.polled_topics():
                if topic == TOPIC or is_started:
                    yield from self.refresh(default_topic=topic != TOPIC)

    def drop_offline(self) -> Generator[Wait, bool, None]:
        """Forget addresses that the route does not name any more (cleanOfflineBroker)."""
        if (yield from self._lock.acquire(self._kernel.now_ms + LOCK_TIMEOUT_MS)):
            self.known.drop_offline()
            self._lock.release()

    def find(self) -> Generator[Wait, bool, Published | None]:
        """The publish list, asked for where there is none or it is empty (tryToFindTopicPublishInfo); None: no route."""
        if not self._client.published.info.queues:
            if self.known.want(TOPIC):
                self._client.publish_nothing()
            yield from self.refresh()
            if not self._client.published.has_route:
                yield from self.refresh(default_topic=True)
        published = self._client.published
        return published if published.info.queues else None

    def address_of(self, broker: str) -> Generator[Wait, bool, str]:
        """
        Where a broker's master is; an unknown one makes the route be looked for.

        Raises Thrown (MQClientException) if that does not help.
        """
        if self.known.master(broker) is None:
            yield from self.find()
        address = self.known.master(broker)
        if address is None:
            raise Thrown("MQClientException")
        return address
