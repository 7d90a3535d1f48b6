"""Which queues a producer may send to and where their brokers are (MQClientInstance, TopicPublishInfo table)."""

import threading
import time
from collections.abc import Callable

from rocketmq_reference.application.listener import RouteChanged
from rocketmq_reference.application.settings import ProducerSettings
from rocketmq_reference.live.name_servers import NameServers
from rocketmq_reference.remoting import routes
from rocketmq_reference.remoting.errors import IllegalStateException, MQClientException, RemotingException
from rocketmq_reference.rules.client.background import LOCK_TIMEOUT_MS
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.client.route import (
    QueueData,
    TopicRoute,
    publish_info,
    route_of_new_topic,
)
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.known_routes import KnownRoutes
from rocketmq_reference.rules.queue_choice.selection import Selector


class PublishedTopic:
    """One publish list of a topic, its version (from 1), and what each thread selects from it with."""

    __slots__ = ("_selectors", "info", "topic", "version")

    def __init__(self, topic: str, info: PublishInfo, version: int) -> None:
        self.topic = topic
        self.info = info
        self.version = version
        self._selectors = threading.local()

    def selector(self, make: Callable[[PublishInfo], Selector]) -> Selector:
        """Selector of the calling thread; made once a thread and list, so a new list starts every thread's counter anew."""
        selectors = self._selectors
        try:
            found: Selector = selectors.own
        except AttributeError:
            found = selectors.own = make(self.info)
        return found


class RouteTable:
    """
    Routes of every topic ever sent to, kept fresh by polling; safe for threads.

    A route that changed brings a new publish list; one that did not, or could not be had, leaves the old one for ever
    (MQClientInstance.updateTopicRouteInfoFromNameServer, 4.0.0-incubating to 5.3.3).
    """

    def __init__(
        self,
        dialect: Dialect,
        settings: ProducerSettings,
        name_servers: NameServers,
        on_change: Callable[[RouteChanged], None],
    ) -> None:
        self._dialect = dialect
        self._settings = settings
        self._name_servers = name_servers
        self._on_change = on_change
        self._lock = threading.Lock()
        self._published: dict[str, PublishedTopic] = {}
        self.known = KnownRoutes(dialect, settings.create_topic_key)

    def find(self, topic: str) -> PublishedTopic | None:
        """
        The publish list of a topic, asking a name server where there is none or it is empty (tryToFindTopicPublishInfo).

        A topic the name server does not know gets the route of the default topic with fewer queues, so that the first
        send creates it. None: no route. Raises IllegalStateException where no name server answers, from 4.6.0 on; before
        that it is the same as no route.
        """
        published = self._published.get(topic)
        if published is None or not published.info.queues:
            self.known.want(topic)
            self._update(topic, topic)
            published = self._published.get(topic)
            if published is None:
                self._update(topic, self.known.stand_in)
                published = self._published.get(topic)
        return published if published is not None and published.info.queues else None

    def version(self, topic: str) -> int:
        """Version of the topic's publish list, 0 where there is none."""
        published = self._published.get(topic)
        return 0 if published is None else published.version

    def poll(self) -> None:
        """
        Ask anew for every topic.

        Raises IllegalStateException at the first one for which no name server answers, leaving out the rest of the
        round, from 4.6.0 on.
        """
        for topic in self.known.polled_topics():
            self._update(topic, topic)

    def drop_offline(self) -> None:
        """Forget addresses that no topic's route names any more; for once not, if the table is in use for too long."""
        if self._lock.acquire(timeout=LOCK_TIMEOUT_MS / 1_000):
            try:
                self.known.drop_offline()
            finally:
                self._lock.release()

    def _update(self, topic: str, asked_topic: str) -> None:
        if not self._lock.acquire(timeout=LOCK_TIMEOUT_MS / 1_000):
            return
        try:
            answer = self._name_servers.get_route(asked_topic, self._settings.mq_client_api_timeout_ms)
            route = _route_of(answer)
            if asked_topic != topic:
                route = route_of_new_topic(route, self._settings.default_topic_queue_nums)
            published = self._published.get(topic)
            if self.known.take(topic, route, can_select=published is not None and bool(published.info.queues)):
                self._publish(topic, route, 0 if published is None else published.version)
        except MQClientException:
            return
        except RemotingException as error:
            if self._dialect.remoting.name_server_failure_is_illegal_state:
                raise IllegalStateException(f"{type(error).__name__}: {error}") from error
        finally:
            self._lock.release()

    def _publish(self, topic: str, route: TopicRoute, last_version: int) -> None:
        info = publish_info(route, writable_only=self._dialect.write_queues_need_permission)
        version = last_version + 1
        self._on_change(
            RouteChanged(
                topic, version, time.monotonic_ns(), tuple((queue.broker, queue.queue_id) for queue in info.queues)
            )
        )
        self._published[topic] = PublishedTopic(topic, info, version)


def _route_of(answer: routes.TopicRoute) -> TopicRoute:
    return TopicRoute(
        queues=tuple(QueueData(data.broker, data.read_queues, data.write_queues, data.perm) for data in answer.queues),
        brokers={data.broker: dict(data.addresses) for data in answer.brokers},
        order_conf=answer.order_topic_conf,
    )
