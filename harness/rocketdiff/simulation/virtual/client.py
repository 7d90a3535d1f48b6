"""
What a client has in its memory: publish list, fault table, and the counters of each of its threads.

Every decision about them is the rules'; here they are only kept, handed to the rules, and looked at.
"""

from dataclasses import fields

from rocketdiff.simulation.script.model import Script
from rocketdiff.simulation.script.vocabulary import ScriptSettings
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.client.route import TopicRoute, publish_info
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.events import Observer
from rocketmq_reference.rules.queue_choice.fault_table import FaultTable
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import Selector
from rocketmq_reference.rules.settings import SendSettings
from rocketmq_reference.rules.tape import Tape

Thread = int | str
"""A sender thread by its number, a thread of the client's own by its name."""


class Published:
    """One publish list, and what each thread selects from it with; a changed route always makes a new one."""

    __slots__ = ("has_route", "info", "selectors")

    def __init__(self, info: PublishInfo, *, has_route: bool) -> None:
        self.info = info
        self.has_route = has_route
        self.selectors: dict[Thread, Selector] = {}


class Client:
    """The memory of one producer."""

    __slots__ = ("_start_index", "_worst", "dialect", "faults", "observer", "published", "settings", "tape")

    def __init__(self, dialect: Dialect, script: Script, tape: Tape, observer: Observer | None) -> None:
        self.dialect = dialect
        self.settings = _send_settings(script.settings)
        self.tape = tape
        self.observer = observer
        self.faults = FaultTable(dialect.fault_table)
        self.published = Published(PublishInfo(()), has_route=False)
        self._worst: dict[Thread, ThreadIndex] = {}
        self._start_index: dict[Thread, int] = dict(enumerate(script.start_index))

    def publish(self, route: TopicRoute) -> None:
        """Take a new route; threads have new counters for it, of which the very first may be given by the script."""
        info = publish_info(route, writable_only=self.dialect.write_queues_need_permission)
        self.published = Published(info, has_route=True)

    def publish_nothing(self) -> None:
        """The empty list that takes a topic's place when it is first sent to; with new counters, as any list."""
        self.published = Published(PublishInfo(()), has_route=False)

    def selector(self, thread: Thread, published: Published | None = None) -> Selector:
        """What a thread selects with, from the list that is published now or from one that it still holds."""
        published = published or self.published
        selector = published.selectors.get(thread)
        if selector is None:
            index = ThreadIndex(self.dialect.index, self._start_index.pop(thread, None))
            worst = self.worst_index(thread)
            selector = Selector(published.info, index, self.faults, worst, self.tape, self.observer)
            published.selectors[thread] = selector
        return selector

    def worst_index(self, thread: Thread) -> ThreadIndex:
        """The counter with which a thread picks the least bad broker; it outlives publish lists."""
        return self._worst.setdefault(thread, ThreadIndex(self.dialect.index))

    def note(self, broker: str, latency_ms: int, now_ms: int, *, isolated: bool, reachable: bool) -> None:
        """Tell the fault table of an attempt (MQFaultStrategy.updateFaultItem)."""
        if self.settings.send_latency_fault_enable:
            avoid_ms = self.dialect.avoidance_ms(latency_ms, isolated)
            self.faults.update(broker, latency_ms, avoid_ms, reachable, now_ms)


def _send_settings(settings: ScriptSettings) -> SendSettings:
    known = {field.name for field in fields(SendSettings)}
    given = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name in known}
    given["added_retry_response_codes"] = frozenset(settings.added_retry_response_codes)
    return SendSettings(**given)
