"""The publish lists of a producer: looked up by topic, replaced when a route changes (topicPublishInfoTable, every release)."""

from collections.abc import Callable

from rocketmq_reference.client.effects import Running
from rocketmq_reference.client.memory import ProducerMemory, Published
from rocketmq_reference.client.routes import Routes
from rocketmq_reference.remoting.errors import MQClientException
from rocketmq_reference.rules.client.known_routes import KnownRoutes
from rocketmq_reference.rules.client.publish import PublishInfo, Queue
from rocketmq_reference.rules.client.route import TopicRoute, publish_info
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.direct_send import no_route


class PublishLists:
    """
    Publish lists of every topic that one producer ever sent to; a Role of its client.

    A changed route makes a new list; an unchanged or unavailable one keeps the old list indefinitely. on_change gets a list before
    it is used.
    """

    def __init__(
        self,
        memory: ProducerMemory,
        routes: Routes,
        on_change: Callable[[str, int, PublishInfo], None] | None = None,
    ) -> None:
        self._memory = memory
        self._on_change = on_change
        self.routes = routes

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

    def address_of(self, topic: str, selected: Callable[[], Queue]) -> Running[tuple[str, str]]:
        """
        Return the broker of the selected queue and its master's address; if that is unknown, look up the topic's route first.

        selected: reads the queue, again after a lookup. Raises MQClientException if the address stays unknown.
        """
        known = self.routes.known
        broker = selected().broker
        address = known.master(broker)
        if address is None:
            if not self._memory.published(topic).info.queues:
                yield from self._find(topic)
            broker = selected().broker
            address = known.master(broker)
            if address is None:
                raise MQClientException(f"The broker[{broker}] not exist")
        return broker, address

    def needs_route(self, topic: str) -> bool:
        return not self._memory.published(topic).info.queues

    def take_route(self, topic: str, route: TopicRoute) -> None:
        last = self._memory.published(topic)
        info = publish_info(route, writable_only=self._memory.dialect.producer.write_queues_need_permission)
        if self._on_change is not None:
            self._on_change(topic, last.version + 1, info)
        self._memory.publish(topic, info)

    def _find(self, topic: str) -> Running[Published]:
        """
        Look up a publish list (tryToFindTopicPublishInfo).

        A topic that the name server does not know gets the route of the default topic, so that the first send creates it.
        """
        # Only a topic's first lookup sets the empty list; a later one must not discard what another thread has fetched.
        if self.routes.known.want(topic):
            self._memory.publish_nothing(topic)
        yield from self.routes.refresh(topic)
        if not self._memory.published(topic).version:
            yield from self.routes.refresh(topic, self.routes.known.stand_in)
        return self._memory.published(topic)


def known_routes(dialect: Dialect, create_topic_key: str | None = None) -> KnownRoutes:
    """Make the routes of a client with a producer; create_topic_key: the producer's own, None for the release's."""
    rules = dialect.producer
    return KnownRoutes(rules.default_topic, create_topic_key, key_ignored=rules.create_topic_key_ignored)
