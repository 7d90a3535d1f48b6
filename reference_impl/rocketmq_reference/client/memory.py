"""
What one client and its threads remember between sends: settings, fault table, publish lists, counters.

Every decision about them is the rules'; here they are only kept and handed to the rules.
"""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.events import Observer
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.settings import SendSettings
from rocketmq_reference.rules.tape import Tape


class Thread:
    """
    What a thread has of its own: what it draws from, and the counter with which it picks the least bad broker.

    name: of the pool, for a thread of the client's. start_index: raw value of its first counter, None to draw it.
    """

    __slots__ = ("__weakref__", "name", "start_index", "tape", "worst_index")

    def __init__(self, name: str, start_index: int | None = None) -> None:
        self.name = name
        self.start_index = start_index
        self.tape: Tape | None = None
        self.worst_index: ThreadIndex | None = None


class Published:
    """
    One publish list of a topic, and what each thread selects from it with; a changed route always makes a new one.

    version: counts the topic's lists from 1; 0 is the empty list that takes a topic's place before there is a route.
    """

    __slots__ = ("info", "selectors", "topic", "version")

    def __init__(self, topic: str, info: PublishInfo, version: int) -> None:
        self.topic = topic
        self.info = info
        self.version = version
        self.selectors: WeakKeyDictionary[Thread, Selector] = WeakKeyDictionary()


class Memory:
    """The memory of one client; tapes: where a thread's random numbers come from."""

    __slots__ = ("_published", "_tapes", "dialect", "faults", "observer", "settings")

    def __init__(
        self, dialect: Dialect, settings: SendSettings, tapes: Callable[[], Tape], observer: Observer | None = None
    ) -> None:
        self.dialect = dialect
        self.settings = settings
        self.observer = observer
        self.faults = FaultTable(dialect.fault_table)
        self._tapes = tapes
        self._published: dict[str, Published] = {}

    def published(self, topic: str) -> Published:
        """The topic's publish list as it stands, empty where there never was a route."""
        published = self._published.get(topic)
        if published is None:
            # Anybody may look, also without being a coroutine of the client's: so nothing is ever replaced here.
            published = self._published.setdefault(topic, Published(topic, PublishInfo(()), 0))
        return published

    def publish(self, topic: str, info: PublishInfo) -> Published:
        """Take a new list; threads have new counters for it."""
        published = Published(topic, info, self.published(topic).version + 1)
        self._published[topic] = published
        return published

    def publish_nothing(self, topic: str) -> Published:
        """The empty list that takes a topic's place when it is first sent to; with new counters, as any list."""
        published = self._published[topic] = Published(topic, PublishInfo(()), 0)
        return published

    def selector(self, thread: Thread, published: Published) -> Selector:
        """What a thread selects with from a list, which may be one that was replaced already."""
        selector = published.selectors.get(thread)
        if selector is None:
            index = ThreadIndex(self.dialect.index, thread.start_index)
            thread.start_index = None
            tape = thread.tape
            if tape is None:
                tape = thread.tape = self._tapes()
            worst = self.worst_index(thread)
            selector = Selector(published.info, index, self.faults, worst, tape, self.observer)
            published.selectors[thread] = selector
        return selector

    def worst_index(self, thread: Thread) -> ThreadIndex:
        """The counter with which a thread picks the least bad broker; it outlives publish lists."""
        worst = thread.worst_index
        if worst is None:
            worst = thread.worst_index = ThreadIndex(self.dialect.index)
        return worst

    def note(self, broker: str, latency_ms: int, now_ms: int, *, isolated: bool, reachable: bool) -> None:
        """Tell the fault table of an attempt (MQFaultStrategy.updateFaultItem)."""
        if self.settings.send_latency_fault_enable:
            avoid_ms = self.dialect.avoidance_ms(latency_ms, isolated)
            self.faults.update(broker, latency_ms, avoid_ms, reachable, now_ms)
