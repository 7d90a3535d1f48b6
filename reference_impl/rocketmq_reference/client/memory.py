"""
State of one client between requests: what its roles share, and what each producer has for itself.

Only storage; the rules make all decisions about it.
"""

from collections.abc import Callable
from typing import Protocol
from weakref import WeakKeyDictionary

from rocketmq_reference.remoting.consuming import ConsumerGroup
from rocketmq_reference.rules.client.known_routes import KnownRoutes
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.client.route import TopicRoute
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.events import Observer
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.tape import Tape


class Thread:
    """
    State of one thread: its tape.

    name: of the pool, for a thread of the client. start_index: raw value of its first counter, None to draw it.
    """

    __slots__ = ("__weakref__", "name", "start_index", "tape")

    def __init__(self, name: str, start_index: int | None = None) -> None:
        self.name = name
        self.start_index = start_index
        self.tape: Tape | None = None


class Published:
    """
    One publish list of a topic, and each thread's selector for it; a changed route always makes a new one.

    version: counts the topic's lists from 1; 0 is the empty list before there is a route.
    """

    __slots__ = ("info", "selectors", "topic", "version")

    def __init__(self, topic: str, info: PublishInfo, version: int) -> None:
        self.topic = topic
        self.info = info
        self.version = version
        self.selectors: WeakKeyDictionary[Thread, Selector] = WeakKeyDictionary()


class Role(Protocol):
    """A producer or consumer, as the client that it belongs to sees it (MQProducerInner, MQConsumerInner)."""

    def needs_route(self, topic: str) -> bool:
        """True if it has no usable list of the topic's queues, so that it takes even an unchanged route."""
        ...

    def take_route(self, topic: str, route: TopicRoute) -> None:
        """Use the queues of a route."""
        ...


class Member(Protocol):
    """A consumer, as heartbeats name it."""

    @property
    def group(self) -> str: ...

    def as_group(self) -> ConsumerGroup: ...


class ClientMemory:
    """
    What the roles of one client share: known routes and addresses (MQClientInstance).

    A client may own several groups. roles: get every changed route, in the order in which they were added. producer_groups,
    consumers: named by heartbeats.
    """

    __slots__ = ("consumers", "dialect", "known", "producer_groups", "roles")

    def __init__(self, dialect: Dialect, known: KnownRoutes) -> None:
        self.dialect = dialect
        self.known = known
        self.roles: list[Role] = []
        self.producer_groups: list[str] = []
        self.consumers: list[Member] = []


class ProducerMemory:
    """
    The memory of one producer: fault table, publish lists, counters.

    tapes: makes the source of a thread's random numbers. A thread's counters belong to the producer: a thread that sends with two
    of them has two.
    """

    __slots__ = ("_published", "_tapes", "_worst", "dialect", "faults", "observer", "settings")

    def __init__(
        self, dialect: Dialect, settings: SendSettings, tapes: Callable[[], Tape], observer: Observer | None = None
    ) -> None:
        self.dialect = dialect
        self.settings = settings
        self.observer = observer
        self.faults = FaultTable(dialect.producer.fault_table)
        self._tapes = tapes
        self._published: dict[str, Published] = {}
        self._worst: WeakKeyDictionary[Thread, ThreadIndex] = WeakKeyDictionary()

    def published(self, topic: str) -> Published:
        """Return the topic's current publish list, empty if there never was a route."""
        published = self._published.get(topic)
        if published is None:
            # Also called by threads without the client's lock, so this must never replace a list.
            published = self._published.setdefault(topic, Published(topic, PublishInfo(()), 0))
        return published

    def publish(self, topic: str, info: PublishInfo) -> Published:
        published = Published(topic, info, self.published(topic).version + 1)
        self._published[topic] = published
        return published

    def publish_nothing(self, topic: str) -> Published:
        """Set the empty list of a topic that is sent to for the first time; with new counters, like any list."""
        published = self._published[topic] = Published(topic, PublishInfo(()), 0)
        return published

    def selector(self, thread: Thread, published: Published) -> Selector:
        """Return a thread's selector for a list; the list may have been replaced already."""
        selector = published.selectors.get(thread)
        if selector is None:
            # The given start is used once: later lists have counters with a random start.
            index = ThreadIndex(self.dialect.producer.index, thread.start_index)
            thread.start_index = None
            tape = thread.tape
            if tape is None:
                tape = thread.tape = self._tapes()
            worst = self.worst_index(thread)
            selector = Selector(published.info, index, self.faults, worst, tape, self.observer)
            published.selectors[thread] = selector
        return selector

    def worst_index(self, thread: Thread) -> ThreadIndex:
        """Return a thread's counter for picking the best known broker; it outlives publish lists."""
        worst = self._worst.get(thread)
        if worst is None:
            worst = self._worst[thread] = ThreadIndex(self.dialect.producer.index)
        return worst

    def note(self, broker: str, latency_ms: int, now_ms: int, *, isolated: bool, reachable: bool) -> None:
        """Record an attempt in the fault table (MQFaultStrategy.updateFaultItem)."""
        if self.settings.send_latency_fault_enable:
            avoid_ms = self.dialect.producer.avoidance_ms(latency_ms, isolated)
            self.faults.update(broker, latency_ms, avoid_ms, reachable, now_ms)
